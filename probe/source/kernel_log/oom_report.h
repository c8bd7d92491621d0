// SPDX-License-Identifier: Apache-2.0
/*
 * oom_report.h - parses the kernel log's report of an OOM kill line by line: who allocated, which
 * limit was reached, the largest tasks, the victim. No system calls.
 */
#pragma once

#include "lib/wire/item.h"

enum { OOM_TOP = 5, OOM_NAME = 64 };

struct oom_report {
	char by[OOM_NAME]; /* the task that asked for memory; "": unknown */
	char cgroup[ITEM_MAX_TEXT]; /* whose limit it was; "/": the node; "": unknown */
	char of[ITEM_MAX_TEXT]; /* the victim's cgroup; "": unknown */
	uint64_t limit_bytes; /* 0: unknown */
	uint32_t pid;
	char comm[OOM_NAME];
	uint64_t rss_bytes;
	uint32_t ntop;
	struct {
		char comm[OOM_NAME];
		uint32_t pid;
		uint64_t rss_bytes;
	} top[OOM_TOP]; /* the largest candidates */
	uint32_t columns; /* of the task table; 0: outside it */
};

/* 0: goes on; 1: *r is complete, the next line begins another report; -ENOMSG: not part of one. */
int oom_report_line(struct oom_report *r, const char *line, uint64_t page_bytes);
