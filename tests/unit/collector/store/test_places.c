// SPDX-License-Identifier: Apache-2.0
/* source_places on a fake host: the /proc files of a server, a container and their sockets. */
#include <limits.h>

#include "lib/base/arena.h"
#include "probe/core/source.h"
#include "tests/fake/clock.h"
#include "tests/fake/place.h"
#include "tests/lib/test.h"

#define HEAD                                                                                       \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "      \
	"timeout inode\n"
#define SOCKET(addr, state, inode)                                                                 \
	"   0: " addr " 00000000:0000 " state                                                      \
	" 00000000:00000000 00:00000000 00000000     0        0 " inode " 1 0 100\n"

static struct probe_config config;

struct host {
	uint64_t due_ns; /* when it is read next */
	void *self;
	struct sink sink;
	struct arena *arena;
	struct wire_body reported;
	char why[WHY_LEN];
};

static void write_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", place(), name);
	f = fopen(path, "we");
	CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

/* nginx at *:80 and a server at 127.0.0.1:8080; "app" in a container at [::]:5000. */
static int host_open(struct host *h)
{
	const struct probe_env env = {
		.procfs = place(), .sysfs = "/nonexistent", .config = &config, .why = h->why
	};

	*h = (struct host){ .arena = arena_new(8 << 20), .self = calloc(1, source_places.size) };
	CHECK_EQ(place_run("mkdir -p self/net self/ns 100/fd 100/ns 200/fd 200/ns 300/net 300/ns "
			   "300/fd"),
		 0);
	CHECK_EQ(place_run("touch self/ns/net 300/ns/net; ln self/ns/net 100/ns; ln self/ns/net "
			   "200/ns"),
		 0);
	CHECK_EQ(place_run("ln -s 'socket:[11]' 100/fd/3; ln -s /dev/null 100/fd/0; ln -s "
			   "'socket:[12]' 200/fd/4;"
			   "ln -s 'socket:[21]' 300/fd/7"),
		 0);
	CHECK_EQ(place_run("echo nginx >100/comm; echo server >200/comm; echo app >300/comm"), 0);
	write_file("self/net/tcp",
		   HEAD SOCKET("00000000:0050", "0A", "11") SOCKET("0100007F:1F90", "0A", "12")
			   SOCKET("0100007F:1F91", "01", "13") SOCKET("0100007F:1F92", "0A", "14"));
	write_file("self/net/fib_trie",
		   "Main:\n  +-- 10.0.0.0/8 2 0 2\n     |-- 10.0.0.5\n        /32 host LOCAL\n"
		   "     |-- 10.255.255.255\n        /32 link BROADCAST\n     |-- 127.0.0.1\n"
		   "        /32 host LOCAL\nLocal:\n     |-- 10.0.0.5\n        /32 host LOCAL\n");
	write_file("self/net/if_inet6", "fe8000000000000000fc00fffe000001 04 40 20 80     eth0\n"
					"20010db8000000000000000000000005 04 40 00 80     eth0\n"
					"00000000000000000000000000000001 01 80 10 80       lo\n");
	write_file("300/net/tcp6",
		   HEAD SOCKET("00000000000000000000000000000000:1388", "0A", "21"));
	write_file("300/net/fib_trie", "Local:\n     |-- 172.17.0.2\n        /32 host LOCAL\n");
	return source_places.open(h->self, &env);
}

static void host_close(struct host *h)
{
	source_places.close(h->self);
	free(h->self);
	arena_free(h->arena);
	buf_free(&h->sink.event);
	place_clean();
}

/* What is reported on this tick, as text. */
static const char *tick(struct host *h)
{
	static char all[4096];
	size_t len = 0;

	if (clock_mono_ns() < h->due_ns) /* the next read, not a step of the last one */
		clock_set_ns(h->due_ns);
	h->due_ns = clock_mono_ns() + source_places.period_ms * 1000000ull;
	arena_reset(h->arena);
	buf_reset(&h->sink.event);
	CHECK_EQ(source_places.read(h->self, &h->sink), 0);
	CHECK_EQ(wire_body_decode(h->arena, h->sink.event.data, h->sink.event.len, &h->reported),
		 0);
	CHECK(h->reported.nplaces <= 1);
	all[0] = 0;
	if (!h->reported.nplaces)
		return all;
	len += (size_t)snprintf(all, sizeof(all), h->reported.places[0].whole ? "all:" : "change:");
	for (uint32_t i = 0; i < h->reported.places[0].n && i < 32; i++) {
		const struct place *p = &h->reported.places[0].places[i];
		char text[ADDR_TEXT];

		len += (size_t)snprintf(all + len, sizeof(all) - len, " %s%u%s %s=%s",
					p->gone ? "-" : "", p->kind, p->netns ? "c" : "",
					addr_text(&p->addr, text), p->app);
	}
	return all;
}

#define ALL                                                                                        \
	"all: 1 10.0.0.5:0= 1 [2001:db8::5]:0= 2 0.0.0.0:80=nginx 2 127.0.0.1:8080=server"         \
	" 2c [::]:5000=app 3c 172.17.0.2:0="

TEST(all_addresses_are_reported_first_and_then_every_ten_minutes)
{
	struct host h;

	CHECK_EQ(host_open(&h), 0);
	CHECK_STR(tick(&h), ALL);
	CHECK_EQ(h.reported.places[0].left_out, 0);
	for (uint64_t i = 1; i < 60; i++) {
		clock_set_ns(i * 10000000000u);
		CHECK_STR(tick(&h), "");
	}
	clock_set_ns(600000000000u);
	CHECK_STR(tick(&h), ALL);
	host_close(&h);
}

TEST(only_addresses_that_appear_vanish_or_change_owner_are_reported)
{
	struct host h;

	CHECK_EQ(host_open(&h), 0);
	tick(&h);
	write_file("self/net/tcp",
		   HEAD SOCKET("00000000:0050", "0A", "15") SOCKET("0500000A:1F40", "0A", "16"));
	CHECK_EQ(place_run("ln -sf 'socket:[15]' 100/fd/3; ln -s 'socket:[16]' 200/fd/9"), 0);
	CHECK_STR(tick(&h), "change: -2 127.0.0.1:8080=server 2 10.0.0.5:8000=server");
	write_file("self/net/tcp",
		   HEAD SOCKET("00000000:0050", "0A", "17") SOCKET("0500000A:1F40", "0A", "16"));
	CHECK_EQ(place_run("ln -sf 'socket:[17]' 200/fd/4; ln -sf /dev/null 100/fd/3"), 0);
	CHECK_STR(tick(&h), "change: 2 0.0.0.0:80=server");
	host_close(&h);
}

TEST(a_container_that_comes_and_goes_is_reported)
{
	struct host h;

	CHECK_EQ(host_open(&h), 0);
	tick(&h);
	CHECK_EQ(place_run("mv 300 gone"), 0);
	CHECK_STR(tick(&h), "change: -2c [::]:5000=app -3c 172.17.0.2:0=");
	CHECK_EQ(place_run("mv gone 400"), 0);
	CHECK_STR(tick(&h), "change: 2c [::]:5000=app 3c 172.17.0.2:0=");
	host_close(&h);
}

TEST(a_socket_without_a_process_is_reported_without_a_name)
{
	struct host h;

	CHECK_EQ(host_open(&h), 0);
	CHECK_EQ(place_run("rm 100/fd/3"), 0);
	CHECK(strstr(tick(&h), " 2 0.0.0.0:80= ") != NULL);
	host_close(&h);
}

TEST(with_a_cgroup_scope_only_addresses_of_its_processes_are_reported)
{
	struct host h;

	CHECK_EQ(place_run("mkdir -p cg/below"), 0);
	snprintf(config.scope, sizeof(config.scope), "cgroup=%s/cg", place());
	write_file("cg/cgroup.procs", "");
	write_file("cg/below/cgroup.procs", "200\n");
	CHECK_EQ(host_open(&h), 0);
	CHECK_EQ(place_run("cp -r self/net 200/"), 0);
	CHECK_STR(tick(&h), "all: 1 10.0.0.5:0= 1 [2001:db8::5]:0= 2 127.0.0.1:8080=server");
	write_file("cg/below/cgroup.procs", "300\n");
	CHECK_STR(tick(&h), "change: -1 10.0.0.5:0= -1 [2001:db8::5]:0= -2 127.0.0.1:8080=server"
			    " 2c [::]:5000=app 3c 172.17.0.2:0=");
	config.scope[0] = 0;
	host_close(&h);
}

TEST(addresses_beyond_the_limit_of_a_node_are_counted)
{
	struct host h;

	CHECK_EQ(host_open(&h), 0);
	CHECK_EQ(
		place_run(
			"seq -f ' 1: 00000000:%04.0f 0:0 0A 0:0 0:0 0 0 0 7' 1 5000 >self/net/tcp"),
		0);
	tick(&h);
	CHECK_EQ(h.reported.places[0].n, ITEM_MAX_PLACES);
	CHECK(h.reported.places[0].left_out >= 5000 - ITEM_MAX_PLACES);
	host_close(&h);
}
