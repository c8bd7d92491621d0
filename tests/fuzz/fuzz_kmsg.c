// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel's log, whose lines have names in them that users chose: each record is refused, or
 * becomes a line that is fit to be shown, and an event that arrives as it was sent.
 */
#include "probe/source/kernel_log/kmsg_fold.h"
#include "probe/source/kernel_log/oom_event.h"
#include "tests/fuzz/check.h"

static void arrives(const struct sink *out)
{
	static struct arena *arena;
	struct wire_body b;

	if (!arena)
		arena = arena_new(1 << 20);
	must(wire_body_decode(arena, out->event.data, out->event.len, &b) == 0);
	for (uint32_t i = 0; i < b.nevents; i++)
		must(b.events[i].nparams >= 2);
	arena_reset(arena);
}

static void kill_told(struct oom_report *r, const char *line, struct sink *out)
{
	struct oom_seen seen = { .report = r, .wall_ns = 1, .page_bytes = 4096, .cgroup = "" };
	int is = oom_report_line(r, line, 4096);

	must(r->ntop <= OOM_TOP);
	for (uint32_t i = 1; i < r->ntop; i++)
		must(r->top[i].rss_bytes <= r->top[i - 1].rss_bytes);
	if (is == 1)
		oom_event_send(&seen, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct kmsg_fold *fold = kmsg_fold_new();
	struct sink out = { 0 };
	struct oom_report oom = { 0 };
	uint64_t now = 1000;

	while (len) {
		const uint8_t *zero = memchr(data, 0, len);
		size_t n = zero ? (size_t)(zero - data) : len;
		struct kmsg_found found = { 0 };
		struct kmsg_line l;

		if (kmsg_line_parse((const char *)data, n, &l) == 0) {
			must(strlen(l.text) < sizeof(l.text));
			kill_told(&oom, l.text, &out);
			if (kmsg_line_match(&l, &found)) {
				must(l.facility == 0 && found.n <= KMSG_WORDS);
				kmsg_fold_line(fold, &l, &found, now, l.us * 1000);
			}
		}
		now += 20000000000ull;
		kmsg_fold_send_due(fold, now, &out);
		arrives(&out);
		buf_reset(&out.event);
		n += zero != NULL;
		data += n;
		len -= n;
	}
	kmsg_fold_free(fold);
	buf_free(&out.event);
	return 0;
}
