// SPDX-License-Identifier: Apache-2.0
/*
 * pg_session.h - what each session tells the server first, whoever's it is.
 *
 * It is to notice that a client has vanished, as with its host: what that holds there, rows and who
 * does what, is kept from all other collectors until then; by itself, for two hours.
 */
#pragma once

#define PG_NOTICES                                                                                 \
	"set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5;"                           \
	"set tcp_keepalives_count = 3; set tcp_user_timeout = 30000;"                              \
	"set idle_in_transaction_session_timeout = '5min';"
