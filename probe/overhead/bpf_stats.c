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
	pthread_cond_t changed; /* either way */
	bool want, end; /* what it is to do */
	int fd; /* the kernel counts while it is open; -1: it does not */
	int error; /* why it cannot, as it said when it began */
	bool begun;
	uint64_t since_ns, before_ns; /* this time since then, and the times before */
};

#define AT(field) (uint32_t) offsetof(struct seccomp_data, field)
#define IS(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (otherwise))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)
#define ALLOWED(nr) IS(nr, 1), ALLOW
#define ALLOWED_IF(nr, arg, value)                                                                 \
	IS(nr, 4), BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(args[arg])), IS(value, 1), ALLOW, REFUSE

/* All else does not exist for it. Of advice on memory only that it is not needed: by another some
 * pages are taken from the host. */
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

/* Without the lock: it may take the kernel long where there are many processors. */
static void count(struct bpf_stats *c, bool on)
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

static int begin(void)
{
	int r = privilege_keep_one(CAP_SYS_ADMIN);

	prctl(PR_SET_NAME, "counting", 0, 0, 0);
	return r < 0 ? r : enter_filter();
}

static void *run(void *arg)
{
	struct bpf_stats *c = arg;
	int r = begin();

	pthread_mutex_lock(&c->lock);
	if (r == 0)
		count(c, true);
	c->error = r == 0 && c->fd < 0 ? -EPERM : r;
	c->begun = true;
	pthread_cond_signal(&c->changed);
	while (!c->error && !c->end) {
		bool on = c->want;

		if (on == (c->fd >= 0)) {
			pthread_cond_wait(&c->changed, &c->lock);
			continue;
		}
		count(c, on);
		if (on && c->fd < 0) /* refused: until it is asked once more */
			c->want = false;
	}
	if (c->fd >= 0)
		count(c, false);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Its error, or 0 when it counts. */
static int start(struct bpf_stats *c)
{
	pthread_attr_t a;
	int r;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, STACK);
	r = pthread_create(&c->thread, &a, run, c);
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

static void done(struct bpf_stats *c)
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
	r = start(c);
	if (r < 0) {
		done(c);
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
	done(c);
}

void bpf_stats_ask(struct bpf_stats *c, bool on)
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
