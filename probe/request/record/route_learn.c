// SPDX-License-Identifier: Apache-2.0
#include "probe/request/record/route_learn.h"

#include <sys/random.h>

#include "lib/base/hash.h"
#include "lib/base/log.h"

enum {
	SLOTS_MIN = 32, /* of a tree: a power of two */
	SLOTS_MAX = 1024,
	LEVELS = ROUTE_SEGMENTS + 3, /* app, method, segments, "*" */
	CANDIDATES = 64,
	IDLE_S = 3600,
	SWEEP_S = 60, /* between two searches for idle places in a full tree */
	DAY_S = 24 * 3600,
	NONE = UINT16_MAX,
};

struct route_part { /* of a tree */
	uint64_t value;
	uint32_t seen_s, hits;
	uint16_t up; /* slot of the place above; NONE: this is an app */
	uint16_t children; /* without ":x" */
	uint8_t named; /* of a wide place: children with a name */
	uint8_t level;
	bool used : 1, wide : 1, name : 1, end : 1; /* end: a route ends here */
};

struct route_candidate { /* a value of a wide place that may get a name */
	uint64_t id;
	uint32_t hits, since; /* since: requests of the tree then */
};

struct route_tree {
	uint64_t app;
	uint32_t seen_s, swept_s, aged_s, requests;
	uint32_t slots, used, routes;
	struct route_part *place;
	struct route_candidate candidate[CANDIDATES];
};

struct route_learner {
	uint64_t seed, any; /* any: value of ":x" */
	struct route_tree
		*tree[LEARN_APPS + 1]; /* the last one is shared by apps without their own */
};

struct route_walk { /* the parts of a route, from its app on, and their places */
	size_t n;
	const char *text[LEVELS];
	size_t len[LEVELS];
	uint64_t value[LEVELS];
	uint16_t at[LEVELS];
	uint32_t now_s;
};

enum step { STEP_DONE, STEP_AGAIN, STEP_OTHER };

static void *need_memory(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("out of memory");
	return p;
}

static uint64_t hash_text(const struct route_learner *l, const char *s, size_t len)
{
	return hash_end(hash_add(l->seed, s, len));
}

struct route_learner *route_learner_new(void)
{
	struct route_learner *l = need_memory(1, sizeof(*l));

	if (getrandom(&l->seed, sizeof(l->seed), 0) != (ssize_t)sizeof(l->seed))
		die("cannot read random bytes");
	l->any = hash_text(l, ":x", 2);
	return l;
}

static void tree_free(struct route_tree *t)
{
	if (t)
		free(t->place);
	free(t);
}

void route_learner_free(struct route_learner *l)
{
	for (size_t i = 0; l && i <= LEARN_APPS; i++)
		tree_free(l->tree[i]);
	free(l);
}

size_t route_learner_bytes(const struct route_learner *l)
{
	size_t n = sizeof(*l);

	for (size_t i = 0; i <= LEARN_APPS; i++)
		if (l->tree[i])
			n += sizeof(struct route_tree) +
			     l->tree[i]->slots * sizeof(struct route_part);
	return n;
}

/* The slot of a place, or a free one for it: a table is never full. */
static uint16_t slot_of(const struct route_tree *t, uint16_t up, uint64_t value)
{
	size_t i = (value ^ (up + 1) * 0x9e3779b97f4a7c15u) >> 20 & (t->slots - 1);

	while (t->place[i].used && (t->place[i].up != up || t->place[i].value != value))
		i = (i + 1) & (t->slots - 1);
	return (uint16_t)i;
}

static bool is_idle(const struct route_part *p, uint32_t now_s, uint32_t idle_s)
{
	return now_s > p->seen_s && now_s - p->seen_s >= idle_s;
}

static uint32_t hits_sum(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* Adds a place to a table, or its counts to those of the same place. Returns its slot. */
static uint16_t put_place(const struct route_learner *l, struct route_tree *t,
			  const struct route_part *p)
{
	uint16_t at = slot_of(t, p->up, p->value);
	struct route_part *to = &t->place[at], *up = p->up == NONE ? NULL : &t->place[p->up];
	struct route_part before = *to;

	if (!to->used) {
		*to = *p;
		to->children = to->named = 0;
		t->used++;
	} else {
		to->hits = hits_sum(to->hits, p->hits);
		to->seen_s = p->seen_s > to->seen_s ? p->seen_s : to->seen_s;
		to->wide |= p->wide;
		to->name |= p->name;
		to->end |= p->end;
	}
	t->routes += to->end && !before.end;
	if (up) {
		if (!before.used && p->value != l->any)
			up->children++;
		if (to->name && !before.name)
			up->named++;
	}
	return at;
}

/* Values that are used often keep their name, unless there are many of them. */
static void widen_place(const struct route_learner *l, struct route_tree *t, uint16_t at)
{
	uint16_t settled[LEARN_NAMED];
	size_t n = 0;

	for (uint32_t i = 0; i < t->slots; i++) {
		struct route_part *p = &t->place[i];

		if (!p->used || p->up != at)
			continue;
		p->name = false;
		if (p->hits < LEARN_SETTLED || p->value == l->any)
			continue;
		if (n < LEARN_NAMED)
			settled[n] = (uint16_t)i;
		n++;
	}
	for (size_t i = 0; i < n && n <= LEARN_NAMED; i++)
		t->place[settled[i]].name = true;
	t->place[at].wide = true;
}

static bool widen_full(const struct route_learner *l, struct route_tree *t)
{
	bool any = false;

	for (uint32_t i = 0; i < t->slots; i++) {
		const struct route_part *p = &t->place[i];

		if (!p->used || p->wide || p->children <= LEARN_VALUES)
			continue;
		widen_place(l, t, (uint16_t)i);
		any = true;
	}
	return any;
}

/* A wide place whose ":x" is no longer used may be learnt again. */
static void narrow_unused(const struct route_learner *l, struct route_tree *t)
{
	for (uint32_t i = 0; i < t->slots; i++)
		if (t->place[i].wide && !t->place[slot_of(t, (uint16_t)i, l->any)].used)
			t->place[i].wide = false;
}

/*
 * Moves all places to a table of that many slots, from the top: what has lost its name goes to ":x"
 * with all that is below it. idle_s: places unused for so long are dropped; 0: none.
 */
static void move_places(const struct route_learner *l, struct route_tree *t, uint32_t slots,
			uint32_t now_s, uint32_t idle_s)
{
	struct route_part *old = t->place;
	uint32_t n = t->slots;
	uint16_t to[SLOTS_MAX];

	t->place = need_memory(slots, sizeof(*t->place));
	t->slots = slots;
	t->used = t->routes = 0;
	memset(t->candidate, 0, sizeof(t->candidate));
	for (unsigned level = 0; level < LEVELS; level++)
		for (uint32_t i = 0; i < n; i++) {
			struct route_part p = old[i];

			if (!p.used || p.level != level)
				continue;
			p.up = p.up == NONE ? NONE : to[p.up];
			to[i] = NONE;
			if ((idle_s && is_idle(&p, now_s, idle_s)) || (level && p.up == NONE))
				continue;
			if (level && t->place[p.up].wide && !p.name)
				p.value = l->any;
			to[i] = put_place(l, t, &p);
		}
	free(old);
}

static void rebuild_tree(const struct route_learner *l, struct route_tree *t, uint32_t slots,
			 uint32_t now_s, uint32_t idle_s)
{
	move_places(l, t, slots, now_s, idle_s);
	if (idle_s)
		narrow_unused(l, t);
	while (widen_full(l, t))
		move_places(l, t, slots, now_s, 0);
}

static struct route_tree *tree_new(uint64_t app, uint32_t now_s)
{
	struct route_tree *t = need_memory(1, sizeof(*t));

	*t = (struct route_tree){
		.app = app, .seen_s = now_s, .aged_s = now_s, .slots = SLOTS_MIN
	};
	t->place = need_memory(t->slots, sizeof(*t->place));
	return t;
}

static struct route_tree *tree_of(struct route_learner *l, uint64_t app, uint32_t now_s)
{
	size_t i = 0, oldest = 0;

	for (; i < LEARN_APPS && l->tree[i]; i++) {
		if (l->tree[i]->app == app)
			return l->tree[i];
		if (l->tree[i]->seen_s < l->tree[oldest]->seen_s)
			oldest = i;
	}
	if (i == LEARN_APPS && now_s - l->tree[oldest]->seen_s >= IDLE_S) {
		tree_free(l->tree[oldest]);
		l->tree[oldest] = NULL;
		i = oldest;
	}
	if (!l->tree[i])
		l->tree[i] = tree_new(app, now_s);
	return l->tree[i];
}

/* Whether a route may be added. A tree that grows is moved. */
static bool make_room(const struct route_learner *l, struct route_tree *t, uint32_t now_s)
{
	if (now_s - t->aged_s >= DAY_S) {
		rebuild_tree(l, t, t->slots, now_s, DAY_S);
		t->aged_s = now_s;
	}
	if (t->used + LEVELS > t->slots / 4 * 3 && t->slots < SLOTS_MAX)
		rebuild_tree(l, t, t->slots * 2, now_s, 0);
	if (t->used + LEVELS <= t->slots / 4 * 3 && t->routes < LEARN_ROUTES)
		return true;
	if (t->swept_s && now_s - t->swept_s < SWEEP_S)
		return false;
	rebuild_tree(l, t, t->slots, now_s, IDLE_S);
	t->swept_s = now_s ? now_s : 1;
	return t->used + LEVELS <= t->slots / 4 * 3 && t->routes < LEARN_ROUTES;
}

/* Whether this value has so many of the tree's latest requests that it deserves a name. */
static bool deserves_name(struct route_tree *t, uint16_t up, uint64_t value)
{
	uint64_t id = hash_end(value ^ up);
	struct route_candidate *c = &t->candidate[id % CANDIDATES];
	bool current = t->requests - c->since <= LEARN_WINDOW;

	if (t->place[up].named >= LEARN_NAMED)
		return false;
	if (c->id == id && current)
		return ++c->hits >= LEARN_SETTLED;
	if (c->id && current && c->hits > 1)
		c->hits--;
	else
		*c = (struct route_candidate){ .id = id, .hits = 1, .since = t->requests };
	return false;
}

/* Finds or adds the place of part i. */
static enum step walk_step(struct route_learner *l, struct route_tree *t, struct route_walk *w,
			   size_t i, bool may_add)
{
	uint16_t up = i ? w->at[i - 1] : NONE;
	uint16_t at = slot_of(t, up, w->value[i]);
	struct route_part *p = &t->place[at];
	struct route_part new = { .value = w->value[i],
				  .up = up,
				  .level = (uint8_t)i,
				  .seen_s = w->now_s,
				  .used = true };

	if (i && t->place[up].wide && !(p->used && p->name)) {
		new.name = w->value[i] != l->any &&may_add &&deserves_name(t, up, w->value[i]);
		if (!new.name)
			new.value = w->value[i] = l->any;
		at = slot_of(t, up, new.value);
		p = &t->place[at];
	}
	w->at[i] = at;
	if (p->used)
		return STEP_DONE;
	if (!may_add)
		return STEP_OTHER;
	put_place(l, t, &new);
	if (!i || t->place[up].wide || t->place[up].children <= LEARN_VALUES)
		return STEP_DONE;
	rebuild_tree(l, t, t->slots, w->now_s, 0);
	return STEP_AGAIN;
}

/* STEP_AGAIN: places have moved, so that the walk has to begin again. */
static enum step walk_tree(struct route_learner *l, struct route_tree *t, struct route_walk *w)
{
	bool may_add = make_room(l, t, w->now_s);
	struct route_part *last;

	for (size_t i = 0; i < w->n; i++) {
		enum step s = walk_step(l, t, w, i, may_add);

		if (s != STEP_DONE)
			return s;
	}
	last = &t->place[w->at[w->n - 1]];
	if (!last->end && t->routes >= LEARN_ROUTES)
		return STEP_OTHER;
	t->routes += !last->end;
	last->end = true;
	for (size_t i = 0; i < w->n; i++) {
		t->place[w->at[i]].hits = hits_sum(t->place[w->at[i]].hits, 1);
		t->place[w->at[i]].seen_s = w->now_s;
	}
	return STEP_DONE;
}

static void split_route(const struct route_learner *l, const char *app, const char *route,
			struct route_walk *w)
{
	w->n = 1;
	w->value[0] = hash_text(l, app, strlen(app));
	while (w->n < LEVELS) {
		const char *end = w->n == LEVELS - 1 ? NULL : strchr(route, '/');
		size_t len = end ? (size_t)(end - route) : strlen(route);

		w->text[w->n] = route;
		w->len[w->n] = len;
		w->value[w->n++] = hash_text(l, route, len);
		if (!end)
			return;
		route = end + 1;
	}
}

static size_t put_text(char *out, size_t at, const char *s, size_t len)
{
	size_t room = ROUTE_TEXT - 1 - at, n = len < room ? len : room;

	memcpy(out + at, s, n);
	return at + n;
}

static void write_route(const struct route_learner *l, const struct route_walk *w, char *out)
{
	size_t at = 0;

	for (size_t i = 1; i < w->n; i++) {
		at = i > 1 ? put_text(out, at, "/", 1) : at;
		if (w->value[i] != l->any)
			at = put_text(out, at, w->text[i], w->len[i]);
		else
			at = put_text(out, at, ":x ", i == 1 ? 3 : 2);
	}
	out[at] = 0;
}

const char *route_learn(struct route_learner *l, const char *app, const char *route, uint32_t now_s,
			char out[static ROUTE_TEXT])
{
	struct route_walk w;
	struct route_tree *t;
	enum step s = STEP_AGAIN;

	w.now_s = now_s;
	split_route(l, app, route, &w);
	t = tree_of(l, w.value[0], now_s);
	t->seen_s = now_s;
	t->requests++;
	for (size_t i = 0; s == STEP_AGAIN && i <= LEVELS; i++)
		s = walk_tree(l, t, &w);
	if (s == STEP_DONE)
		write_route(l, &w, out);
	else
		memcpy(out, ROUTE_OTHER, sizeof(ROUTE_OTHER));
	return out;
}
