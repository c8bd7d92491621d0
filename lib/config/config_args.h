// SPDX-License-Identifier: Apache-2.0
/*
 * config_args.h - the command line of a program: options as flags, words, and --config FILE.
 *
 * The flag of [probe] spool_mb is --spool-mb. Flags override the file of --config, wherever they
 * stand. The
 * table also holds the texts that config_doc.h prints.
 */
#pragma once

#include "lib/config/config.h"

/* A flag or word that selects a task: "--version", "doctor". */
struct config_word {
	const char *name, *help; /* help: NULL if a table of commands documents it */
	const char *arg; /* "[=FORMAT]"; NULL: none */
	int task;
	bool last; /* the arguments after it are not read */
};

/* A subcommand: "node", "list", "[--waiting]". */
struct config_command {
	const char *group, *name, *args, *help; /* name: "" if the group is the command */
};

struct config_section {
	const char *name, *title;
	const char *more; /* paragraph for the manual; NULL: none */
};

struct config_note {
	const char *title;
	const char
		*text; /* paragraphs; lines that begin with four blanks are printed as they are */
};

/* All texts are plain ASCII; a blank line separates paragraphs. */
struct config_program {
	const char *name, *version;
	const char *summary; /* "seismo-probe - SUMMARY" */
	const char *manual; /* section of the manual: "8" */
	const char *const *usage; /* one line each, without the name; NULL behind the last */
	const char *about; /* description */
	const char *file; /* usual path of the configuration file; NULL: it has none */
	/* Flags of all other sections begin with the section's name; NULL: no flag does. */
	const char *main_section;
	const struct config_section *sections; /* in the order of the options */
	size_t nsections;
	const struct config_option *options;
	size_t noptions;
	const struct config_word *words;
	size_t nwords;
	const struct config_note *notes; /* examples, files and such */
	size_t nnotes;
};

enum { CONFIG_FLAG = 32 };

struct config_args {
	int task; /* of the last word; unchanged if there was none */
	const char *format; /* of --help=FORMAT; "" for --help */
	char *const *rest; /* a word that is `last`, and the arguments after it */
};

void config_flag(const struct config_program *p, const struct config_option *o,
		 char flag[static CONFIG_FLAG]);

/*
 * Sets the defaults, then reads the file of --config, then the flags. 0, or -EINVAL or -errno with
 * a sentence in err.
 */
int config_args_read(const struct config_program *p, int argc, char *const argv[], void *into,
		     struct config_args *out, char *err, size_t errlen) MUST_CHECK;
