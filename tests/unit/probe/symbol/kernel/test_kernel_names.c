// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "probe/cgroup/cgroup_path.h"
#include "probe/symbol/kernel/ksym.h"
#include "probe/symbol/kernel/kernel_names.h"
#include "probe/request/explain/accept_overflow.h"
#include "probe/symbol/kernel/stacks.h"
#include "probe/symbol/stack_dedup.h"
#include "tests/fake/clock.h"
#include "tests/fake/place.h"
#include "tests/lib/test.h"

static char root[] = "/tmp/seismo-names.XXXXXX";

static void put(const char *name, const char *content)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(path, 0755);
	}
	f = fopen(path, "w");
	fputs(content, f);
	fclose(f);
}

__attribute__((constructor)) static void make_root(void)
{
	if (!mkdtemp(root))
		abort();
}

__attribute__((destructor)) static void remove_root(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command) != 0)
		fprintf(stderr, "%s stays\n", root);
}

#define MOUNTS                                                                                     \
	"22 1 254:0 / / rw - ext4 /dev/vda rw\n"                                                   \
	"23 1 254:16 /sub /mnt/sub rw - ext4 /dev/vdb rw\n"                                        \
	"24 1 0:42 / /run rw - tmpfs tmpfs rw\n"                                                   \
	"25 1 254:0 /srv /bind rw - ext4 /dev/vda rw\n"

TEST(a_system_call_has_its_name)
{
	char text[NAME_CALL];

	CHECK_STR(kernel_names_call(SYS_fsync, text), "fsync");
	CHECK_STR(kernel_names_call(SYS_futex, text), "futex");
	CHECK_STR(kernel_names_call(SYS_pwrite64, text), "pwrite64");
	CHECK_STR(kernel_names_call(99999, text), "call 99999");
	CHECK_STR(kernel_names_call(-1, text), "");
}

TEST(a_device_has_its_name_or_that_of_its_file_system_or_its_number)
{
	AUTO(kernel_names_free) struct kernel_names *n;
	char text[NAME_DEV], link[128];

	put("self/mountinfo", MOUNTS);
	put("dev/block/x", "");
	snprintf(link, sizeof(link), "%s/dev/block/254:0", root);
	CHECK_EQ(symlink("../../devices/pci/block/vda", link), 0);
	n = kernel_names_new(root, root);
	CHECK_STR(kernel_names_dev(n, 254 << 20, text), "vda");
	CHECK_STR(kernel_names_dev(n, 42, text), "tmpfs");
	CHECK_STR(kernel_names_dev(n, 8 << 20 | 3, text), "8:3");
}

static const char *file(struct kernel_names *n, uint32_t dev, const char *parts, size_t len)
{
	static char text[NAME_FILE];

	return kernel_names_file(n, dev, parts, len, text);
}

#define FILE_OF(n, dev, parts) file(n, dev, parts, sizeof(parts) - 1)

TEST(a_file_has_its_path_from_where_it_is_mounted)
{
	AUTO(kernel_names_free) struct kernel_names *n;

	put("self/mountinfo", MOUNTS);
	n = kernel_names_new(root, root);
	CHECK_STR(FILE_OF(n, 254 << 20, "wal\0db\0var\0/\0"), "/var/db/wal");
	CHECK_STR(FILE_OF(n, 254 << 20, "/\0"), "/");
	CHECK_STR(FILE_OF(n, 42, "x\0/\0"), "/run/x");
	CHECK_STR(FILE_OF(n, 254 << 20 | 16, "x\0sub\0/\0"), "/mnt/sub/x");
	CHECK_STR(FILE_OF(n, 254 << 20 | 16, "x\0subway\0/\0"), "/subway/x"); /* not seen here */
	CHECK_STR(FILE_OF(n, 254 << 20, "wal\0db\0var\0"), ".../var/db/wal");
	CHECK_STR(FILE_OF(n, 254 << 20, "wal"), ".../wal");
	CHECK_STR(FILE_OF(n, 254 << 20, ""), "...");
	CHECK_STR(FILE_OF(n, 7, "x\0/\0"), "/x");
}

TEST(a_path_that_is_too_long_keeps_its_end)
{
	AUTO(kernel_names_free) struct kernel_names *n = kernel_names_new(root, root);
	char parts[1000];

	memset(parts, 'a', sizeof(parts));
	for (size_t i = 40; i < sizeof(parts); i += 41)
		parts[i] = 0;
	CHECK(strlen(file(n, 7, parts, sizeof(parts))) < NAME_FILE);
	CHECK(strncmp(file(n, 7, parts, sizeof(parts)), ".../aaa", 7) == 0);
}

TEST(a_cgroup_is_found_by_its_number_wherever_it_lies)
{
	char path[64];
	struct stat st;
	int dir;

	CHECK_EQ(place_run("mkdir -p a/b/c a/d e/f; touch a/b/file"), 0);
	dir = open(place(), O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < 3; i++) {
		static const char *const known[] = { "/a/b/c", "/e/f", "/a" };

		CHECK_EQ(fstatat(dir, known[i] + 1, &st, 0), 0);
		CHECK(cgroup_find(dir, st.st_ino, path, sizeof(path)));
		CHECK_STR(path, known[i]);
		CHECK(!cgroup_find(dir, st.st_ino, path, strlen(known[i]))); /* no room */
	}
	CHECK_EQ(fstat(dir, &st), 0);
	CHECK(cgroup_find(dir, st.st_ino, path, sizeof(path)));
	CHECK_STR(path, "/");
	CHECK(!cgroup_find(dir, 1, path, sizeof(path)));
	close(dir);
	place_clean();
}

TEST(a_cgroup_that_cannot_be_found_keeps_its_number)
{
	AUTO(kernel_names_free) struct kernel_names *n = kernel_names_new(root, root);
	char text[NAME_CGROUP];

	CHECK_STR(kernel_names_cgroup(n, 4711, NAMES_CPU, text), "cgroup 4711");
}

#define SYMBOLS                                                                                    \
	"ffffffff81000000 T _text\n"                                                               \
	"ffffffff81000100 t do_fsync\n"                                                            \
	"ffffffff81000100 T __x64_sys_fsync_alias\n"                                               \
	"ffffffff81000180 D not_code\n"                                                            \
	"ffffffff81000200 T vfs_read\n"                                                            \
	"ffffffffc0200000 t later_module\t[b]\n"                                                   \
	"ffffffffc0100000 t ext4_sync_file\t[ext4]\n"

static const uint64_t asked[] = { 0xffffffff8100011a, 0xffffffff81000190, 0xffffffff81000200,
				  0xffffffffc010002c, 0xffffffffc0900000, 0x10 };

static const char *name_of(const struct ksyms *k, uint64_t addr)
{
	static char text[KSYM_TEXT];

	return ksyms_name(k, addr, text);
}

TEST(an_address_has_the_name_of_the_code_it_lies_in)
{
	AUTO(ksyms_free) struct ksyms *k;

	put("kallsyms", SYMBOLS);
	k = ksyms_new(root);
	for (int pass = 0; pass < 2; pass++) { /* the file is read again */
		ksyms_begin(k, asked, 6);
		while (!ksyms_step(k, 1))
			;
		CHECK(!ksyms_hidden(k));
		CHECK_STR(name_of(k, asked[0]), "do_fsync+0x1a");
		CHECK_STR(name_of(k, asked[1]), "do_fsync+0x90");
		CHECK_STR(name_of(k, asked[2]), "vfs_read+0x0");
		CHECK_STR(name_of(k, asked[3]), "ext4_sync_file+0x2c [ext4]");
		CHECK_STR(name_of(k, asked[4]), "0xffffffffc0900000"); /* too far from any */
		CHECK_STR(name_of(k, asked[5]), "0x10");
	}
}

TEST(where_the_kernel_hides_its_addresses_they_stay_numbers)
{
	AUTO(ksyms_free) struct ksyms *k;

	put("kallsyms", "0000000000000000 T _text\n0000000000000000 t do_fsync\n");
	k = ksyms_new(root);
	ksyms_begin(k, asked, 1);
	while (!ksyms_step(k, 1000))
		;
	CHECK(ksyms_hidden(k));
	CHECK_STR(name_of(k, asked[0]), "0xffffffff8100011a");
}

TEST(the_real_table_is_read_in_pieces)
{
	AUTO(ksyms_free) struct ksyms *k;
	int pieces = 1;
	char dir[64], path[96];

	snprintf(dir, sizeof(dir), "%s/real", root);
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	CHECK_EQ(mkdir(dir, 0700), 0);
	CHECK_EQ(symlink("/proc/kallsyms", path), 0);
	k = ksyms_new(dir); /* for /proc itself the kernel program would be used */
	ksyms_begin(k, asked, 6);
	for (; !ksyms_step(k, 64 * 1024); pieces++)
		;
	CHECK(pieces > 5);
}

static struct stacks *play(const __u64 *frames, uint32_t n, struct sink *out, uint64_t *id)
{
	struct stacks *s = stacks_new(root);

	*id = stacks_id(s, frames, n, STACKS_CUT, 1);
	for (int i = 0; i < 10; i++)
		stacks_step(s, out, 2000000000);
	return s;
}

TEST(a_stack_is_sent_once_and_again_after_an_hour)
{
	const __u64 frames[] = { 0xffffffff8100011a, 0xffffffff81000200 };
	struct sink out = { 0 };
	AUTO(stacks_free) struct stacks *s;
	uint64_t id;
	size_t once;

	put("kallsyms", SYMBOLS);
	s = play(frames, 2, &out, &id);
	once = out.event.len;
	CHECK(id != 0 && id <= INT64_MAX);
	CHECK(memmem(out.event.data, once, "do_fsync+0x1a", 13) != NULL);
	CHECK_EQ(stacks_id(s, frames, 2, STACKS_CUT, 3000000000), id);
	stacks_step(s, &out, 5000000000);
	CHECK_EQ(out.event.len, once);
	CHECK_EQ(stacks_id(s, frames, 2, STACKS_CUT, DEDUP_RESEND_NS + 1000000000), id);
	for (uint64_t i = 0; i < 3; i++)
		stacks_step(s, &out, DEDUP_RESEND_NS + 5000000000);
	CHECK_EQ(out.event.len, 2 * once);
	CHECK_EQ(stacks_id(s, frames, 0, STACKS_CUT, 1), 0);
	buf_free(&out.event);
}

/* Sends a stack that was sampled in an interrupt, and says whether this name is in what is sent. */
static bool is_sent(const __u64 *frames, uint32_t n, const char *name)
{
	struct sink out = { 0 };
	AUTO(stacks_free) struct stacks *s = stacks_new(root);
	bool found;

	put("kallsyms", "ffffffff81000100 T do_fsync\nffffffff81000200 t asm_exc_page_fault\n"
			"ffffffff81000300 t hrtimer_interrupt\n"
			"ffffffff81000400 T asm_sysvec_apic_timer_interrupt\n"
			"ffffffff81000500 T asm_common_interrupt\n"
			"ffffffff81000600 T after\n");
	CHECK(stacks_id(s, frames, n, STACKS_IN_IRQ, 1) != 0);
	for (int i = 0; i < 10; i++)
		stacks_step(s, &out, 2000000000);
	found = memmem(out.event.data, out.event.len, name, strlen(name)) != NULL;
	buf_free(&out.event);
	return found;
}

TEST(the_frames_of_the_sampling_interrupt_are_not_sent)
{
	const __u64 frames[] = { 0xffffffff81000301, 0xffffffff81000402, 0xffffffff8100011a };

	CHECK(is_sent(frames, 3, "do_fsync+0x1a"));
	CHECK(!is_sent(frames, 3, "interrupt"));
}

TEST(nor_those_of_an_interrupt_that_it_interrupted)
{
	const __u64 frames[] = { 0xffffffff81000301, 0xffffffff81000402, 0xffffffff81000503,
				 0xffffffff8100011a };

	CHECK(is_sent(frames, 4, "do_fsync+0x1a"));
	CHECK(!is_sent(frames, 4, "interrupt"));
}

TEST(a_fault_of_the_task_itself_is_sent)
{
	const __u64 frames[] = { 0xffffffff81000601, 0xffffffff81000202, 0xffffffff8100011a };

	CHECK(is_sent(frames, 3, "after+0x1"));
	CHECK(is_sent(frames, 3, "asm_exc_page_fault+0x2"));
}

TEST(stacks_beyond_the_pending_limit_get_no_id_yet)
{
	struct sink out = { 0 };
	__u64 frame = 1;
	AUTO(stacks_free) struct stacks *s = stacks_new(root);

	for (; frame <= STACKS_PENDING; frame++)
		CHECK(stacks_id(s, &frame, 1, 0, 1) != 0);
	CHECK_EQ(stacks_id(s, &frame, 1, 0, 1), 0);
	for (int i = 0; i < 10; i++)
		stacks_step(s, &out, 2000000000);
	CHECK(stacks_id(s, &frame, 1, 0, 3000000000) != 0);
	buf_free(&out.event);
}

#define NETSTAT(n)                                                                                 \
	"TcpExt: SyncookiesSent ListenOverflows Z\nTcpExt: 5 " n " 7\nIpExt: A\nIpExt: 1\n"

#define S 1000000000ull

static bool known(struct accept_overflow *o, uint32_t pid, uint64_t now, uint64_t from, uint64_t to,
		  bool *full)
{
	clock_set_ns(now);
	return accept_overflow_known(o, 0, pid, from, to, full);
}

TEST(an_accept_queue_overflow_is_known_for_requests_that_waited_then)
{
	AUTO(accept_overflow_free) struct accept_overflow *o;
	bool full;

	put("12/net/netstat", NETSTAT("41"));
	put("12/ns/net", "");
	clock_set_ns(S);
	o = accept_overflow_new(root);
	CHECK(!known(o, 12, 2 * S, S, 2 * S, &full)); /* seen for the first time */
	CHECK(known(o, 12, 3 * S, 2 * S, 3 * S, &full) && !full);
	put("12/net/netstat", NETSTAT("42"));
	accept_overflow_tick(o, 3 * S + S / 10);
	accept_overflow_tick(o, 4 * S);
	CHECK(known(o, 12, 4 * S, 3 * S, 4 * S, &full) && full);
	CHECK(known(o, 12, 5 * S, 4 * S, 5 * S, &full) && !full);
	CHECK(known(o, 12, 5 * S, 3 * S, 5 * S, &full) && full);
	CHECK(!known(o, 13, 5 * S, 4 * S, 5 * S, &full));
}

TEST(a_namespace_outlives_the_process_that_served_in_it)
{
	AUTO(accept_overflow_free) struct accept_overflow *o;
	char path[4200], to[4200];
	struct stat st;
	bool full;

	put("14/net/netstat", NETSTAT("1"));
	put("14/ns/net", "");
	put("15/net/netstat", NETSTAT("1"));
	snprintf(path, sizeof(path), "%s/14/ns/net", root);
	snprintf(to, sizeof(to), "%s/15/ns", root);
	mkdir(to, 0755);
	snprintf(to, sizeof(to), "%s/15/ns/net", root);
	CHECK_EQ(link(path, to), 0);
	CHECK_EQ(stat(path, &st), 0);
	clock_set_ns(S);
	o = accept_overflow_new(root);
	accept_overflow_seen(o, st.st_ino, 15); /* served there, and well */
	CHECK_EQ(unlink(to), 0);
	put("14/net/netstat", NETSTAT("2"));
	clock_set_ns(3 * S);
	CHECK(accept_overflow_known(o, st.st_ino, 15, 2 * S, 3 * S, &full) && full);
	CHECK_EQ(unlink(path), 0);
	clock_set_ns(4 * S);
	CHECK(!accept_overflow_known(o, st.st_ino, 15, 3 * S, 4 * S, &full));
}
