// SPDX-License-Identifier: Apache-2.0
#include "probe/source/custom/custom_table.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "lib/base/text.h"

enum {
	IDLE_TICKS =
		30, /* ticks between samples of unchanged keys, and between scans of a full table */
	STEPS = 4096, /* keys visited in one scan */
};

struct entity {
	unsigned char *key;
	uint64_t *last; /* each value, as last read */
	bool used;
};

struct custom_table {
	const struct custom_manifest *m;
	const struct custom_map *map;
	uint32_t number; /* of the map */
	const struct custom_layout *layout;
	struct custom_shape shape;
	int fd, ncpu; /* ncpu: copies of the value */
	size_t stride; /* distance between copies */
	uint32_t n, free; /* entities */
	uint64_t tick, cut;
	unsigned char *value, *keys, *key, *next; /* one of each, except keys */
	uint64_t *lasts, *now;
	struct entity entity[];
};

static bool is_percpu(uint32_t type)
{
	return type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("out of memory");
	return p;
}

struct custom_table *custom_table_new(const struct custom_manifest *m, uint32_t map,
				      const struct custom_layout *layout,
				      const struct custom_shape *shape, int fd)
{
	uint32_t n = (uint32_t)m->map[map].entities, values = layout->dict.n;
	int ncpu = is_percpu(shape->type) ? libbpf_num_possible_cpus() : 1;
	struct custom_table *t;

	if ((uint64_t)n * values > CUSTOM_CELLS || ncpu <= 0)
		return NULL;
	t = zeroed(1, sizeof(*t) + n * sizeof(t->entity[0]));
	*t = (struct custom_table){ .m = m,
				    .map = &m->map[map],
				    .number = map,
				    .layout = layout,
				    .shape = *shape,
				    .fd = fd,
				    .ncpu = ncpu,
				    .n = n,
				    .free = n };
	t->stride = ncpu > 1 || is_percpu(shape->type) ? (shape->value_size + 7u) & ~7u
						       : shape->value_size;
	t->value = zeroed((size_t)ncpu, t->stride);
	t->keys = zeroed(n + 2, shape->key_size);
	t->key = t->keys + (size_t)n * shape->key_size;
	t->next = t->key + shape->key_size;
	t->lasts = zeroed(n + 1, values * sizeof(uint64_t));
	t->now = t->lasts + (size_t)n * values;
	for (uint32_t i = 0; i < n; i++) {
		t->entity[i].key = t->keys + (size_t)i * shape->key_size;
		t->entity[i].last = t->lasts + (size_t)i * values;
	}
	return t;
}

void custom_table_free(struct custom_table *t)
{
	if (!t)
		return;
	free(t->value);
	free(t->keys);
	free(t->lasts);
	free(t);
}

uint64_t custom_table_cut(const struct custom_table *t)
{
	return t->cut;
}

static uint64_t number_at(const unsigned char *p, uint32_t size, bool is_signed)
{
	uint8_t a;
	uint16_t b;
	uint32_t c;
	uint64_t d;

	switch (size) {
	case 1:
		memcpy(&a, p, 1);
		return is_signed ? (uint64_t)(int64_t)(int8_t)a : a;
	case 2:
		memcpy(&b, p, 2);
		return is_signed ? (uint64_t)(int64_t)(int16_t)b : b;
	case 4:
		memcpy(&c, p, 4);
		return is_signed ? (uint64_t)(int64_t)(int32_t)c : c;
	}
	memcpy(&d, p, 8);
	return d;
}

/* Sums each value over all CPUs, in the order of the layout; returns how many are not 0. */
static uint32_t sum_cpus(struct custom_table *t)
{
	uint32_t v = 0, some = 0;

	for (uint32_t i = 0; i < t->m->nmetrics; i++) {
		const struct custom_metric *metric = &t->m->metric[i];
		const struct custom_field *at = &metric->at;

		for (uint32_t slot = 0; metric->map == t->number && slot < at->n; slot++, v++) {
			const unsigned char *p = t->value + at->offset + slot * at->size;

			t->now[v] = 0;
			for (int cpu = 0; cpu < t->ncpu; cpu++, p += t->stride)
				t->now[v] += number_at(p, at->size, at->is_signed);
			some += t->now[v] != 0;
		}
	}
	return some;
}

/* A fraction as a float32 is sent in 5 bytes instead of 9 and is exact to 1 in 16 million. */
static double scaled(double v, double scale)
{
	return scale == 1 ? v : (double)(float)(v * scale);
}

/* Escapes the separators in a label, so that no two keys get the same name. */
static void put_text(char *out, size_t size, const char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 5 < size; i++) {
		if (s[i] == ',' || s[i] == '=' || s[i] == '\\')
			n += (size_t)snprintf(out + n, size - n, "\\x%02x", (unsigned char)s[i]);
		else
			out[n++] = s[i];
	}
	out[n] = 0;
}

static void put_label(const struct custom_label *l, const unsigned char *key, char *out,
		      size_t size)
{
	const char *s = (const char *)key + l->at.offset;
	char escaped[2 * ITEM_MAX_NAME];

	if (l->at.n && l->at.is_signed) {
		snprintf(out, size, "%lld",
			 (long long)number_at(key + l->at.offset, l->at.size, true));
	} else if (l->at.n) {
		snprintf(out, size, "%llu",
			 (unsigned long long)number_at(key + l->at.offset, l->at.size, false));
	} else {
		put_text(escaped, sizeof(escaped), s, strnlen(s, l->at.size));
		text_clean_into(out, size, escaped, strlen(escaped));
	}
}

static void name_of(const struct custom_map *map, const unsigned char *key,
		    char name[static ITEM_MAX_NAME])
{
	size_t len = 0;

	name[0] = 0;
	for (uint32_t i = 0; i < map->nlabels && len + 1 < ITEM_MAX_NAME; i++) {
		const struct custom_label *l = &map->label[i];

		if (i || l->name[0])
			len += (size_t)snprintf(name + len, ITEM_MAX_NAME - len,
						"%s%s=", i ? "," : "", l->name);
		if (len + 1 < ITEM_MAX_NAME)
			put_label(l, key, name + len, ITEM_MAX_NAME - len);
		len = strlen(name);
	}
}

/* Computes the sample; returns whether a value changed. */
static bool compute_sample(const struct custom_table *t, struct entity *e, double *v)
{
	uint32_t n = 0;
	bool changed = false;

	for (uint32_t i = 0; i < t->m->nmetrics; i++) {
		const struct custom_metric *metric = &t->m->metric[i];

		for (uint32_t s = 0; metric->map == t->number && s < metric->at.n; s++, n++) {
			uint64_t now = t->now[n], last = e->last[n];

			changed |= now != last;
			if (metric->kind == CUSTOM_GAUGE)
				v[n] = metric->at.is_signed ? (double)(int64_t)now : (double)now;
			else
				v[n] = (double)(now >= last ? now - last
							    : now); /* the counter restarted */
			v[n] = scaled(v[n], metric->scale);
			e->last[n] = now;
		}
	}
	return changed;
}

static void send_entity(const struct custom_table *t, struct entity *e, struct sink *out)
{
	char name[ITEM_MAX_NAME];
	double v[ITEM_MAX_VALUES];

	if (!compute_sample(t, e, v) && t->tick % IDLE_TICKS != 0)
		return;
	name_of(t->map, e->key, name);
	sink_sample(out,
		    &(struct sample_item){ t->layout->dict.layout, name, t->layout->dict.n, v });
}

/* 1: the key exists, and t->value holds its value. */
static int look_up_key(struct custom_table *t, const unsigned char *key)
{
	if (bpf_map_lookup_elem(t->fd, key, t->value) == 0)
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

static struct entity *find_entity(struct custom_table *t, const unsigned char *key)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->entity[i].used && memcmp(t->entity[i].key, key, t->shape.key_size) == 0)
			return &t->entity[i];
	return NULL;
}

static struct entity *claim_entity(struct custom_table *t, const unsigned char *key)
{
	uint32_t i = 0;

	while (t->entity[i].used)
		i++;
	t->entity[i].used = true;
	memcpy(t->entity[i].key, key, t->shape.key_size);
	memset(t->entity[i].last, 0, t->layout->dict.n * sizeof(uint64_t));
	t->free--;
	return &t->entity[i];
}

static int read_known(struct custom_table *t, struct sink *out)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct entity *e = &t->entity[i];
		int there = e->used ? look_up_key(t, e->key) : 0;

		if (there < 0)
			return there;
		if (there) {
			sum_cpus(t);
			send_entity(t, e, out);
		} else if (e->used) {
			e->used = false;
			t->free++;
		}
	}
	return 0;
}

/* A key is reported once its value is not all zeros, as array keys always exist. */
static int read_new(struct custom_table *t, struct sink *out)
{
	uint64_t cut = 0;
	unsigned char *last = NULL;

	for (int i = 0; i < STEPS && bpf_map_get_next_key(t->fd, last, t->next) == 0; i++) {
		int there;

		memcpy(t->key, t->next, t->shape.key_size);
		last = t->key;
		if (find_entity(t, t->key))
			continue;
		there = look_up_key(t, t->key);
		if (there < 0)
			return there;
		if (!there || !sum_cpus(t))
			continue;
		if (t->free)
			send_entity(t, claim_entity(t, t->key), out);
		else
			cut++;
	}
	t->cut = cut;
	return 0;
}

int custom_table_read(struct custom_table *t, struct sink *out)
{
	int r = read_known(t, out);

	if (r == 0 && (t->free || t->tick % IDLE_TICKS == 0))
		r = read_new(t, out);
	t->tick++;
	return r;
}
