// SPDX-License-Identifier: Apache-2.0
#include "probe/source/custom/custom_types.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdarg.h>

struct types {
	const struct btf *btf;
	const char *path;
	int line;
	char *err;
	size_t errlen;
};

/* A member of a struct, or a variable of a section. */
struct member {
	const char *name;
	uint32_t type, offset;
	bool bits;
};

static int refuse(const struct types *t, const char *fmt, ...) PRINTF(2, 3);

static int refuse(const struct types *t, const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(t->err, t->errlen, "%s:%d: ", t->path, t->line);

	va_start(ap, fmt);
	if (n > 0 && (size_t)n < t->errlen)
		vsnprintf(t->err + n, t->errlen - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* The type without typedefs, const and volatile; NULL: none. */
static const struct btf_type *plain_type(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int depth = 0; t && (btf_is_mod(t) || btf_is_typedef(t)); depth++)
		t = depth < 32 ? btf__type_by_id(btf, t->type) : NULL;
	return t;
}

static uint32_t member_count(const struct btf_type *t)
{
	return t && (btf_is_composite(t) || btf_is_datasec(t)) ? btf_vlen(t) : 0;
}

static struct member member_at(const struct btf *btf, const struct btf_type *t, uint32_t i)
{
	struct member m = { .name = "" };

	if (btf_is_datasec(t)) {
		const struct btf_var_secinfo *v = btf_var_secinfos(t) + i;
		const struct btf_type *var = btf__type_by_id(btf, v->type);

		if (var && btf_is_var(var))
			m = (struct member){ btf__name_by_offset(btf, var->name_off), var->type,
					     v->offset, false };
	} else {
		const struct btf_member *f = btf_members(t) + i;

		m = (struct member){ btf__name_by_offset(btf, f->name_off), f->type,
				     btf_member_bit_offset(t, i) / 8,
				     btf_member_bitfield_size(t, i) ||
					     btf_member_bit_offset(t, i) % 8 };
	}
	if (!m.name)
		m.name = "";
	return m;
}

/* "tx, rx, sum": the names that exist. */
static void list_members(const struct btf *btf, const struct btf_type *t, char *out, size_t size)
{
	size_t len = 0;

	out[0] = 0;
	for (uint32_t i = 0; i < member_count(t) && len + CUSTOM_NAME < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%.*s", i ? ", " : "",
					CUSTOM_NAME - 8, member_at(btf, t, i).name);
}

static bool number_of(const struct btf_type *t, struct custom_field *f)
{
	if (!t || !(btf_is_int(t) || btf_is_any_enum(t)) ||
	    (btf_is_int(t) && (btf_int_bits(t) != t->size * 8 || btf_int_offset(t))) ||
	    (t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8))
		return false;
	f->size = t->size;
	f->n = 1;
	f->is_signed = btf_is_int(t) && (btf_int_encoding(t) & BTF_INT_SIGNED);
	return true;
}

/* A number, an array of numbers, or chars; false: another type. */
static bool read_type(const struct btf *btf, uint32_t id, struct custom_field *f)
{
	const struct btf_type *t = plain_type(btf, id), *element;
	const struct btf_array *a;

	if (!t || !btf_is_array(t))
		return number_of(t, f);
	a = btf_array(t);
	element = plain_type(btf, a->type);
	if (!number_of(element, f) || a->nelems == 0 || a->nelems > CUSTOM_VALUE_BYTES)
		return false;
	if (f->size == 1) {
		f->size = a->nelems;
		f->n = 0;
	} else {
		f->n = a->nelems;
	}
	return true;
}

static int find_member(const struct types *t, const struct btf_type *in, const char *name,
		       const char *what, struct custom_field *f)
{
	char there[160];

	for (uint32_t i = 0; i < member_count(in); i++) {
		struct member m = member_at(t->btf, in, i);

		if (strcmp(m.name, name) != 0)
			continue;
		f->offset = m.offset;
		if (m.bits || !read_type(t->btf, m.type, f))
			return refuse(
				t,
				"%s of the %s is not an integer of 1, 2, 4 or 8 bytes, nor an "
				"array of integers",
				name, what);
		return 0;
	}
	list_members(t->btf, in, there, sizeof(there));
	if (*there)
		return refuse(t, "the %s has no member %s; it has %s", what, name, there);
	return refuse(t, "the %s is no struct: it has no member %s", what, name);
}

/* Different keys need different labels: every member is named, except those starting with _. */
static int name_all(const struct types *t, struct custom_map *map, const struct btf_type *key)
{
	bool given = map->nlabels;

	for (uint32_t i = 0; i < member_count(key); i++) {
		const char *name = member_at(t->btf, key, i).name;
		uint32_t j = 0;

		if (*name == '_')
			continue;
		while (j < map->nlabels && strcmp(map->label[j].name, name) != 0)
			j++;
		if (j < map->nlabels)
			continue;
		if (given)
			return refuse(
				t,
				"labels leave out %s of the key: two keys could get the same name "
				"(a member whose name begins with _ may be left out)",
				*name ? name : "a nameless member");
		if (map->nlabels == CUSTOM_LABELS || strlen(name) >= CUSTOM_NAME)
			return refuse(t,
				      "the key has more than %d members, or one with a name of "
				      "more than %d bytes",
				      CUSTOM_LABELS, CUSTOM_NAME - 1);
		snprintf(map->label[map->nlabels++].name, CUSTOM_NAME, "%s", name);
	}
	return 0;
}

static int label_struct(const struct types *t, struct custom_map *map, const struct btf_type *key)
{
	int r = name_all(t, map, key);

	if (r == 0 && !map->nlabels)
		r = refuse(t, "the key of map %s has no member to use as a label", map->name);
	for (uint32_t i = 0; i < map->nlabels && r == 0; i++) {
		struct custom_label *l = &map->label[i];

		r = find_member(t, key, l->name, "key", &l->at);
		if (r == 0 && l->at.n > 1)
			r = refuse(t,
				   "%s of the key is an array of numbers: a number or chars can "
				   "be a label",
				   l->name);
	}
	return r;
}

/* A key that is not a struct: its only label may have any name, or none. */
static int label_plain(const struct types *t, struct custom_map *map, uint32_t key, bool single)
{
	struct custom_field at = { 0 };

	if (single) {
		if (map->nlabels)
			return refuse(t,
				      "map %s has one entry, which is the node's own: no labels "
				      "are allowed",
				      map->name);
		return 0;
	}
	if (map->nlabels > 1)
		return refuse(t, "the key of map %s is no struct: one label is allowed", map->name);
	if (!read_type(t->btf, key, &at) || at.n > 1)
		return refuse(t, "the key of map %s is no struct, number or chars", map->name);
	map->nlabels = 1;
	map->label[0].at = at;
	return 0;
}

static bool is_reportable(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_ARRAY ||
	       type == BPF_MAP_TYPE_LRU_HASH || type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static bool is_array(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static int map_types(struct types *t, const struct bpf_map *bpf, struct custom_map *map)
{
	uint32_t id = bpf_map__btf_key_type_id(bpf);
	enum bpf_map_type type = bpf_map__type(bpf);
	const struct btf_type *key = plain_type(t->btf, id);

	if (!is_reportable(type))
		return refuse(t,
			      "map %s is of a type that cannot be reported: HASH, LRU_HASH, ARRAY "
			      "and their PERCPU forms can",
			      map->name);
	if (bpf_map__key_size(bpf) > CUSTOM_KEY_BYTES ||
	    bpf_map__value_size(bpf) > CUSTOM_VALUE_BYTES)
		return refuse(t, "map %s: a key of %d and a value of %d bytes are allowed",
			      map->name, CUSTOM_KEY_BYTES, CUSTOM_VALUE_BYTES);
	if (is_array(type)) /* the map of a section has a key of 4 bytes as well */
		return label_plain(t, map, id, bpf_map__max_entries(bpf) == 1);
	if (!id)
		return refuse(t, "map %s has a key without a type: declare it by __type(key, ...)",
			      map->name);
	return key && btf_is_composite(key) ? label_struct(t, map, key)
					    : label_plain(t, map, id, false);
}

static int check_histogram(const struct types *t, const struct custom_metric *metric)
{
	if (metric->at.n < 2 || metric->at.n > CUSTOM_SLOTS || metric->at.size < 4)
		return refuse(t, "a histogram needs an array of 2 to %d __u32 or __u64",
			      CUSTOM_SLOTS);
	if (metric->first + metric->at.n - 2 > 62)
		return refuse(t, "%u slots from 2^%u on end beyond 2^62", metric->at.n,
			      metric->first);
	return 0;
}

static int metric_types(const struct types *t, const struct bpf_map *bpf,
			struct custom_metric *metric)
{
	uint32_t id = bpf_map__btf_value_type_id(bpf);
	int r;

	if (!id)
		return refuse(t,
			      "map %s has a value without a type: declare it by "
			      "__type(value, ...)",
			      bpf_map__name(bpf));
	if (metric->field[0]) {
		r = find_member(t, plain_type(t->btf, id), metric->field, "value", &metric->at);
		if (r < 0)
			return r;
	} else if (!read_type(t->btf, id, &metric->at)) {
		return refuse(t, "the value of map %s is no number: field = names a member of it",
			      bpf_map__name(bpf));
	}
	if (metric->kind == CUSTOM_HISTOGRAM)
		return check_histogram(t, metric);
	if (metric->at.n != 1)
		return refuse(t, "%s is no single number: kind = histogram reports an array",
			      metric->field[0] ? metric->field : "the value");
	return 0;
}

int custom_types(const struct bpf_object *o, const char *path, struct custom_manifest *m, char *err,
		 size_t errlen)
{
	struct types t = { bpf_object__btf(o), path, 0, err, errlen };
	int r = t.btf ? 0 : refuse(&t, "the object has no types (BTF): build it by clang -g");

	for (uint32_t i = 0; i < m->nmaps && r == 0; i++) {
		struct custom_map *map = &m->map[i];
		const struct bpf_map *bpf = bpf_object__find_map_by_name(o, map->name);

		t.line = map->line;
		r = bpf ? map_types(&t, bpf, map)
			: refuse(&t, "the object has no map %s", map->name);
		for (uint32_t j = 0; j < m->nmetrics && r == 0; j++) {
			t.line = m->metric[j].line;
			if (m->metric[j].map == i)
				r = metric_types(&t, bpf, &m->metric[j]);
		}
	}
	return r;
}
