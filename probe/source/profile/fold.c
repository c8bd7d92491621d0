// SPDX-License-Identifier: Apache-2.0
#include "probe/source/profile/fold.h"

#include <stdio.h>

#include "lib/base/hash.h"
#include "probe/source/profile/fold_kernel.h"
#include "probe/source/profile/profile_window.h"
#include "probe/symbol/user/user_frames.h"
#include "probe/symbol/user/usym_frame.h"
#include "probe/procfs/sparse_array.h"

enum {
	BYTES_S = 128 * 1024, /* file bytes per second: about 1 ms; unused ones accumulate */
	BYTES_SAVED = 12 << 20,
	STEP_BYTES = 2 << 20,
	PAGE = 4096,
	CUT = 1, /* flags of a STACK */
	USER = 2,
	BY_ID = 1,
};

#define SEC 1000000000ull
#define PATIENCE_NS (20 * SEC)

struct user {
	uint64_t id, since_ns; /* id: the pending id */
	uint32_t tgid, n, times; /* times: seen since then */
	bool cut;
	struct req_frame frame[ONCPU_USER];
};

struct fold {
	struct fold_kernel *kernel;
	struct usym *usym;
	struct usym_files *files; /* of the same files */
	struct fold_common common;
	uint64_t unknown, step_ns, minute_ns;
	size_t bytes; /* file bytes that may be read */
	bool begun; /* a lookup of these places is running */
	uint32_t nplaces, nuser;
	struct req_frame place[USYM_FRAMES]; /* looked up with one pass */
	uint32_t place_of[USYM_FRAMES]; /* process */
	struct user user[FOLD_USER];
};

_Static_assert((int)ONCPU_USER <= (int)USYM_FRAMES && (int)ONCPU_USER <= (int)ITEM_MAX_FRAMES,
	       "one item");

struct fold *fold_new(const char *procfs, void (*named)(void *arg, uint64_t was, uint64_t is),
		      void *arg)
{
	struct fold *f = sparse_array_new(sizeof(*f));

	f->common.functions = function_cache_new();
	f->common.named = named;
	f->common.arg = arg;
	stack_dedup_open(&f->common.sent, procfs);
	f->kernel = fold_kernel_new(procfs, &f->common);
	f->usym = usym_new(procfs);
	f->files = usym_files_new(procfs);
	f->bytes = BYTES_SAVED;
	return f;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	function_cache_free(f->common.functions);
	fold_kernel_free(f->kernel);
	usym_free(f->usym);
	usym_files_free(f->files);
	sparse_array_free(f, sizeof(*f));
}

uint64_t fold_unknown(const struct fold *f)
{
	return f->unknown + fold_kernel_unknown(f->kernel);
}

static uint64_t space_of(const struct req_frame *q, uint32_t tgid)
{
	if (q->status == BY_ID)
		return hash_end(hash_add(HASH_START, q->build_id, sizeof(q->build_id)));
	return hash_end(hash_add(HASH_START, &tgid, sizeof(tgid)));
}

/* A return address may lie behind the end of its function. */
static struct req_frame place_of(const struct user *u, uint32_t i)
{
	struct req_frame q = u->frame[i];

	q.where -= i > 0 && q.where;
	return q;
}

static const char *find_function(const struct fold *f, const struct req_frame *place, uint32_t tgid)
{
	return function_cache_find(f->common.functions, space_of(place, tgid), place->where);
}

/* The outermost function starts a thread, or belongs to the C library. */
static bool is_whole(const struct stack_item *s)
{
	const char *last = s->n > 1 ? s->frame[s->n - 1] : "";

	return usym_name_begins(last) || strstr(last, "(libc.so") || strstr(last, "(ld-musl");
}

/* Resolves the leading known frames; true: all frames are known. */
static bool resolve_frames(const struct fold *f, const struct user *u, struct stack_item *s)
{
	bool cut = u->cut, known = true;

	*s = (struct stack_item){ .flags = USER };
	for (uint32_t i = 0; i < u->n && known; i++) {
		const struct req_frame place = place_of(u, i);
		const char *text = find_function(f, &place, u->tgid);

		if (text && !*text) {
			cut = true;
			break;
		}
		known = text != NULL;
		if (known)
			s->frame[s->n++] = text;
	}
	if (cut || !known || !is_whole(s))
		s->flags |= CUT;
	return known;
}

/* Adds the file of the first unknown frame, if a process with the same build id was seen. */
static void add_file(const struct fold *f, const struct user *u, struct stack_item *s,
		     char text[static USYM_TEXT])
{
	const struct req_frame *q = &u->frame[s->n];
	struct usym_frame at = { 0 };
	const struct code_file *c;

	if (q->status != BY_ID)
		return;
	c = usym_files_by_id(f->files, q->build_id);
	if (!c)
		return;
	usym_frame_is_of(&at, c, c->map.path);
	snprintf(text, USYM_TEXT, "(%s, not looked up)", at.file);
	s->frame[s->n++] = text;
}

/* Sends a pending stack with what is known by now. */
static void end_pending(struct fold *f, uint32_t i)
{
	const struct user *u = &f->user[i];
	char text[USYM_TEXT];
	struct stack_item s;

	if (!resolve_frames(f, u, &s)) {
		f->unknown++;
		add_file(f, u, &s, text);
	}
	f->common.named(f->common.arg, u->id, fold_send_stack(&f->common, &s));
	f->nuser--;
	memmove(f->user + i, f->user + i + 1, (f->nuser - i) * sizeof(f->user[0]));
}

/* The oldest of the least frequent. */
static uint32_t least_frequent(const struct fold *f)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < f->nuser; i++)
		if (f->user[i].times < f->user[found].times)
			found = i;
	return found;
}

static uint64_t add_pending_user(struct fold *f, struct user *u)
{
	for (uint32_t i = 0; i < f->nuser; i++) {
		if (f->user[i].id != u->id)
			continue;
		f->user[i].times++;
		return u->id;
	}
	if (f->nuser == FOLD_USER)
		end_pending(f, least_frequent(f));
	f->user[f->nuser++] = *u;
	usym_notice(f->usym, u->tgid, u->frame, u->n);
	return u->id;
}

uint64_t fold_user(struct fold *f, uint32_t tgid, const struct req_frame *frame, uint32_t n)
{
	struct user u = { .tgid = tgid, .since_ns = f->common.now_ns, .times = 1 };
	struct stack_item s;

	n = n < ONCPU_USER ? n : ONCPU_USER;
	u.n = user_frames_count(frame, n);
	u.cut = u.n < n || n == ONCPU_USER;
	if (!u.n)
		return 0;
	memcpy(u.frame, frame, u.n * sizeof(*frame));
	if (resolve_frames(f, &u, &s))
		return fold_send_stack(&f->common, &s);
	u.id = hash_add(hash_add(HASH_START, &tgid, sizeof(tgid)), u.frame, u.n * sizeof(*frame)) |
	       STACK_PENDING;
	return add_pending_user(f, &u);
}

uint64_t fold_kernel(struct fold *f, const __u64 *frame, uint32_t n)
{
	return fold_kernel_id(f->kernel, frame, n);
}

static bool is_unknown(const struct fold *f, const struct user *u, uint32_t i,
		       struct req_frame *place, uint64_t *space)
{
	*place = place_of(u, i);
	*space = space_of(place, u->tgid);
	return !function_cache_find(f->common.functions, *space, place->where);
}

static void add_places(struct fold *f, const struct user *u, uint64_t of)
{
	for (uint32_t i = 0; i < u->n && f->nplaces < USYM_FRAMES; i++) {
		struct req_frame place;
		uint64_t space;

		if (!is_unknown(f, u, i, &place, &space) || space != of)
			continue;
		f->place_of[f->nplaces] = u->tgid;
		f->place[f->nplaces++] = place;
	}
}

/* Starts a lookup for the most frequent stack; includes all pending ones in the same file. */
static void begin_lookup(struct fold *f)
{
	const struct user *first = &f->user[0];
	struct req_frame place;
	uint64_t of = 0;

	for (uint32_t i = 1; i < f->nuser; i++)
		if (f->user[i].times > first->times)
			first = &f->user[i];
	for (uint32_t i = 0; i < first->n; i++)
		if (is_unknown(f, first, i, &place, &of))
			break;
	f->begun = true;
	f->nplaces = 0;
	add_places(f, first, of);
	for (uint32_t i = 0; i < f->nuser; i++)
		if (&f->user[i] != first)
			add_places(f, &f->user[i], of);
	usym_begin_places(f->usym, first->tgid, f->place, f->nplaces);
}

/*
 * An address without code marks its whole page in that process. A file that is unknown to the
 * process that was asked may be known to another process that uses it.
 */
static void store_functions(struct fold *f, uint32_t tgid)
{
	for (uint32_t i = 0; i < f->nplaces; i++) {
		const struct req_frame *q = &f->place[i];
		uint64_t from = q->where / PAGE * PAGE, to = from + PAGE;
		char text[USYM_TEXT] = "";
		int r = usym_function(f->usym, i, text, &from, &to);

		if (r == -ENOENT && f->place_of[i] != tgid)
			continue;
		function_cache_add(f->common.functions, space_of(q, f->place_of[i]), from, to,
				   r == -ENOENT ? "(a file that is not known)" : text,
				   r < 0 || q->status != BY_ID);
	}
}

/* Sends the stacks that are known, and those that have waited too long. */
static void send_known(struct fold *f)
{
	for (uint32_t i = 0; i < f->nuser;) {
		const struct user *u = &f->user[i];
		struct stack_item s;

		if (resolve_frames(f, u, &s) || f->common.now_ns - u->since_ns >= PATIENCE_NS)
			end_pending(f, i);
		else
			i++;
	}
}

static uint32_t process_of(const struct fold *f)
{
	return f->nplaces ? f->place_of[0] : 0; /* the first place belongs to the first stack */
}

static void step_user(struct fold *f)
{
	size_t step = f->bytes < STEP_BYTES ? f->bytes : STEP_BYTES, left = step;

	send_known(f);
	while ((f->nuser || f->begun) && left) {
		if (!f->begun)
			begin_lookup(f);
		if (!usym_step(f->usym, &left))
			break;
		store_functions(f, process_of(f));
		f->begun = false;
		send_known(f);
	}
	f->bytes -= step - left;
}

void fold_at(struct fold *f, struct sink *out, uint64_t now_ns)
{
	f->common.out = out;
	f->common.now_ns = now_ns;
}

void fold_step(struct fold *f)
{
	uint64_t now = f->common.now_ns, ns = f->step_ns ? now - f->step_ns : 0;

	f->bytes += ns / 1000 * BYTES_S / 1000000;
	f->bytes = f->bytes < BYTES_SAVED ? f->bytes : BYTES_SAVED;
	f->step_ns = now;
	if (now - f->minute_ns >= 60 * SEC) {
		function_cache_forget_passing(f->common.functions);
		f->minute_ns = now;
	}
	step_user(f);
	fold_kernel_step(f->kernel);
}
