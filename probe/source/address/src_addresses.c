// SPDX-License-Identifier: Apache-2.0
/*
 * src_addresses.c - the addresses on this node, so that others can resolve their callees: interface
 * addresses, listening sockets and their owners, the same for its containers, and NAT entries.
 *
 * Changes are sent at once, and the full list every ten minutes, which repairs losses. Reading is
 * cheap: only new processes are examined, and open files only when a socket is new. Other network
 * namespaces are read each time while they are new, and then one of them every 30 s: each costs one
 * to three milliseconds.
 */
#include <stdio.h>

#include "lib/base/clock.h"
#include "probe/source/address/conntrack.h"
#include "probe/source/address/netns_addr.h"
#include "probe/source/address/netns_pids.h"
#include "probe/procfs/proc_text.h"
#include "probe/core/source.h"

enum {
	PERIOD_MS = 10000,
	STEP_MS = 250,
	NEW_READS = 12, /* time for a server to start */
	NEW_AT_ONCE = 8,
	TURN_READS = 3,
	AT_ONCE = 16, /* processes between two looks at the clock */
};

static const uint64_t ALL_NS = 600000000000u;
/* CPU time in one read, for new processes and for other network namespaces: any user can start
 * many, and the rest waits for the next read. */
static const uint64_t PIDS_NS = 8000000, NETS_NS = 8000000;

struct addresses {
	char *procfs;
	char below[512]; /* "": the whole node */
	struct apps *apps;
	struct buf text;
	struct netns_pids pids, before; /* now, and at the last search for namespaces */
	struct netns_list nets;
	bool behind; /* some processes of the last read are not examined yet */
	bool step; /* this read only goes on with the last one */
	bool searching; /* for owners of sockets, not to the end yet */
	bool whole; /* the search began when all processes were examined */
	uint32_t reads, next_net; /* next_net: the one to read next */
	uint64_t own_netns;
	struct addr_list list, fresh;
	struct nat nat;
	struct owner_search search;
	uint64_t due_ns; /* reads before that are steps */
	uint64_t all_ns; /* when the full list is sent next */
};

static void addresses_close(void *self)
{
	struct addresses *s = self;

	free(s->procfs);
	apps_free(s->apps);
	buf_free(&s->text);
	netns_pids_free(&s->pids);
	netns_pids_free(&s->before);
	addr_list_free(&s->list);
	addr_list_free(&s->fresh);
}

static int addresses_open(void *self, const struct probe_env *env)
{
	struct addresses *s = self;
	char path[512];

	snprintf(path, sizeof(path), "%s/self/net/tcp", env->procfs);
	if (access(path, R_OK) < 0) {
		int r = -errno;

		snprintf(env->why, WHY_LEN, "cannot read %.150s (%s); mount procfs there", path,
			 strerror(-r));
		return r;
	}
	s->procfs = strdup(env->procfs);
	if (!s->procfs)
		return -ENOMEM;
	if (strncmp(env->config->scope, "cgroup=", 7) == 0)
		snprintf(s->below, sizeof(s->below), "%s", env->config->scope + 7);
	s->apps = apps_new(s->procfs);
	s->own_netns = netns_inode(s->procfs, "self");
	return 0;
}

static const struct netns_entry *find_net(const struct netns_list *nets, uint64_t inode)
{
	for (uint32_t i = 0; i < nets->n; i++)
		if (nets->net[i].inode == inode)
			return &nets->net[i];
	return NULL;
}

static void examine_pid(struct addresses *s, const struct netns_list *were, uint32_t pid)
{
	const struct netns_entry *old;
	char who[16];
	uint64_t inode;

	snprintf(who, sizeof(who), "%u", pid);
	inode = netns_inode(s->procfs, who);
	if (!inode || (inode == s->own_netns && !*s->below) || find_net(&s->nets, inode))
		return;
	old = find_net(were, inode);
	if (s->nets.n < NETNS_MAX)
		s->nets.net[s->nets.n++] = (struct netns_entry){ inode, pid, old ? old->reads : 0 };
}

/* A namespace whose known process ended may have others in it: then all processes are examined. */
static bool process_ended(struct addresses *s)
{
	for (uint32_t i = 0; i < s->nets.n; i++)
		if (!netns_pids_has(&s->pids, s->nets.net[i].pid))
			return true;
	return false;
}

/* Keeps those whose known process is still in them. */
static void keep_nets(struct addresses *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nets.n; i++) {
		const struct netns_entry *e = &s->nets.net[i];
		char who[16];

		snprintf(who, sizeof(who), "%u", e->pid);
		if (netns_pids_has(&s->pids, e->pid) && netns_inode(s->procfs, who) == e->inode)
			s->nets.net[n++] = *e;
	}
	s->nets.n = n;
}

/* Examines those that are not in was; what PIDS_NS does not suffice for leaves the list, so that
 * it is new at the next read. */
static void examine_pids(struct addresses *s, const struct netns_pids *was,
			 const struct netns_list *were)
{
	uint64_t began = clock_cpu_ns();
	uint32_t n = 0, done = 0;

	s->behind = false;
	for (uint32_t i = 0; i < s->pids.n; i++) {
		uint32_t pid = s->pids.pid[i];
		bool known = netns_pids_has(was, pid);

		if (!known && s->behind)
			continue;
		if (!known)
			examine_pid(s, were, pid);
		s->pids.pid[n++] = pid;
		if (!known && ++done % AT_ONCE == 0)
			s->behind = clock_cpu_ns() - began > PIDS_NS;
	}
	s->pids.n = n;
}

static int find_nets(struct addresses *s, bool all)
{
	const struct netns_list were = s->nets;
	struct netns_pids was = s->before;
	int r = netns_pids_read(&s->pids, s->procfs, s->below);

	if (r < 0)
		return r;
	if (all || *s->below || (!s->behind && process_ended(s))) {
		was.n = 0;
		keep_nets(s);
	}
	examine_pids(s, &was, &were);
	was = s->before;
	s->before = s->pids;
	s->pids = was;
	return 0;
}

/* The id under which a namespace is reported. */
static uint64_t netns_name(const struct addresses *s, uint64_t inode)
{
	return inode == s->own_netns ? 0 : inode;
}

static void copy_previous(struct addresses *s, uint64_t netns)
{
	for (uint32_t i = 0; i < s->list.n; i++) {
		struct found_addr *f =
			s->list.p[i].netns == netns ? addr_list_add(&s->fresh) : NULL;

		if (f)
			*f = s->list.p[i];
	}
}

/* Any user can make namespaces: those beyond NETS_NS of CPU time wait for the next read. */
static bool is_due(struct addresses *s, uint32_t i, bool all, uint32_t *fresh, uint64_t began_ns)
{
	const uint32_t reads = s->nets.net[i].reads;
	bool is_new = !reads || (reads < NEW_READS && *fresh < NEW_AT_ONCE);

	if (s->step)
		is_new = !reads;
	*fresh += is_new;
	if (clock_cpu_ns() - began_ns > NETS_NS)
		return false;
	if (s->step)
		return is_new;
	return all || is_new || (i == s->next_net && s->reads % TURN_READS == 0);
}

/* If it cannot be read, the doctor reports why. */
static void read_own_nat(struct addresses *s)
{
	uint32_t tracked;

	(void)!conntrack_own(&s->nat, &s->text, s->procfs, &tracked);
}

static void forget_nats(struct addresses *s)
{
	for (uint32_t i = 0; i < s->nat.n;) {
		uint64_t netns = s->nat.way[i].way.netns;

		if (netns && !find_net(&s->nets, netns))
			nat_forget(&s->nat, netns);
		else
			i++;
	}
}

/* The node's own namespace, unless this read only goes on. */
static void read_own(struct addresses *s, bool all)
{
	s->fresh.n = 0;
	if (s->step) {
		s->fresh.left_out = s->list.left_out;
		if (!*s->below)
			copy_previous(s, 0);
		return;
	}
	s->fresh.left_out = s->nat.left_out = 0;
	if (!*s->below)
		netns_addr_read(&s->fresh, &s->text, s->procfs, "self", 0);
	if (!*s->below && (all || s->reads % TURN_READS == 0))
		read_own_nat(s);
	if (++s->reads % TURN_READS == 0)
		s->next_net = s->nets.n ? (s->next_net + 1) % s->nets.n : 0;
}

/* Reads all namespaces that are due, and copies the previous entries of the others. */
static void read_nets(struct addresses *s, bool all)
{
	uint64_t began = clock_cpu_ns();
	uint32_t fresh = 0;

	read_own(s, all);
	for (uint32_t i = 0; i < s->nets.n; i++) {
		uint64_t netns = netns_name(s, s->nets.net[i].inode);
		char who[16];

		if (!is_due(s, i, all, &fresh, began)) {
			copy_previous(s, netns);
			continue;
		}
		snprintf(who, sizeof(who), "%u", s->nets.net[i].pid);
		netns_addr_read(&s->fresh, &s->text, s->procfs, who, netns);
		conntrack_of(&s->nat, &s->text, s->procfs, who, netns);
		s->nets.net[i].reads++;
	}
	forget_nats(s);
	addr_list_sort(&s->fresh);
}

/* Copies the owners of sockets that are still open. */
static void copy_known_owners(struct addresses *s)
{
	for (uint32_t i = 0; i < s->fresh.n; i++) {
		struct found_addr *f = &s->fresh.p[i];
		const struct found_addr *old = addr_list_find(&s->list, f);

		if (!old || old->inode != f->inode)
			continue;
		f->sought = old->sought;
		f->in_search = old->in_search;
		memcpy(f->app, old->app, sizeof(f->app));
	}
}

static int by_inode(const void *a, const void *b)
{
	const struct socket_owner *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static void name_owner(struct addresses *s, struct found_addr *f, uint32_t pid)
{
	char path[32], comm[16] = "";
	struct words file, line;

	snprintf(path, sizeof(path), "%u/comm", pid);
	if (proc_read(&s->text, s->procfs, path, &file) == 0 && proc_line(&file, &line))
		snprintf(comm, sizeof(comm), "%.*s", (int)(line.end - line.p), line.p);
	snprintf(f->app, sizeof(f->app), "%s", apps_name(s->apps, pid, comm));
	f->sought = true;
}

/* Sockets that are new while a search goes on are not in it: it may have passed their owners. */
static uint32_t collect_wanted(struct addresses *s, struct socket_owner *want)
{
	bool begins = !s->search.below && !s->search.pid;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->fresh.n; i++) {
		struct found_addr *f = &s->fresh.p[i];

		if (f->kind != PLACE_LISTENER || f->sought || !f->inode)
			continue;
		want[n++].inode = f->inode;
		f->in_search |= begins;
	}
	if (begins)
		s->whole = !s->behind;
	if (n)
		qsort(want, n, sizeof(*want), by_inode);
	return n;
}

/* A search through very many files takes several reads; sockets without an owner after that belong
 * to the kernel. */
static void find_owners(struct addresses *s)
{
	struct socket_owner *want = calloc(s->fresh.n + 1, sizeof(*want)), key = { 0 }, *o;
	uint32_t n = want ? collect_wanted(s, want) : 0, pid = 0, last = 0; /* named last */
	bool complete = n && find_socket_owners(s->procfs, &s->before, &s->search, want, n);

	s->searching = false;
	for (uint32_t i = 0; n && i < s->fresh.n; i++) {
		struct found_addr *f = &s->fresh.p[i];
		const struct found_addr *named = &s->fresh.p[last];

		key.inode = f->inode;
		o = f->sought ? NULL : bsearch(&key, want, n, sizeof(*want), by_inode);
		if (o && o->pid == pid && pid) {
			f->sought = true;
			memcpy(f->app, named->app, sizeof(f->app));
		} else if (o && o->pid) {
			name_owner(s, f, pid = o->pid);
			last = i;
		} else if (o && complete && s->whole && f->in_search) {
			f->sought = true;
		}
		s->searching |= o && !f->sought;
	}
	free(want);
}

/* With a cgroup scope, listeners outside it are not reported. */
static void drop_outside(struct addresses *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->fresh.n; i++)
		if (s->fresh.p[i].kind != PLACE_LISTENER || s->fresh.p[i].app[0])
			s->fresh.p[n++] = s->fresh.p[i];
	s->fresh.n = n;
}

static int addresses_read(void *self, struct sink *out)
{
	struct addresses *s = self;
	uint64_t now = clock_mono_ns();
	bool all = now >= s->all_ns;
	struct addr_list was;
	int r;

	s->step = now < s->due_ns;
	if (!s->step)
		s->due_ns = now + (PERIOD_MS - STEP_MS / 2) * 1000000ull;
	all &= !s->step;
	r = !s->step || s->behind ? find_nets(s, all) : 0;
	if (r < 0)
		return r;
	read_nets(s, all);
	copy_known_owners(s);
	find_owners(s);
	if (*s->below)
		drop_outside(s);
	if (all)
		addr_list_send_all(&s->fresh, out);
	else
		addr_list_send_changes(&s->list, &s->fresh, out);
	if (all || s->nat.changed)
		nat_send(&s->nat, out);
	if (all)
		s->all_ns = now + ALL_NS;
	was = s->list;
	s->list = s->fresh;
	s->fresh = was;
	return s->behind || s->searching ? SOURCE_GOES_ON : SOURCE_ON_TIME;
}

const struct source source_places = {
	.name = "places",
	.help = "addresses of this node and its containers, who listens there, and address "
		"translations",
	.period_ms = PERIOD_MS,
	.step_ms = STEP_MS,
	.steady = true,
	.size = sizeof(struct addresses),
	.open = addresses_open,
	.read = addresses_read,
	.close = addresses_close,
};
