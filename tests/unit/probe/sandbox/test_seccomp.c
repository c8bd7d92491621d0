// SPDX-License-Identifier: Apache-2.0
/* Each of these happens in a child behind the filter, which ends it or must still let it do its
 * work. */
#include <fcntl.h>
#include <linux/bpf.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "probe/symbol/kernel/kernel_names.h"
#include "probe/sandbox/seccomp.h"
#include "probe/core/source.h"
#include "tests/lib/test.h"

enum { NO_FILTER = 250 };

static int status_of(int (*what)(void))
{
	const struct rlimit none = { 0 };
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &none);
		_exit(what());
	}
	waitpid(pid, &status, 0);
	return status;
}

static int (*confined_to)(void);

static int enter_and_do(void)
{
	return seccomp_enter() < 0 ? NO_FILTER : confined_to();
}

/* The result of the child: 0, an errno, or minus the signal that ended it. */
static int confined(int (*what)(void))
{
	int status;

	confined_to = what;
	status = status_of(enter_and_do);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A child has 8 bits for what it says, and errno more than that only for what nobody uses. */
static int error(long r)
{
	return r < 0 ? errno : 0;
}

static int read_a_file(void)
{
	AUTO_CLOSE int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	char byte;

	return error(read(fd, &byte, 1));
}

static int write_a_file(void)
{
	char path[] = "/tmp/test_seccomp.XXXXXX";
	AUTO_CLOSE int fd = mkstemp(path);

	return error(fd) | error(unlink(path)) | error(pwrite(fd, "x", 1, 0)) | error(fsync(fd));
}

static int wait_a_moment(void)
{
	return error(usleep(1)) | error(poll(NULL, 0, 1));
}

static int have_memory(void)
{
	size_t len = 64 << 20;
	char *p = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return errno;
	return error(mprotect(p, len, PROT_READ | PROT_WRITE)) | error(munmap(p, len));
}

static int name_a_cgroup(void)
{
	AUTO(kernel_names_free) struct kernel_names *n = kernel_names_new("/proc", "/sys");
	char text[NAME_CGROUP];

	kernel_names_cgroup(n, 4711, NAMES_CPU, text);
	return strncmp(text, "cgroup ", 7) != 0 && text[0] != '/';
}

static int read_cgroups(void)
{
	AUTO_FREE void *self = calloc(1, source_cgroup.size);
	char why[WHY_LEN];
	const struct probe_env env = { .procfs = "/proc", .why = why };
	struct sink out = { 0 };
	int r = source_cgroup.open(self, &env);

	if (r == 0)
		r = source_cgroup.read(self, &out);
	source_cgroup.close(self);
	buf_free(&out.metric);
	return -r;
}

TEST(cgroups_are_named_and_read)
{
	CHECK_EQ(confined(name_a_cgroup), 0);
	CHECK_EQ(confined(read_cgroups), 0);
}

TEST(files_waiting_and_memory_are_as_before)
{
	CHECK_EQ(confined(read_a_file), 0);
	CHECK_EQ(confined(write_a_file), 0);
	CHECK_EQ(confined(wait_a_moment), 0);
	CHECK_EQ(confined(have_memory), 0);
}

static void *in_thread(void *arg)
{
	int (*what)(void);

	memcpy(&what, arg, sizeof(what));
	return (void *)(intptr_t)what();
}

static int thread(int (*what)(void))
{
	pthread_t t;
	void *said;
	int r = pthread_create(&t, NULL, in_thread, &what);

	if (r == 0)
		pthread_join(t, &said);
	return r ? r : (int)(intptr_t)said;
}

static int family(int f, int type)
{
	AUTO_CLOSE int fd = socket(f, type | SOCK_CLOEXEC, 0);

	return error(fd);
}

static int packet_socket(void)
{
	return family(AF_PACKET, SOCK_RAW);
}

static int thread_that_reads(void)
{
	return thread(read_a_file);
}

static int thread_that_sniffs(void)
{
	return thread(packet_socket);
}

TEST(threads_can_be_started_and_are_behind_the_filter_too)
{
	CHECK_EQ(confined(thread_that_reads), 0);
	CHECK_EQ(confined(thread_that_sniffs), ENOSYS);
}

static int sockets_of_a_link(void)
{
	return family(AF_INET, SOCK_STREAM) | family(AF_UNIX, SOCK_STREAM) |
	       family(AF_NETLINK, SOCK_RAW);
}

static int find_a_name(void)
{
	struct addrinfo *found;
	int r = getaddrinfo("localhost", "7470", NULL, &found);

	if (r == 0)
		freeaddrinfo(found);
	return r != 0;
}

TEST(packets_cannot_be_sniffed_but_names_found_and_connections_made)
{
	CHECK_EQ(confined(find_a_name), 0);
	CHECK_EQ(confined(sockets_of_a_link), 0);
	CHECK_EQ(confined(packet_socket), ENOSYS);
}

static int run_a_program(void)
{
	return error(execl("/bin/true", "true", NULL));
}

static int run_a_file(void)
{
	char *none[] = { NULL };
	AUTO_CLOSE int fd = open("/bin/true", O_PATH | O_CLOEXEC);

	return error(syscall(SYS_execveat, fd, "", none, none, AT_EMPTY_PATH));
}

static int make_a_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return error(pid);
}

TEST(no_other_program_can_be_run)
{
	CHECK_EQ(confined(run_a_program), -SIGSYS);
	CHECK_EQ(confined(run_a_file), -SIGSYS);
	CHECK_EQ(confined(make_a_process), ENOSYS);
}

static int map_code(void)
{
	AUTO_CLOSE int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	return p == MAP_FAILED ? errno : 0;
}

static int make_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? 0 : error(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

TEST(no_memory_becomes_code)
{
	CHECK_EQ(confined(map_code), ENOSYS);
	CHECK_EQ(confined(make_code), ENOSYS);
}

static int bpf(int command)
{
	union bpf_attr a = { 0 };

	return error(syscall(SYS_bpf, command, &a, sizeof(a)));
}

static int load_a_program(void)
{
	return bpf(BPF_PROG_LOAD);
}

static int look_into_a_map(void)
{
	return bpf(BPF_MAP_LOOKUP_ELEM) == ENOSYS;
}

TEST(no_kernel_program_can_be_loaded_but_maps_read)
{
	CHECK_EQ(confined(load_a_program), ENOSYS);
	CHECK_EQ(confined(look_into_a_map), 0);
}

static int trace_the_parent(void)
{
	return error(ptrace(PTRACE_ATTACH, getppid(), 0, 0));
}

static int kill_somebody(void)
{
	return error(kill(1, 0));
}

static int kill_a_thread_of_somebody(void)
{
	return error(syscall(SYS_tgkill, 1, 1, 0));
}

static int become_root(void)
{
	return error(setuid(0));
}

static int enter_another_network(void)
{
	AUTO_CLOSE int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	return error(setns(fd, 0));
}

TEST(other_processes_users_and_namespaces_are_out_of_reach)
{
	CHECK_EQ(confined(trace_the_parent), -SIGSYS);
	CHECK_EQ(confined(kill_somebody), ENOSYS);
	CHECK_EQ(confined(kill_a_thread_of_somebody), ENOSYS);
	CHECK_EQ(confined(become_root), -SIGSYS);
	CHECK_EQ(confined(enter_another_network), -SIGSYS);
}

#ifdef __x86_64__
static int call_as_x32(void)
{
	return error(syscall(0x40000000 | SYS_getpid));
}

TEST(the_numbers_of_another_architecture_are_no_way_around)
{
	CHECK_EQ(confined(call_as_x32), -SIGSYS);
}
#endif

static int call_what_is_not_there_yet(void)
{
	return error(syscall(2000));
}

static int die_of_a_mistake(void)
{
	abort();
}

TEST(a_call_of_a_later_libc_is_refused_as_by_an_older_kernel)
{
	CHECK_EQ(confined(call_what_is_not_there_yet), ENOSYS);
}

TEST(a_mistake_of_ours_still_ends_by_abort)
{
	CHECK_EQ(confined(die_of_a_mistake), -SIGABRT);
}

/* A kernel without CONFIG_SECCOMP_FILTER, as far as one can be played. */
static int without_filters(void)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	if (seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(seccomp), 0) < 0 ||
	    seccomp_rule_add(f, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1,
			     SCMP_A0_64(SCMP_CMP_EQ, PR_SET_SECCOMP, 0)) < 0 ||
	    seccomp_load(f) < 0)
		return NO_FILTER;
	seccomp_release(f);
	r = seccomp_enter();
	return r < 0 && !seccomp_possible() ? read_a_file() : 1;
}

TEST(a_kernel_without_filters_is_reported_and_nothing_else_happens)
{
	CHECK(seccomp_possible());
	CHECK_EQ(status_of(without_filters), 0);
}
