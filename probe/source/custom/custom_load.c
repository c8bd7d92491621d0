// SPDX-License-Identifier: Apache-2.0
#include "probe/source/custom/custom_load.h"

#include <bpf/bpf.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* One message; the descriptors are sent along as ancillary data. */
struct answer {
	int r;
	char why[CUSTOM_WHY];
	struct custom_fds fds;
	struct custom_manifest manifest;
};

union room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(CUSTOM_FDS * sizeof(int))];
};

void custom_unload(struct custom_fds *fds)
{
	for (uint32_t i = 0; i < fds->n; i++)
		close(fds->fd[i]);
	fds->n = 0;
}

static void put_fds(struct msghdr *msg, union room *room, const struct custom_fds *fds)
{
	size_t bytes = fds->n * sizeof(int);
	struct cmsghdr *c;

	if (!fds->n)
		return;
	msg->msg_control = room;
	msg->msg_controllen = CMSG_SPACE(bytes);
	c = CMSG_FIRSTHDR(msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(c), fds->fd, bytes);
}

static void take_fds(struct msghdr *msg, struct custom_fds *fds)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);

	fds->n = 0;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return;
	fds->n = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(fds->fd, CMSG_DATA(c), fds->n * sizeof(int));
}

static _Noreturn void run_child(int sock, const struct custom_file *f, struct answer *a)
{
	const struct rlimit none = { 0, 0 };
	struct iovec part = { a, sizeof(*a) };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	union room room = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGALRM, SIG_DFL);
	signal(SIGSEGV, SIG_DFL); /* a sanitizer would report crashes of libbpf as ours */
	alarm(CUSTOM_LOAD_S);
	a->r = custom_object(f, &a->manifest, &a->fds, a->why);
	if (a->r < 0)
		a->fds.n = 0;
	put_fds(&msg, &room, &a->fds);
	_exit(sendmsg(sock, &msg, MSG_NOSIGNAL) == sizeof(*a) ? 0 : 1);
}

static bool receive_answer(int sock, struct answer *a)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	struct iovec part = { a, sizeof(*a) };
	union room room = { 0 };
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &room,
			      .msg_controllen = sizeof(room) };
	ssize_t n;
	int ready;

	do
		ready = poll(&p, 1, (CUSTOM_LOAD_S + 5) * 1000);
	while (ready < 0 && errno == EINTR);
	n = ready > 0 ? recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) : -1;
	take_fds(&msg, &a->fds);
	if (n == (ssize_t)sizeof(*a) && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return true;
	if (n >= 0)
		custom_unload(&a->fds);
	return false;
}

static bool field_fits(const struct custom_field *f, uint32_t size)
{
	uint64_t bytes = (uint64_t)f->size * (f->n ? f->n : 1);

	if (f->n && f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return false;
	return f->size && f->n <= CUSTOM_SLOTS && f->offset + bytes <= size;
}

/* Reads the shape of a map from the kernel, and checks that the fields lie within it. */
static bool map_fits(const struct custom_manifest *m, uint32_t map, int fd,
		     struct custom_shape *shape)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len) < 0)
		return false;
	*shape = (struct custom_shape){ info.type, info.key_size, info.value_size };
	if (info.key_size > CUSTOM_KEY_BYTES || info.value_size > CUSTOM_VALUE_BYTES ||
	    m->map[map].nlabels > CUSTOM_LABELS)
		return false;
	for (uint32_t i = 0; i < m->map[map].nlabels; i++)
		if (!field_fits(&m->map[map].label[i].at, info.key_size) ||
		    !memchr(m->map[map].label[i].name, 0, CUSTOM_NAME))
			return false;
	for (uint32_t i = 0; i < m->nmetrics; i++)
		if (m->metric[i].map == map &&
		    (!m->metric[i].at.n || !field_fits(&m->metric[i].at, info.value_size)))
			return false;
	return true;
}

/* Takes only the field positions that the child found. */
static bool take_answer(const struct answer *a, struct custom_manifest *m,
			struct custom_shape *shape)
{
	for (uint32_t i = 0; i < m->nmaps; i++) {
		m->map[i].nlabels = a->manifest.map[i].nlabels;
		memcpy(m->map[i].label, a->manifest.map[i].label, sizeof(m->map[i].label));
	}
	for (uint32_t i = 0; i < m->nmetrics; i++)
		m->metric[i].at = a->manifest.metric[i].at;
	for (uint32_t i = 0; i < m->nmaps; i++)
		if (a->fds.map[i] >= a->fds.n ||
		    !map_fits(m, i, a->fds.fd[a->fds.map[i]], &shape[i]))
			return false;
	return true;
}

static int explain_exit(pid_t pid, const char *name, char *why)
{
	int status = 0;

	kill(pid, SIGKILL); /* it did not answer */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL))
		snprintf(why, CUSTOM_WHY, "%s.bpf.o was not loaded within %d s", name,
			 CUSTOM_LOAD_S);
	else
		snprintf(why, CUSTOM_WHY,
			 "%s.bpf.o is damaged: reading it crashed (%s); build it again", name,
			 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an error");
	return -EBADMSG;
}

static int fork_loader(const struct custom_file *f, struct answer *a, char *why)
{
	AUTO_CLOSE int ours = -1;
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ours = pair[0];
	pid = fork();
	if (pid == 0)
		run_child(pair[1], f, a);
	close(pair[1]);
	if (pid < 0)
		return -EAGAIN;
	if (!receive_answer(ours, a))
		return explain_exit(pid, f->name, why);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

int custom_load(const struct custom_file *f, struct custom_manifest *m, struct custom_fds *out,
		struct custom_shape shape[static CUSTOM_MAPS], char why[static CUSTOM_WHY])
{
	AUTO_FREE struct answer *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	a->manifest = *m;
	r = fork_loader(f, a, why);
	if (r < 0)
		return r;
	if (a->r < 0) {
		snprintf(why, CUSTOM_WHY, "%.*s", CUSTOM_WHY - 1, a->why);
		return a->r;
	}
	if (!take_answer(a, m, shape)) {
		custom_unload(&a->fds);
		snprintf(why, CUSTOM_WHY, "%s.bpf.o is damaged: its types do not fit its maps",
			 f->name);
		return -EBADMSG;
	}
	*out = a->fds;
	return 0;
}
