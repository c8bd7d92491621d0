// SPDX-License-Identifier: Apache-2.0
/*
 * config_doc.h - the documentation of a program, printed from its table of options: the text of
 * --help, manual pages, a chapter in Markdown and the sample configuration file.
 */
#pragma once

#include "lib/config/config_args.h"

#define CONFIG_DOC_FORMATS "text, man, conf, markdown or sample"

/*
 * Prints the text of --help for "" and "text", the manual page of the program for "man" and of its
 * configuration file for "conf". -EINVAL: the program has no such format.
 */
int config_doc_print(const struct config_program *p, const struct config_command *commands,
		     size_t n, const char *format, FILE *out) MUST_CHECK;

/* Lists the commands of a group, or all for "". */
void config_doc_commands(const struct config_command *commands, size_t n, const char *group,
			 FILE *out);
