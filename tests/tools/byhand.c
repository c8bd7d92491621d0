// SPDX-License-Identifier: Apache-2.0
/*
 * byhand.c - byhand DISK: times the requests to a disk as the block source does where the kernel
 * keeps no times of its own, and counts as it does on more CPUs than have counts of their own. Says
 * "ready", and at the end of its input how many reads it timed, how many it could not, and their
 * milliseconds together.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/disk/block.h"
#include "probe/kernel/kernel_counts.h"
#include "bpf/disk/block.skel.h"

static int find(const struct block_bpf *b, const char *name)
{
	for (int i = 0; i < BLOCK_DISKS; i++)
		if (b->bss->disks[i].key && strcmp(b->bss->disks[i].name, name) == 0)
			return i;
	return -1;
}

/* Of all CPUs: reads that were timed, that were not, and how long they took. */
static void add(const struct block_bpf *b, int disk, __u64 sum[static 3])
{
	static struct block_cpu cpu;
	const struct block_counts *c = &cpu.of[disk];

	for (__u32 i = 0; i < bpf_map__max_entries(b->maps.counts); i++) {
		if (bpf_map__lookup_elem(b->maps.counts, &i, sizeof(i), &cpu, sizeof(cpu), 0) < 0)
			exit(EXIT_FAILURE);
		for (int j = 0; j < BLOCK_NS_SLOTS; j++)
			sum[0] += c->ns[BLOCK_READ][j];
		sum[1] += c->untimed;
		sum[2] += c->sum_ns[BLOCK_READ];
	}
}

int main(int argc, char *argv[])
{
	struct block_bpf *b = argc == 2 ? block_bpf__open() : NULL;
	__u64 sum[3] = { 0 };
	int disk;

	if (b)
		b->rodata->shared = true;
	if (b && kernel_counts_size(b->maps.counts) == 0 && block_bpf__load(b) == 0)
		b->bss->by_hand = 1;
	if (!b || block_bpf__attach(b) < 0) {
		fprintf(stderr, "usage: byhand DISK, as root\n");
		return EXIT_FAILURE;
	}
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	disk = find(b, argv[1]);
	if (disk < 0)
		return EXIT_FAILURE;
	add(b, disk, sum);
	printf("%llu %llu %.3f\n", sum[0], sum[1], (double)sum[2] / 1e6);
	block_bpf__destroy(b);
	return EXIT_SUCCESS;
}
