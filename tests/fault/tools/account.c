// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/tools/account.h"

#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct ask { /* a generic netlink message with one attribute */
	struct nlmsghdr n;
	struct genlmsghdr g;
	struct nlattr a;
	union {
		char name[16];
		uint32_t pid;
	};
};

static int netlink = -1;
static uint16_t family;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t account_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* The answer's attributes, or 0 of them. */
static int exchange(struct ask *q, size_t payload, char *answer, size_t size)
{
	ssize_t n;

	q->a.nla_len = (uint16_t)(NLA_HDRLEN + payload);
	q->n.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + GENL_HDRLEN + NLA_ALIGN(q->a.nla_len));
	q->n.nlmsg_flags = NLM_F_REQUEST;
	if (send(netlink, q, q->n.nlmsg_len, 0) < 0)
		return 0;
	n = recv(netlink, answer, size, 0);
	if (n < (ssize_t)(NLMSG_HDRLEN + GENL_HDRLEN) ||
	    ((struct nlmsghdr *)(void *)answer)->nlmsg_type == NLMSG_ERROR)
		return 0;
	return (int)n - NLMSG_HDRLEN - GENL_HDRLEN;
}

static void *attribute(char *from, int len, int type)
{
	for (int at = 0; at + NLA_HDRLEN <= len;) {
		struct nlattr *a = (void *)(from + at);

		if (a->nla_type == type)
			return from + at + NLA_HDRLEN;
		at += NLA_ALIGN(a->nla_len);
		if (a->nla_len < NLA_HDRLEN)
			break;
	}
	return NULL;
}

void account_open(void)
{
	struct ask q = { .n.nlmsg_type = GENL_ID_CTRL, .g = { CTRL_CMD_GETFAMILY, 1, 0 } };
	char answer[4096];
	void *id;
	int len;

	netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (netlink < 0)
		return;
	q.a.nla_type = CTRL_ATTR_FAMILY_NAME;
	memcpy(q.name, TASKSTATS_GENL_NAME, sizeof(TASKSTATS_GENL_NAME));
	len = exchange(&q, sizeof(TASKSTATS_GENL_NAME), answer, sizeof(answer));
	id = attribute(answer + NLMSG_HDRLEN + GENL_HDRLEN, len, CTRL_ATTR_FAMILY_ID);
	if (id)
		memcpy(&family, id, sizeof(family));
}

static void take_delays(struct account *a)
{
	struct ask q = { .n.nlmsg_type = family, .g = { TASKSTATS_CMD_GET, 1, 0 } };
	char answer[4096], *stats;
	int len;

	q.a.nla_type = TASKSTATS_CMD_ATTR_PID;
	q.pid = (uint32_t)gettid();
	pthread_mutex_lock(&turn);
	len = exchange(&q, sizeof(q.pid), answer, sizeof(answer));
	pthread_mutex_unlock(&turn);
	stats = attribute(answer + NLMSG_HDRLEN + GENL_HDRLEN, len, TASKSTATS_TYPE_AGGR_PID);
	stats = stats ? attribute(stats, len - NLA_HDRLEN, TASKSTATS_TYPE_STATS) : NULL;
	if (stats) {
		struct taskstats t;

		memcpy(&t, stats, sizeof(t));
		a->blkio = t.blkio_delay_total;
		a->reclaim = t.freepages_delay_total;
	}
}

void account_take(struct account *a)
{
	unsigned long long cpu, delay;
	char text[64];
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	*a = (struct account){ .cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) };
	if (fd >= 0)
		close(fd);
	if (n > 0) {
		text[n] = 0;
		if (sscanf(text, "%llu %llu", &cpu, &delay) == 2)
			a->runq = delay;
	}
	if (family)
		take_delays(a);
	a->wall = clock_ns(CLOCK_MONOTONIC);
}
