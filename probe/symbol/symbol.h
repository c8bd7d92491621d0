// SPDX-License-Identifier: Apache-2.0
/* symbol.h - the lookup of one address; a pass over a symbol table fills in its function. */
#pragma once

#include "lib/base/base.h"

enum { SYMBOL_NAME = 128 };

struct symbol_lookup {
	uint64_t addr;
	bool found;
	uint64_t start, end; /* of the function, or of the gap between two functions */
	uint32_t name_at; /* offset in the string table, until the name is read */
	char name[SYMBOL_NAME]; /* clean text */
};
