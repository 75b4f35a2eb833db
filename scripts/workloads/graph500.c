// SPDX-License-Identifier: GPL-2.0
/*
 * Graph500, "search": breadth-first searches from sampled roots, each tree
 * validated against the edge list as the specification has it. Like its
 * reference code each search takes fresh memory.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "workloads.h"
#include "graph.h"

#define ROOTS_MAX	100000U
#define NO_LEVEL	(~0U)

/* Found vertices that a thread keeps before it hands them on */
#define LOCAL		1024

/**
 * struct search - one search
 * @g: the graph
 * @edge: its edges
 * @root: where it begins
 * @parent: of each vertex, NO_VERTEX where it was not reached
 * @seconds: time of the search
 * @edges: in the component of @root, repeated ones and loops included
 * @wrong: what is wrong with the tree; empty: nothing
 */
struct search {
	const struct graph *g;
	const struct edge *edge;
	__u32 root;
	__u32 *parent;
	double seconds;
	__u64 edges;
	char wrong[160];
};

/*
 * A vertex's level above its parent in one word: the smallest word wins, so
 * that each gets the lowest level and, of the parents that offer it, the one
 * of the smallest number, whatever the threads do.
 */
static bool claim(__u64 *word, __u64 claimed)
{
	__u64 old = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (claimed < old)
		if (__atomic_compare_exchange_n(word, &old, claimed, true, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return old == ~0ULL;
	return false;
}

struct found {
	__u32 vertex[LOCAL];
	unsigned int nr;
};

static void hand_on(struct found *found, __u32 *queue, __u64 *end)
{
	__u64 at = __atomic_fetch_add(end, found->nr, __ATOMIC_RELAXED);

	memcpy(queue + at, found->vertex, found->nr * sizeof(*queue));
	found->nr = 0;
}

static void search(struct search *s, const struct csr *csr)
{
	__u64 n = csr->vertices, from = 0, to = 1, end = 1, level, v;
	__u64 *word = big_alloc(s->g, n * sizeof(*word));
	__u32 *queue = big_alloc(s->g, n * sizeof(*queue));

#pragma omp parallel for
	for (v = 0; v < n; v++)
		word[v] = ~0ULL;
	word[s->root] = s->root;
	queue[0] = s->root;
	for (level = 1; from < to; level++) {
#pragma omp parallel
		{
			struct found found = { .nr = 0 };
			__u64 i, j;

#pragma omp for schedule(dynamic, 64)
			for (i = from; i < to; i++) {
				__u32 u = queue[i];

				for (j = csr->first[u]; j < csr->first[u + 1]; j++) {
					__u32 w = csr->to[j];

					if (!claim(&word[w], level << 32 | u))
						continue;
					found.vertex[found.nr++] = w;
					if (found.nr == LOCAL)
						hand_on(&found, queue, &end);
				}
			}
			hand_on(&found, queue, &end);
		}
		from = to;
		to = end;
	}
#pragma omp parallel for
	for (v = 0; v < n; v++)
		s->parent[v] = word[v];	/* the lower half */
	big_free(word, n * sizeof(*word));
	big_free(queue, n * sizeof(*queue));
}

static void wrong(struct search *s, const char *fmt, ...) __printf(2, 3);

/* The first one that is found is told. */
static void wrong(struct search *s, const char *fmt, ...)
{
	va_list ap;

#pragma omp critical
	if (!s->wrong[0]) {
		va_start(ap, fmt);
		vsnprintf(s->wrong, sizeof(s->wrong), fmt, ap);
		va_end(ap);
	}
}

/* Levels by walking from @v to what has one, which is the root in the end. */
static void walk(struct search *s, __u32 *level, __u32 v)
{
	__u64 n = graph_vertices(s->g);
	__u64 steps = 0;
	__u32 u = v, known;

	while ((known = __atomic_load_n(&level[u], __ATOMIC_RELAXED)) == NO_LEVEL) {
		__u32 p = s->parent[u];

		if (p >= n || s->parent[p] == NO_VERTEX) {
			wrong(s, "the parent of vertex %u is not in the tree", u);
			return;
		}
		if (++steps > n) {
			wrong(s, "the parents of vertex %u lead in a circle", v);
			return;
		}
		u = p;
	}
	for (u = v; steps; steps--, u = s->parent[u])
		__atomic_store_n(&level[u], known + steps, __ATOMIC_RELAXED);
}

/*
 * The specification's five checks. It has "levels of a tree edge differ by one";
 * here a level is that of the parent plus one, so that a tree whose levels are
 * wrong has an edge of the graph over which they differ by more (3).
 *
 * 1. The tree is a tree: all parents lead to the root, which is its own.
 * 2. Tree edges join levels that differ by one: so counted.
 * 3. Edges of the graph join levels that differ by one at most, or lie outside.
 * 4. The tree spans the component: no edge leads out of it.
 * 5. A vertex and its parent are joined by an edge of the graph.
 */
static void validate(struct search *s)
{
	__u64 n = graph_vertices(s->g), nr = graph_edges(s->g), i, edges = 0;
	__u32 *level = big_alloc(s->g, n * sizeof(*level));
	char *joined = big_alloc(s->g, n);
	const __u32 *parent = s->parent;

	if (parent[s->root] != s->root) {
		wrong(s, "the root %u is not its own parent", s->root);
		goto out;
	}
#pragma omp parallel for
	for (i = 0; i < n; i++)
		level[i] = NO_LEVEL;
	level[s->root] = 0;
#pragma omp parallel for schedule(dynamic, 1024)
	for (i = 0; i < n; i++)
		if (parent[i] != NO_VERTEX && !s->wrong[0])
			walk(s, level, i);
	if (s->wrong[0])
		goto out;

#pragma omp parallel for reduction(+:edges)
	for (i = 0; i < nr; i++) {
		__u32 a = s->edge[i].from, b = s->edge[i].to;

		if (level[a] == NO_LEVEL && level[b] == NO_LEVEL)
			continue;
		edges++;
		if (level[a] == NO_LEVEL || level[b] == NO_LEVEL)
			wrong(s, "the edge of %u and %u leads out of the tree", a, b);
		else if (level[a] > level[b] + 1 || level[b] > level[a] + 1)
			wrong(s, "the edge of %u and %u joins levels %u and %u", a, b, level[a],
			      level[b]);
		/* Every writer writes the same. */
		if (parent[a] == b)
			__atomic_store_n(&joined[a], 1, __ATOMIC_RELAXED);
		if (parent[b] == a)
			__atomic_store_n(&joined[b], 1, __ATOMIC_RELAXED);
	}
#pragma omp parallel for
	for (i = 0; i < n; i++)
		if (parent[i] != NO_VERTEX && i != s->root && !joined[i])
			wrong(s, "no edge joins vertex %llu and its parent %u", i, parent[i]);
	s->edges = edges;
out:
	big_free(level, n * sizeof(*level));
	big_free(joined, n);
}

/* How a tree is spoilt for the tests of validate() */
static const char *const corruptions[] = {
	"root", "circle", "outside", "level", "leaf", "edge",
};

static void corrupt(struct search *s, const struct csr *csr, const char *how)
{
	__u64 n = csr->vertices, v, j;
	__u32 *parent = s->parent;

	for (v = 0; v < n; v++) {
		const __u32 *row = csr->to + csr->first[v];
		__u64 len = csr->first[v + 1] - csr->first[v];

		if (v == s->root || parent[v] == NO_VERTEX)
			continue;
		if (!strcmp(how, "root")) {
			parent[s->root] = v;
			return;
		} else if (!strcmp(how, "outside")) {
			parent[v] = n;
			return;
		} else if (!strcmp(how, "circle") && parent[v] != s->root) {
			/* along edges of the graph, so that nothing else is wrong */
			parent[parent[v]] = v;
			return;
		} else if (!strcmp(how, "level") && parent[v] == s->root) {
			/* a longer way to a neighbour of the root, over real edges */
			for (j = 0; j < len; j++) {
				__u32 u = row[j];

				if (u != s->root && parent[u] != s->root && parent[u] != v) {
					parent[v] = u;
					return;
				}
			}
		} else if (!strcmp(how, "leaf")) {
			for (j = 0; j < n && parent[j] != v; j++)
				;
			if (j == n) {
				parent[v] = NO_VERTEX;
				return;
			}
		} else if (!strcmp(how, "edge") && parent[v] != s->root) {
			/* a parent of the right level, but no neighbour */
			for (j = 0; j < n; j++) {
				__u64 k;

				if (j == s->root || parent[j] != parent[parent[v]])
					continue;
				for (k = 0; k < len && row[k] != j; k++)
					;
				if (k == len) {
					parent[v] = j;
					return;
				}
			}
		}
	}
	say("graph500: this graph has nothing to be corrupted so");
	exit(CB_FAILED);
}

/* Distinct vertices with a neighbour, in random order */
static __u64 sample_roots(const struct graph *g, const struct csr *csr, __u32 *root, __u64 wanted)
{
	__u64 i, nr = 0;

	for (i = 0; i < csr->vertices && nr < wanted; i++) {
		__u32 v = graph_permute(g, i, 1);

		if (csr->first[v] != csr->first[v + 1])
			root[nr++] = v;
	}
	return nr;
}

static __u64 tree_sum(const struct search *s)
{
	__u64 n = graph_vertices(s->g), v, sum = 0;

#pragma omp parallel for reduction(+:sum)
	for (v = 0; v < n; v++)
		sum += mix(v << 32 | s->parent[v]);
	return sum;
}

/*
 * The edge list and the rows; then per search either the words and the queue, or
 * levels and marks, beside the parents.
 */
static __u64 needs(const struct graph *g)
{
	__u64 n = graph_vertices(g), m = graph_edges(g);

	return m * sizeof(struct edge) + csr_bytes(n, 2 * m) +
	       n * (sizeof(__u32) + sizeof(__u64) + sizeof(__u32));
}

/* The harmonic mean of edges a second, and its standard error */
static void report_teps(const double *inverse, __u64 nr)
{
	double mean = 0, square = 0;
	__u64 i;

	for (i = 0; i < nr; i++)
		mean += inverse[i] / nr;
	for (i = 0; i < nr; i++)
		square += (inverse[i] - mean) * (inverse[i] - mean);
	printf("harmonic_mean_teps: %.4g\n", 1 / mean);
	/* By the delta method, as in the specification */
	if (nr > 1)
		printf("harmonic_stderr_teps: %.4g\n",
		       sqrt(square / (nr - 1)) / (mean * mean * sqrt(nr)));
}

static int graph500(struct graph *g, __u64 wanted, const char *how, double start)
{
	double t, middle, *seconds = xrealloc(NULL, wanted * sizeof(*seconds));
	double *inverse = xrealloc(NULL, wanted * sizeof(*inverse));
	__u32 *root = xrealloc(NULL, wanted * sizeof(*root));
	__u64 nr, i, n = graph_vertices(g), sum = 0, huge;
	struct search s = { .g = g };
	struct edge *edge;
	struct csr csr;

	t = now();
	edge = graph_generate(g);
	s.edge = edge;
	printf("generation_s: %.3f\n", now() - t);
	t = now();
	csr_build(&csr, g, edge, CSR_BOTH);
	printf("construction_s: %.3f\n", now() - t);

	nr = sample_roots(g, &csr, root, wanted);
	huge = huge_kib();
	for (i = 0; i < nr && !s.wrong[0]; i++) {
		s.root = root[i];
		t = now();
		s.parent = big_alloc(g, n * sizeof(*s.parent));
		search(&s, &csr);
		seconds[i] = now() - t;
		if (how && i == nr / 2)
			corrupt(&s, &csr, how);
		validate(&s);
		inverse[i] = seconds[i] / s.edges;
		sum += tree_sum(&s);
		big_free(s.parent, n * sizeof(*s.parent));
	}
	csr_free(&csr);
	big_free(edge, graph_edges(g) * sizeof(*edge));

	printf("roots: %llu\n", nr);
	if (!nr) {
		printf("validation: failed: no vertex has a neighbour, so there is nothing to search\n");
	} else if (s.wrong[0]) {
		printf("validation: failed: search %llu from root %u: %s\n", i, s.root, s.wrong);
	} else {
		middle = median(seconds, nr);	/* and sorted */
		printf("search_min_s: %.6f\nsearch_median_s: %.6f\nsearch_max_s: %.6f\n",
		       seconds[0], middle, seconds[nr - 1]);
		report_teps(inverse, nr);
		printf("tree_sum: %016llx\n", sum);
		printf("validation: passed: %llu trees\n", nr);
	}
	printf("anon_huge_kib: %llu\n", huge);
	free(seconds);
	free(inverse);
	free(root);
	report_usage(start);
	return finish_stdout(nr && !s.wrong[0] ? CB_OK : CB_FAILED);
}

static int graph500_main(int argc, char **argv)
{
	struct graph g = {
		.scale = 20, .edgefactor = 16, .seed = 1, .threads = omp_get_max_threads(),
	};
	__u64 roots = 64;
	const struct number options[] = {
		{ "--scale", &g.scale, 1, SCALE_MAX },
		{ "--edgefactor", &g.edgefactor, 1, EDGEFACTOR_MAX },
		{ "--threads", &g.threads, 1, THREADS_MAX },
		{ "--roots", &roots, 1, ROOTS_MAX },
		{ "--seed", &g.seed, 0, ~0ULL },
		{ "--huge", &g.huge, 0, 0 },
		{ }
	};
	const char *how = NULL;
	double start = now();
	unsigned int k;
	int i, status;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--corrupt") && argv[i + 1]) {
			how = argv[++i];
			continue;
		}
		status = number_option(&workload_graph500, options, argv, &i);
		if (status)
			return status;
	}
	for (k = 0; how && k < ARRAY_SIZE(corruptions) && strcmp(how, corruptions[k]); k++)
		;
	if (k == ARRAY_SIZE(corruptions))
		return refuse(&workload_graph500, "--corrupt has no '%s'", how);
	status = memory_fits(&workload_graph500, &g, needs);
	if (status)
		return status;
	omp_set_dynamic(0);
	omp_set_num_threads(g.threads);
	printf("workload: graph500\nscale: %llu\nedgefactor: %llu\nvertices: %llu\nedges: %llu\n",
	       g.scale, g.edgefactor, graph_vertices(&g), graph_edges(&g));
	printf("seed: %llu\nthreads: %llu\nhuge: %llu\nneeds_bytes: %llu\n", g.seed, g.threads,
	       g.huge, memory_needs(&g, needs));
	return graph500(&g, roots, how, start);
}

const struct verb workload_graph500 = {
	.name = "graph500",
	.summary = "breadth-first searches in a Kronecker graph, validated",
	.usage = "[OPTIONS]\n\n"
		"  --scale N       2^N vertices, 1 to 31 (20)\n"
		"  --edgefactor N  edges a vertex, 1 to 1024 (16)\n"
		"  --roots N       searches, 1 to 100000 (64)\n"
		"  --threads N     1 to 4096 (as many as there are CPUs)\n"
		"  --seed N        of the graph and the roots (1)\n"
		"  --huge          advise the kernel to take huge pages\n",
	.main = graph500_main,
};
