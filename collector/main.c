// SPDX-License-Identifier: Apache-2.0
/* main.c - seismo-collector: binds, drops privileges, then starts the threads and the loop. */
#include <malloc.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "lib/config/config_doc.h"
#include "lib/daemon/loop.h"
#include "lib/daemon/signals.h"
#include "collector/command/command.h"
#include "collector/core/collector_config.h"
#include "collector/incident/engine/correlate.h"
#include "collector/access/accept_guard.h"
#include "collector/access/zap_auth.h"
#include "collector/access/listen.h"
#include "collector/core/privileges.h"
#include "collector/ingest/receive.h"
#include "collector/archive/red_roll.h"
#include "collector/relay/relay.h"
#include "collector/space/space.h"
#include "collector/archive/compact.h"
#include "collector/web/web.h"
#include "collector/web/web_listen.h"
#include "collector/store/writer.h"

enum { KEPT_BYTES = 64 << 20 };

static const struct stage *const front[] = { &stage_decode, &stage_origin, &stage_limit,
					     &stage_enrich };

struct collector {
	struct config config;
	int listen_fd, web_fd, signal_fd;
	struct loop *loop;
	struct layouts *layouts;
	struct pipeline *pipeline;
	struct writer_queue *queue;
	struct own_keys own;
	struct key_registry *keys;
	void *zmq;
	struct zap_auth *auth;
	struct accept_guard *guard;
	struct router *router;
	struct receive *receive;
	struct web *web;
	struct space *space;
	struct writer *writer;
	struct compact *compact;
	struct red_roll *red_roll;
	struct correlate *correlate;
	struct outbox *outbox; /* NULL, like relay: the region is not relayed */
	struct relay *relay;
};

/* Batches are allocated and freed by the hundred. Returning their memory to the kernel would cost
 * page faults, which take longer than decoding the batches. */
static void keep_memory(void)
{
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_MMAP_THRESHOLD, 4 * WIRE_MAX_FRAME);
}

static int on_signal(void *arg)
{
	struct collector *c = arg;

	loop_stop(c->loop);
	return 0;
}

static void on_requests(void *arg)
{
	web_notify(arg);
}

static bool has_console(const struct collector *c)
{
	return strcmp(c->config.web, "off") != 0;
}

/* Does all that may need privileges, then drops them. Before that no thread runs and no byte from
 * the network is read. */
static int bind_and_drop(struct collector *c)
{
	char err[512];
	int r;

	privileges_descriptors();
	r = own_keys_open(&c->own, c->config.keys, err, sizeof(err));
	if (r < 0)
		return log_err(0, "%s", err), r;
	if (*c->config.relay.to)
		r = relay_open(&c->relay, &c->config, err, sizeof(err));
	if (r < 0)
		return log_err(0, "%s", err), r;
	r = listen_bind(c->config.bind, &c->listen_fd, err, sizeof(err));
	if (r < 0)
		return log_err(0, "%s", err), r;
	if (has_console(c))
		c->web_fd =
			web_listen(c->config.web, c->config.web_socket_mode, c->config.web_group);
	if (has_console(c) && c->web_fd < 0)
		return c->web_fd;
	r = privileges_drop(c->config.user, err, sizeof(err));
	if (r < 0)
		return log_err(0, "%s", err), r;
	if (geteuid() == 0)
		log_warn(0, "the collector runs as root, which it does not need; set --user");
	return 0;
}

static int on_command(void *arg, struct incident_command *c)
{
	return correlate_put(arg, c);
}

static int start_space(struct collector *c)
{
	const struct space_config space = { .database = c->config.database,
					    .limit = c->config.disk,
					    .place = c->config.database_dir };
	int r = space_start(&c->space, &space);

	return r < 0 ? log_err(r, "cannot start the thread of max_disk") : 0;
}

static int start_threads(struct collector *c)
{
	struct web_config web = {
		.listen = c->config.web,
		.fd = c->web_fd,
		.database = c->config.web_database,
		.version = COLLECTOR_VERSION,
		.keep_days = (unsigned)c->config.keep.requests,
		.on_command = on_command,
		.read_only = !c->config.web_actions,
	};
	struct writer_config writer = {
		.link = c->queue,
		.session = { .database = c->config.database,
			     .region = c->config.region,
			     .keep = c->config.keep },
		.outbox = c->outbox,
		.refusal = space_refusal,
		.on_requests = on_requests,
	};
	const struct correlate_config correlate = {
		.database = c->config.database,
		.limits = c->config.incidents,
	};
	int r = correlate_start(&c->correlate, &correlate);

	if (r < 0)
		return log_err(r, "cannot start the incident thread");
	web.commands = c->correlate;
	r = has_console(c) ? web_start(&c->web, &web) : 0;
	if (r < 0)
		return log_err(r, "cannot start the console on %s", c->config.web);
	r = start_space(c);
	if (r < 0)
		return r;
	writer.arg = c->web;
	writer.space = c->space;
	r = writer_start(&c->writer, &writer);
	if (r < 0)
		return log_err(r, "cannot start the writer thread");
	r = key_registry_start(&c->keys, c->config.database);
	if (r < 0)
		return log_err(r, "cannot start the key registry thread");
	r = compact_start(&c->compact, c->config.database, c->relay ? c->config.region : NULL);
	if (r < 0)
		return log_err(r, "cannot start the compaction thread");
	r = red_roll_start(&c->red_roll, c->config.database);
	if (r < 0)
		return log_err(r, "cannot start the topology rollup thread");
	r = c->relay ? relay_start(c->relay) : 0;
	return r < 0 ? log_err(r, "cannot start the relay thread") : 0;
}

static int on_second(void *arg)
{
	struct collector *c = arg;

	own_keys_look(&c->own);
	accept_guard_look(c->guard);
	return 0;
}

/* The self-test comes first: no connection is accepted unless wrong keys are refused. */
static int open_router(struct collector *c)
{
	char err[256];
	int r = zap_auth_try(&c->own.pair, err, sizeof(err));

	if (r < 0)
		return log_err(0, "%s", err), r;
	c->zmq = router_context();
	c->auth = zap_auth_open(c->zmq, c->keys);
	if (!c->auth)
		return log_err(-errno, "cannot open the socket for authentication");
	r = listen_begin(c->listen_fd);
	if (r < 0)
		return log_err(r, "cannot listen on %s; choose another port with --bind",
			       c->config.bind);
	r = accept_guard_open(&c->guard, c->listen_fd);
	if (r < 0)
		return log_err(r, "cannot start the accept guard thread");
	c->router = router_open(c->zmq, c->listen_fd, c->config.bind, &c->own.pair);
	if (!c->router || zap_auth_watch(c->auth, router_socket(c->router), c->guard) < 0)
		return log_err(-errno, "cannot serve %s", c->config.bind);
	loop_add_zmq(c->loop, zap_auth_socket(c->auth), zap_auth_answer, c->auth);
	loop_add_zmq(c->loop, zap_auth_events(c->auth), zap_auth_count, c->auth);
	return 0;
}

static int open_wire(struct collector *c)
{
	int r = pipeline_open(
		&c->pipeline, front, ARRAY_SIZE(front),
		&(struct stage_env){ .layouts = c->layouts, .region = c->config.region });

	if (r < 0)
		return log_err(r, "cannot open the pipeline");
	r = open_router(c);
	if (r < 0)
		return r;
	c->receive = receive_new(
		&(struct receive_config){ .router = c->router,
					  .registry = c->keys,
					  .own = &c->own,
					  .rows_per_s = (uint32_t)c->config.node_rows_per_s,
					  .link = c->queue,
					  .layouts = c->layouts,
					  .front = c->pipeline });
	loop_add_zmq(c->loop, router_socket(c->router), receive_messages, c->receive);
	loop_add_fd(c->loop, writer_queue_note_fd(c->queue), receive_notes, c->receive);
	loop_add_fd(c->loop, key_registry_answer_fd(c->keys), receive_answers, c->receive);
	loop_add_timer(c->loop, 1000, on_second, c);
	loop_add_fd(c->loop, c->signal_fd, on_signal, c);
	loop_add_timer(c->loop, RECEIVE_TICK_MS, receive_tick, c->receive);
	return 0;
}

static const char *console_scheme(const char *web)
{
	return strcmp(web, "off") == 0 || strncmp(web, "unix:", 5) == 0 ? "" : "http://";
}

static int run(struct collector *c)
{
	int r = bind_and_drop(c);

	if (r < 0)
		return r;
	c->loop = loop_new();
	c->layouts = layouts_new();
	c->queue = writer_queue_new();
	if (c->relay)
		c->outbox = outbox_new(c->config.region);
	r = start_threads(c);
	if (r == 0)
		r = open_wire(c);
	if (r < 0)
		return r;
	log_info("probes connect to %s by key %s, the console is %s%s", c->config.bind,
		 c->own.pair.public, console_scheme(c->config.web), c->config.web);
	r = loop_run(c->loop);
	return r < 0 ? log_err(r, "the event loop failed") : 0;
}

/* Stores and acknowledges all queued batches before the socket closes. */
static void stop(struct collector *c)
{
	if (c->writer && writer_stop(c->writer) < 0) {
		log_err(0,
			"the database hangs in a call; exiting without it. Probes still have the "
			"batches that are not stored");
		_exit(EXIT_FAILURE);
	}
	space_stop(c->space);
	if (c->receive)
		receive_notes(c->receive);
	/* a query is still running: exiting aborts its transaction; all else is done */
	if (correlate_stop(c->correlate) < 0)
		_exit(EXIT_SUCCESS);
	compact_stop(c->compact);
	red_roll_stop(c->red_roll);
	relay_stop(c->relay);
	outbox_free(c->outbox);
	web_stop(c->web);
	correlate_free(c->correlate);
	receive_free(c->receive);
	accept_guard_close(c->guard);
	router_close(c->router);
	zap_auth_close(c->auth);
	if (c->zmq)
		zmq_ctx_term(c->zmq);
	key_registry_stop(c->keys);
	pipeline_close(c->pipeline);
	writer_queue_free(c->queue);
	layouts_free(c->layouts);
	loop_free(c->loop);
	close_autop(&c->signal_fd);
}

static int print_help(const char *format)
{
	struct config_command commands[COMMANDS];
	size_t n = command_list(commands);

	if (config_doc_print(&collector_program, commands, n, format, stdout) == 0)
		return EXIT_SUCCESS;
	log_err(0, "--help=%s: " CONFIG_DOC_FORMATS " is allowed", format);
	return EXIT_FAILURE;
}

int main(int argc, char *argv[])
{
	struct collector c = { .listen_fd = -1, .web_fd = -1 };
	enum config_task task;
	char err[512];
	int r;

	keep_memory();
	log_init("seismo-collector", LOG_INFO);
	if (config_read(argc, argv, &c.config, &task, err, sizeof(err)) < 0) {
		log_err(0, "%s", err);
		return EXIT_FAILURE;
	}
	if (task == CONFIG_HELP)
		return print_help(c.config.help);
	if (task == CONFIG_PRINT_VERSION)
		puts("seismo-collector " COLLECTOR_VERSION);
	if (task == CONFIG_COMMAND)
		return command_run(&c.config);
	if (task != CONFIG_RUN)
		return EXIT_SUCCESS;
	c.signal_fd = signals_open();
	r = run(&c);
	stop(&c);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
