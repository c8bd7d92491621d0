// SPDX-License-Identifier: Apache-2.0
/*
 * src_hung_task.c - tasks in uninterruptible sleep: their number, and an event for each that makes
 * no progress for long, from bpf/sched/hung_task.bpf.c. All tasks are scanned once a second, and
 * ten times a second while the kernel reports pressure on I/O or memory.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "bpf/sched/hung_task.h"
#include "lib/base/clock.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/core/source.h"
#include "probe/symbol/kernel/stacks.h"
#include "probe/source/kernel_log/kernel_events.h"
#include "bpf/sched/hung_task.skel.h"
#include "probe/source/kernel_log/hung_tasks.h"

#define SEC 1000000000ull

enum {
	PERIOD_MS = 100,
	SLOW_PASS_MS = 950, /* a little less than a second: timers are late, never early */
	TICK_S = 2,
	PRESSURES = 2,
	PRESSED = 5, /* percent of the last 10 s in which a task waited */
	RECORDS = 16, /* in one read */
};

struct hung_task_source {
	struct hung_task_bpf *bpf;
	struct stacks *stacks;
	struct kernel_events *kernel_events;
	struct hung_tasks table;
	struct hung_task_pass pass;
	uint64_t limit_ns, next_tick_ns, full, reported_withheld;
	int pressure[PRESSURES]; /* descriptor + 1; 0: the kernel has none */
	bool pressed;
	uint32_t most_asleep; /* since the last tick */
	struct sink *out; /* during a read */
};

static void hung_task_close(void *self)
{
	struct hung_task_source *s = self;

	if (s->kernel_events)
		s->kernel_events->hung_tasks_watched = false;
	for (int i = 0; i < PRESSURES; i++)
		if (s->pressure[i])
			close(s->pressure[i] - 1);
	hung_task_bpf__destroy(s->bpf);
	stacks_free(s->stacks);
}

static void calls_on_fd(uint8_t on_fd[static STUCK_NRS])
{
	static const uint16_t calls[] = {
		SYS_read,     SYS_write,      SYS_pread64,	   SYS_pwrite64,
		SYS_readv,    SYS_writev,     SYS_preadv,	   SYS_pwritev,
		SYS_preadv2,  SYS_pwritev2,   SYS_fsync,	   SYS_fdatasync,
		SYS_syncfs,   SYS_ftruncate,  SYS_fallocate,	   SYS_sync_file_range,
		SYS_sendfile, SYS_flock,      SYS_copy_file_range, SYS_ioctl,
		SYS_fstat,    SYS_getdents64, SYS_lseek,	   SYS_fcntl,
		SYS_splice,
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		on_fd[calls[i]] = 1;
}

static int load_programs(struct hung_task_source *s, char *why)
{
	int r;

	s->bpf = hung_task_bpf__open();
	if (!s->bpf)
		return -errno;
	calls_on_fd(s->bpf->rodata->on_fd);
	r = hung_task_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, why);
	s->bpf->links.on_task = bpf_program__attach(s->bpf->progs.on_task);
	return s->bpf->links.on_task ? 0 : -errno;
}

static int hung_task_open(void *self, const struct probe_env *env)
{
	static const char *const names[PRESSURES] = { "io", "memory" };
	struct hung_task_source *s = self;
	char path[256];
	int r;

	if (env->config->stuck_s <= 0) {
		snprintf(env->why, WHY_LEN, "turned off by stuck_s = 0");
		return -ECANCELED;
	}
	r = kernel_can_load(env->why);
	if (r == 0)
		r = load_programs(s, env->why);
	if (r < 0)
		return r;
	for (int i = 0; i < PRESSURES; i++) {
		snprintf(path, sizeof(path), "%s/pressure/%s", env->procfs, names[i]);
		s->pressure[i] = open(path, O_RDONLY | O_CLOEXEC) + 1;
	}
	s->limit_ns = (uint64_t)(env->config->stuck_s * 1e9);
	s->stacks = stacks_new(env->procfs);
	s->kernel_events = env->kernel_events;
	if (s->kernel_events)
		s->kernel_events->hung_tasks_watched = true;
	return 0;
}

/* "some avg10=0.00 avg60=..." */
static bool is_pressed(const struct hung_task_source *s)
{
	for (int i = 0; i < PRESSURES; i++) {
		char text[64] = "";
		double share;

		if (s->pressure[i] && pread(s->pressure[i] - 1, text, sizeof(text) - 1, 0) > 0 &&
		    sscanf(text, "some avg10=%lf", &share) == 1 && share >= PRESSED)
			return true;
	}
	return false;
}

static bool is_hung(const struct hung_task_source *s, uint32_t tid)
{
	for (uint32_t i = 0; s->kernel_events && i < s->kernel_events->nhung; i++)
		if (s->kernel_events->hung[i] == tid)
			return true;
	return false;
}

/* A task that the log calls hung is reported at once. */
static void take_record(struct hung_task_source *s, const struct hung_task_record *r)
{
	bool hung = is_hung(s, r->tid);
	struct hung_task *k;

	if (!hung && r->now_ns - r->first_ns < s->limit_ns)
		return;
	k = hung_tasks_see(&s->table, r, &s->pass);
	if (k)
		k->stack = stacks_id(s->stacks, r->frame, r->n < STUCK_FRAMES ? r->n : STUCK_FRAMES,
				     r->n == STUCK_FRAMES ? STACKS_CUT : 0, s->pass.now_ns);
	if (hung)
		hung_tasks_confirm(&s->table, r->tid);
}

/* A read may end in the middle of a record. */
static int read_records(struct hung_task_source *s, int fd)
{
	struct hung_task_record r[RECORDS];
	size_t have = 0;
	ssize_t n;

	while ((n = read(fd, (char *)r + have, sizeof(r) - have)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		have += (size_t)n;
		for (size_t i = 0; i < have / sizeof(r[0]); i++)
			take_record(s, &r[i]);
		memmove(r, (char *)r + have / sizeof(r[0]) * sizeof(r[0]), have % sizeof(r[0]));
		have %= sizeof(r[0]);
	}
	return 0;
}

/* Clears the full map: entries of tasks that woke up stay in it until then. */
static void clear_asleep(struct hung_task_source *s)
{
	struct bpf_map *map = s->bpf->maps.asleep;
	uint32_t key;

	for (int i = 0; i < STUCK_FOLLOWED; i++)
		if (bpf_map__get_next_key(map, NULL, &key, sizeof(key)) < 0 ||
		    bpf_map__delete_elem(map, &key, sizeof(key), 0) < 0)
			break;
}

static int scan_tasks(struct hung_task_source *s, uint64_t now)
{
	struct hung_task_bpf__bss *k = s->bpf->bss;
	bool asked = s->kernel_events && s->kernel_events->nhung;
	int fd = bpf_iter_create(bpf_link__fd(s->bpf->links.on_task)), r;

	if (fd < 0)
		return -errno;
	s->pass = (struct hung_task_pass){ .now_ns = now,
					   .period_ns = s->pass.now_ns ? now - s->pass.now_ns : 0,
					   .wall_minus_mono_ns = (int64_t)(clock_wall_ns() - now) };
	k->control.limit_ns = asked ? 0 : s->limit_ns;
	k->control.pass++;
	k->counts = (struct hung_task_counts){ 0 };
	r = read_records(s, fd);
	close(fd);
	if (s->kernel_events)
		s->kernel_events->nhung = 0;
	s->most_asleep = k->counts.asleep > s->most_asleep ? k->counts.asleep : s->most_asleep;
	s->full += k->counts.full;
	hung_tasks_end(&s->table, &s->pass, s->out);
	if (k->counts.full)
		clear_asleep(s);
	return r;
}

static void send_counts(struct hung_task_source *s)
{
	uint64_t withheld = s->full + s->table.withheld;
	double v[TASKS_END] = {
		[TASKS_ASLEEP] = s->most_asleep, [TASKS_STUCK] = hung_tasks_count(&s->table)
	};
	double loss = (double)(withheld - s->reported_withheld);

	s->reported_withheld = withheld;
	s->most_asleep = 0;
	sink_sample(s->out, &(struct sample_item){ layout_tasks.layout, "", TASKS_END, v });
	sink_sample(s->out,
		    &(struct sample_item){ layout_tasksloss.layout, "", TASKSLOSS_END, &loss });
}

static int hung_task_read(void *self, struct sink *out)
{
	struct hung_task_source *s = self;
	uint64_t now = clock_mono_ns(), since = now - s->pass.now_ns;
	int r = 0;

	s->out = out;
	if (s->pressed || since >= SLOW_PASS_MS * 1000000ull ||
	    (s->kernel_events && s->kernel_events->nhung))
		r = scan_tasks(s, now);
	stacks_step(s->stacks, out, now);
	if (now >= s->next_tick_ns) {
		s->next_tick_ns = clock_next(now, TICK_S * SEC);
		s->pressed = is_pressed(s);
		send_counts(s);
	}
	s->out = NULL;
	if (r < 0)
		return r;
	return s->pressed || stacks_wait(s->stacks) ? 0 : SOURCE_RESTS;
}

static const struct wire_dict *const layouts[] = { &layout_tasks, &layout_tasksloss };

const struct source source_stuck = {
	.name = "stuck",
	.help = "hung tasks in uninterruptible sleep, with stack, call and file",
	.period_ms = PERIOD_MS,
	.rest_ms = 1000,
	.steady = true,
	.size = sizeof(struct hung_task_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = hung_task_open,
	.read = hung_task_read,
	.close = hung_task_close,
};
