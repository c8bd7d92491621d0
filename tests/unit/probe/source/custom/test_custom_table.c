// SPDX-License-Identifier: Apache-2.0
/* Samples of a map, from kernel maps that only this test writes. Needs root. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "probe/source/custom/custom_table.h"
#include "tests/lib/test.h"

struct key {
	uint32_t id;
	char comm[16];
};

struct value {
	uint64_t count;
	int32_t level;
	uint32_t slots[3];
};

enum { VALUES = 5 }; /* count, level, three slots */

static struct custom_manifest m;
static struct custom_layout layout;
static struct arena *arena;
static struct wire_body sent;
static struct sink sink;

static void manifest(const char *labels, const char *entities)
{
	char text[512], err[256] = "";
	FILE *f;

	snprintf(text, sizeof(text),
		 "[map a]\n%s%s[metric t_count]\nmap = a\nkind = counter\nscale = 0.5\n"
		 "[metric t_level]\nmap = a\nkind = gauge\n"
		 "[metric t_us]\nmap = a\nkind = histogram\nfirst = 0\n",
		 labels, entities);
	f = fmemopen(text, strlen(text), "r");
	CHECK(f && custom_manifest_read(f, "x.conf", &m, err, sizeof(err)) == 0);
	CHECK_STR(err, "");
	if (f)
		fclose(f);
	m.metric[0].at = (struct custom_field){ offsetof(struct value, count), 8, 1, false };
	m.metric[1].at = (struct custom_field){ offsetof(struct value, level), 4, 1, true };
	m.metric[2].at = (struct custom_field){ offsetof(struct value, slots), 4, 3, false };
	CHECK_EQ(custom_layout_make(&layout, &m, 0, "own.t", "x.conf", err, sizeof(err)), 0);
	CHECK_EQ(layout.dict.n, VALUES);
}

static void label_both(void)
{
	m.map[0].label[0].at = (struct custom_field){ offsetof(struct key, id), 4, 1, false };
	m.map[0].label[1].at = (struct custom_field){ offsetof(struct key, comm), 16, 0, false };
}

static struct custom_table *open_map(enum bpf_map_type type, uint32_t key, uint32_t entries,
				     int *fd)
{
	const struct custom_shape shape = { type, key, sizeof(struct value) };
	struct custom_table *t;

	*fd = bpf_map_create(type, "own_test", key, sizeof(struct value), entries, NULL);
	CHECK(*fd >= 0);
	t = custom_table_new(&m, 0, &layout, &shape, *fd);
	CHECK(t != NULL);
	arena = arena_new(1 << 20);
	return t;
}

static void close_map(struct custom_table *t, int fd)
{
	custom_table_free(t);
	close(fd);
	arena_free(arena);
	buf_free(&sink.metric);
	buf_free(&sink.event);
	memset(&sink, 0, sizeof(sink));
}

static uint32_t look(struct custom_table *t)
{
	buf_reset(&sink.metric);
	CHECK_EQ(custom_table_read(t, &sink), 0);
	CHECK_EQ(wire_body_decode(arena, sink.metric.data, sink.metric.len, &sent), 0);
	return sent.nsamples;
}

static void put(int fd, const void *key, struct value v)
{
	CHECK_EQ(bpf_map_update_elem(fd, key, &v, BPF_ANY), 0);
}

TEST(counters_are_increments_and_gauges_are_values)
{
	struct key key = { 7, "a=b,c\\\n\xff" };
	struct custom_table *t;
	int fd;

	if (geteuid() != 0)
		return;
	manifest("labels = id, comm\n", "");
	label_both();
	t = open_map(BPF_MAP_TYPE_HASH, sizeof(key), 8, &fd);
	CHECK_EQ(look(t), 0);
	put(fd, &key, (struct value){ 10, -3, { 1, 0, 4 } });
	CHECK_EQ(look(t), 1);
	CHECK_STR(sent.samples[0].entity, "id=7,comm=a\\x3db\\x2cc\\x5c\\x0a\\xff");
	CHECK(sent.samples[0].v[0] == 5); /* 10 times 0.5 */
	CHECK(sent.samples[0].v[1] == -3);
	CHECK(sent.samples[0].v[2] == 1 && sent.samples[0].v[4] == 4);
	CHECK_EQ(look(t), 0); /* nothing changed */
	put(fd, &key, (struct value){ 16, 4, { 1, 2, 4 } });
	CHECK_EQ(look(t), 1);
	CHECK(sent.samples[0].v[0] == 3 && sent.samples[0].v[1] == 4);
	CHECK(sent.samples[0].v[2] == 0 && sent.samples[0].v[3] == 2 && sent.samples[0].v[4] == 0);
	close_map(t, fd);
}

TEST(a_counter_that_fell_and_a_key_that_returned_count_from_zero)
{
	struct key key = { 1, "x" };
	struct custom_table *t;
	int fd;

	if (geteuid() != 0)
		return;
	manifest("labels = id, comm\n", "");
	label_both();
	t = open_map(BPF_MAP_TYPE_HASH, sizeof(key), 8, &fd);
	put(fd, &key, (struct value){ 100, 0, { 9, 9, 9 } });
	CHECK_EQ(look(t), 1);
	put(fd, &key, (struct value){ 4, 0, { 9, 9, 9 } });
	CHECK_EQ(look(t), 1);
	CHECK(sent.samples[0].v[0] == 2 && sent.samples[0].v[2] == 0);
	CHECK_EQ(bpf_map_delete_elem(fd, &key), 0);
	CHECK_EQ(look(t), 0);
	put(fd, &key, (struct value){ 6, 0, { 9, 0, 0 } });
	CHECK_EQ(look(t), 1);
	CHECK(sent.samples[0].v[0] == 3 && sent.samples[0].v[2] == 9);
	close_map(t, fd);
}

TEST(keys_beyond_the_limit_are_counted_and_take_the_room_of_removed_ones)
{
	struct key key = { 0, "x" };
	struct custom_table *t;
	int fd;

	if (geteuid() != 0)
		return;
	manifest("labels = id, comm\n", "entities = 3\n");
	label_both();
	t = open_map(BPF_MAP_TYPE_HASH, sizeof(key), 64, &fd);
	for (key.id = 0; key.id < 10; key.id++)
		put(fd, &key, (struct value){ 2, 0, { 0 } });
	CHECK_EQ(look(t), 3);
	CHECK_EQ(custom_table_cut(t), 7);
	sscanf(sent.samples[0].entity, "id=%u,", &key.id);
	CHECK_EQ(bpf_map_delete_elem(fd, &key), 0);
	CHECK_EQ(look(t), 1);
	CHECK_EQ(custom_table_cut(t), 6);
	close_map(t, fd);
}

TEST(per_cpu_values_are_summed)
{
	uint32_t key = 5, ncpu = (uint32_t)libbpf_num_possible_cpus();
	AUTO_FREE struct value *v = calloc(ncpu, sizeof(*v));
	struct custom_table *t;
	int fd;

	_Static_assert(sizeof(struct value) % 8 == 0, "no gap between them");
	if (geteuid() != 0)
		return;
	manifest("", "");
	m.map[0].nlabels = 1; /* without a name */
	m.map[0].label[0] = (struct custom_label){ "", { 0, 4, 1, false } };
	t = open_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, &fd);
	CHECK_EQ(look(t), 0); /* array keys always exist, but hold zeros yet */
	for (uint32_t i = 0; i < ncpu; i++)
		v[i] = (struct value){ 4, -1, { 1, 0, 2 } };
	CHECK_EQ(bpf_map_update_elem(fd, &key, v, BPF_ANY), 0);
	CHECK_EQ(look(t), 1);
	CHECK_STR(sent.samples[0].entity, "5");
	CHECK(sent.samples[0].v[0] == 2 * ncpu && sent.samples[0].v[1] == -(double)ncpu);
	CHECK(sent.samples[0].v[2] == ncpu && sent.samples[0].v[4] == 2 * ncpu);
	close_map(t, fd);
}

TEST(a_map_with_too_many_values_is_refused)
{
	const struct custom_shape shape = { BPF_MAP_TYPE_HASH, 4, sizeof(struct value) };

	manifest("", "entities = 512\n");
	layout.dict.n = CUSTOM_CELLS / 512 + 1;
	CHECK(custom_table_new(&m, 0, &layout, &shape, -1) == NULL);
}
