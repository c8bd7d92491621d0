// SPDX-License-Identifier: Apache-2.0
/*
 * odd.c - an HTTP/1.1 server for tests that moves its bytes by unusual system calls: one connection
 * at a time, kept alive, every request answered with 500.
 *
 * odd mmsg|uring|half PORT [UPSTREAM]
 *
 * mmsg: recvmmsg, and sendmmsg of the answer in three messages. uring: accept, recv and send by
 * io_uring; a path that begins with /worker is answered by a thread of the kernel's. half: recv and
 * send, but the answer to a path that begins with /unseen, and the request behind one that begins
 * with /unread, by io_uring: as if the hooks on system calls had been left out then. What is behind
 * one that begins with /called, read together with it, is answered when UPSTREAM, a port here, was
 * asked; and /called itself by io_uring.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HEAD = 8192 };

static char head1[] = "HTTP/1.1 500 Test\r\n", head2[] = "Content-Length: 4\r\n\r\n",
	    body[] = "odd\n";

/* What a way to move bytes does: each returns as the system call does. */
struct way {
	const char *name;
	void (*open)(void);
	int (*accept)(int fd);
	ssize_t (*recv)(int fd, void *p, size_t len);
	ssize_t (*answer)(int fd, const char *request);
};

static void fail(const char *what)
{
	fprintf(stderr, "odd: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void plain_open(void)
{
}

static int plain_accept(int fd)
{
	return accept4(fd, NULL, NULL, SOCK_CLOEXEC);
}

static ssize_t mmsg_recv(int fd, void *p, size_t len)
{
	struct iovec v = { p, len };
	struct mmsghdr m = { .msg_hdr = { .msg_iov = &v, .msg_iovlen = 1 } };
	int n = recvmmsg(fd, &m, 1, 0, NULL);

	return n < 0 ? n : (ssize_t)m.msg_len;
}

static ssize_t mmsg_answer(int fd, const char *request)
{
	struct iovec v[] = { { head1, sizeof(head1) - 1 },
			     { head2, sizeof(head2) - 1 },
			     { body, sizeof(body) - 1 } };
	struct mmsghdr m[3] = { 0 };

	(void)request;
	for (int i = 0; i < 3; i++) {
		m[i].msg_hdr.msg_iov = &v[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	return sendmmsg(fd, m, 3, 0) == 3 ? 1 : -1;
}

static struct {
	int fd;
	unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
} ring;

static void *ring_map(size_t len, off_t what)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, what);

	if (p == MAP_FAILED)
		fail("io_uring");
	return p;
}

static void ring_open(void)
{
	struct io_uring_params p = { 0 };
	char *sq, *cq;

	ring.fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	if (ring.fd < 0)
		fail("io_uring");
	sq = ring_map(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	cq = ring_map(p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	ring.sqes = ring_map(p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	ring.sq_tail = (unsigned *)(sq + p.sq_off.tail);
	ring.sq_mask = (unsigned *)(sq + p.sq_off.ring_mask);
	ring.sq_array = (unsigned *)(sq + p.sq_off.array);
	ring.cq_head = (unsigned *)(cq + p.cq_off.head);
	ring.cq_tail = (unsigned *)(cq + p.cq_off.tail);
	ring.cq_mask = (unsigned *)(cq + p.cq_off.ring_mask);
	ring.cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
}

/* One operation, and its result. */
static ssize_t ring_do(struct io_uring_sqe op)
{
	unsigned tail = *ring.sq_tail, at = tail & *ring.sq_mask, head = *ring.cq_head;
	int res;

	ring.sqes[at] = op;
	ring.sq_array[at] = at;
	__atomic_store_n(ring.sq_tail, tail + 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE) == head) {
		unsigned left = __atomic_load_n(ring.sq_tail, __ATOMIC_ACQUIRE) - tail;

		if (syscall(SYS_io_uring_enter, ring.fd, left, 1, IORING_ENTER_GETEVENTS, NULL, 0) <
			    0 &&
		    errno != EINTR)
			fail("io_uring");
		tail += left;
	}
	res = ring.cqes[head & *ring.cq_mask].res;
	__atomic_store_n(ring.cq_head, head + 1, __ATOMIC_RELEASE);
	return res;
}

static int uring_accept(int fd)
{
	return (int)ring_do((struct io_uring_sqe){
		.opcode = IORING_OP_ACCEPT, .fd = fd, .accept_flags = SOCK_CLOEXEC });
}

static ssize_t uring_recv(int fd, void *p, size_t len)
{
	return ring_do((struct io_uring_sqe){
		.opcode = IORING_OP_RECV, .fd = fd, .addr = (uintptr_t)p, .len = (__u32)len });
}

static ssize_t uring_answer(int fd, const char *request)
{
	char out[128];
	int n = snprintf(out, sizeof(out), "%s%s%s", head1, head2, body);

	return ring_do(
		(struct io_uring_sqe){ .opcode = IORING_OP_SEND,
				       .fd = fd,
				       .addr = (uintptr_t)out,
				       .len = (__u32)n,
				       .flags = strstr(request, " /worker") ? IOSQE_ASYNC : 0 });
}

static bool by_uring; /* what comes next */

static int upstream;

static void call(void)
{
	static const char request[] = "GET /called HTTP/1.1\r\nHost: odd\r\n\r\n";
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				  .sin_port = htons((uint16_t)upstream) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[256];

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    send(fd, request, sizeof(request) - 1, 0) < 0 ||
	    recv(fd, answer, sizeof(answer), 0) <= 0)
		fail("the upstream");
	close(fd);
}

static ssize_t half_recv(int fd, void *p, size_t len)
{
	return by_uring ? uring_recv(fd, p, len) : recv(fd, p, len, 0);
}

static ssize_t half_answer(int fd, const char *request)
{
	char out[128];
	int n = snprintf(out, sizeof(out), "%s%s%s", head1, head2, body);

	by_uring = strstr(request, " /unread");
	if (strstr(request, " /called")) {
		pid_t other = fork(); /* this thread has not been in io_uring */

		if (other == 0)
			_exit(uring_answer(fd, request) <= 0);
		if (other < 0 || waitpid(other, NULL, 0) < 0)
			fail("fork");
		call();
	}
	return strstr(request, " /unseen") ? uring_answer(fd, request)
					   : send(fd, out, (size_t)n, 0);
}

static const struct way ways[] = {
	{ "mmsg", plain_open, plain_accept, mmsg_recv, mmsg_answer },
	{ "uring", ring_open, uring_accept, uring_recv, uring_answer },
	{ "half", ring_open, plain_accept, half_recv, half_answer },
};

static void serve(const struct way *w, int fd)
{
	char buf[HEAD + 1];
	size_t len = 0;
	ssize_t n;

	while ((n = w->recv(fd, buf + len, HEAD - len)) > 0) {
		len += (size_t)n;
		buf[len] = 0;
		if (!strstr(buf, "\r\n\r\n"))
			continue;
		if (w->answer(fd, buf) <= 0)
			break;
		len = 0;
	}
	close(fd);
}

int main(int argc, char *argv[])
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int lfd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, fd;
	const struct way *w = NULL;

	for (size_t i = 0; argc >= 3 && argc <= 4 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			w = &ways[i];
	if (!w) {
		fprintf(stderr, "usage: odd mmsg|uring|half PORT [UPSTREAM]\n");
		return 2;
	}
	sa.sin_port = htons((uint16_t)atoi(argv[2]));
	upstream = argc == 4 ? atoi(argv[3]) : 0;
	setsockopt(lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(lfd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(lfd, 64) < 0)
		fail(argv[2]);
	w->open();
	while ((fd = w->accept(lfd)) >= 0)
		serve(w, fd);
	fail("accept");
}
