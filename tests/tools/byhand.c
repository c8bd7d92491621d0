// SPDX-License-Identifier: Apache-2.0
/*
 * byhand.c - byhand DISK: times the requests to a disk as the block source does where the kernel
 * keeps no times of its own. Says "ready", and at the end of its input how many reads it timed, how
 * many it could not, and their milliseconds together.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bpf/block.h"
#include "block.skel.h"

static const struct block_disk *find(const struct block_bpf *b, const char *name)
{
	for (int i = 0; i < BLOCK_DISKS; i++)
		if (b->bss->disks[i].key && strcmp(b->bss->disks[i].name, name) == 0)
			return &b->bss->disks[i];
	return NULL;
}

int main(int argc, char *argv[])
{
	struct block_bpf *b = argc == 2 ? block_bpf__open_and_load() : NULL;
	const struct block_disk *d;
	__u64 timed = 0;

	if (!b || block_bpf__attach(b) < 0) {
		fprintf(stderr, "usage: byhand DISK, as root\n");
		return EXIT_FAILURE;
	}
	b->bss->by_hand = 1;
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	d = find(b, argv[1]);
	if (!d)
		return EXIT_FAILURE;
	for (int i = 0; i < BLOCK_NS_SLOTS; i++)
		timed += d->ns[BLOCK_READ][i];
	printf("%llu %llu %.3f\n", timed, d->untimed, (double)d->sum_ns[BLOCK_READ] / 1e6);
	block_bpf__destroy(b);
	return EXIT_SUCCESS;
}
