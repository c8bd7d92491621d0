// SPDX-License-Identifier: Apache-2.0
/*
 * web_file.h - downloads: rows as CSV (RFC 4180, with a header) or as one JSON text per line.
 *
 * At most 10,000 rows; if there are more, the last line says so. A cell that a spreadsheet would
 * take for a formula gets a leading '.
 */
#pragma once

#include <libpq-fe.h>

#include "lib/base/buf.h"
#include "collector/web/call/web_route.h"

enum { WEB_FILE_ROWS = 10000, WEB_FILE_NAME = 80 };

bool web_file_put(struct buf *b, const PGresult *res, enum web_form form); /* true: cut */
const char *web_file_type(enum web_form form);
/* Writes the Content-Disposition value, with the current date. */
void web_file_name(enum web_form form, char text[WEB_FILE_NAME]);
