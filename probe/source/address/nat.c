// SPDX-License-Identifier: Apache-2.0
#include "probe/source/address/nat.h"

enum { MISSED_MOST = 6 };

static bool same_ip(const struct addr *a, const struct addr *b)
{
	return a->len == b->len && memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

void nat_begin(struct nat *n, uint64_t netns)
{
	for (uint32_t i = 0; i < n->n; i++)
		n->way[i].missed += n->way[i].way.netns == netns;
}

static void note_way(struct nat *n, const struct nat_way *w)
{
	for (uint32_t i = 0; i < n->n; i++) {
		struct nat_entry *p = &n->way[i];

		if (p->way.kind == w->kind && p->way.netns == w->netns &&
		    addr_equal(&p->way.seen, &w->seen) && addr_equal(&p->way.real, &w->real)) {
			p->missed = 0;
			return;
		}
	}
	if (n->n == ITEM_MAX_WAYS) {
		n->left_out += n->left_out < INT32_MAX;
		return;
	}
	n->way[n->n++] = (struct nat_entry){ .way = *w };
	n->changed = true;
}

/* The port of a client belongs to one connection, not to the translation. */
void nat_add(struct nat *n, const struct nat_flow *f, uint64_t netns)
{
	struct nat_way to = { WAY_TO, f->to, f->answers, netns };
	struct nat_way from = { WAY_FROM, f->hears, f->from, netns };

	if (!addr_equal(&f->to, &f->answers))
		note_way(n, &to);
	from.seen.port = from.real.port = 0;
	if (!same_ip(&f->from, &f->hears))
		note_way(n, &from);
}

static void drop_missed(struct nat *n, uint64_t netns, uint32_t missed_most)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n->n; i++)
		if (n->way[i].way.netns != netns || n->way[i].missed < missed_most)
			n->way[kept++] = n->way[i];
	n->changed |= kept != n->n;
	n->n = kept;
}

void nat_end(struct nat *n, uint64_t netns)
{
	drop_missed(n, netns, MISSED_MOST);
}

void nat_forget(struct nat *n, uint64_t netns)
{
	drop_missed(n, netns, 0);
}

void nat_send(struct nat *n, struct sink *out)
{
	struct nat_way ways[ITEM_MAX_WAYS];

	for (uint32_t i = 0; i < n->n; i++)
		ways[i] = n->way[i].way;
	sink_nat(out, &(struct nat_item){ n->left_out, n->n, ways });
	n->changed = false;
}
