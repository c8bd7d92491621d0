// SPDX-License-Identifier: Apache-2.0
/* collector_config.h - what seismo-collector can be told, by file and by flag. */
#pragma once

#include "collector/core/incident_limits.h"
#include "collector/core/retain.h"

#define COLLECTOR_VERSION "0.2.0"

struct config {
	char bind[128]; /* tcp://host:port for probes */
	char web[128]; /* host:port of the console */
	char database[1024]; /* conninfo of the role that owns and writes */
	char web_database[1024]; /* conninfo of the role that only reads the views */
	char region[64];
	char user[64]; /* to become after the ports are bound; "": stay */
	char keys[256]; /* directory of this collector's key pair */
	struct retain keep;
	struct incident_limits incidents;
	struct relay_options {
		char to[1024]; /* the global collector's endpoints; "": nothing is relayed */
		char key[1024]; /* its public key, or a file of such */
		char console[256]; /* where people reach this region's console */
		char node[64]; /* as who it comes in there; "": relay-REGION */
		char keys[256]; /* directory of the relay's own key pair; "": relay in keys */
		char token[256]; /* a file with what lets it in */
	} relay;
	int64_t node_rows_per_s; /* more of one node are counted, not kept */
	char *const *command; /* CONFIG_COMMAND: "node" or "key", and what follows it */
};

enum config_task { CONFIG_RUN, CONFIG_CHECK, CONFIG_HELP, CONFIG_TELL_VERSION, CONFIG_COMMAND };

/*
 * The defaults, then the file of --config, then the other flags. -EINVAL or -errno with a sentence
 * in err; --help, --version and a command end the reading.
 */
int config_read(int argc, char *const argv[], struct config *c, enum config_task *task, char *err,
		size_t errlen) MUST_CHECK;
void config_help(void); /* to stdout */
