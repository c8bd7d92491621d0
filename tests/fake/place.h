// SPDX-License-Identifier: Apache-2.0
/* place.h - a directory of one test, and a disk that is full. */
#pragma once

#include <sys/resource.h>

const char *place(void); /* its path */
int place_run(const char *command); /* by a shell, there; made if there is none */
void place_clean(void); /* it is not there */
void place_limit(rlim_t bytes); /* of a file: longer writes are cut short, as on a full disk */
