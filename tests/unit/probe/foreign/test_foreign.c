// SPDX-License-Identifier: Apache-2.0
#include "probe/foreign/foreign.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/fake/clock.h"
#include "tests/fake/place.h"
#include "tests/lib/test.h"

static char piece[4096];

/* A process 7 in the place, which is its own procfs. */
static void make_process(void)
{
	CHECK_EQ(place_run("mkdir -p 7/root/lib 7/ns && ln -sf /proc/self/ns/user 7/ns/user && "
			   "echo data >7/root/lib/a && ln -sf root/lib/a 7/exe && "
			   "printf '\\033[2Jprogram\\n' >7/comm"),
		 0);
}

static int open_in(const char *path, struct foreign_id *id)
{
	int fd = foreign_open_path(FOREIGN_CODE, place(), 7, path, id);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

TEST(a_file_is_found_below_the_root_of_the_process)
{
	struct foreign_id id, again;

	make_process();
	CHECK_EQ(open_in("/lib/a", &id), 0);
	CHECK_EQ(open_in("lib/a", &again), 0);
	CHECK(foreign_id_equal(&id, &again));
	CHECK_EQ(id.size, 5);
	CHECK_EQ(open_in("/lib/b", &id), -ENOENT);
	CHECK_EQ(open_in("/lib", &id), -ENOENT);
	place_clean();
}

TEST(what_is_no_regular_file_is_not_opened)
{
	struct foreign_id id;

	make_process();
	CHECK_EQ(place_run("mkfifo 7/root/fifo; ln -s /proc/self/mem 7/root/link; "
			   "mknod 7/root/device c 1 9 || :"),
		 0);
	CHECK_EQ(open_in("/fifo", &id), -ENOENT);
	CHECK(open_in("/link", &id) < 0);
	CHECK(open_in("/device", &id) < 0);
	place_clean();
}

TEST(a_file_system_that_may_make_a_reader_wait_is_not_read)
{
	uint64_t before = foreign_refused();
	struct foreign_id id;

	CHECK_EQ(foreign_open_path(FOREIGN_CODE, "/proc", (uint32_t)getpid(), "/proc/version", &id),
		 -EREMOTE);
	CHECK_EQ(foreign_refused() - before, 1);
}

/* A file system that does not answer within 20 ms counts as far: on a busy machine it is asked
 * again. */
static int open_directory(void)
{
	struct foreign_id id;
	int fd = -EREMOTE;

	for (int i = 0; i < 500 && fd == -EREMOTE; i++) {
		fd = foreign_open_path(FOREIGN_CODE, "/proc", (uint32_t)getpid(), "/dev/shm/..",
				       &id);
		if (fd == -EREMOTE)
			usleep(10000);
	}
	return fd;
}

TEST(files_in_memory_are_read)
{
	struct foreign_id id;
	int fd = open_directory();

	CHECK_EQ(fd, -ENOENT); /* a directory, on whatever file system */
	fd = foreign_open_program("/proc", (uint32_t)getpid(), &id);
	CHECK(fd >= 0);
	CHECK_EQ(foreign_read(fd, piece, 4, 0), 4);
	CHECK_EQ(memcmp(piece, "\177ELF", 4), 0);
	close(fd);
}

/* A FUSE file system whose server never answers; -1: this machine has none, or we may not mount. */
static int mount_silent(const char *at)
{
	char options[128];
	int fd;

	if (mkdir(at, 0755) < 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (fd >= 0 && mount("silent", at, "fuse", 0, options) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

TEST(a_file_system_that_does_not_answer_leaves_the_others_to_be_read)
{
	char at[128];
	struct foreign_id id;
	int fuse;

	CHECK_EQ(place_run(":"), 0);
	snprintf(at, sizeof(at), "%s/silent", place());
	fuse = mount_silent(at);
	if (fuse < 0) {
		puts("no FUSE file system can be mounted here: not tested");
		place_clean();
		return;
	}
	for (int i = 0; i < 3; i++)
		CHECK_EQ(foreign_open_path(FOREIGN_CODE, "/proc", (uint32_t)getpid(), at, &id),
			 -EREMOTE);
	CHECK_EQ(open_directory(), -ENOENT);
	umount2(at, MNT_DETACH);
	close(fuse);
	place_clean();
}

TEST(a_sparse_file_of_8_eib_is_refused_at_its_first_hole)
{
	AUTO_CLOSE int fd = memfd_create("sparse", MFD_CLOEXEC);

	CHECK_EQ(write(fd, "data", 4), 4);
	CHECK_EQ(ftruncate(fd, INT64_MAX), 0);
	CHECK_EQ(foreign_read(fd, piece, sizeof(piece), 0), sizeof(piece));
	CHECK_EQ(foreign_read(fd, piece, sizeof(piece), 1 << 20), -ENODATA);
	CHECK_EQ(foreign_read(fd, piece, sizeof(piece), 1ull << 62), -ENODATA);
	CHECK(foreign_read(fd, piece, sizeof(piece), INT64_MAX) <= 0);
	CHECK_EQ(foreign_read(fd, piece, sizeof(piece), UINT64_MAX), -EFBIG);
}

TEST(a_file_that_becomes_shorter_just_ends)
{
	AUTO_CLOSE int fd = memfd_create("short", MFD_CLOEXEC);

	CHECK_EQ(ftruncate(fd, 100), 0);
	CHECK_EQ(pwrite(fd, piece, 100, 0), 100);
	CHECK_EQ(foreign_read(fd, piece, sizeof(piece), 0), 100);
	CHECK_EQ(ftruncate(fd, 10), 0);
	CHECK_EQ(foreign_read(fd, piece, sizeof(piece), 50), 0);
}

TEST(a_text_is_read_up_to_its_limit)
{
	static char text[1 << 20];
	ssize_t max = (ssize_t)foreign_limits[FOREIGN_TEXT].bytes;

	make_process();
	CHECK_EQ(place_run("yes | head -c 1000000 >7/status; : >7/empty"), 0);
	CHECK_EQ(foreign_read_text(place(), 7, "status", text, sizeof(text)), max);
	CHECK_EQ(strlen(text), (size_t)max);
	CHECK_EQ(foreign_read_text(place(), 7, "status", text, 10), 9);
	CHECK_EQ(foreign_read_text(place(), 7, "empty", text, sizeof(text)), 0);
	CHECK_STR(text, "");
	CHECK_EQ(foreign_read_text(place(), 8, "status", text, sizeof(text)), -ENOENT);
	place_clean();
}

TEST(a_text_that_is_a_fifo_does_not_stop_the_reader)
{
	char text[64] = "before";

	make_process();
	CHECK_EQ(place_run("mkfifo 7/status"), 0);
	CHECK(foreign_read_text(place(), 7, "status", text, sizeof(text)) <= 0);
	CHECK_STR(text, "");
	place_clean();
}

TEST(a_refused_file_stays_refused_for_ten_minutes_or_until_it_changes)
{
	uint64_t before = foreign_refused();
	struct foreign_id id;

	clock_set_ns(1000000000);
	make_process();
	CHECK_EQ(open_in("/lib/a", &id), 0);
	foreign_refuse(FOREIGN_CODE, -ENODATA, place(), 7, &id);
	CHECK_EQ(foreign_refused() - before, 1);
	CHECK(foreign_is_refused(&id));
	CHECK_EQ(open_in("/lib/a", &id), -EPERM);
	CHECK_EQ(foreign_open_program(place(), 7, &id), -EPERM);
	CHECK_EQ(place_run("echo more >>7/root/lib/a"), 0);
	CHECK_EQ(open_in("/lib/a", &id), 0);
	foreign_refuse(FOREIGN_CODE, -ENODATA, place(), 7, &id);
	clock_set_ns(602000000000);
	CHECK_EQ(open_in("/lib/a", &id), 0);
	place_clean();
}

TEST(refusals_are_counted_by_kind_and_named_by_program)
{
	uint64_t maps = foreign_refused_of(FOREIGN_MAPS), all = foreign_refused();
	struct buf text = { 0 };

	clock_set_ns(1000000000);
	make_process();
	foreign_refuse(FOREIGN_MAPS, -EFBIG, place(), 7, NULL);
	foreign_refuse(FOREIGN_MAPS, -EFBIG, place(), 7, NULL);
	CHECK_EQ(foreign_refused_of(FOREIGN_MAPS) - maps, 2);
	CHECK_EQ(foreign_refused() - all, 2);
	foreign_list_refused(&text);
	buf_put(&text, "", 1);
	CHECK(strstr((char *)text.data, "2 list of mappings\t"));
	CHECK(strstr((char *)text.data, "[2Jprogram\tit is too large\n"));
	CHECK(!strchr((char *)text.data, 033));
	buf_free(&text);
	place_clean();
}

TEST(the_programs_refused_last_are_named)
{
	char name[80];
	struct buf text = { 0 };
	size_t lines = 0;

	make_process();
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "echo program%d >7/comm", i);
		CHECK_EQ(place_run(name), 0);
		foreign_refuse(FOREIGN_FILES, -EFBIG, place(), 7, NULL);
	}
	foreign_list_refused(&text);
	buf_put(&text, "", 1);
	for (const char *p = (char *)text.data; (p = strchr(p, '\n')); p++)
		lines++;
	CHECK_EQ(lines, FOREIGN_NAMED);
	CHECK(strstr((char *)text.data, "\tprogram99\t"));
	CHECK(!strstr((char *)text.data, "\tprogram83\t"));
	buf_free(&text);
	place_clean();
}

TEST(very_many_refusals_push_out_the_oldest_only)
{
	struct foreign_id id = { .dev = 1, .size = 3 };

	clock_set_ns(1000000000);
	for (id.ino = 1; id.ino <= 100000; id.ino++)
		foreign_refuse(FOREIGN_CODE, -EFBIG, place(), 7, &id);
	id.ino = 100000;
	CHECK(foreign_is_refused(&id));
	id.ino = 100000 - 255;
	CHECK(foreign_is_refused(&id));
	id.ino = 1;
	CHECK(!foreign_is_refused(&id));
}
