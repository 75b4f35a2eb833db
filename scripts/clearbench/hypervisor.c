// SPDX-License-Identifier: GPL-2.0
/*
 * Whether this machine is a real one, as far as user space can tell.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "clearbench.h"
#include "../../module/primitives.h"

/* user_mode_linux() - is this kernel a process of another? */
bool user_mode_linux(void)
{
	char *text = read_text("/proc/cpuinfo");
	bool um = text && strstr(text, "User Mode Linux");

	free(text);
	return um;
}

/**
 * hypervisor_name() - what this machine runs under
 * @vendor: its maker by CPUID's own words, "none", "unnamed" or "unknown"
 */
void hypervisor_name(char vendor[HYPERVISOR_LEN])
{
#ifdef PRIM_HAVE_CPUID
	static const struct {
		const char *signature;
		const char *name;
	} known[] = {
		{ "KVMKVMKVM", "KVM" },
		{ "TCGTCGTCGTCG", "TCG" },
		{ "Microsoft Hv", "Hyper-V" },
		{ "VMwareVMware", "VMware" },
		{ "XenVMMXenVMM", "Xen" },
	};
	unsigned int i;
	__u32 reg[4];

	prim_cpuid(1, 0, reg);
	if (!(reg[2] & (1U << 31))) {
		strcpy(vendor, "none");
		return;
	}
	prim_cpuid(0x40000000, 0, reg);
	memcpy(vendor, &reg[1], 12);
	vendor[12] = '\0';
	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(vendor, known[i].signature))
			strcpy(vendor, known[i].name);
	for (i = 0; vendor[i]; i++)
		if (!isprint((unsigned char)vendor[i]))
			vendor[i] = '?';
	if (!vendor[0])		/* there is one, that hides its name */
		strcpy(vendor, "unnamed");
#else
	strcpy(vendor, "unknown");
#endif
}
