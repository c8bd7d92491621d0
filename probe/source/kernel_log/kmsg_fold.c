// SPDX-License-Identifier: Apache-2.0
#include "probe/source/kernel_log/kmsg_fold.h"

#include "lib/base/log.h"
#include "lib/wire/reason.h"
#include "lib/base/text.h"
#include "probe/event/event_param.h"
#include "probe/event/ongoing_event.h"

#define SEC 1000000000ull

struct event {
	struct kmsg_found found; /* of the first line; pattern NULL: free */
	char line[ITEM_MAX_TEXT]; /* the last */
	struct ongoing_event lasting;
	uint64_t last_ns; /* when its last line came */
	uint32_t lines, told_lines;
	bool going_on; /* as it was told */
};

struct begun { /* events of a reason in this minute */
	uint16_t reason;
	uint32_t n;
};

struct kmsg_fold {
	uint64_t withheld, minute;
	struct event event[FOLD_EVENTS];
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

static struct event *find(struct kmsg_fold *f, const struct kmsg_found *found)
{
	for (int i = 0; i < FOLD_EVENTS; i++) {
		const struct kmsg_found *has = &f->event[i].found;

		if (has->pattern && has->pattern->reason == found->pattern->reason &&
		    strcmp(kmsg_found_about(has), kmsg_found_about(found)) == 0)
			return &f->event[i];
	}
	return NULL;
}

/* Whether one more of this reason may begin in this minute. */
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

static struct event *begin(struct kmsg_fold *f, const struct kmsg_found *found, uint64_t now_ns,
			   uint64_t wall_ns)
{
	struct event *e = f->event;

	while (e < f->event + FOLD_EVENTS && e->found.pattern)
		e++;
	if (e == f->event + FOLD_EVENTS || !may_begin(f, found->pattern->reason, now_ns))
		return NULL;
	*e = (struct event){ .found = *found };
	ongoing_event_begin(&e->lasting, reason_find(found->pattern->reason)->code,
		      kmsg_found_about(found), now_ns, wall_ns);
	return e;
}

void kmsg_fold_line(struct kmsg_fold *f, const struct kmsg_line *l, const struct kmsg_found *found,
		    uint64_t now_ns, uint64_t wall_ns)
{
	struct event *e = find(f, found);

	if (!e)
		e = begin(f, found, now_ns, wall_ns);
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

static void put_words(const struct event *e, struct event_item *item)
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

static void tell(struct event *e, bool going_on, struct sink *out)
{
	struct event_item item = { .kind = reason_find(e->found.pattern->reason)->code,
				   .severity = e->found.pattern->severity,
				   .pid = pid_of(&e->found),
				   .comm = kmsg_found_word(&e->found, "comm"),
				   .reason = e->found.pattern->reason };

	ongoing_event_report(&e->lasting, e->last_ns, true, &item);
	item.going_on = going_on; /* what is over may go on again, for a minute */
	item.tid = item.pid;
	event_text(&item, "line", e->line);
	event_number(&item, "lines", e->lines);
	put_words(e, &item);
	sink_event(out, &item);
	e->going_on = going_on;
	e->told_lines = e->lines;
}

/* One that had a single line is over as it is told; a second one opens it again. */
static void step(struct event *e, uint64_t now_ns, struct sink *out)
{
	if (now_ns - e->last_ns >= FOLD_QUIET_S * SEC) {
		if (e->going_on || e->told_lines != e->lines)
			tell(e, false, out);
		e->found.pattern = NULL;
	} else if (ongoing_event_due(&e->lasting, now_ns) && (e->told_lines != e->lines || e->going_on)) {
		tell(e, e->lines > 1, out);
	}
}

void kmsg_fold_tell(struct kmsg_fold *f, uint64_t now_ns, struct sink *out)
{
	for (int i = 0; i < FOLD_EVENTS; i++)
		if (f->event[i].found.pattern)
			step(&f->event[i], now_ns, out);
}
