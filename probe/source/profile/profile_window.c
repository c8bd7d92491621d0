// SPDX-License-Identifier: Apache-2.0
#include "probe/source/profile/profile_window.h"

#include <stdio.h>

#include "probe/procfs/sparse_array.h"

enum {
	NAME = 64,
	SLOTS = 2 * WINDOW_PAIRS,
	RESERVED = WINDOW_APPS, /* one pair without stacks per app */
};

struct pair {
	uint64_t kernel, user;
	uint32_t n;
	uint16_t app;
};

struct window_app {
	char name[NAME];
	bool sent, seen; /* sent before; seen since the last full send */
};

struct profile_window {
	uint32_t napps, npairs;
	uint64_t over;
	struct window_app app[WINDOW_APPS];
	struct pair pair[WINDOW_PAIRS + RESERVED];
	uint16_t place[SLOTS]; /* pair number, from 1 */
};

struct profile_window *profile_window_new(void)
{
	struct profile_window *m = sparse_array_new(sizeof(*m));

	return m;
}

void profile_window_free(struct profile_window *m)
{
	sparse_array_free(m, sizeof(*m));
}

uint64_t profile_window_over(const struct profile_window *m)
{
	return m->over;
}

static uint16_t app_of(struct profile_window *m, const char *name)
{
	uint16_t i = 0;

	while (i < m->napps && strcmp(m->app[i].name, name) != 0)
		i++;
	if (i == m->napps && i == WINDOW_APPS)
		i = WINDOW_APPS - 1;
	m->app[i].seen = true;
	if (i < m->napps)
		return i;
	m->app[m->napps] = (struct window_app){ .seen = true };
	snprintf(m->app[m->napps].name, NAME, "%s",
		 m->napps == WINDOW_APPS - 1 ? "(others)" : name);
	return (uint16_t)m->napps++;
}

static uint16_t *slot_of(struct profile_window *m, const struct pair *p)
{
	uint64_t at = (p->kernel ^ p->user * 3) + p->app * 0x9e3779b97f4a7c15u;

	for (at ^= at >> 32;; at++) {
		uint16_t *place = &m->place[at % SLOTS];
		const struct pair *q = *place ? &m->pair[*place - 1] : NULL;

		if (!q || (q->kernel == p->kernel && q->user == p->user && q->app == p->app))
			return place;
	}
}

_Static_assert(SLOTS > WINDOW_PAIRS + RESERVED, "one slot is always free");

static void count_pair(struct profile_window *m, const struct pair *p)
{
	uint16_t *place = slot_of(m, p);

	if (!*place) {
		m->pair[m->npairs++] = *p;
		*place = (uint16_t)m->npairs;
	} else {
		m->pair[*place - 1].n += p->n;
	}
}

void profile_window_add(struct profile_window *m, const char *app, uint64_t kernel, uint64_t user,
			uint32_t n)
{
	struct pair p = { .kernel = kernel, .user = user, .n = n, .app = app_of(m, app) };

	if (m->npairs >= WINDOW_PAIRS && !*slot_of(m, &p)) {
		p.kernel = p.user = 0;
		m->over += n;
	}
	count_pair(m, &p);
}

static bool is_pending(const struct pair *p)
{
	return (p->kernel | p->user) & STACK_PENDING;
}

/* Entries that become equal are merged when the table is rebuilt. */
void profile_window_named(struct profile_window *m, uint64_t was, uint64_t is)
{
	for (uint32_t i = 0; i < m->npairs; i++) {
		struct pair *p = &m->pair[i];

		p->kernel = p->kernel == was ? is : p->kernel;
		p->user = p->user == was ? is : p->user;
	}
}

static void send_app(struct profile_window *m, uint16_t app, uint64_t start_ns, uint32_t period_us,
		     struct sink *out)
{
	struct seen_stack seen[ITEM_MAX_SEEN];
	struct profile_item item = {
		.start_ns = start_ns, .period_us = period_us, .app = m->app[app].name, .seen = seen
	};

	for (uint32_t i = 0; i < m->npairs; i++) {
		struct pair *p = &m->pair[i];

		if (p->app != app || !p->n || is_pending(p))
			continue;
		seen[item.n++] = (struct seen_stack){ p->kernel, p->user, p->n };
		p->n = 0;
		if (item.n < ITEM_MAX_SEEN)
			continue;
		sink_profile(out, &item);
		item.n = 0;
	}
	if (item.n)
		sink_profile(out, &item);
}

/* Rebuilds the table from the entries left; apps not seen for a minute are dropped. */
static void rebuild_table(struct profile_window *m, bool all)
{
	uint16_t goes_to[WINDOW_APPS] = { 0 };
	uint32_t npairs = m->npairs, napps = 0;

	memset(m->place, 0, sizeof(m->place));
	for (uint32_t i = 0; i < npairs; i++)
		m->app[m->pair[i].app].seen |= m->pair[i].n > 0;
	for (uint32_t i = 0; i < m->napps; i++) {
		if (all && !m->app[i].seen)
			continue;
		goes_to[i] = (uint16_t)napps;
		m->app[napps] = m->app[i];
		m->app[napps++].seen &= !all;
	}
	m->napps = napps;
	m->npairs = 0;
	for (uint32_t i = 0; i < npairs; i++) {
		struct pair p = m->pair[i];

		p.app = goes_to[p.app];
		if (p.n)
			count_pair(m, &p);
	}
}

void profile_window_send(struct profile_window *m, uint64_t start_ns, uint32_t period_us, bool all,
			 struct sink *out)
{
	for (uint16_t i = 0; i < m->napps; i++) {
		if (!all && m->app[i].sent)
			continue;
		m->app[i].sent = true;
		send_app(m, i, start_ns, period_us, out);
	}
	rebuild_table(m, all);
}
