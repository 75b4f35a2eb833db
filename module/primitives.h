/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clearing primitives and cache control, the same code in kernel and in user
 * space. A primitive clears @len bytes, a multiple of 64, at an address aligned
 * to 64, and tells the compiler that memory changed.
 */
#ifndef CLEARBENCH_PRIMITIVES_H
#define CLEARBENCH_PRIMITIVES_H

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/types.h>
#else
#include <linux/types.h>
#include <stdbool.h>
#ifndef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#endif
#endif

#define PRIM_LINE		64

/*
 * prim_set() - write @len bytes of @pattern by ordinary cached stores
 *
 * Leaves the range in this CPU's caches as far as they reach.
 */
static inline void prim_set(void *addr, unsigned long len, __u64 pattern)
{
	volatile __u64 *p = addr;
	unsigned long i;

	for (i = 0; i < len / sizeof(*p); i++)
		p[i] = pattern;
}

/* prim_read() - read a range, a line at a time, so that it displaces others */
static inline void prim_read(const void *addr, unsigned long len)
{
	const volatile char *p = addr;
	unsigned long i;

	for (i = 0; i < len; i += PRIM_LINE)
		(void)p[i];
}

#if defined(__x86_64__) || defined(__i386)
#define PRIM_HAVE_CPUID		1

static inline void prim_cpuid(__u32 leaf, __u32 subleaf, __u32 reg[4])
{
	asm volatile("cpuid"
		     : "=a" (reg[0]), "=b" (reg[1]), "=c" (reg[2]), "=d" (reg[3])
		     : "a" (leaf), "c" (subleaf));
}

/*
 * prim_hypervisor() - what this machine runs under, by CPUID's own words: its
 * maker, "none", "unnamed" for one that hides its name, "unknown" without CPUID
 */
static inline const char *prim_hypervisor(char buf[16])
{
	static const struct {
		char signature[16];
		const char *name;
	} known[] = {
		{ "KVMKVMKVM", "KVM" },
		{ "TCGTCGTCGTCG", "TCG" },
		{ "Microsoft Hv", "Hyper-V" },
		{ "VMwareVMware", "VMware" },
		{ "XenVMMXenVMM", "Xen" },
	};
	__u32 reg[4], i;

	prim_cpuid(1, 0, reg);
	if (!(reg[2] & (1U << 31)))
		return "none";
	prim_cpuid(0x40000000, 0, reg);
	__builtin_memset(buf, 0, 16);
	__builtin_memcpy(buf, &reg[1], 12);
	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!__builtin_memcmp(buf, known[i].signature, 16))
			return known[i].name;
	for (i = 0; buf[i]; i++)
		if (buf[i] < ' ' || buf[i] > '~')
			buf[i] = '?';
	return buf[0] ? buf : "unnamed";
}

/*
 * prim_llc_bytes() - size of the last level cache; 0 if the CPU does not say
 *
 * Intel tells by leaf 4 and AMD by leaf 0x8000001d, in the same layout (Intel
 * SDM vol. 2A, "CPUID"; AMD APM vol. 3, E.4.15). CPUID traps in a guest: not
 * for a timed path.
 */
static inline __u64 prim_llc_bytes(void)
{
	__u32 reg[4], leaf = 4, i;
	__u64 size = 0;

	prim_cpuid(0, 0, reg);
	if (reg[0] < 4 || reg[1] == 0x68747541 /* "Auth": AMD */ ||
	    reg[1] == 0x6f677948 /* "Hygo": Hygon */) {
		prim_cpuid(0x80000000, 0, reg);
		if (reg[0] < 0x8000001d)
			return 0;
		leaf = 0x8000001d;
	}
	for (i = 0; i < 16; i++) {
		__u64 ways, partitions, line, sets;

		prim_cpuid(leaf, i, reg);
		if (!(reg[0] & 0x1f))
			break;
		if ((reg[0] & 0x1f) == 2)	/* instructions only */
			continue;
		ways = (reg[1] >> 22) + 1;
		partitions = ((reg[1] >> 12) & 0x3ff) + 1;
		line = (reg[1] & 0xfff) + 1;
		sets = (__u64)reg[2] + 1;
		if (ways * partitions * line * sets > size)
			size = ways * partitions * line * sets;
	}
	return size;
}

/* prim_cpu_model() - the CPU's own name for itself (leaves 0x80000002 to 4) */
static inline void prim_cpu_model(char model[49])
{
	__u32 reg[4], i;

	model[0] = '\0';
	prim_cpuid(0x80000000, 0, reg);
	if (reg[0] < 0x80000004)
		return;
	for (i = 0; i < 3; i++) {
		prim_cpuid(0x80000002 + i, 0, reg);
		__builtin_memcpy(model + 16 * i, reg, 16);
	}
	model[48] = '\0';
}

/* CPUID 0x80000007: EDX bit 8 (Intel SDM vol. 3B, "Invariant TSC") */
static inline bool prim_tsc_invariant(void)
{
	__u32 reg[4];

	prim_cpuid(0x80000000, 0, reg);
	if (reg[0] < 0x80000007)
		return false;
	prim_cpuid(0x80000007, 0, reg);
	return reg[3] & (1U << 8);
}

#else /* !PRIM_HAVE_CPUID */

static inline const char *prim_hypervisor(char buf[16])
{
	return "unknown";
}

static inline __u64 prim_llc_bytes(void)
{
	return 0;
}

static inline void prim_cpu_model(char model[49])
{
	model[0] = '\0';
}

static inline bool prim_tsc_invariant(void)
{
	return false;
}

#endif

#ifdef __x86_64__

static __always_inline void prim_stosb(void *addr, unsigned long len)
{
	asm volatile("rep stosb"
		     : "+D" (addr), "+c" (len)
		     : "a" (0)
		     : "memory");
}

static __always_inline void prim_stosq(void *addr, unsigned long len)
{
	len /= 8;
	asm volatile("rep stosq"
		     : "+D" (addr), "+c" (len)
		     : "a" (0UL)
		     : "memory");
}

/* Eight 8-byte stores a line, as the kernel's unrolled alternative does. */
static __always_inline void prim_mov(void *addr, unsigned long len)
{
	asm volatile("1:\n\t"
		     "movq %[zero], 0x00(%[p])\n\t"
		     "movq %[zero], 0x08(%[p])\n\t"
		     "movq %[zero], 0x10(%[p])\n\t"
		     "movq %[zero], 0x18(%[p])\n\t"
		     "movq %[zero], 0x20(%[p])\n\t"
		     "movq %[zero], 0x28(%[p])\n\t"
		     "movq %[zero], 0x30(%[p])\n\t"
		     "movq %[zero], 0x38(%[p])\n\t"
		     "addq $64, %[p]\n\t"
		     "subq $64, %[len]\n\t"
		     "jnz 1b"
		     : [p] "+r" (addr), [len] "+r" (len)
		     : [zero] "r" (0UL)
		     : "memory", "cc");
}

/*
 * prim_movnti() - store around the caches, eight bytes at a time
 *
 * Such stores are weakly ordered and gather in buffers of their own (Intel SDM
 * vol. 1, 10.4.6.2), so that whoever clears by them owes an SFENCE. That orders
 * them before later stores; a CPU need not wait there until they have left, and
 * RDTSC does not (on an AMD Zen 4 it does not: 100 ns for a page, 220 ns with
 * prim_drain() behind it).
 */
static __always_inline void prim_movnti(void *addr, unsigned long len)
{
	asm volatile("1:\n\t"
		     "movnti %[zero], 0x00(%[p])\n\t"
		     "movnti %[zero], 0x08(%[p])\n\t"
		     "movnti %[zero], 0x10(%[p])\n\t"
		     "movnti %[zero], 0x18(%[p])\n\t"
		     "movnti %[zero], 0x20(%[p])\n\t"
		     "movnti %[zero], 0x28(%[p])\n\t"
		     "movnti %[zero], 0x30(%[p])\n\t"
		     "movnti %[zero], 0x38(%[p])\n\t"
		     "addq $64, %[p]\n\t"
		     "subq $64, %[len]\n\t"
		     "jnz 1b\n\t"
		     "sfence"
		     : [p] "+r" (addr), [len] "+r" (len)
		     : [zero] "r" (0UL)
		     : "memory", "cc");
}

/*
 * prim_clzero() - AMD's instruction for a line of zeros
 *
 * Weakly ordered as well, hence the SFENCE (AMD APM vol. 3, "CLZERO"), of which
 * the same is to be said: 40 ns and 200 ns. Only where prim_has_clzero().
 */
static __always_inline void prim_clzero(void *addr, unsigned long len)
{
	asm volatile("1:\n\t"
		     "clzero\n\t"
		     "addq $64, %[p]\n\t"
		     "subq $64, %[len]\n\t"
		     "jnz 1b\n\t"
		     "sfence"
		     : [p] "+a" (addr), [len] "+r" (len)
		     :
		     : "memory", "cc");
}

/* prim_drain() - wait until every store has left this CPU's buffers */
static __always_inline void prim_drain(void)
{
	asm volatile("mfence" : : : "memory");
}

/*
 * prim_tsc() - read the time stamp counter, in program order
 *
 * RDTSC alone may be executed early; LFENCE lets it wait until all before it
 * has completed (Intel SDM vol. 2B, "RDTSC"; on AMD once LFENCE is serialising,
 * which Linux sees to). Stores may still be in the buffers.
 */
static __always_inline __u64 prim_tsc(void)
{
	__u32 low, high;

	asm volatile("lfence\n\trdtsc" : "=a" (low), "=d" (high) : : "memory");
	return (__u64)high << 32 | low;
}

/* prim_loaded() - wait until every load has its data (Intel SDM vol. 2A, "LFENCE") */
static __always_inline void prim_loaded(void)
{
	asm volatile("lfence" : : : "memory");
}

/* CPUID 7.0: EBX bit 23 (Intel SDM vol. 2A, table 3-8; AMD APM vol. 3, E.3.6) */
static inline bool prim_has_clflushopt(void)
{
	__u32 reg[4];

	prim_cpuid(0, 0, reg);
	if (reg[0] < 7)
		return false;
	prim_cpuid(7, 0, reg);
	return reg[1] & (1U << 23);
}

/*
 * CPUID 0x80000008: EBX bit 0 (AMD APM vol. 3, E.4.7). It clears a line of the
 * CPU's own size: 64 bytes wherever there is such a CPU, and checked all the
 * same (CPUID 0x80000005: ECX bits 7:0).
 */
static inline bool prim_has_clzero(void)
{
	__u32 reg[4];

	prim_cpuid(0x80000000, 0, reg);
	if (reg[0] < 0x80000008)
		return false;
	prim_cpuid(0x80000008, 0, reg);
	if (!(reg[1] & 1))
		return false;
	prim_cpuid(0x80000005, 0, reg);
	return (reg[2] & 0xff) == PRIM_LINE;
}

#define PRIM_HAVE_FLUSH		1

/*
 * prim_flush() - write a range back and drop it from every cache
 *
 * The fence at the end waits for all of it: what is timed next does not share
 * the memory with write-backs of its own preparation.
 */
static inline void prim_flush(void *addr, unsigned long len, bool opt)
{
	char *p = addr, *end = p + len;

	if (opt)
		for (; p < end; p += PRIM_LINE)
			asm volatile("clflushopt %0" : "+m" (*p));
	else
		for (; p < end; p += PRIM_LINE)
			asm volatile("clflush %0" : "+m" (*p));
	asm volatile("mfence" : : : "memory");
}

#else /* !__x86_64__ */

#define PRIM_HAVE_FLUSH		0

#ifdef __aarch64__

/*
 * prim_dczva_bytes() - what one DC ZVA clears; 0 where it is prohibited
 *
 * DCZID_EL0: bit 4 says prohibited, bits 3:0 are log2 of the words of four
 * bytes (Arm ARM, "DCZID_EL0").
 */
static __always_inline unsigned long prim_dczva_bytes(void)
{
	unsigned long id;

	asm("mrs %0, dczid_el0" : "=r" (id));
	return id & 0x10 ? 0 : 4UL << (id & 0xf);
}

/*
 * prim_dczva() - zero a block a time, as the kernel's clear_page() does
 *
 * Ordered like any other store. @len is a multiple of prim_dczva_bytes(), at
 * most 2 KiB, which is not 0.
 */
static __always_inline void prim_dczva(void *addr, unsigned long len)
{
	asm volatile("1:\n\t"
		     "dc zva, %[p]\n\t"
		     "add %[p], %[p], %[block]\n\t"
		     "subs %[len], %[len], %[block]\n\t"
		     "b.ne 1b"
		     : [p] "+r" (addr), [len] "+r" (len)
		     : [block] "r" (prim_dczva_bytes())
		     : "memory", "cc");
}

/*
 * prim_stnp() - pairs of stores with a hint that they need not be cached, as
 * the kernel's clear_page() does where DC ZVA is prohibited
 *
 * A CPU may gather what is so hinted: the barrier lets the window wait for it.
 */
static __always_inline void prim_stnp(void *addr, unsigned long len)
{
	asm volatile("1:\n\t"
		     "stnp xzr, xzr, [%[p]]\n\t"
		     "stnp xzr, xzr, [%[p], #16]\n\t"
		     "stnp xzr, xzr, [%[p], #32]\n\t"
		     "stnp xzr, xzr, [%[p], #48]\n\t"
		     "add %[p], %[p], #64\n\t"
		     "subs %[len], %[len], #64\n\t"
		     "b.ne 1b\n\t"
		     "dmb ishst"
		     : [p] "+r" (addr), [len] "+r" (len)
		     :
		     : "memory", "cc");
}

#endif

static __always_inline void prim_drain(void)
{
	__sync_synchronize();
}

/* A DMB orders loads, and a DSB waits for them (Arm ARM, "Data Synchronization Barrier"). */
static __always_inline void prim_loaded(void)
{
#ifdef __aarch64__
	asm volatile("dsb ld" : : : "memory");
#else
	__sync_synchronize();
#endif
}

static __always_inline __u64 prim_tsc(void)
{
	return 0;
}

static inline bool prim_has_clflushopt(void)
{
	return false;
}

static inline void prim_flush(void *addr, unsigned long len, bool opt)
{
	(void)addr;
	(void)len;
	(void)opt;
}

#endif

#endif /* CLEARBENCH_PRIMITIVES_H */
