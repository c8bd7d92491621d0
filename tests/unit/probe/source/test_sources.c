// SPDX-License-Identifier: Apache-2.0
/* Contract tests that every source must pass; a line in sources.def adds a source to them. */
#include <dirent.h>
#include <sys/stat.h>

#include "probe/source/sources.h"
#include "tests/lib/test.h"

static struct probe_config config = { .node = "n",
				      .slow_ms = -1,
				      .rows_per_s = 100,
				      .spool_mb = 1,
				      .ring_mb = 1,
				      .hooks = "auto",
				      .conns = 1024,
				      .on_demand = "all",
				      .slow_file_ms = 10,
				      .slow_file_clock = "auto",
				      .slow_files_per_s = 100,
				      .profile = 19,
				      .stuck_s = 10,
				      .cpu_wait_share = 10,
				      .cpu_stall_pct = 40,
				      .io_stall_pct = 30,
				      .memory_stall_pct = 15 };

static void check_items(const struct source *s, const struct sink *out)
{
	AUTO(arena_free) struct arena *a = arena_new(8 << 20);
	struct wire_body b;

	CHECK_EQ(wire_body_decode(a, out->metric.data, out->metric.len, &b), 0);
	CHECK_EQ(b.nunknown, 0);
	for (uint32_t i = 0; i < b.nsamples; i++) {
		const struct wire_dict *d = NULL;

		for (size_t l = 0; l < s->nlayouts; l++)
			if (s->layouts[l]->layout == b.samples[i].layout)
				d = s->layouts[l];
		CHECK(d && d->n == b.samples[i].n);
	}
	CHECK_EQ(wire_body_decode(a, out->event.data, out->event.len, &b), 0);
}

/* Returns whether it could be opened. */
static bool live_and_close(const struct source *s, const struct probe_env *env)
{
	AUTO_FREE void *self = calloc(1, s->size);
	struct sink out = { 0 };
	int fds = test_open_fds(), r = s->open(self, env);

	if (r == 0) {
		CHECK(s->read(self, &out) >= 0);
		CHECK(s->read(self, &out) >= 0);
		check_items(s, &out);
	}
	s->close(self);
	CHECK_EQ(test_open_fds(), fds);
	buf_free(&out.event);
	buf_free(&out.metric);
	return r == 0;
}

static void live_all(const char *procfs, const char *sysfs, bool must_open)
{
	char why[WHY_LEN] = "";
	const struct probe_env env = {
		.procfs = procfs, .sysfs = sysfs, .config = &config, .why = why
	};

	for (size_t i = 0; i < sources_count(); i++) {
		bool opened = live_and_close(sources_at(i), &env);

		if (must_open && geteuid() == 0)
			CHECK(opened || sources_at(i)->needs_hardware);
	}
}

TEST(every_source_opens_reads_twice_and_leaves_no_fd)
{
	live_all("/proc", "/sys", true);
}

TEST(every_source_survives_a_host_with_nothing)
{
	live_all("/nonexistent", "/nonexistent", false);
}

TEST(trying_a_source_leaves_no_fd_and_says_what_is_missing)
{
	char why[WHY_LEN] = "";
	const struct probe_env env = {
		.procfs = "/nonexistent", .sysfs = "/", .config = &config, .why = why
	};
	int fds = test_open_fds();

	CHECK(sources_try(0, &env, NULL) < 0);
	CHECK(strstr(why, "/nonexistent/stat") != NULL);
	for (size_t i = 0; i < sources_count() && geteuid() == 0; i++) {
		const struct probe_env here = {
			.procfs = "/proc", .sysfs = "/sys", .config = &config, .why = why
		};

		int r = sources_try(i, &here, NULL);

		CHECK(r == 0 || sources_at(i)->needs_hardware);
		CHECK_EQ(r < 0, why[0] != 0);
	}
	CHECK_EQ(test_open_fds(), fds);
}

TEST(every_source_has_a_help_text_and_a_period)
{
	for (size_t i = 0; i < sources_count(); i++) {
		const struct source *s = sources_at(i);

		CHECK(s->name[0] && s->help[0]);
		CHECK(s->period_ms > 0 && s->size > 0);
		CHECK(!s->rest_ms || s->rest_ms > s->period_ms);
		CHECK((s->nlayouts > 0) == (s->layouts != NULL));
		CHECK(s->open && s->read && s->close);
	}
}

TEST(every_source_can_be_closed_without_having_been_opened)
{
	for (size_t i = 0; i < sources_count(); i++) {
		AUTO_FREE void *self = calloc(1, sources_at(i)->size);

		sources_at(i)->close(self);
	}
}

TEST(every_layout_has_an_id_and_names_that_occur_once)
{
	const struct wire_dict *all[64];
	size_t n = sources_layouts(all, ARRAY_SIZE(all));

	CHECK(n >= 4);
	for (size_t i = 0; i < n; i++) {
		CHECK_EQ(all[i]->layout, wire_layout_id(all[i]));
		CHECK(all[i]->n > 0 && all[i]->n <= ITEM_MAX_VALUES);
		for (uint32_t j = 0; j < all[i]->n; j++)
			for (uint32_t k = 0; k < j; k++)
				CHECK(strcmp(all[i]->metrics[j].name, all[i]->metrics[k].name) !=
				      0);
	}
}

/* A host with nothing, whose sources then get a readable /proc, and lose it. */
static uint32_t decode_states(struct sink *sink, struct arena *a, struct wire_body *b)
{
	CHECK_EQ(wire_body_decode(a, sink->event.data, sink->event.len, b), 0);
	buf_reset(&sink->event);
	buf_reset(&sink->metric);
	return b->nsources;
}

static const struct source_item *named(const struct wire_body *b, const char *name)
{
	for (uint32_t i = 0; i < b->nsources; i++)
		if (strcmp(b->sources[i].name, name) == 0)
			return &b->sources[i];
	return NULL;
}

TEST(a_source_that_is_off_has_a_reason)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	const struct probe_env env = { .procfs = "/nonexistent", .sysfs = "/", .config = &config };
	AUTO(sources_close) struct sources *s = sources_open(&env);
	struct sink sink = { 0 };
	struct wire_body b;

	sources_send_states(s, &sink);
	CHECK_EQ(decode_states(&sink, a, &b), sources_count());
	CHECK_EQ(named(&b, "proc")->state, SOURCE_OFF);
	CHECK(strstr(named(&b, "proc")->why, "/nonexistent/stat") != NULL);
	sources_read(s, 0, &sink); /* a source that is off is not read */
	CHECK_EQ(sink.metric.len, 0);
	buf_free(&sink.event);
	buf_free(&sink.metric);
}

static void write_stat(const char *dir, bool there)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/stat", dir);
	unlink(path);
	f = there ? fopen(path, "we") : NULL;
	if (f)
		fclose(f);
}

TEST(a_failing_source_is_reported_once_and_once_more_when_it_recovers)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	char dir[] = "/tmp/seismo-gone.XXXXXX";
	const struct probe_env env = { .procfs = dir, .sysfs = dir, .config = &config };
	struct sink sink = { 0 };
	struct sources *s;
	struct wire_body b;

	CHECK(mkdtemp(dir) != NULL);
	write_stat(dir, true);
	s = sources_open(&env);
	write_stat(dir, false);
	sources_read(s, 0, &sink);
	CHECK_EQ(decode_states(&sink, a, &b), 1);
	CHECK_EQ(named(&b, "proc")->state, SOURCE_OFF);
	CHECK(named(&b, "proc")->why[0] != 0);
	sources_read(s, 0, &sink);
	CHECK_EQ(decode_states(&sink, a, &b), 0);
	write_stat(dir, true);
	sources_read(s, 0, &sink);
	CHECK_EQ(decode_states(&sink, a, &b), 1);
	CHECK_EQ(named(&b, "proc")->state, SOURCE_ATTACHED);
	CHECK_STR(named(&b, "proc")->why, "");
	write_stat(dir, false);
	rmdir(dir);
	sources_close(s);
	buf_free(&sink.event);
	buf_free(&sink.metric);
}

static int nfull[STREAM_END];

static void on_full(void *sink, enum wire_stream stream)
{
	struct sink *s = sink;
	struct buf *b = stream == STREAM_EVENT ? &s->event : &s->metric;

	CHECK(b->len < WIRE_MAX_FRAME / 2);
	buf_reset(b);
	nfull[stream]++;
}

TEST(a_body_is_flushed_before_it_outgrows_a_frame)
{
	static const double v[ITEM_MAX_VALUES] = { 0.1, 1e300 };
	struct sink s = { .on_full = on_full, .arg = &s };

	for (int i = 0; i < 10000; i++) {
		sink_sample(&s, &(struct sample_item){ 7, "e", ITEM_MAX_VALUES, v });
		sink_source(&s,
			    &(struct source_item){ "s", SOURCE_OFF, "a reason of some length" });
	}
	CHECK(nfull[STREAM_METRIC] > 0);
	CHECK(nfull[STREAM_EVENT] > 0);
	buf_free(&s.event);
	buf_free(&s.metric);
}
