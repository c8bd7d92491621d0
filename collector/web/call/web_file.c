// SPDX-License-Identifier: Apache-2.0
#include "collector/web/call/web_file.h"

#include <stdio.h>
#include <time.h>

static const struct {
	const char *type, *what, *suffix, *cut;
} forms[] = {
	[WEB_CSV] = { "text/csv; charset=utf-8; header=present", "requests", "csv",
		      "Cut: only the newest 10000 rows are included; use a shorter time range." },
	[WEB_NDJSON] = { "application/x-ndjson; charset=utf-8", "requests", "ndjson",
			 "{\"cut\":10000,\"message\":\"Only the newest 10000 rows are included; "
			 "use a shorter time range.\"}" },
	[WEB_FOLDED] = { "text/plain; charset=utf-8", "profile", "folded", "(other) 0" },
};

static void put_cell(struct buf *b, const char *text, size_t len)
{
	bool quote = strcspn(text, ",\"\r\n") < len;

	if (quote)
		buf_put(b, "\"", 1);
	if (len && strchr("=+-@\t\r", *text))
		buf_put(b, "'", 1);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			buf_put(b, "\"", 1);
		buf_put(b, &text[i], 1);
	}
	if (quote)
		buf_put(b, "\"", 1);
}

static void put_end(struct buf *b, const PGresult *res, int i)
{
	bool last = i + 1 == PQnfields(res);

	buf_put(b, last ? "\r\n" : ",", last ? 2 : 1);
}

static void put_csv(struct buf *b, const PGresult *res, int rows, const char *cut)
{
	for (int i = 0; i < PQnfields(res); i++) {
		put_cell(b, PQfname(res, i), strlen(PQfname(res, i)));
		put_end(b, res, i);
	}
	for (int row = 0; row < rows; row++) {
		for (int i = 0; i < PQnfields(res); i++) {
			put_cell(b, PQgetvalue(res, row, i), (size_t)PQgetlength(res, row, i));
			put_end(b, res, i);
		}
	}
	for (int i = 0; cut && i < PQnfields(res);
	     i++) { /* a row with all columns, so that readers can parse it */
		put_cell(b, cut, i ? 0 : strlen(cut));
		put_end(b, res, i);
	}
}

static void put_lines(struct buf *b, const PGresult *res, int rows, const char *cut)
{
	for (int row = 0; row < rows; row++) {
		buf_put(b, PQgetvalue(res, row, 0), (size_t)PQgetlength(res, row, 0));
		buf_put(b, "\n", 1);
	}
	if (cut) {
		buf_put(b, cut, strlen(cut));
		buf_put(b, "\n", 1);
	}
}

bool web_file_put(struct buf *b, const PGresult *res, enum web_form form)
{
	bool is_cut = PQntuples(res) > WEB_FILE_ROWS;
	int rows = is_cut ? WEB_FILE_ROWS : PQntuples(res);

	(form == WEB_CSV ? put_csv : put_lines)(b, res, rows, is_cut ? forms[form].cut : NULL);
	return is_cut;
}

const char *web_file_type(enum web_form form)
{
	return forms[form].type;
}

void web_file_name(enum web_form form, char text[WEB_FILE_NAME])
{
	time_t now = time(NULL);
	char date[24];
	struct tm t;

	gmtime_r(&now, &t);
	strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &t);
	snprintf(text, WEB_FILE_NAME, "attachment; filename=\"seismo-%s-%s.%s\"", forms[form].what,
		 date, forms[form].suffix);
}
