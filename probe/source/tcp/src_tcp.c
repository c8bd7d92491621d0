// SPDX-License-Identifier: Apache-2.0
/*
 * src_tcp.c - TCP connections of each application, from bpf/net/tcp.bpf.c, and events while more is
 * lost or fails than usual.
 *
 * At rest a read is a few numbers in memory. All connections are visited every SEND_NS, and at each
 * read while there are many retransmissions, but using at most 1/LOOK_PART of a CPU.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdio.h>

#include "bpf/net/tcp.h"
#include "lib/base/clock.h"
#include "probe/procfs/app.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/kernel/map_walk.h"
#include "probe/cgroup/scope.h"
#include "probe/core/source.h"
#include "probe/kernel/sums.h"
#include "bpf/net/tcp.skel.h"
#include "probe/source/tcp/tcp_watch.h"

/* The kernel's order is that of the layouts. */
_Static_assert(TCPAPP_END * sizeof(__u64) == sizeof(struct tcp_counts), "tcp_counts");
_Static_assert((int)TCPAPP_END == (int)TCPNODE_END, "tcp_counts");
_Static_assert(TCPAPP_CONNECT_SECONDS == 2 * TCP_SLOTS, "tcp_counts");

#define SEND_NS (10 * 1000000000ull)
#define STALE_NS 1500000000ull /* after this, too much was sent to know the current loss rate */

enum { LOOK_PART = 200 };

struct tcp_source {
	struct tcp_bpf *bpf;
	struct bpf_link *look; /* iterates over all connections */
	struct sums apps;
	double node[TCPNODE_END];
	uint64_t sent_lost;
	uint64_t next_send_ns, next_look_ns, looked_ns; /* looked: the last visit */
	struct tcp_totals last; /* at the last step; sent_data: at the last visit */
	uint64_t step_ns, retransmits_looked;
	struct tcp_watch watch[TROUBLES];
	struct sink *out; /* during a read */
};

static void tcp_close(void *self)
{
	struct tcp_source *s = self;

	bpf_link__destroy(s->look);
	tcp_bpf__destroy(s->bpf);
	sums_free(&s->apps);
}

/* The entry for everything that does not fit; never deleted. */
static int make_others(struct tcp_source *s)
{
	static const struct tcp_app_key key = { .name = "(others)" };
	static const struct tcp_app app = { .named = 1 };

	return bpf_map_update_elem(bpf_map__fd(s->bpf->maps.apps), &key, &app, BPF_NOEXIST) < 0
		       ? -errno
		       : 0;
}

static struct map_walk walk_of(const struct tcp_source *s)
{
	return (struct map_walk){ s->bpf->progs.on_look, s->bpf->progs.on_look_files };
}

/* Attaches the hooks for new sockets first, then finds existing ones. */
static int attach_hooks(struct tcp_source *s)
{
	const struct map_walk look = walk_of(s);
	struct bpf_link *files;
	int r;

	s->bpf->links.on_state = bpf_program__attach(s->bpf->progs.on_state);
	if (!s->bpf->links.on_state)
		return -errno;
	s->bpf->links.on_again = bpf_program__attach(s->bpf->progs.on_again);
	if (!s->bpf->links.on_again)
		return -errno;
	s->look = map_walk_attach(&look, bpf_map__fd(s->bpf->maps.socks));
	if (!s->look)
		return -errno;
	files = bpf_program__attach_iter(s->bpf->progs.on_file, NULL);
	if (!files)
		return -errno;
	r = kernel_iterate(files);
	bpf_link__destroy(files);
	return r;
}

static int tcp_open(void *self, const struct probe_env *env)
{
	struct tcp_source *s = self;
	struct map_walk walk;
	struct scope scope;
	int r = kernel_can_load(env->why);

	s->apps = (struct sums){ .nkey = sizeof(struct tcp_app_key), .nfields = TCPAPP_END };
	for (int i = 0; i < TROUBLES; i++)
		tcp_watch_init(&s->watch[i], (enum tcp_trouble_kind)i);
	if (r == 0)
		r = scope_find(env->config->scope, env->procfs, &scope, env->why);
	if (r < 0)
		return r;
	s->bpf = tcp_bpf__open();
	if (!s->bpf)
		return -errno;
	s->bpf->rodata->scope_id = scope.cgroup_id;
	walk = walk_of(s);
	map_walk_choose(&walk);
	r = tcp_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, env->why);
	r = make_others(s);
	if (r == 0)
		r = attach_hooks(s);
	return r < 0 ? kernel_explain(r, env->why) : r;
}

/* The name as in requests: its unit without the suffix, else the program. */
static void name_of(const struct tcp_app_key *key, const struct tcp_app *app,
		    char name[static APP_NAME])
{
	static const char service[] = ".service";
	size_t len = strnlen(app->unit, TCP_UNIT);

	if (len >= sizeof(service))
		snprintf(name, APP_NAME, "%.*s", (int)(len - sizeof(service) + 1), app->unit);
	else
		snprintf(name, APP_NAME, "%.*s", TCP_NAME, key->name);
}

static void read_apps(struct tcp_source *s)
{
	struct bpf_map *map = s->bpf->maps.apps;
	struct tcp_app_key key, last;
	char name[APP_NAME];
	struct tcp_app app;
	bool more = bpf_map__get_next_key(map, NULL, &key, sizeof(key)) == 0;

	for (int i = 0; more && i < 2 * TCP_APPS; i++) {
		int r = bpf_map__lookup_elem(map, &key, sizeof(key), &app, sizeof(app), 0);

		last = key;
		more = bpf_map__get_next_key(map, &last, &key, sizeof(key)) == 0;
		if (r < 0 || !app.named)
			continue;
		name_of(&last, &app, name);
		if (!sums_seen(&s->apps, &last, name, app.n.connect, app.sockets || name[0] == '('))
			bpf_map__delete_elem(map, &last, sizeof(last), 0);
	}
}

static void send_app(void *arg, const char *name, const double *since, const double *all)
{
	struct tcp_source *s = arg;
	double v[TCPAPP_END];

	for (int i = 0; i < TCPAPP_END; i++) {
		v[i] = i == TCPAPP_OPEN ? all[i] : since[i];
		if (i == TCPAPP_CONNECT_SECONDS)
			v[i] = (double)(float)(v[i] / 1e9);
		s->node[i] += v[i];
	}
	sink_sample(s->out, &(struct sample_item){ layout_tcpapp.layout, name, TCPAPP_END, v });
}

static void send_lost(struct tcp_source *s)
{
	double lost = (double)(s->bpf->bss->lost - s->sent_lost);

	if (lost <= 0)
		return;
	s->sent_lost = s->bpf->bss->lost;
	sink_sample(s->out, &(struct sample_item){ layout_tcploss.layout, "", TCPLOSS_END, &lost });
}

/* Visits every connection. */
static int visit_connections(struct tcp_source *s, uint64_t now_ns)
{
	int r = kernel_iterate(s->look);

	s->looked_ns = clock_mono_ns();
	s->next_look_ns = s->looked_ns + (s->looked_ns - now_ns) * LOOK_PART;
	return r;
}

static int send_all(struct tcp_source *s, uint64_t now_ns)
{
	int r = visit_connections(s, now_ns);

	s->next_send_ns = now_ns + SEND_NS;
	read_apps(s);
	memset(s->node, 0, sizeof(s->node));
	sums_report(&s->apps, send_app, s);
	sink_sample(s->out,
		    &(struct sample_item){ layout_tcpnode.layout, "", TCPNODE_END, s->node });
	send_lost(s);
	return r;
}

static void add_peer(struct tcp_source *s, const struct tcp_peer_key *key, const struct tcp_peer *p)
{
	enum tcp_trouble_kind kind = key->fault == TCP_AGAIN ? TROUBLE_RETRANSMIT : TROUBLE_CONNECT;
	struct tcp_worst worst = { .fault = (enum tcp_fault)key->fault, .n = p->n };
	struct tcp_app app;

	if (key->fault >= TCP_FAULTS)
		return;
	if (bpf_map__lookup_elem(s->bpf->maps.apps, &key->app, sizeof(key->app), &app, sizeof(app),
				 0) < 0)
		app.unit[0] = 0;
	name_of(&key->app, &app, worst.app);
	memcpy(worst.dev, p->dev, sizeof(worst.dev));
	worst.dev[sizeof(worst.dev) - 1] = 0;
	worst.peer = addr_make(key->ip, key->len, key->port);
	tcp_watch_add(&s->watch[kind], &worst);
}

/* Removes the entries, to make room for the next tick. */
static void take_peers(struct tcp_source *s)
{
	struct bpf_map *map = s->bpf->maps.peers;
	struct tcp_peer_key key;
	struct tcp_peer p;

	for (int i = 0; i < TCP_PEERS; i++) {
		if (bpf_map__get_next_key(map, NULL, &key, sizeof(key)) < 0)
			return;
		if (bpf_map__lookup_elem(map, &key, sizeof(key), &p, sizeof(p), 0) == 0)
			add_peer(s, &key, &p);
		bpf_map__delete_elem(map, &key, sizeof(key), 0);
	}
}

/* The share of data segments sent since the last visit that were retransmissions. */
static int watch_retransmits(struct tcp_source *s, const struct tcp_totals *now, uint64_t now_ns,
			     uint64_t wall_ns)
{
	struct tcp_watch *w = &s->watch[TROUBLE_RETRANSMIT];
	uint64_t n = now->fault[TCP_AGAIN] - s->last.fault[TCP_AGAIN], of = 0;
	bool suspicious = tcp_watch_suspicious(w, n, (double)(now_ns - s->step_ns) / 1e9);
	uint64_t since_ns = s->looked_ns;
	int r = 0;

	if (suspicious && now_ns >= s->next_look_ns) {
		r = visit_connections(s, now_ns);
		if (now_ns - since_ns < STALE_NS)
			of = s->bpf->bss->totals.sent_data - s->last.sent_data;
		if (of)
			n = now->fault[TCP_AGAIN] - s->retransmits_looked;
	}
	tcp_watch_step(w, n, of, suspicious, now_ns, wall_ns, s->out);
	return r;
}

static void watch_connects(struct tcp_source *s, const struct tcp_totals *now, uint64_t now_ns,
			   uint64_t wall_ns)
{
	struct tcp_watch *w = &s->watch[TROUBLE_CONNECT];
	uint64_t n = 0;

	for (int i = TCP_REFUSED; i < TCP_FAULTS; i++)
		n += now->fault[i] - s->last.fault[i];
	tcp_watch_step(w, n, n + now->connects - s->last.connects,
		       tcp_watch_suspicious(w, n, (double)(now_ns - s->step_ns) / 1e9), now_ns,
		       wall_ns, s->out);
}

static int tcp_read(void *self, struct sink *out)
{
	struct tcp_source *s = self;
	struct tcp_totals now = s->bpf->bss->totals;
	uint64_t now_ns = clock_mono_ns(), looked_ns = s->looked_ns;
	int r, first;

	s->out = out;
	if (memcmp(now.fault, s->last.fault, sizeof(now.fault)) != 0)
		take_peers(s);
	first = watch_retransmits(s, &now, now_ns, clock_wall_ns());
	watch_connects(s, &now, now_ns, clock_wall_ns());
	r = now_ns >= s->next_send_ns ? send_all(s, now_ns) : 0;
	if (s->looked_ns != looked_ns) {
		s->last.sent_data = s->bpf->bss->totals.sent_data;
		s->retransmits_looked = now.fault[TCP_AGAIN];
	}
	memcpy(s->last.fault, now.fault, sizeof(now.fault));
	s->last.connects = now.connects;
	s->step_ns = now_ns;
	s->out = NULL;
	return first < 0 ? first : r;
}

static const struct wire_dict *const layouts[] = { &layout_tcpapp, &layout_tcpnode,
						   &layout_tcploss };

const struct source source_tcp = {
	.name = "tcp",
	.help = "TCP connections of each application: how they were opened, what they transferred",
	.period_ms = 500,
	.steady = true,
	.size = sizeof(struct tcp_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = tcp_open,
	.read = tcp_read,
	.close = tcp_close,
};
