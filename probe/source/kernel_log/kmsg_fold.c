// SPDX-License-Identifier: Apache-2.0
#include "probe/source/kernel_log/kmsg_fold.h"

#include "lib/base/log.h"
#include "lib/wire/reason.h"
#include "lib/base/text.h"
#include "probe/event/event_param.h"
#include "probe/event/ongoing_event.h"

#define SEC 1000000000ull

struct fold_event {
	struct kmsg_found found; /* of the first line; pattern NULL: free */
	char line[ITEM_MAX_TEXT]; /* the latest line */
	struct ongoing_event ongoing;
	uint64_t last_ns; /* when its last line came */
	uint32_t lines, reported_lines;
	bool going_on; /* as last reported */
};

struct begun { /* events of a reason in this minute */
	uint16_t reason;
	uint32_t n;
};

struct kmsg_fold {
	uint64_t withheld, minute;
	struct fold_event event[FOLD_EVENTS];
	struct begun begun[FOLD_EVENTS];
};

struct kmsg_fold *kmsg_fold_new(void)
{
	struct kmsg_fold *f = calloc(1, sizeof(*f));

	if (!f)
		die("out of memory");
	return f;
}

void kmsg_fold_free(struct kmsg_fold *f)
{
	free(f);
}

uint64_t kmsg_fold_withheld(const struct kmsg_fold *f)
{
	return f->withheld;
}

static struct fold_event *find_event(struct kmsg_fold *f, const struct kmsg_found *found)
{
	for (int i = 0; i < FOLD_EVENTS; i++) {
		const struct kmsg_found *has = &f->event[i].found;

		if (has->pattern && has->pattern->reason == found->pattern->reason &&
		    strcmp(kmsg_found_about(has), kmsg_found_about(found)) == 0)
			return &f->event[i];
	}
	return NULL;
}

/* Whether one more event of this reason may begin in this minute. */
static bool may_begin(struct kmsg_fold *f, uint16_t reason, uint64_t now_ns)
{
	struct begun *b = f->begun;

	if (now_ns / (60 * SEC) != f->minute) {
		f->minute = now_ns / (60 * SEC);
		memset(f->begun, 0, sizeof(f->begun));
	}
	while (b < f->begun + FOLD_EVENTS && b->n && b->reason != reason)
		b++;
	if (b == f->begun + FOLD_EVENTS || b->n == FOLD_PER_MINUTE)
		return false;
	b->reason = reason;
	b->n++;
	return true;
}

static struct fold_event *begin_event(struct kmsg_fold *f, const struct kmsg_found *found,
				      uint64_t now_ns, uint64_t wall_ns)
{
	struct fold_event *e = f->event;

	while (e < f->event + FOLD_EVENTS && e->found.pattern)
		e++;
	if (e == f->event + FOLD_EVENTS || !may_begin(f, found->pattern->reason, now_ns))
		return NULL;
	*e = (struct fold_event){ .found = *found };
	ongoing_event_begin(&e->ongoing, reason_find(found->pattern->reason)->code,
			    kmsg_found_about(found), now_ns, wall_ns);
	return e;
}

void kmsg_fold_line(struct kmsg_fold *f, const struct kmsg_line *l, const struct kmsg_found *found,
		    uint64_t now_ns, uint64_t wall_ns)
{
	struct fold_event *e = find_event(f, found);

	if (!e)
		e = begin_event(f, found, now_ns, wall_ns);
	if (!e) {
		f->withheld++;
		return;
	}
	if (found->pattern->severity > e->found.pattern->severity)
		e->found.pattern = found->pattern;
	e->lines++;
	e->last_ns = now_ns;
	text_clean_into(e->line, sizeof(e->line), l->text, strlen(l->text));
}

static void put_words(const struct fold_event *e, struct event_item *item)
{
	for (uint32_t i = 0; i < e->found.n; i++)
		if (strcmp(e->found.word[i].name, "pid") == 0)
			event_number(item, "pid", (double)item->pid);
		else
			event_text(item, e->found.word[i].name, e->found.word[i].value);
}

static uint32_t pid_of(const struct kmsg_found *found)
{
	unsigned long pid = strtoul(kmsg_found_word(found, "pid"), NULL, 10);

	return pid <= INT32_MAX ? (uint32_t)pid : 0;
}

static void send_event(struct fold_event *e, bool going_on, struct sink *out)
{
	struct event_item item = { .kind = reason_find(e->found.pattern->reason)->code,
				   .severity = e->found.pattern->severity,
				   .pid = pid_of(&e->found),
				   .comm = kmsg_found_word(&e->found, "comm"),
				   .reason = e->found.pattern->reason };

	ongoing_event_report(&e->ongoing, e->last_ns, true, &item);
	item.going_on = going_on; /* the event may resume within a minute */
	item.tid = item.pid;
	event_text(&item, "line", e->line);
	event_number(&item, "lines", e->lines);
	put_words(e, &item);
	sink_event(out, &item);
	e->going_on = going_on;
	e->reported_lines = e->lines;
}

/* An event of a single line is reported as over; a second line reopens it. */
static void step_event(struct fold_event *e, uint64_t now_ns, struct sink *out)
{
	if (now_ns - e->last_ns >= FOLD_QUIET_S * SEC) {
		if (e->going_on || e->reported_lines != e->lines)
			send_event(e, false, out);
		e->found.pattern = NULL;
	} else if (ongoing_event_due(&e->ongoing, now_ns) &&
		   (e->reported_lines != e->lines || e->going_on)) {
		send_event(e, e->lines > 1, out);
	}
}

void kmsg_fold_send_due(struct kmsg_fold *f, uint64_t now_ns, struct sink *out)
{
	for (int i = 0; i < FOLD_EVENTS; i++)
		if (f->event[i].found.pattern)
			step_event(&f->event[i], now_ns, out);
}
