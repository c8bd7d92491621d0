// SPDX-License-Identifier: Apache-2.0
/*
 * sparse_array.h - zeroed memory for tables that are rarely full: only written pages become
 * resident.
 *
 * calloc gives this only for new memory. Memory that the loading of kernel programs has freed is
 * zeroed by calloc, and thereby becomes resident.
 */
#pragma once

#include "lib/base/base.h"

void *sparse_array_new(size_t bytes); /* dies without memory */
void sparse_array_free(void *p, size_t bytes); /* NULL is fine */
