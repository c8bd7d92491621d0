// SPDX-License-Identifier: Apache-2.0
#include "collector/core/node_clocks.h"

#include "lib/base/log.h"
#include "collector/core/pairmap.h"

#define SEC 1000000000ull

static const uint64_t WINDOW_NS = 300 * SEC, GONE_NS = 600 * SEC, REUSE_NS = SEC;

/* Wall minus monotonic time. */
struct node_clock {
	int64_t ahead_ns, next_ns; /* next_ns: of the current window alone */
	uint64_t window_ns, heard_ns;
};

struct node_clocks {
	struct pairmap *nodes; /* struct node_clock */
	int64_t *sorted;
	size_t cap, n;
	uint64_t now_ns, made_ns; /* made_ns: when the median was computed; 0: it is due */
	int64_t median_ns;
};

struct node_clocks *node_clocks_new(void)
{
	struct node_clocks *c = calloc(1, sizeof(*c));

	if (!c)
		die("out of memory");
	c->nodes = pairmap_new(sizeof(struct node_clock));
	return c;
}

void node_clocks_free(struct node_clocks *c)
{
	if (!c)
		return;
	pairmap_free(c->nodes);
	free(c->sorted);
	free(c);
}

void node_clocks_hear(struct node_clocks *c, uint64_t node, uint64_t wall_ns, uint64_t mono_ns,
		      bool hello)
{
	struct node_clock *k = pairmap_add(c->nodes, node, 0);
	int64_t ahead_ns = (int64_t)(wall_ns - mono_ns);

	if (wall_ns > INT64_MAX)
		return;
	if (hello || !k->heard_ns) {
		*k = (struct node_clock){ ahead_ns, ahead_ns, mono_ns, mono_ns };
		c->made_ns = 0;
		return;
	}
	k->heard_ns = mono_ns;
	if (mono_ns - k->window_ns >= WINDOW_NS) {
		k->ahead_ns = k->next_ns;
		k->next_ns = ahead_ns;
		k->window_ns = mono_ns;
	}
	if (ahead_ns > k->next_ns)
		k->next_ns = ahead_ns;
	if (k->next_ns > k->ahead_ns)
		k->ahead_ns = k->next_ns;
}

static bool collect(void *arg, uint64_t a UNUSED, uint64_t b UNUSED, void *value)
{
	const struct node_clock *k = value;
	struct node_clocks *c = arg;

	if (!k->heard_ns || c->now_ns - k->heard_ns > GONE_NS)
		return false;
	c->sorted[c->n++] = k->ahead_ns;
	return true;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void make_median(struct node_clocks *c)
{
	size_t most = pairmap_count(c->nodes);

	if (most > c->cap) {
		c->cap = most;
		c->sorted = realloc(c->sorted, most * sizeof(*c->sorted));
		if (!c->sorted)
			die("out of memory");
	}
	c->n = 0;
	pairmap_each(c->nodes, collect, c);
	if (!c->n)
		return;
	qsort(c->sorted, c->n, sizeof(*c->sorted), compare);
	c->median_ns = c->sorted[(c->n - 1) / 2];
}

uint64_t node_clocks_median(struct node_clocks *c, uint64_t mono_ns)
{
	if (!c->made_ns || mono_ns - c->made_ns >= REUSE_NS) {
		c->now_ns = c->made_ns = mono_ns;
		make_median(c);
	}
	return c->n ? (uint64_t)c->median_ns + mono_ns : 0;
}
