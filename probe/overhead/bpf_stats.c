// SPDX-License-Identifier: Apache-2.0
#include "probe/overhead/bpf_stats.h"

#include <bpf/bpf.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/sandbox/privilege.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

enum { STACK = 128 * 1024 };

struct bpf_stats {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* signals in both directions */
	bool want, end; /* orders to the thread */
	int fd; /* the kernel counts while it is open; -1: it does not count */
	int error; /* of the start of the thread */
	bool begun;
	uint64_t since_ns, before_ns; /* start of the current count; total of the earlier ones */
};

#define AT(field) (uint32_t) offsetof(struct seccomp_data, field)
#define IS(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (otherwise))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)
#define ALLOWED(nr) IS(nr, 1), ALLOW
#define ALLOWED_IF(nr, arg, value)                                                                 \
	IS(nr, 4), BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(args[arg])), IS(value, 1), ALLOW, REFUSE

/*
 * All other calls fail with ENOSYS. Of madvise() only MADV_DONTNEED: another advice can take pages
 * from the host.
 */
static int enter_filter(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(nr)),
		ALLOWED_IF(SYS_bpf, 0, BPF_ENABLE_STATS),
		ALLOWED(SYS_close),
		ALLOWED(SYS_futex),
		ALLOWED(SYS_clock_gettime),
		ALLOWED(SYS_rt_sigprocmask),
		ALLOWED(SYS_sigaltstack),
		ALLOWED(SYS_munmap),
		ALLOWED_IF(SYS_mmap, 2, PROT_READ | PROT_WRITE),
		ALLOWED_IF(SYS_madvise, 2, MADV_DONTNEED),
		ALLOWED(SYS_exit),
		ALLOWED(SYS_exit_group),
		REFUSE,
	};
	const struct sock_fprog p = { ARRAY_SIZE(f), f };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p, 0, 0) < 0 ? -errno : 0;
}

/* Releases the lock meanwhile: this may take the kernel long on a machine with many CPUs. */
static void switch_counting(struct bpf_stats *c, bool on)
{
	int fd = c->fd;

	pthread_mutex_unlock(&c->lock);
	if (on)
		fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	else
		close(fd);
	pthread_mutex_lock(&c->lock);
	if (on && fd >= 0)
		c->since_ns = clock_mono_ns();
	else if (!on)
		c->before_ns += clock_mono_ns() - c->since_ns;
	c->fd = on ? fd : -1;
}

static int restrict_thread(void)
{
	int r = privilege_keep_one(CAP_SYS_ADMIN);

	prctl(PR_SET_NAME, "counting", 0, 0, 0);
	return r < 0 ? r : enter_filter();
}

static void *run_thread(void *arg)
{
	struct bpf_stats *c = arg;
	int r = restrict_thread();

	pthread_mutex_lock(&c->lock);
	if (r == 0)
		switch_counting(c, true);
	c->error = r == 0 && c->fd < 0 ? -EPERM : r;
	c->begun = true;
	pthread_cond_signal(&c->changed);
	while (!c->error && !c->end) {
		bool on = c->want;

		if (on == (c->fd >= 0)) {
			pthread_cond_wait(&c->changed, &c->lock);
			continue;
		}
		switch_counting(c, on);
		if (on && c->fd < 0) /* refused: wait for the next order */
			c->want = false;
	}
	if (c->fd >= 0)
		switch_counting(c, false);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* 0 when the kernel counts, or the error of the thread. */
static int start_thread(struct bpf_stats *c)
{
	pthread_attr_t a;
	int r;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, STACK);
	r = pthread_create(&c->thread, &a, run_thread, c);
	pthread_attr_destroy(&a);
	if (r)
		return -r;
	pthread_mutex_lock(&c->lock);
	while (!c->begun)
		pthread_cond_wait(&c->changed, &c->lock);
	r = c->error;
	pthread_mutex_unlock(&c->lock);
	if (r < 0)
		pthread_join(c->thread, NULL);
	return r;
}

static void free_stats(struct bpf_stats *c)
{
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

int bpf_stats_open(struct bpf_stats **out)
{
	struct bpf_stats *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		die("out of memory");
	c->fd = -1;
	c->want = true;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	r = start_thread(c);
	if (r < 0) {
		free_stats(c);
		return r;
	}
	*out = c;
	return 0;
}

void bpf_stats_close(struct bpf_stats *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->end = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	free_stats(c);
}

void bpf_stats_want(struct bpf_stats *c, bool on)
{
	pthread_mutex_lock(&c->lock);
	c->want = on;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

uint64_t bpf_stats_ns(struct bpf_stats *c)
{
	uint64_t ns;

	pthread_mutex_lock(&c->lock);
	ns = c->before_ns + (c->fd >= 0 ? clock_mono_ns() - c->since_ns : 0);
	pthread_mutex_unlock(&c->lock);
	return ns;
}
