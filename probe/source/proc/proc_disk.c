// SPDX-License-Identifier: Apache-2.0
#include "probe/source/proc/src_proc.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>

enum { SECTOR = 512 }; /* the unit of /proc/diskstats, regardless of the disk */

/* The columns after the name are in the layout's order; older kernels have fewer. */
static const double unit[DISK_END] = {
	[DISK_READS] = 1,
	[DISK_READS_MERGED] = 1,
	[DISK_READ_BYTES] = SECTOR,
	[DISK_READ_TIME] = 1e-3,
	[DISK_WRITES] = 1,
	[DISK_WRITES_MERGED] = 1,
	[DISK_WRITTEN_BYTES] = SECTOR,
	[DISK_WRITE_TIME] = 1e-3,
	[DISK_IO_NOW] = 1,
	[DISK_IO_TIME] = 1e-3,
	[DISK_IO_TIME_WEIGHTED] = 1e-3,
	[DISK_DISCARDS] = 1,
	[DISK_DISCARDS_MERGED] = 1,
	[DISK_DISCARDED_BYTES] = SECTOR,
	[DISK_DISCARD_TIME] = 1e-3,
	[DISK_FLUSHES] = 1,
	[DISK_FLUSH_TIME] = 1e-3,
};

static const char *skip_alpha(const char *s)
{
	while (isalpha((unsigned char)*s))
		s++;
	return s;
}

static bool all_digits(const char *s)
{
	if (!*s)
		return false;
	while (isdigit((unsigned char)*s))
		s++;
	return !*s;
}

/* Devices backed by memory or files. */
static bool is_pretended(const char *name)
{
	static const char *const kinds[] = { "loop", "ram", "zram", "fd" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i]);

		if (strncmp(name, kinds[i], len) == 0 && all_digits(name + len))
			return true;
	}
	return false;
}

/* sda1, vda1, xvda1; nvme0n1p1, mmcblk0p1: used if there is no /sys. */
static bool is_partition_name(const char *name)
{
	static const char *const lettered[] = { "sd", "hd", "vd", "xvd" };
	const char *p;

	for (size_t i = 0; i < ARRAY_SIZE(lettered); i++)
		if (strncmp(name, lettered[i], strlen(lettered[i])) == 0)
			return all_digits(skip_alpha(name));
	p = strrchr(name, 'p');
	return p && p > name && isdigit((unsigned char)p[-1]) && all_digits(p + 1);
}

/* A '/' in a disk's name is a '!' in /sys, so no name escapes the directory. */
static bool is_whole_disk(const struct proc *p, const struct words *word)
{
	char name[DEVICE_NAME] = "", path[PATH_MAX];
	size_t len = (size_t)(word->end - word->p);

	if (len >= sizeof(name))
		return false;
	memcpy(name, word->p, len);
	if (name[0] == '.' || is_pretended(name))
		return false;
	if (!p->has_sys_block)
		return !is_partition_name(name);
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '!';
	if ((size_t)snprintf(path, sizeof(path), "%s/block/%s", p->sysfs, name) >= sizeof(path))
		return false;
	return access(path, F_OK) == 0;
}

void proc_disk_read(struct proc *p, struct sink *out)
{
	struct words file = { 0 }, line, name;
	double raw[DISK_END];

	devices_begin(&p->disks);
	if (proc_read(&p->text, p->procfs, "diskstats", &file) < 0)
		file = (struct words){ 0 };
	while (proc_line(&file, &line)) {
		proc_number(&line); /* major, minor */
		proc_number(&line);
		if (!proc_word(&line, &name) || !is_whole_disk(p, &name))
			continue;
		for (int i = 0; i < DISK_END; i++)
			raw[i] = proc_number(&line) * unit[i];
		devices_sample(&p->disks, &name, &layout_disk, raw, out);
	}
	devices_end(&p->disks);
}
