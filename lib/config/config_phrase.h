// SPDX-License-Identifier: Apache-2.0
/* config_phrase.h - phrases about one option, made from its line of the table. */
#pragma once

#include "lib/config/config_args.h"

enum { CONFIG_PHRASE = 320 };

/* "FILE", "N": the placeholder of the value; "": a flag without one. */
const char *config_arg(const struct config_option *o);

/* The line of --help: "memory for unsent batches (MiB, default 6)". */
void config_help_line(const struct config_option *o, char text[static CONFIG_PHRASE]);

/* The first sentences of the manual: help, allowed values and default; `code` in backticks. */
void config_sentences(const struct config_option *o, char text[static CONFIG_PHRASE]);

const struct config_section *config_find_section(const struct config_program *p,
						 const struct config_option *o);
