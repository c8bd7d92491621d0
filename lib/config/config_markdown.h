// SPDX-License-Identifier: Apache-2.0
/* config_markdown.h - the options of a program as a chapter in Markdown, one heading an option. */
#pragma once

#include "lib/config/config_args.h"

void config_markdown(const struct config_program *p, FILE *out);
