// SPDX-License-Identifier: GPL-2.0
/*
 * PageRank by power iteration, on the directed graph of the generator's edges.
 * Repeated edges count as often as they are there, a loop leads to where it
 * came from, and the rank of a vertex that no edge leaves goes to all alike.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "workloads.h"
#include "graph.h"

/* Brin and Page, The Anatomy of a Large-Scale Hypertextual Web Search Engine */
#define DAMPING		0.85
#define ITERATIONS_MAX	100000U
/*
 * Of the sum of all ranks, and of the step taken anew: rounding alone is below
 * 2^-53 an addition, of which no sum here nests more than 2^22 with like sign.
 */
#define SUM_TOLERANCE	(1 / 1e9)

/*
 * Sums over vertices are taken block by block, and then over the blocks in their
 * order, so that they do not depend on the number of threads.
 */
#define BLOCK		8192ULL

struct sums {
	double change;
	double dangling;
};

/**
 * struct ranking - what is iterated
 * @g: the graph
 * @in: its edges by their ends
 * @out: edges that leave a vertex
 * @rank: of each vertex
 * @share: what each gives along every one of its edges
 * @block: sums of the blocks
 * @nr_blocks: how many
 */
struct ranking {
	const struct graph *g;
	struct csr in;
	__u32 *out;
	double *rank;
	double *share;
	struct sums *block;
	__u64 nr_blocks;
};

static __u64 block_end(const struct ranking *r, __u64 block)
{
	__u64 n = graph_vertices(r->g), end = (block + 1) * BLOCK;

	return end < n ? end : n;
}

static struct sums total(const struct ranking *r)
{
	struct sums sum = { 0, 0 };
	__u64 b;

	for (b = 0; b < r->nr_blocks; b++) {
		sum.change += r->block[b].change;
		sum.dangling += r->block[b].dangling;
	}
	return sum;
}

/* What each vertex gives along an edge. Return: what those without one hold. */
static double share_out(struct ranking *r)
{
	__u64 b;

#pragma omp parallel for
	for (b = 0; b < r->nr_blocks; b++) {
		__u64 v;

		r->block[b] = (struct sums){ 0, 0 };
		for (v = b * BLOCK; v < block_end(r, b); v++) {
			if (r->out[v])
				r->share[v] = r->rank[v] / r->out[v];
			else
				r->block[b].dangling += r->rank[v];
		}
	}
	return total(r).dangling;
}

/* What every vertex gets, whatever its edges */
static double base_rank(const struct ranking *r, double dangling)
{
	return (1 - DAMPING + DAMPING * dangling) / graph_vertices(r->g);
}

/* One step. Return: the sum of all changes. */
static double step(struct ranking *r)
{
	double base = base_rank(r, share_out(r));
	__u64 b;

#pragma omp parallel for schedule(dynamic, 1)
	for (b = 0; b < r->nr_blocks; b++) {
		__u64 v, j;

		for (v = b * BLOCK; v < block_end(r, b); v++) {
			double rank = 0;

			for (j = r->in.first[v]; j < r->in.first[v + 1]; j++)
				rank += r->share[r->in.to[j]];
			rank = base + DAMPING * rank;
			r->block[b].change += fabs(rank - r->rank[v]);
			r->rank[v] = rank;
		}
	}
	return total(r).change;
}

static void start_ranking(struct ranking *r, const struct graph *g)
{
	__u64 n = graph_vertices(g), nr = graph_edges(g), i;
	struct edge *edge = graph_generate(g);

	r->g = g;
	csr_build(&r->in, g, edge, CSR_IN);
	r->out = big_alloc(g, n * sizeof(*r->out));
#pragma omp parallel for
	for (i = 0; i < nr; i++)
		__atomic_fetch_add(&r->out[edge[i].from], 1, __ATOMIC_RELAXED);
	big_free(edge, nr * sizeof(*edge));

	r->nr_blocks = (n + BLOCK - 1) / BLOCK;
	r->rank = big_alloc(g, n * sizeof(*r->rank));
	r->share = big_alloc(g, n * sizeof(*r->share));
	r->block = big_alloc(g, r->nr_blocks * sizeof(*r->block));
#pragma omp parallel for
	for (i = 0; i < n; i++)
		r->rank[i] = 1.0 / n;
}

static void end_ranking(struct ranking *r)
{
	__u64 n = graph_vertices(r->g);

	csr_free(&r->in);
	big_free(r->out, n * sizeof(*r->out));
	big_free(r->rank, n * sizeof(*r->rank));
	big_free(r->share, n * sizeof(*r->share));
	big_free(r->block, r->nr_blocks * sizeof(*r->block));
}

/**
 * validate() - do the ranks hold?
 * @r: the ranks
 * @change: of the last step
 * @text: what is wrong; empty: nothing
 * @len: of @text
 *
 * They are finite and positive, and sum to 1. And one more step, taken another
 * way (along edges that are generated anew, not by the rows), changes them no
 * more than DAMPING times the last one did, as it must: the step contracts.
 */
static void validate(struct ranking *r, double change, char *text, size_t len)
{
	__u64 n = graph_vertices(r->g), nr = graph_edges(r->g), i, bad = n;
	double sum = 0, left = 0, base, lowest = INFINITY, highest = 0;
	double *next;

#pragma omp parallel for reduction(+:sum) reduction(min:bad, lowest) reduction(max:highest)
	for (i = 0; i < n; i++) {
		double rank = r->rank[i];

		if (!(rank > 0) || isinf(rank)) {
			if (i < bad)
				bad = i;
			continue;
		}
		sum += rank;
		lowest = fmin(lowest, rank);
		highest = fmax(highest, rank);
	}
	printf("rank_sum: %.15f\nrank_min: %.6g\nrank_max: %.6g\n", sum, lowest, highest);
	if (bad < n) {
		snprintf(text, len, "the rank of vertex %llu is %g", bad, r->rank[bad]);
		return;
	}
	if (fabs(sum - 1) > SUM_TOLERANCE) {
		snprintf(text, len, "the ranks sum to %.12f, not to 1 within %g", sum,
			 SUM_TOLERANCE);
		return;
	}

	base = base_rank(r, share_out(r));
	next = big_alloc(r->g, n * sizeof(*next));
#pragma omp parallel for
	for (i = 0; i < nr; i++) {
		struct edge e = graph_edge(r->g, i);

#pragma omp atomic
		next[e.to] += r->share[e.from];
	}
#pragma omp parallel for reduction(+:left)
	for (i = 0; i < n; i++)
		left += fabs(base + DAMPING * next[i] - r->rank[i]);
	big_free(next, n * sizeof(*next));
	printf("next_change: %.6e\n", left);
	if (!(left <= DAMPING * change + SUM_TOLERANCE))
		snprintf(text, len, "one more step along the edges changes the ranks by %g, not by %g at most",
			 left, DAMPING * change + SUM_TOLERANCE);
}

/* How ranks are spoilt for the tests of validate() */
static const char *const corruptions[] = { "nan", "infinite", "zero", "sum", "swap" };

static void corrupt(struct ranking *r, const char *how)
{
	__u64 n = graph_vertices(r->g), v, top = 0, low = 0;

	for (v = 0; v < n; v++) {
		if (r->rank[v] > r->rank[top])
			top = v;
		if (r->rank[v] < r->rank[low])
			low = v;
	}
	if (!strcmp(how, "nan")) {
		r->rank[n / 2] = NAN;
	} else if (!strcmp(how, "infinite")) {
		r->rank[n / 2] = INFINITY;
	} else if (!strcmp(how, "zero")) {
		r->rank[n / 2] = 0;
	} else if (!strcmp(how, "sum")) {
		r->rank[top] *= 1.0001;
	} else {
		double rank = r->rank[top];

		r->rank[top] = r->rank[low];
		r->rank[low] = rank;
	}
}

/* The bits of all ranks: equal only where each is */
static __u64 rank_bits(const struct ranking *r)
{
	__u64 n = graph_vertices(r->g), v, sum = 0;

#pragma omp parallel for reduction(+:sum)
	for (v = 0; v < n; v++) {
		__u64 bits;

		memcpy(&bits, &r->rank[v], sizeof(bits));
		sum += mix(bits ^ mix(v));
	}
	return sum;
}

/* Generating takes the edges beside the rows, iterating the ranks. */
static __u64 needs(const struct graph *g)
{
	__u64 n = graph_vertices(g), m = graph_edges(g);
	__u64 edges = m * sizeof(struct edge), ranks = 3 * n * sizeof(double);

	return csr_bytes(n, m) + n * sizeof(__u32) + (edges > ranks ? edges : ranks);
}

static int pagerank(const struct graph *g, __u64 most, double tolerance, const char *how,
		    double start)
{
	__u64 iterations = 0, dangling = 0, v, huge;
	double t = now(), change;
	char wrong[160] = "";
	struct ranking r;

	start_ranking(&r, g);
	printf("construction_s: %.3f\n", now() - t);
	t = now();
	do
		change = step(&r);
	while (++iterations < most && !(change < tolerance));
	printf("iteration_s: %.3f\niterations: %llu\nchange: %.6e\nconverged: %s\n", now() - t,
	       iterations, change, change < tolerance ? "yes" : "no");
	for (v = 0; v < r.in.vertices; v++)
		dangling += !r.out[v];
	huge = huge_kib();
	printf("dangling: %llu\nrank_bits: %016llx\n", dangling, rank_bits(&r));
	if (how)
		corrupt(&r, how);
	validate(&r, change, wrong, sizeof(wrong));
	end_ranking(&r);
	printf("validation: %s%s\n", wrong[0] ? "failed: " : "passed", wrong);
	printf("anon_huge_kib: %llu\n", huge);
	report_usage(start);
	return finish_stdout(wrong[0] ? CB_FAILED : CB_OK);
}

static int pagerank_main(int argc, char **argv)
{
	struct graph g = {
		.scale = 20, .edgefactor = 16, .seed = 1, .threads = omp_get_max_threads(),
	};
	__u64 iterations = 100;
	const struct number options[] = {
		{ "--scale", &g.scale, 1, SCALE_MAX },
		{ "--edgefactor", &g.edgefactor, 1, EDGEFACTOR_MAX },
		{ "--threads", &g.threads, 1, THREADS_MAX },
		{ "--iterations", &iterations, 1, ITERATIONS_MAX },
		{ "--seed", &g.seed, 0, ~0ULL },
		{ "--huge", &g.huge, 0, 0 },
		{ }
	};
	double start = now(), tolerance = 1 / 1e6;
	const char *how = NULL;
	unsigned int k;
	int i, status;
	char *end;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--corrupt") && argv[i + 1]) {
			how = argv[++i];
			continue;
		}
		if (!strcmp(argv[i], "--tolerance") && argv[i + 1]) {
			tolerance = strtod(argv[++i], &end);
			if (end == argv[i] || *end || !(tolerance > 0 && tolerance <= 1))
				return refuse(&workload_pagerank, "--tolerance takes a number above 0 and up to 1, such as 1e-6, not '%s'",
					      argv[i]);
			continue;
		}
		status = number_option(&workload_pagerank, options, argv, &i);
		if (status)
			return status;
	}
	for (k = 0; how && k < ARRAY_SIZE(corruptions) && strcmp(how, corruptions[k]); k++)
		;
	if (k == ARRAY_SIZE(corruptions))
		return refuse(&workload_pagerank, "--corrupt has no '%s'", how);
	status = memory_fits(&workload_pagerank, &g, needs);
	if (status)
		return status;
	omp_set_dynamic(0);
	omp_set_num_threads(g.threads);
	printf("workload: pagerank\nscale: %llu\nedgefactor: %llu\nvertices: %llu\nedges: %llu\n",
	       g.scale, g.edgefactor, graph_vertices(&g), graph_edges(&g));
	printf("seed: %llu\nthreads: %llu\nhuge: %llu\nneeds_bytes: %llu\n", g.seed, g.threads,
	       g.huge, memory_needs(&g, needs));
	return pagerank(&g, iterations, tolerance, how, start);
}

const struct verb workload_pagerank = {
	.name = "pagerank",
	.summary = "PageRank of a Kronecker graph by power iteration, validated",
	.usage = "[OPTIONS]\n\n"
		"  --scale N       2^N vertices, 1 to 31 (20)\n"
		"  --edgefactor N  edges a vertex, 1 to 1024 (16)\n"
		"  --iterations N  at most, 1 to 100000 (100)\n"
		"  --tolerance X   end when the ranks change by less in all (1e-6)\n"
		"  --threads N     1 to 4096 (as many as there are CPUs)\n"
		"  --seed N        of the graph (1)\n"
		"  --huge          advise the kernel to take huge pages\n",
	.main = pagerank_main,
};
