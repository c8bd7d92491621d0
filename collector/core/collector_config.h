// SPDX-License-Identifier: Apache-2.0
/* collector_config.h - the options of seismo-collector, set by file and by flag. */
#pragma once

#include "collector/core/disk_limit.h"
#include "collector/core/incident_limits.h"
#include "collector/core/retain.h"
#include "lib/config/config_args.h"

#define COLLECTOR_VERSION "0.2.0"

struct config {
	char bind[128]; /* tcp://host:port for probes */
	char web[128]; /* host:port or unix:path of the console; "off": none */
	char web_mode[8]; /* of the Unix socket, in octal */
	unsigned web_socket_mode; /* the same as a number */
	char web_group[64]; /* of the Unix socket; "": no change */
	bool web_actions; /* the console may change incidents */
	char database[1024]; /* conninfo of the role that owns the tables and writes */
	char web_database[1024]; /* conninfo of the role that only reads the views */
	char region[64];
	char user[64]; /* to become after the ports are bound; "": no change */
	char keys[256]; /* directory of this collector's key pair */
	struct retain keep;
	struct incident_limits incidents;
	struct relay_options {
		char to[1024]; /* endpoints of the global collector; "": no relay */
		char key[1024]; /* its public key, or a file of keys */
		char console[256]; /* URL of this region's console */
		char node[64]; /* name of the relay there; "": relay-REGION */
		char keys[256]; /* directory of the relay's own key pair; "": relay in keys */
		char token[256]; /* file with an enrollment token */
	} relay;
	char max_disk[32];
	struct disk_limit disk; /* max_disk, parsed */
	char database_dir[512]; /* on the database's file system; "": found */
	int64_t node_rows_per_s; /* limit of rows stored of a node; the rest are only counted */
	char *const *command; /* CONFIG_COMMAND: "node", ... and its arguments */
	const char *help; /* CONFIG_HELP: the format of the help */
};

enum config_task { CONFIG_RUN, CONFIG_CHECK, CONFIG_HELP, CONFIG_PRINT_VERSION, CONFIG_COMMAND };

extern const struct config_program collector_program;

/*
 * Sets the defaults, then reads the file of --config, then the other flags. -EINVAL or -errno with
 * a sentence in err; --help, --version and a command end the reading.
 */
int config_read(int argc, char *const argv[], struct config *c, enum config_task *task, char *err,
		size_t errlen) MUST_CHECK;
