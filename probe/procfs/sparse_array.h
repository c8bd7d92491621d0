// SPDX-License-Identifier: Apache-2.0
/*
 * sparse_array.h - memory for tables that are seldom full: zero, and of it only what was written is there.
 *
 * calloc promises that of memory that is new only; what the loading of kernel programs gave back it
 * zeroes, and so takes.
 */
#pragma once

#include "lib/base/base.h"

void *sparse_array_new(size_t bytes); /* dies without memory */
void sparse_array_free(void *p, size_t bytes); /* NULL is fine */
