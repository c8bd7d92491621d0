// SPDX-License-Identifier: Apache-2.0
/*
 * onoff.c - takes hold of the kernel programs on tracepoints that other processes have, and
 * attaches and detaches them faster than a machine drifts: onoff NAME=PID... says "ready" and how
 * many each has, and then those processes may end; a NAME may be of several. For each line of its
 * input, a NAME or "-", those programs are attached and no others; it answers "done" when they are.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUPS = 64, PROGRAMS = 64, MAPS = 64 };

static struct group {
	const char *name;
	int program[PROGRAMS];
	size_t n;
} group[GROUPS];

static int attached[PROGRAMS];
static size_t nattached;

/* An array of programs is emptied when no process holds it any more. */
static void hold_maps(int program)
{
	__u32 id[MAPS], len = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = { .nr_map_ids = MAPS, .map_ids = (uintptr_t)id };

	if (bpf_obj_get_info_by_fd(program, &info, &len) < 0 || info.nr_map_ids > MAPS) {
		perror("onoff: the maps of a program");
		exit(EXIT_FAILURE);
	}
	for (__u32 i = 0; i < info.nr_map_ids; i++) {
		struct bpf_map_info map = { 0 };
		int fd = bpf_map_get_fd_by_id(id[i]);

		len = sizeof(map);
		if (bpf_obj_get_info_by_fd(fd, &map, &len) < 0 ||
		    map.type != BPF_MAP_TYPE_PROG_ARRAY)
			close(fd);
	}
}

static void hold(struct group *g, __u32 id)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len) < 0) {
		perror("onoff: a program");
		exit(EXIT_FAILURE);
	}
	if (g->n == PROGRAMS) {
		fprintf(stderr, "onoff: %s has more than %d programs\n", g->name, PROGRAMS);
		exit(EXIT_FAILURE);
	}
	if (info.type == BPF_PROG_TYPE_TRACING) {
		hold_maps(fd);
		g->program[g->n++] = fd;
	} else {
		close(fd);
	}
}

/* What a descriptor of that process is: the link of a program to a tracepoint of the kernel's. */
static void take(struct group *g, const char *dir, const char *fd)
{
	char path[512], line[256];
	bool is_link = false;
	__u32 id = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		is_link |= strncmp(line, "link_type:", 10) == 0 &&
			   (strstr(line, "raw_tracepoint") || strstr(line, "tracing"));
		if (sscanf(line, "prog_id: %u", &id) == 1 && is_link)
			hold(g, id);
	}
	if (f)
		fclose(f);
}

static void take_all(struct group *g, char *arg)
{
	char *pid = strchr(arg, '='), dir[64];
	struct dirent *e;
	DIR *d;

	if (!pid) {
		fprintf(stderr, "usage: onoff NAME=PID...\n");
		exit(EXIT_FAILURE);
	}
	*pid++ = 0;
	g->name = arg;
	snprintf(dir, sizeof(dir), "/proc/%.10s/fdinfo", pid);
	d = opendir(dir);
	while (d && (e = readdir(d)))
		take(g, dir, e->d_name);
	if (d)
		closedir(d);
	printf(" %s=%zu", g->name, g->n);
}

static void detach(void)
{
	while (nattached)
		close(attached[--nattached]);
}

static void attach(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		int fd = bpf_raw_tracepoint_open(NULL, g->program[i]);

		if (fd < 0) {
			perror("onoff: attach");
			exit(EXIT_FAILURE);
		}
		attached[nattached++] = fd;
	}
}

int main(int argc, char *argv[])
{
	char line[64];

	if (argc - 1 > GROUPS) {
		fprintf(stderr, "onoff: more than %d groups\n", GROUPS);
		return EXIT_FAILURE;
	}
	printf("ready");
	for (int i = 1; i < argc; i++)
		take_all(&group[i - 1], argv[i]);
	do {
		puts("");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return EXIT_SUCCESS;
		line[strcspn(line, "\n")] = 0;
		detach();
		for (int i = 1; i < argc; i++)
			if (strcmp(group[i - 1].name, line) == 0)
				attach(&group[i - 1]);
		fputs("done", stdout);
	} while (true);
}
