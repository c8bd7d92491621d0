// SPDX-License-Identifier: Apache-2.0
/* The kernel log: its records, the patterns of schema/def/kmsg.def, and folding of repeats. */
#include <stdio.h>

#include "lib/wire/reason.h"
#include "probe/source/kernel_log/kmsg_fold.h"
#include "tests/lib/test.h"

#define SEC 1000000000ull

enum { WALL_S = 1790000000 };

static const struct {
	uint16_t reason;
	const char *text, *about;
} lines[] = {
#define LINE(reason, text, about) { R_##reason, text, about },
#include "tests/unit/probe/source/kernel_log/kmsg_lines.def"
#undef LINE
};

static struct kmsg_line line_of(uint32_t facility, const char *text)
{
	struct kmsg_line l = { .facility = facility, .level = 4 };

	snprintf(l.text, sizeof(l.text), "%s", text);
	return l;
}

TEST(every_real_line_matches_with_its_subject)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct kmsg_line l = line_of(0, lines[i].text);
		struct kmsg_found f = { 0 };

		if (!kmsg_line_match(&l, &f))
			printf("    not found: %s\n", lines[i].text);
		CHECK(kmsg_line_match(&l, &f));
		CHECK_STR(reason_find(f.pattern->reason)->code, reason_find(lines[i].reason)->code);
		CHECK_STR(kmsg_found_about(&f), lines[i].about);
	}
}

TEST(every_pattern_has_a_real_line)
{
	static const struct kmsg_pattern p[] = {
#define KMSG(reason, severity, text) { R_##reason, EVENT_##severity, text },
#include "schema/def/kmsg.def"
#undef KMSG
	};

	CHECK(ARRAY_SIZE(p) >= 60);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		bool hit = false;

		for (size_t j = 0; j < ARRAY_SIZE(lines) && !hit; j++) {
			struct kmsg_line l = line_of(0, lines[j].text);
			struct kmsg_found f;

			hit = kmsg_line_match(&l, &f) && strcmp(f.pattern->text, p[i].text) == 0;
		}
		if (!hit)
			printf("    no line: %s\n", p[i].text);
		CHECK(hit);
	}
}

TEST(lines_written_by_users_are_never_events)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct kmsg_line l = line_of(1, lines[i].text);
		struct kmsg_found f;

		CHECK(!kmsg_line_match(&l, &f));
	}
}

TEST(ordinary_lines_are_no_events)
{
	static const char *const plain[] = {
		"EXT4-fs (vda1): mounted filesystem 1b2c r/w with ordered data mode.",
		"e1000e 0000:00:1f.6 eno1: NIC Link is Up 1000 Mbps Full Duplex",
		"XFS (dm-0): Mounting V5 Filesystem",
		"XFS (dm-0): Ending clean mount",
		"BTRFS info (device sda3): using crc32c (crc32c-intel) checksum algorithm",
		"nfs: server 10.1.2.3 OK",
		"sd 0:0:0:0: [sda] Write cache: enabled, read cache: enabled",
		"watchdog: BUG: soft lockup - CPU#",
		"audit: type=1326 audit(1795391945.068:12): auid=4294967295 sig=31",
		"sched: RT throttling activated",
		"INFO: task :12 blocked for more than 120 seconds.",
		"INFO: task dd:x blocked for more than 120 seconds.",
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		struct kmsg_line l = line_of(0, plain[i]);
		struct kmsg_found f;

		CHECK(!kmsg_line_match(&l, &f));
	}
}

TEST(a_record_is_parsed_into_its_fields)
{
	static const char record[] = "4,1234,5678901,-;EXT4-fs error \\x5c\\x0a \\xffend;more\n"
				     " SUBSYSTEM=block\n DEVICE=b7:0\n";
	struct kmsg_line l;

	CHECK_EQ(kmsg_line_parse(record, sizeof(record) - 1, &l), 0);
	CHECK_EQ(l.level, 4);
	CHECK_EQ(l.facility, 0);
	CHECK_EQ(l.seq, 1234);
	CHECK_EQ(l.us, 5678901);
	CHECK_STR(l.text, "EXT4-fs error \\\\x0a \\xffend;more");
	CHECK_EQ(kmsg_line_parse("12,1,2,-,caller=T1;user", 23, &l), 0);
	CHECK_EQ(l.facility, 1);
	CHECK_STR(l.text, "user");
}

TEST(malformed_records_are_refused)
{
	static const char *const bad[] = {
		"",
		"4",
		"4,1,2",
		"4,1;x",
		"a,1,2,-;x",
		",,,;x",
		"-4,1,2,-;x",
		"4,,2,-;x",
		";x",
		"4,1,2,-\n;x",
		"99999999999999999999,1,2,-;x",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct kmsg_line l;

		CHECK_EQ(kmsg_line_parse(bad[i], strlen(bad[i]), &l), -EBADMSG);
	}
}

struct rig {
	struct kmsg_fold *fold;
	struct sink out;
	struct arena *arena;
	struct wire_body b;
	uint64_t now;
};

static struct rig rig_new(void)
{
	return (struct rig){ .fold = kmsg_fold_new(),
			     .arena = arena_new(1 << 20),
			     .now = 1000 * SEC };
}

static void rig_free(struct rig *r)
{
	kmsg_fold_free(r->fold);
	arena_free(r->arena);
	buf_free(&r->out.event);
}

static void hear(struct rig *r, const char *text)
{
	struct kmsg_line l = line_of(0, text);
	struct kmsg_found f;

	CHECK(kmsg_line_match(&l, &f));
	kmsg_fold_line(r->fold, &l, &f, r->now, WALL_S * SEC + r->now);
}

/* The event that is sent s seconds later, or NULL. */
static const struct event_item *event_after(struct rig *r, uint64_t s)
{
	r->now += s * SEC;
	buf_reset(&r->out.event);
	kmsg_fold_send_due(r->fold, r->now, &r->out);
	CHECK_EQ(wire_body_decode(r->arena, r->out.event.data, r->out.event.len, &r->b), 0);
	return r->b.nevents ? r->b.events : NULL;
}

static const struct param *param(const struct event_item *e, const char *key)
{
	for (uint32_t i = 0; i < e->nparams; i++)
		if (strcmp(e->params[i].key, key) == 0)
			return &e->params[i];
	return NULL;
}

TEST(a_single_line_is_an_event_that_is_over_at_once)
{
	struct rig r = rig_new();
	const struct event_item *e;

	hear(&r, "EXT4-fs error (device loop0): ext4_lookup:1785: inode #2: comm ls: bad");
	e = event_after(&r, 0);
	CHECK(e != NULL);
	CHECK_STR(e->kind, "fs.error");
	CHECK_EQ(e->severity, EVENT_CRITICAL);
	CHECK_EQ(e->start_ns, WALL_S * SEC + 1000 * SEC);
	CHECK(!e->going_on && e->id && e->update == 1);
	CHECK_STR(param(e, "dev")->text, "loop0");
	CHECK(param(e, "lines")->number == 1);
	CHECK(strstr(param(e, "line")->text, "comm ls: bad") != NULL);
	CHECK(!event_after(&r, 100)); /* its end was already sent */
	rig_free(&r);
}

TEST(repeats_are_one_event_that_ends_after_a_quiet_minute)
{
	struct rig r = rig_new();
	const struct event_item *e;
	uint32_t updates = 0;
	uint64_t id;

	hear(&r, "ata1: hard resetting link");
	id = event_after(&r, 0)->id;
	for (int s = 0; s < 100; s++) {
		for (int i = 0; i < 50; i++)
			hear(&r, "ata1: hard resetting link");
		e = event_after(&r, 1);
		updates += e != NULL;
		CHECK(!e || (e->going_on && e->id == id && e->update == updates + 1));
	}
	CHECK_EQ(updates, 2); /* after 30 s, and 60 s later */
	e = event_after(&r, 60);
	CHECK(e && !e->going_on && e->id == id);
	CHECK(param(e, "lines")->number == 5001);
	CHECK_EQ(e->us, 99000000);
	CHECK(!event_after(&r, 60));
	hear(&r, "ata1: hard resetting link");
	CHECK(event_after(&r, 1)->id != id);
	rig_free(&r);
}

TEST(two_devices_are_two_events)
{
	struct rig r = rig_new();

	hear(&r, "ata1: hard resetting link");
	hear(&r, "ata2: hard resetting link");
	hear(&r, "ata1: failed command: READ FPDMA QUEUED"); /* the first device once more */
	CHECK(event_after(&r, 0) != NULL);
	CHECK_EQ(r.b.nevents, 2);
	rig_free(&r);
}

TEST(events_of_a_reason_are_limited_per_minute_and_the_others_counted)
{
	struct rig r = rig_new();
	char text[64];

	r.now = 1020 * SEC; /* a clock minute starts */
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "prog%d[%d]: segfault at 0 ip 0 sp 0 error 4", i, i);
		hear(&r, text);
	}
	hear(&r, "VFS: file-max limit 1000 reached");
	event_after(&r, 0);
	CHECK_EQ(r.b.nevents, FOLD_PER_MINUTE + 1);
	CHECK_EQ(kmsg_fold_withheld(r.fold), 1000 - FOLD_PER_MINUTE);
	r.now += 70 * SEC;
	hear(&r, "other[5]: segfault at 0 ip 0 sp 0 error 4");
	event_after(&r, 0);
	CHECK_EQ(r.b.nevents, 1);
	CHECK_EQ(r.b.events[0].pid, 5);
	CHECK_STR(r.b.events[0].comm, "other");
	rig_free(&r);
}

TEST(a_full_event_table_counts_further_lines)
{
	struct rig r = rig_new();

	for (int minute = 0; minute < 10; minute++) {
		for (int i = 0; i < FOLD_PER_MINUTE; i++) {
			char text[64];

			snprintf(text, sizeof(text), "EXT4-fs error (device sd%d-%d): x", minute,
				 i);
			hear(&r, text);
		}
		r.now += 5 * SEC;
		r.now += minute % 5 == 0 ? 0 : 1;
	}
	event_after(&r, 0);
	CHECK(r.b.nevents <= FOLD_EVENTS);
	CHECK_EQ(kmsg_fold_withheld(r.fold) + r.b.nevents, 10 * FOLD_PER_MINUTE);
	rig_free(&r);
}

/* Every name in a sentence is a parameter of each line of that reason. */
TEST(the_sentence_of_a_reason_finds_its_parameters)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct rig r = rig_new();
		const struct event_item *e;
		const char *s;

		hear(&r, lines[i].text);
		e = event_after(&r, 0);
		CHECK(e != NULL);
		s = e ? reason_find(e->reason)->en : "";
		for (s = strchr(s, '{'); s && lines[i].reason != R_TASK_STUCK;
		     s = strchr(s + 1, '{')) {
			AUTO_FREE char *name = strndup(s + 1, strcspn(s, "}") - 1);

			if (!param(e, name))
				printf("    no %s: %s\n", name, lines[i].text);
			CHECK(param(e, name) != NULL);
		}
		rig_free(&r);
	}
}
