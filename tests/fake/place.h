// SPDX-License-Identifier: Apache-2.0
/* place.h - a directory for one test, and a simulated full disk. */
#pragma once

#include <sys/resource.h>

const char *place(void); /* its path */
int place_run(const char *command); /* runs a shell command there; creates the directory */
void place_clean(void); /* removes it */
void place_limit(rlim_t bytes); /* limits the size of a file: longer writes are cut short, as on a
				   full disk */
