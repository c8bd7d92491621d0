// SPDX-License-Identifier: Apache-2.0
#include "probe/source/address/addr_list.h"

#include "lib/base/log.h"

void addr_list_free(struct addr_list *l)
{
	free(l->p);
	*l = (struct addr_list){ 0 };
}

struct found_addr *addr_list_add(struct addr_list *l)
{
	if (l->n == ITEM_MAX_PLACES) {
		l->left_out++;
		return NULL;
	}
	if (l->n == l->room) {
		uint32_t room = l->room ? l->room * 2 : 64;
		struct found_addr *more = realloc(l->p, room * sizeof(*more));

		if (!more)
			die("out of memory");
		l->p = more;
		l->room = room;
	}
	l->p[l->n] = (struct found_addr){ 0 };
	return &l->p[l->n++];
}

static int compare(const struct found_addr *a, const struct found_addr *b)
{
	int r = memcmp(a->addr.ip, b->addr.ip, sizeof(a->addr.ip));

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->netns != b->netns)
		return a->netns < b->netns ? -1 : 1;
	if (a->addr.len != b->addr.len)
		return a->addr.len < b->addr.len ? -1 : 1;
	if (r != 0)
		return r;
	return (a->addr.port > b->addr.port) - (a->addr.port < b->addr.port);
}

static int by_order(const void *a, const void *b)
{
	return compare(a, b);
}

/* Several sockets on one port (SO_REUSEPORT) become one entry. */
void addr_list_sort(struct addr_list *l)
{
	uint32_t n = 0;

	if (!l->n)
		return;
	qsort(l->p, l->n, sizeof(*l->p), by_order);
	for (uint32_t i = 1; i < l->n; i++)
		if (compare(&l->p[n], &l->p[i]) != 0)
			l->p[++n] = l->p[i];
	l->n = n + 1;
}

struct found_addr *addr_list_find(const struct addr_list *l, const struct found_addr *f)
{
	return l->n ? bsearch(f, l->p, l->n, sizeof(*f), by_order) : NULL;
}

static struct place place_of(const struct found_addr *f, bool gone)
{
	return (struct place){ f->kind, f->addr, f->app, f->netns, gone };
}

static void send_list(const struct addr_list *l, bool whole, struct place *p, uint32_t n,
		      struct sink *out)
{
	sink_place(out, &(struct place_item){ whole, l->left_out, n, p });
}

void addr_list_send_all(const struct addr_list *l, struct sink *out)
{
	struct place *p = calloc(l->n + 1, sizeof(*p));

	if (!p)
		die("out of memory");
	for (uint32_t i = 0; i < l->n; i++)
		p[i] = place_of(&l->p[i], false);
	send_list(l, true, p, l->n, out);
	free(p);
}

/* Changes beyond the size of one item are sent with the next full list. */
void addr_list_send_changes(const struct addr_list *was, const struct addr_list *is,
			    struct sink *out)
{
	struct place *p = calloc(was->n + is->n + 1, sizeof(*p));
	uint32_t n = 0;

	if (!p)
		die("out of memory");
	for (uint32_t i = 0; i < was->n; i++)
		if (!addr_list_find(is, &was->p[i]))
			p[n++] = place_of(&was->p[i], true);
	for (uint32_t i = 0; i < is->n; i++) {
		const struct found_addr *old = addr_list_find(was, &is->p[i]);

		if (!old || strcmp(old->app, is->p[i].app) != 0)
			p[n++] = place_of(&is->p[i], false);
	}
	if (n)
		send_list(is, false, p, n < ITEM_MAX_PLACES ? n : ITEM_MAX_PLACES, out);
	free(p);
}
