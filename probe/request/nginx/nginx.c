// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx.h"

#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/request/nginx/nginx_kernel.h"
#include "probe/request/nginx/nginx_offsets.h"
#include "probe/request/nginx/nginx_verify.h"
#include "probe/request/nginx/nginx_discovery.h"

enum { LOOKS = 64, BUILDS = 16, NAME = 256 };
#define IDLE_NS                                                                                    \
	(600 * 1000000000ull) /* a detached program is found once more with its next request */
#define UNUSED_NS (60 * 1000000000ull) /* then another program may have the entry */
#define LOOK_NS (2 * 1000000000ull)

enum state { FREE, LOOKING, VERIFYING, READING, FAILED };

struct binary {
	enum state state;
	bool tries_known; /* verification of the tries has ended */
	bool tries; /* tries are verified */
	struct foreign_id file;
	struct nginx_elf elf;
	struct nginx_offsets offsets;
	struct nginx_verify *verify;
	uint32_t token;
	uint64_t began_ns, used_ns;
	char name[NAME];
};

/* Verified offsets of one file. Its build id alone proves nothing: any user can write one. */
struct build {
	struct foreign_id file;
	char id[BUILD_ID_TEXT];
	struct nginx_offsets offsets;
	bool tries;
};

struct nginx {
	struct nginx_options o;
	struct nginx_kernel *kernel;
	struct nginx_discovery *discovery;
	struct nginx_join *join;
	struct binary binary[NGINX_BINARIES];
	struct build build[BUILDS];
	uint32_t tokens, nbuilds;
	uint64_t unread, now_ns, next_look_ns;
	bool full;
};

static void name_of(const char *path, char name[static NAME])
{
	ssize_t n = readlink(path, name, NAME - 1);

	name[n > 0 ? n : 0] = 0;
}

static void end_verify(struct binary *b)
{
	nginx_verify_free(b->verify);
	b->verify = NULL;
}

static void give_up(struct nginx *n, struct binary *b, const char *why)
{
	log_warn(0, "nginx %s: %s; its requests are read from sockets only", b->name, why);
	nginx_kernel_detach(n->kernel, (uint32_t)(b - n->binary));
	end_verify(b);
	b->state = FAILED;
}

static bool is_build_of(const struct build *x, const struct binary *b)
{
	return x->id[0] && strcmp(x->id, b->elf.build_id) == 0 &&
	       foreign_id_equal(&x->file, &b->file);
}

static void store_build(struct nginx *n, const struct binary *b)
{
	struct build *x = NULL;

	if (!b->elf.build_id[0])
		return;
	for (uint32_t i = 0; i < BUILDS; i++)
		if (is_build_of(&n->build[i], b))
			x = &n->build[i];
	if (!x)
		x = &n->build[n->nbuilds++ % BUILDS];
	x->file = b->file;
	memcpy(x->id, b->elf.build_id, sizeof(x->id));
	x->offsets = b->offsets;
	x->tries = b->tries;
}

static void read_with_offsets(struct nginx *n, struct binary *b, const struct nginx_offsets *o)
{
	b->offsets = *o;
	nginx_kernel_read(n->kernel, (uint32_t)(b - n->binary), o->states, o->status, o->start);
	b->verify = nginx_verify_new();
}

static void use_offsets(struct nginx *n, struct binary *b)
{
	log_info("nginx %s (build %.12s): its requests are read exactly", b->name, b->elf.build_id);
	b->state = READING;
	store_build(n, b);
}

static void start_binary(struct nginx *n, struct binary *b)
{
	for (uint32_t i = 0; i < BUILDS; i++) {
		const struct build *x = &n->build[i];

		if (!is_build_of(x, b))
			continue;
		read_with_offsets(n, b, &x->offsets);
		b->tries = b->tries_known = x->tries;
		use_offsets(n, b);
		return;
	}
	b->state = LOOKING;
	nginx_kernel_look(n->kernel, (uint32_t)(b - n->binary), LOOKS);
}

static int on_known(void *arg, const struct foreign_id *f)
{
	struct nginx *n = arg;

	for (int i = 0; i < NGINX_BINARIES; i++)
		if (n->binary[i].state != FREE && foreign_id_equal(&n->binary[i].file, f))
			return i;
	return -1;
}

static void free_entry(struct nginx *n, struct binary *b)
{
	int i = (int)(b - n->binary);

	nginx_kernel_detach(n->kernel, (uint32_t)i);
	end_verify(b);
	b->state = FREE;
	nginx_discovery_forget(n->discovery, i);
}

/*
 * A free entry, or else one that failed, or was not verified in a minute, or has had no request for
 * a minute: the one unused longest. Any user can run programs that look like nginx.
 */
static struct binary *find_entry(struct nginx *n)
{
	struct binary *found = NULL;

	for (int i = 0; i < NGINX_BINARIES; i++) {
		struct binary *b = &n->binary[i];
		bool idle = n->now_ns - b->used_ns > UNUSED_NS;
		bool fake = b->state != READING && n->now_ns - b->began_ns > UNUSED_NS;

		if (b->state == FREE)
			return b;
		if ((idle || fake || b->state == FAILED) && (!found || b->used_ns < found->used_ns))
			found = b;
	}
	if (found) {
		free_entry(n, found);
		return found;
	}
	if (!n->full)
		log_warn(0, "more than %d builds of nginx; the others are read from sockets only",
			 NGINX_BINARIES);
	n->full = true;
	return NULL;
}

static int on_found(void *arg, const struct foreign_id *f, const struct nginx_elf *elf,
		    const char *path)
{
	struct nginx *n = arg;
	struct binary *b = find_entry(n);
	int r;

	if (!b)
		return -1;
	*b = (struct binary){ .file = *f,
			      .elf = *elf,
			      .token = ++n->tokens,
			      .began_ns = n->now_ns,
			      .used_ns = n->now_ns };
	name_of(path, b->name);
	if (!elf->cheap && strcmp(n->o.mode, "on") != 0) {
		give_up(n, b, "a uprobe would cost 10 us per request (enable it with --nginx on)");
		return (int)(b - n->binary);
	}
	r = nginx_kernel_attach(n->kernel, (uint32_t)(b - n->binary), path, elf, b->token);
	if (r < 0)
		give_up(n, b, strerror(-r));
	else
		start_binary(n, b);
	return (int)(b - n->binary);
}

struct nginx *nginx_open(const struct nginx_options *o)
{
	struct nginx *n;
	struct nginx_hooks hooks = { .known = on_known, .found = on_found };
	int r;

	if (strcmp(o->mode, "off") == 0)
		return NULL;
	n = calloc(1, sizeof(*n));
	if (!n)
		die("out of memory");
	r = nginx_kernel_open(&n->kernel, o->ring_fd, &o->scope);
	if (r < 0) {
		log_warn(r,
			 "this kernel does not support uprobes; nginx is read from sockets only");
		free(n);
		return NULL;
	}
	n->o = *o;
	n->now_ns = clock_mono_ns();
	hooks.arg = n;
	n->discovery = nginx_discovery_new(o->procfs, &hooks);
	n->join = nginx_join_new(o->done, o->arg);
	nginx_discovery_all(n->discovery, n->now_ns);
	return n;
}

void nginx_close(struct nginx *n)
{
	if (!n)
		return;
	for (int i = 0; i < NGINX_BINARIES; i++)
		end_verify(&n->binary[i]);
	nginx_kernel_close(n->kernel);
	nginx_discovery_free(n->discovery);
	nginx_join_free(n->join);
	free(n);
}

static void on_look(struct nginx *n, struct binary *b, const struct nginx_look *l)
{
	struct nginx_offsets o;

	if (b->state != LOOKING || nginx_offsets_find(l, clock_wall_ns() / 1000000000u, &o) < 0)
		return;
	read_with_offsets(n, b, &o);
	b->state = VERIFYING;
}

static void on_event(struct nginx *n, struct binary *b, const struct nginx_event *w)
{
	struct nginx_event plain;

	if (b->verify)
		nginx_verify_event(b->verify, w);
	if (b->state != READING)
		return;
	if (b->tries || !w->head.ntries) {
		nginx_join_event(n->join, w, n->o.context->wall_minus_mono_ns, n->now_ns);
		return;
	}
	memcpy(&plain, w, offsetof(struct nginx_event, tries));
	plain.head.ntries = 0;
	plain.nstates = 0;
	nginx_join_event(n->join, &plain, n->o.context->wall_minus_mono_ns, n->now_ns);
}

void nginx_record(struct nginx *n, const void *record, size_t len, uint64_t now_ns)
{
	const struct nginx_head *h = record;
	struct binary *b;

	if (!n || len < sizeof(*h) || h->binary >= NGINX_BINARIES)
		return;
	b = &n->binary[h->binary];
	if (b->state == FREE || b->token != h->token)
		return;
	n->now_ns = b->used_ns = now_ns;
	if (h->kind == REQ_KIND_NGINX_LOOK && len >= sizeof(struct nginx_look))
		on_look(n, b, record);
	else if (h->kind == REQ_KIND_NGINX && nginx_event_complete(record, len))
		on_event(n, b, record);
}

/* Acts on the results of the verification so far. */
static void check_findings(struct nginx *n, struct binary *b)
{
	enum nginx_finding requests = nginx_verify_requests(b->verify);
	enum nginx_finding tries = nginx_verify_tries(b->verify);

	if (b->state == VERIFYING && requests == NGINX_WRONG) {
		give_up(n, b, "the layout of its request struct was not recognised");
		return;
	}
	if (b->state == VERIFYING && requests == NGINX_RIGHT)
		use_offsets(n, b);
	if (b->state != READING || tries == NGINX_OPEN || b->tries_known)
		return;
	b->tries_known = true;
	b->tries = tries == NGINX_RIGHT;
	if (!b->tries)
		log_warn(0, "nginx %s: the layout of its upstream tries was not recognised",
			 b->name);
	store_build(n, b);
}

static void end_if_known(struct nginx *n, struct binary *b)
{
	check_findings(n, b);
	if (b->verify && b->tries_known)
		end_verify(b);
}

bool nginx_accept(struct nginx *n, const struct req_event *e, size_t len, uint64_t now_ns)
{
	const struct req_head *h = &e->head;
	struct binary *b;
	int number;

	if (!n)
		return false;
	n->now_ns = now_ns;
	number = nginx_discovery_process(n->discovery, h->tgid, now_ns);
	if (number < 0)
		return false;
	b = &n->binary[number];
	b->used_ns = now_ns;
	n->unread += b->state == FAILED;
	if (h->remote.len != 4 && h->remote.len != 16)
		return false;
	if (b->verify) {
		nginx_verify_request(b->verify, e, n->o.context);
		end_if_known(n, b);
	}
	if (b->state == READING) {
		nginx_join_request(n->join, e, len, now_ns);
		return true;
	}
	if (b->state != FAILED) /* its nginx record may come when the offsets are verified */
		nginx_join_reported(n->join, e, len, now_ns);
	return false;
}

bool nginx_reports(struct nginx *n, uint32_t tgid, uint64_t now_ns)
{
	int number = n ? nginx_discovery_process(n->discovery, tgid, now_ns) : -1;

	return number >= 0 && n->binary[number].state == READING;
}

void nginx_orphan_call(struct nginx *n, const struct req_call_event *c)
{
	if (!n)
		return;
	for (int i = 0; i < NGINX_BINARIES; i++)
		if (n->binary[i].verify)
			nginx_verify_call(n->binary[i].verify, c, n->o.context);
}

void nginx_tick(struct nginx *n, uint64_t now_ns)
{
	if (!n)
		return;
	n->now_ns = now_ns;
	nginx_discovery_step(n->discovery);
	nginx_join_tick(n->join, now_ns);
	if (now_ns < n->next_look_ns)
		return;
	n->next_look_ns = now_ns + LOOK_NS;
	for (int i = 0; i < NGINX_BINARIES; i++) {
		struct binary *b = &n->binary[i];

		if (b->state == LOOKING && nginx_kernel_looks(n->kernel, (uint32_t)i) <= 0) {
			give_up(n, b, "the layout of its request struct was not recognised");
		} else if (b->state != FREE && now_ns - b->used_ns > IDLE_NS) {
			free_entry(n, b);
		}
	}
}

struct nginx_counts nginx_counts(struct nginx *n)
{
	return n ? (struct nginx_counts){ nginx_kernel_lost(n->kernel), n->unread }
		 : (struct nginx_counts){ 0 };
}
