// SPDX-License-Identifier: Apache-2.0
/*
 * drop.c - drop OBJECT NETNS INTERFACE MODE[,MODE...] [ONE_IN [BURST_MS [AFTER [SPORT [DPORT]]]]]
 *
 * Loses segments that come in on an interface until its standard input ends, and prints a line of
 * JSON for each one lost, for the moment it came by again, and for what a connection begins with.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/fault/tools/drop.h"

static const struct {
	const char *name;
	__u32 mode;
} modes[] = { { "syn", DROP_SYN },
	      { "one", DROP_ONE },
	      { "twice", DROP_TWICE },
	      { "burst", DROP_BURST },
	      { "any", DROP_ANY } };

static long long wall_minus_mono;

static long long now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static const char *mode_name(__u32 mode)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (modes[i].mode == mode)
			return modes[i].name;
	return "";
}

static __u32 modes_of(const char *text)
{
	__u32 all = 0;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (strstr(text, modes[i].name))
			all |= modes[i].mode;
	return all;
}

/* The request line, as far as it is one. */
static void tell_head(const struct drop_event *e)
{
	int n = (int)strcspn(e->head, "\r\n");

	for (int i = 0; i < n; i++)
		if (e->head[i] < ' ' || e->head[i] > '~' || e->head[i] == '"' || e->head[i] == '\\')
			n = i;
	printf(",\"head\":\"%.*s\"", n, e->head);
}

static int on_event(void *arg, void *data, size_t len)
{
	static const char *const what[] = { "", "dropped", "again", "first" };
	const struct drop_event *e = data;

	(void)arg;
	if (len < sizeof(*e))
		return 0;
	printf("{\"what\":\"%s\",\"ns\":%lld,\"mode\":\"%s\",\"seq\":%u,\"len\":%u,\"syn\":%u,"
	       "\"sport\":%u,\"dport\":%u",
	       what[e->what], (long long)e->ns + wall_minus_mono, mode_name(e->mode), e->seq,
	       e->len, e->syn, e->sport, e->dport);
	if (e->what == FIRST_DATA)
		tell_head(e);
	puts("}");
	return 0;
}

static int netns_enter(const char *name)
{
	char path[128];
	int fd, r;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);
	if (fd >= 0)
		close(fd);
	return r;
}

static int set_rule(struct bpf_object *o, const struct drop_rule *r)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, o)
	{
		if (strstr(bpf_map__name(m), ".rodata"))
			return bpf_map__set_initial_value(m, r, sizeof(*r));
	}
	return -1;
}

static void run(struct bpf_object *o)
{
	struct ring_buffer *rb = ring_buffer__new(
		bpf_map__fd(bpf_object__find_map_by_name(o, "events")), on_event, NULL, NULL);
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	while (rb && !(poll(&in, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) < 1)) {
		if (ring_buffer__poll(rb, 50) < 0)
			break;
		fflush(stdout);
	}
	if (rb)
		ring_buffer__consume(rb);
	ring_buffer__free(rb);
}

static unsigned argument(int argc, char *argv[], int i)
{
	return argc > i ? (unsigned)atoi(argv[i]) : 0;
}

int main(int argc, char *argv[])
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = 1, .priority = 1);
	struct drop_rule rule = { 0 };
	struct bpf_object *o;

	if (argc < 5) {
		fprintf(stderr, "usage: drop OBJECT NETNS INTERFACE MODE,... [ONE_IN ...]\n");
		return 2;
	}
	rule.modes = modes_of(argv[4]);
	rule.one_in = argument(argc, argv, 5);
	rule.burst_ms = argument(argc, argv, 6);
	rule.after = argument(argc, argv, 7);
	rule.sport = (__u16)argument(argc, argv, 8);
	rule.dport = (__u16)argument(argc, argv, 9);
	signal(SIGINT, SIG_IGN);
	wall_minus_mono = now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC);
	o = bpf_object__open_file(argv[1], NULL);
	if (!o || set_rule(o, &rule) < 0 || bpf_object__load(o) < 0 || netns_enter(argv[2]) < 0) {
		perror("drop");
		return 1;
	}
	hook.ifindex = (int)if_nametoindex(argv[3]);
	bpf_tc_hook_create(&hook); /* it may be there already */
	opts.prog_fd = bpf_program__fd(bpf_object__find_program_by_name(o, "drop"));
	if (bpf_tc_attach(&hook, &opts) < 0) {
		perror("drop: tc");
		return 1;
	}
	puts("{\"what\":\"ready\"}");
	fflush(stdout);
	run(o);
	hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS; /* the whole hook goes */
	bpf_tc_hook_destroy(&hook);
	bpf_object__close(o);
	return 0;
}
