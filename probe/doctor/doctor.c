// SPDX-License-Identifier: Apache-2.0
#include "probe/doctor/doctor.h"
#include "probe/doctor/doctor_line.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/uplink/endpoints.h"
#include "lib/uplink/keyring.h"
#include "probe/kernel/kernel_btf.h"
#include "probe/core/on_demand.h"
#include "probe/foreign/foreign.h"
#include "probe/source/sources.h"
#include "probe/source/stall/stalls.h"
#include "lib/daemon/state_file.h"

enum { CONNECT_MS = 2000 };

static const struct proc_file {
	const char *name, *missing; /* the remedy; NULL: every kernel has it, so mount procfs */
} files[] = {
	{ "stat", NULL },
	{ "loadavg", NULL },
	{ "meminfo", NULL },
	{ "vmstat", NULL },
	{ "diskstats", NULL },
	{ "net/dev", NULL },
	{ "net/snmp", NULL },
	{ "net/netstat", NULL },
	{ "sys/fs/file-nr", NULL },
	{ "pressure/cpu", "boot with psi=1, on a kernel with CONFIG_PSI=y" },
	{ "pressure/memory", "boot with psi=1, on a kernel with CONFIG_PSI=y" },
	{ "pressure/io", "boot with psi=1, on a kernel with CONFIG_PSI=y" },
};

static bool source_line(size_t i, int r, const char *why, const char *on_demand)
{
	const char *name = sources_at(i)->name;

	if (r == 0 && on_demand_is(name) && !on_demand_enabled(on_demand, name))
		return doctor_line(true, name, "would work: %s; on_demand = %s enables it",
				   sources_at(i)->help, name);
	return doctor_line(r == 0, name, "%s%s", r == 0 ? "attached and read: " : "",
			   r == 0 ? sources_at(i)->help : why);
}

/* The hooks for requests that --hooks auto tries, in order. */
static const struct way {
	const char *name, *help;
} ways[] = {
	{ "sockets", "the tracepoints of sockets: other system calls cost nothing" },
	{ "syscalls", "the exit of each system call, which costs each a little" },
};

struct ways_tried {
	int r[ARRAY_SIZE(ways)];
	char why[ARRAY_SIZE(ways)][WHY_LEN];
	struct map_memory maps[ARRAY_SIZE(ways)];
};

/* Tries each once: loading their programs is most of the cost of the doctor. */
static void try_ways(struct ways_tried *t, size_t request, const struct probe_env *env,
		     struct probe_config *c)
{
	char asked[sizeof(c->hooks)];

	memcpy(asked, c->hooks, sizeof(asked));
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		snprintf(c->hooks, sizeof(c->hooks), "%s", ways[i].name);
		t->r[i] = sources_try(request, env, &t->maps[i]);
		snprintf(t->why[i], WHY_LEN, "%s", env->why);
	}
	memcpy(c->hooks, asked, sizeof(asked));
}

static void add_maps(struct map_memory *sum, const struct map_memory *m)
{
	sum->here += m->here;
	sum->few += m->few;
	sum->many += m->many;
}

/* Reports the source with the configured hooks; auto: with the first that work. */
static bool check_request(const struct ways_tried *t, size_t request, const char *hooks,
			  struct map_memory *maps)
{
	bool any = strcmp(hooks, "auto") == 0;
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(ways) && (any ? t->r[i] < 0 : strcmp(ways[i].name, hooks) != 0))
		i++;
	add_maps(maps, &t->maps[i]);
	return source_line(request, t->r[i], t->why[i], "");
}

/* The maps of the sources that the probe would open: their memory here and on other machines. */
static void check_maps(const struct map_memory *m)
{
	const double mib = 1 << 20;

	doctor_line(true, "map memory",
		    "%.1f MiB of kernel memory here; %.1f with 2 CPUs, at most %.1f with %d",
		    (double)m->here / mib, (double)m->few / mib, (double)m->many / mib,
		    MAP_MEMORY_MANY);
}

/* Opens, reads and closes each source, as the probe would. */
static bool check_sources(struct ways_tried *t, const struct probe_env *env, struct probe_config *c,
			  const struct probe_config *given)
{
	struct map_memory sum = { 0 };
	bool all = true;

	for (size_t i = 0; i < sources_count(); i++) {
		if (strcmp(sources_at(i)->name, "request") == 0) {
			try_ways(t, i, env, c);
			all &= check_request(t, i, c->hooks, &sum);
		} else {
			struct map_memory maps = { 0 };
			int r = sources_try(i, env, &maps);

			all &= source_line(i, r, env->why, given->on_demand) ||
			       !sources_required(i, given);
			if (sources_required(i, given))
				add_maps(&sum, &maps);
		}
	}
	check_maps(&sum);
	return all;
}

static void check_ways(const struct ways_tried *t)
{
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		snprintf(name, sizeof(name), "hooks %s", ways[i].name);
		doctor_line(t->r[i] == 0, name, "%s%s", t->r[i] == 0 ? "attached: " : "",
			    t->r[i] == 0 ? ways[i].help : t->why[i]);
	}
}

static void check_file(const char *procfs, const struct proc_file *f)
{
	char path[64], byte;
	AUTO_CLOSE int fd = -1;

	snprintf(path, sizeof(path), "%s/%s", procfs, f->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, &byte, 1) >= 0)
		doctor_line(true, path, "readable");
	else
		doctor_line(false, path, "%s; %s", strerror(errno),
			    f->missing ? f->missing : "mount procfs there");
}

/* endpoint: tcp://host:port, validated by probe_config_read. */
static void split_endpoint(const char *endpoint, char host[static 256], const char **port)
{
	const char *from = endpoint + strlen("tcp://"), *colon = strrchr(endpoint, ':');
	size_t len;

	*port = colon + 1;
	if (*from == '[' && colon[-1] == ']') {
		from++;
		colon--;
	}
	len = (size_t)(colon - from);
	memcpy(host, from, len);
	host[len] = 0;
}

static int connect_to(const struct addrinfo *a)
{
	AUTO_CLOSE int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	if (poll(&p, 1, CONNECT_MS) == 0)
		return -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return -errno;
	return -error;
}

static void check_collector(const char *endpoint)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	char host[256];
	const char *port;
	uint64_t begin;
	int r;

	split_endpoint(endpoint, host, &port);
	r = getaddrinfo(host, port, &hints, &found);
	if (r != 0) {
		doctor_line(false, "collector", "%s: %s; name another by --collector", endpoint,
			    gai_strerror(r));
		return;
	}
	begin = clock_mono_ns();
	r = -EHOSTUNREACH;
	for (const struct addrinfo *a = found; a && r < 0; a = a->ai_next)
		r = connect_to(a);
	freeaddrinfo(found);
	if (r == 0)
		doctor_line(true, "collector", "%s took a connection within %.1f ms", endpoint,
			    (double)(clock_mono_ns() - begin) / 1e6);
	else
		doctor_line(false, "collector",
			    "%s: %s; start seismo-collector there, or name another by --collector",
			    endpoint, strerror(-r));
}

/* Rows of different nodes are compared by time, so their clocks must agree. */
static void check_clock(void)
{
	struct timex t = { 0 };
	time_t now = (time_t)(clock_wall_ns() / 1000000000ull);
	bool synced = adjtimex(&t) >= 0 && !(t.status & STA_UNSYNC);
	char text[32];
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	doctor_line(synced, "clock", "%s%s", text,
		    synced ? ", kept in step"
			   : ", and nothing keeps it in step; start chrony or systemd-timesyncd");
}

/* A scope without pressure files gets the stalls of the whole host. */
static void check_scope(const struct probe_config *c)
{
	const char *path = c->scope + strlen("cgroup=");
	bool own = stalls_in_scope(c);

	doctor_line(own, "stalls in the scope",
		    own ? "those of %s, by its own pressure"
			: "%s has no cpu.pressure of its own; stalls are those of the whole host",
		    path);
}

static void check_state(const char *path)
{
	struct state_file f;
	struct buf body = { 0 };
	int r = state_file_open(&f, path);

	if (r < 0) {
		doctor_line(false, "state", "%s: %s; create its directory", path, strerror(-r));
		return;
	}
	r = state_file_read(&f, &body);
	state_file_close(&f);
	buf_free(&body);
	if (r == 0 || r == -ENOENT)
		doctor_line(true, "state", "%s %s", path,
			    r == 0 ? "can be read" : "will be created after a minute");
	else if (r == -EEXIST)
		doctor_line(false, "state",
			    "%s is not a file of seismo-probe; name another by --state", path);
	else
		doctor_line(false, "state", "%s: %s; the baselines will be learnt from scratch",
			    path, r == -EBADMSG ? "damaged" : strerror(-r));
}

/* "COUNT KIND\tPROGRAM\tREASON" */
static void print_refusal(char *line)
{
	char *kind = line + strcspn(line, " ");
	char *program = kind + strcspn(kind, "\t"), *reason = program;

	if (!*program)
		return;
	*program++ = 0;
	reason = program + strcspn(program, "\t");
	if (*reason)
		*reason++ = 0;
	doctor_line(false, "files of others", "the %s of %s is not read: %s; refused %.*s times",
		    kind + 1, program, reason, (int)(kind - line), line);
}

/* Those that the running probe refused to read, by the file that it keeps. */
static void check_refused(const char *state)
{
	char path[PATH_MAX], *line, *at;
	struct state_file f;
	struct buf body = { 0 };
	int r;

	snprintf(path, sizeof(path), "%s" FOREIGN_REFUSED_FILE, state);
	r = state_file_open(&f, path);
	if (r < 0)
		return; /* check_state says so */
	r = state_file_read(&f, &body);
	state_file_close(&f);
	if (r == 0 && body.len) {
		buf_put(&body, "", 1);
		at = (char *)body.data;
		while ((line = strsep(&at, "\n")))
			print_refusal(line);
	} else if (r == 0 || r == -ENOENT) {
		doctor_line(true, "files of others", "%s",
			    r ? "no probe with this state has run yet" : "none was refused");
	} else {
		doctor_line(false, "files of others",
			    "%s: %s; it is written again with the next "
			    "start of the probe",
			    path, strerror(-r));
	}
	buf_free(&body);
}

/* Creates nothing there: a running probe may be using the directory. */
static void check_spool(const char *path)
{
	char parent[PATH_MAX], *slash;
	struct statvfs v;

	if (statvfs(path, &v) == 0 && access(path, W_OK | X_OK) == 0) {
		doctor_line(true, "spool", "%s is writable and has %llu MiB free", path,
			    (unsigned long long)v.f_bavail * v.f_frsize >> 20);
		return;
	}
	if (errno == ENOENT) {
		snprintf(parent, sizeof(parent), "%s", path);
		slash = strrchr(parent, '/');
		if (slash)
			slash[slash == parent] = 0;
		if (access(slash ? parent : ".", W_OK | X_OK) == 0) {
			doctor_line(true, "spool", "%s will be created", path);
			return;
		}
	}
	doctor_line(false, "spool", "%s: %s; unsent batches will be kept in memory only", path,
		    strerror(errno));
}

/* Creates no keys. */
static void check_keys(const struct probe_config *c)
{
	char path[KEYS_PATH], err[400];
	struct key_pair own;
	struct keyring ring;
	int r;

	snprintf(path, sizeof(path), "%s/node.key", c->keys);
	r = keys_load(path, &own, err, sizeof(err));
	if (r == 0)
		doctor_line(true, "key", "collectors know this node by %s", own.public);
	else if (r == -ENOENT)
		doctor_line(true, "key", "the first start creates one in %s", path);
	else
		doctor_line(false, "key", "%s", err);
	r = keyring_collectors(&ring, c->keys, c->collector_key, err, sizeof(err));
	if (r == 0)
		doctor_line(true, "trust", "%u collector key%s known", ring.collectors.n,
			    ring.collectors.n == 1 ? " is" : "s are");
	else
		doctor_line(false, "trust", "%s", err);
}

int doctor_run(const struct probe_config *given)
{
	struct probe_config c = *given;
	char why[WHY_LEN] = "";
	const struct probe_env env = {
		.procfs = "/proc", .sysfs = "/sys", .config = &c, .why = why
	};
	struct endpoints collectors;
	struct ways_tried tried = { 0 };
	bool all;

	c.state[0] = 0; /* belongs to the running probe: must not be written */
	snprintf(c.on_demand, sizeof(c.on_demand), "all");
	libbpf_set_print(NULL); /* each refusal is a line of the doctor instead */
	sources_use(c.programs);
	kernel_btf_begin();
	all = check_sources(&tried, &env, &c, given);
	sources_forget();
	check_ways(&tried);
	doctor_kernel();
	kernel_btf_end();
	doctor_nginx(env.procfs);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		check_file(env.procfs, &files[i]);
	doctor_nat(env.procfs);
	if (given->scope[0])
		check_scope(given);
	if (given->state[0]) {
		check_state(given->state);
		check_refused(given->state);
	}
	if (given->spool[0])
		check_spool(given->spool);
	if (endpoints_parse(c.collector, &collectors) == 0)
		for (unsigned i = 0; i < collectors.n; i++)
			check_collector(collectors.at[i]);
	check_keys(&c);
	check_clock();
	return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
