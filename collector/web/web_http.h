// SPDX-License-Identifier: Apache-2.0
/*
 * web_http.h - handles an HTTP request: access check, routing, response headers.
 *
 * Runs on libmicrohttpd's thread and never blocks: a request that needs the database is
 * suspended and given to the pool. All our responses carry the same security headers.
 */
#pragma once

#include <stdatomic.h>

#include "collector/web/web.h"
#include "collector/web/live/web_live.h"
#include "collector/web/web_listen.h"
#include "collector/web/web_seats.h"

struct web_http {
	struct web_pool *pool;
	struct web_hub *hub;
	struct web_live *live;
	const char *version;
	unsigned keep_days;
	int (*on_command)(void *commands, struct incident_command *c);
	void *commands;
	bool read_only;
	struct web_address own; /* the listening address */
	struct web_seats *seats;
	atomic_ullong requests, unavailable;
};

/* Callbacks of the daemon; arg is the struct web_http. */
void *web_http_on_uri(void *arg, const char *uri, struct MHD_Connection *conn);
enum MHD_Result web_http_on_request(void *arg, struct MHD_Connection *conn, const char *url,
				    const char *method, const char *version, const char *upload,
				    size_t *upload_size, void **context);
void web_http_on_done(void *arg, struct MHD_Connection *conn, void **context,
		      enum MHD_RequestTerminationCode code);
void web_http_on_connection(void *arg, struct MHD_Connection *conn, void **context,
			    enum MHD_ConnectionNotificationCode code);
