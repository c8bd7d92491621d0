// SPDX-License-Identifier: Apache-2.0
/* symbol.h - one address whose function is asked for; a pass over a table fills the rest. */
#pragma once

#include "lib/base/base.h"

enum { SYMBOL_NAME = 128 };

struct symbol_asked {
	uint64_t addr;
	bool found;
	uint64_t start, end; /* of the function; else of the gap between two that it lies in */
	uint32_t name_at; /* in the table of names, until that is read */
	char name[SYMBOL_NAME]; /* clean text */
};
