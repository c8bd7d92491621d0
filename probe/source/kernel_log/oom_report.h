// SPDX-License-Identifier: Apache-2.0
/*
 * oom_report.h - what the kernel's log says when it kills for want of memory, line by line: who
 * asked, which limit was met, who held how much, who was killed. No system calls.
 */
#pragma once

#include "lib/wire/item.h"

enum { OOM_TOP = 5, OOM_NAME = 64 };

struct oom_report {
	char by[OOM_NAME]; /* who asked for memory; "": not told */
	char cgroup[ITEM_MAX_TEXT]; /* whose limit it was; "/": the node's; "": not told */
	char of[ITEM_MAX_TEXT]; /* the victim's cgroup; "": not told */
	uint64_t limit_bytes; /* 0: not told */
	uint32_t pid;
	char comm[OOM_NAME];
	uint64_t rss_bytes;
	uint32_t ntop;
	struct {
		char comm[OOM_NAME];
		uint32_t pid;
		uint64_t rss_bytes;
	} top[OOM_TOP]; /* who held most, of those that might have been killed */
	uint32_t columns; /* of the table of tasks; 0: not in it */
};

/* 0: goes on; 1: *r is whole now, and the next line begins another; -ENOMSG: not of a report. */
int oom_report_line(struct oom_report *r, const char *line, uint64_t page_bytes);
