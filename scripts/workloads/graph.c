// SPDX-License-Identifier: GPL-2.0
/*
 * The generator of the Graph500 specification (graph500.org, "Generating the
 * Edge List"), and compressed rows. Everything depends on the seed alone, not on
 * the threads: random numbers are a function of the place where they are used,
 * and rows are sorted.
 */
#include "workloads.h"
#include "graph.h"

/* The initiator's A, B, C of the specification; D is what is left. */
#define KRON_A	0.57
#define KRON_B	0.19
#define KRON_C	0.19

/* A probability as a bound for 32 random bits */
#define BOUND(_p)	((__u32)((_p) * 4294967296.0))

/* 2^64 over the golden ratio, the step of splitmix64 */
#define STEP	0x9e3779b97f4a7c15ULL

/**
 * graph_permute() - another name for a vertex
 * @g: graph
 * @vertex: below graph_vertices()
 * @which: of several permutations
 *
 * The specification has the vertices renamed by a random permutation. Like its
 * reference code this takes a keyed bijection in place of a table: odd factors
 * and right shifts can be undone within scale bits.
 *
 * Return: the name.
 */
__u32 graph_permute(const struct graph *g, __u32 vertex, unsigned int which)
{
	__u64 mask = graph_vertices(g) - 1, v = vertex;
	unsigned int i, half = (g->scale + 1) / 2;

	for (i = 0; i < 4; i++) {
		__u64 key = mix(g->seed + STEP * (4 * which + i + 1));

		v = (v * (key | 1) + (key >> 32)) & mask;
		v ^= v >> half;
	}
	return v;
}

/**
 * graph_edge() - one edge, by its number
 * @g: graph
 * @index: below graph_edges()
 *
 * The edges are independent draws, so that their order is a random one as it
 * is, as the specification wants it.
 *
 * Return: the edge, its ends renamed.
 */
struct edge graph_edge(const struct graph *g, __u64 index)
{
	static const __u32 ab = BOUND(KRON_A + KRON_B);
	static const __u32 a_of_ab = BOUND(KRON_A / (KRON_A + KRON_B));
	static const __u32 c_of_cd = BOUND(KRON_C / (1 - KRON_A - KRON_B));
	__u64 state = mix(mix(g->seed) + index * STEP);
	struct edge e = { 0, 0 };
	unsigned int bit;

	for (bit = 0; bit < g->scale; bit++) {
		__u64 random = mix(state += STEP);
		bool from = (__u32)random >= ab;
		bool to = random >> 32 >= (from ? c_of_cd : a_of_ab);

		e.from |= (__u32)from << bit;
		e.to |= (__u32)to << bit;
	}
	e.from = graph_permute(g, e.from, 0);
	e.to = graph_permute(g, e.to, 0);
	return e;
}

/* graph_generate() - the edge list, to be given to big_free() */
struct edge *graph_generate(const struct graph *g)
{
	__u64 i, nr = graph_edges(g);
	struct edge *edge = big_alloc(g, nr * sizeof(*edge));

#pragma omp parallel for
	for (i = 0; i < nr; i++)
		edge[i] = graph_edge(g, i);
	return edge;
}

/*
 * Sorts in place by bits from the highest down: without a bad case, and without
 * memory of its own.
 */
static void sort_row(__u32 *row, __u64 nr, __u32 bit)
{
	__u64 lo, hi;

	while (nr > 16 && bit) {
		lo = 0;
		hi = nr;
		while (lo < hi) {
			__u32 v = row[lo];

			if (!(v & bit)) {
				lo++;
			} else {
				row[lo] = row[--hi];
				row[hi] = v;
			}
		}
		bit >>= 1;
		sort_row(row, lo, bit);
		row += lo;
		nr -= lo;
	}
	if (!bit)
		return;
	for (hi = 1; hi < nr; hi++) {
		__u32 v = row[hi];

		for (lo = hi; lo && row[lo - 1] > v; lo--)
			row[lo] = row[lo - 1];
		row[lo] = v;
	}
}

/* Two more than vertices: csr_build() counts two places ahead. */
static size_t first_bytes(__u64 vertices)
{
	return (vertices + 2) * sizeof(__u64);
}

size_t csr_bytes(__u64 vertices, __u64 entries)
{
	return first_bytes(vertices) + entries * sizeof(__u32);
}

static void count(__u64 *slot)
{
	__atomic_fetch_add(slot, 1, __ATOMIC_RELAXED);
}

static void put(struct csr *csr, __u32 row, __u32 to)
{
	csr->to[__atomic_fetch_add(&csr->first[row + 1], 1, __ATOMIC_RELAXED)] = to;
}

/**
 * csr_build() - sort edges into rows
 * @csr: what is built
 * @g: graph
 * @edge: its edges
 * @kind: which rows
 */
void csr_build(struct csr *csr, const struct graph *g, const struct edge *edge,
	       enum csr_kind kind)
{
	__u64 i, nr = graph_edges(g), sum = 0;
	__u32 v;

	csr->vertices = graph_vertices(g);
	csr->entries = kind == CSR_BOTH ? 2 * nr : nr;
	csr->first = big_alloc(g, first_bytes(csr->vertices));
	csr->to = big_alloc(g, csr->entries * sizeof(*csr->to));

	/* first[v + 2]: the length of row v, then the start of row v + 1 ... */
#pragma omp parallel for
	for (i = 0; i < nr; i++) {
		if (kind == CSR_BOTH && edge[i].from == edge[i].to)
			continue;
		count(&csr->first[edge[i].to + 2ULL]);
		if (kind == CSR_BOTH)
			count(&csr->first[edge[i].from + 2ULL]);
	}
	for (i = 2; i < csr->vertices + 2; i++) {
		sum += csr->first[i];
		csr->first[i] = sum;
	}
	/* ... and first[v + 1]: the start of row v, until row v is full */
#pragma omp parallel for
	for (i = 0; i < nr; i++) {
		if (kind == CSR_BOTH && edge[i].from == edge[i].to)
			continue;
		put(csr, edge[i].to, edge[i].from);
		if (kind == CSR_BOTH)
			put(csr, edge[i].from, edge[i].to);
	}
#pragma omp parallel for schedule(dynamic, 1024)
	for (v = 0; v < csr->vertices; v++)
		sort_row(csr->to + csr->first[v], csr->first[v + 1] - csr->first[v],
			 1U << (g->scale - 1));
}

void csr_free(struct csr *csr)
{
	big_free(csr->first, first_bytes(csr->vertices));
	big_free(csr->to, csr->entries * sizeof(*csr->to));
}
