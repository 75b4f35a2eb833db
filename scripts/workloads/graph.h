/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kronecker graphs of the Graph500 benchmark, and the memory for them.
 */
#ifndef WORKLOADS_GRAPH_H
#define WORKLOADS_GRAPH_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

struct verb;

/* A vertex is a 32 bit number, and all ones is none. */
#define SCALE_MAX	31U
#define NO_VERTEX	(~0U)
#define EDGEFACTOR_MAX	1024U

/**
 * struct graph - what there is to be generated
 * @scale: log2 of the number of vertices
 * @edgefactor: edges a vertex
 * @seed: of everything that is random
 * @threads: of OpenMP
 * @huge: advise the kernel to take huge pages
 */
struct graph {
	__u64 scale;
	__u64 edgefactor;
	__u64 seed;
	__u64 threads;
	__u64 huge;
};

struct edge {
	__u32 from;
	__u32 to;
};

/**
 * struct csr - neighbours of every vertex, in compressed rows
 * @first: those of v are @to[@first[v]] up to @to[@first[v + 1]], ascending
 * @to: the neighbours, as often as there are edges to them
 * @vertices: how many
 * @entries: of @to
 */
struct csr {
	__u64 *first;
	__u32 *to;
	__u64 vertices;
	__u64 entries;
};

enum csr_kind {
	CSR_BOTH,	/* an edge leads both ways; loops are left out */
	CSR_IN,		/* the rows are those of the edges' ends */
};

static inline __u64 graph_vertices(const struct graph *g)
{
	return 1ULL << g->scale;
}

static inline __u64 graph_edges(const struct graph *g)
{
	return g->edgefactor << g->scale;
}

/* The finaliser of splitmix64 (Steele, Lea, Flood: Fast Splittable PRNGs, 2014) */
static inline __u64 mix(__u64 x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

struct edge graph_edge(const struct graph *g, __u64 index);
__u32 graph_permute(const struct graph *g, __u32 vertex, unsigned int which);
struct edge *graph_generate(const struct graph *g);

size_t csr_bytes(__u64 vertices, __u64 entries);
void csr_build(struct csr *csr, const struct graph *g, const struct edge *edge,
	       enum csr_kind kind);
void csr_free(struct csr *csr);

void *big_alloc(const struct graph *g, size_t bytes);
void big_free(void *p, size_t bytes);
__u64 memory_needs(const struct graph *g, __u64 (*needs)(const struct graph *g));
int memory_fits(const struct verb *verb, const struct graph *g,
		__u64 (*needs)(const struct graph *g));
__u64 huge_kib(void);

#endif /* WORKLOADS_GRAPH_H */
