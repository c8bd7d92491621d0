// SPDX-License-Identifier: Apache-2.0
/*
 * pg_session.h - settings that every session of the collector starts with.
 *
 * They make the server notice a client whose host has vanished. Until then its locks on rows and on
 * tasks block all other collectors, by default for two hours.
 */
#pragma once

#define PG_NOTICES                                                                                 \
	"set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5;"                           \
	"set tcp_keepalives_count = 3; set tcp_user_timeout = 30000;"                              \
	"set idle_in_transaction_session_timeout = '5min';"
