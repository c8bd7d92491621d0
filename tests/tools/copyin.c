// SPDX-License-Identifier: Apache-2.0
/*
 * copyin.c - what a client does at the least to bring rows into a table: COPY BINARY out of memory.
 *
 *	copyin CONNINFO TABLE FILE ROWS
 *		FILE as COPY TO wrote it, in binary; ROWS in each transaction. Prints what it took.
 */
#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <sys/resource.h>

#include "lib/base/clock.h"

enum { HEADER = 19, PIECE = 64 << 10 };

struct part {
	const char *data;
	size_t len;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "copyin: %s\n", what);
	exit(1);
}

static struct part read_file(const char *path)
{
	FILE *in = fopen(path, "re");
	long len = 0;
	char *data;

	if (!in || fseek(in, 0, SEEK_END) < 0 || (len = ftell(in)) < HEADER)
		fail(path);
	data = malloc((size_t)len);
	rewind(in);
	if (!data || fread(data, 1, (size_t)len, in) != (size_t)len)
		fail(path);
	fclose(in);
	return (struct part){ data, (size_t)len };
}

static uint32_t number(const char *p, size_t bytes)
{
	uint32_t v = 0;

	memcpy((char *)&v + sizeof(v) - bytes, p, bytes);
	return be32toh(v);
}

/* Past a row, or NULL at the end. */
static const char *skip_row(const char *p)
{
	uint32_t fields = number(p, 2);

	if (fields == UINT16_MAX)
		return NULL;
	p += 2;
	while (fields--) {
		uint32_t len = number(p, 4);

		p += 4 + (len == UINT32_MAX ? 0 : len);
	}
	return p;
}

/* The file, cut into what each transaction brings. */
static size_t cut(struct part file, size_t rows, struct part **out)
{
	const char *p = file.data + HEADER, *next = p;
	struct part *parts = NULL;
	size_t n = 0;

	while (next) {
		p = next;
		for (size_t i = 0; i < rows; i++) {
			const char *after = skip_row(next);

			if (!after)
				break;
			next = after;
		}
		if (next == p)
			break;
		parts = realloc(parts, (n + 1) * sizeof(*parts));
		if (!parts)
			fail("out of memory");
		parts[n++] = (struct part){ p, (size_t)(next - p) };
	}
	*out = parts;
	return n;
}

static void execute(PGconn *c, const char *sql, ExecStatusType want)
{
	PGresult *r = PQexec(c, sql);

	if (PQresultStatus(r) != want)
		fail(PQerrorMessage(c));
	PQclear(r);
}

static void put(PGconn *c, const char *p, size_t len)
{
	if (PQputCopyData(c, p, (int)len) != 1)
		fail(PQerrorMessage(c));
}

static void copy(PGconn *c, const char *sql, const char *header, struct part rows)
{
	PGresult *r;

	execute(c, "begin", PGRES_COMMAND_OK);
	execute(c, sql, PGRES_COPY_IN);
	put(c, header, HEADER);
	for (size_t at = 0; at < rows.len; at += PIECE)
		put(c, rows.data + at, rows.len - at < PIECE ? rows.len - at : PIECE);
	put(c, "\xff\xff", 2);
	if (PQputCopyEnd(c, NULL) != 1)
		fail(PQerrorMessage(c));
	while ((r = PQgetResult(c))) {
		if (PQresultStatus(r) != PGRES_COMMAND_OK)
			fail(PQerrorMessage(c));
		PQclear(r);
	}
	execute(c, "commit", PGRES_COMMAND_OK);
}

static double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char *argv[])
{
	struct part file, *parts;
	uint64_t began_ns;
	char sql[128];
	double cpu;
	PGconn *c;
	size_t n;

	if (argc != 5)
		return 2;
	c = PQconnectdb(argv[1]);
	if (PQstatus(c) != CONNECTION_OK)
		fail(PQerrorMessage(c));
	execute(c, "set synchronous_commit = on", PGRES_COMMAND_OK);
	snprintf(sql, sizeof(sql), "copy %s from stdin binary", argv[2]);
	file = read_file(argv[3]);
	n = cut(file, strtoul(argv[4], NULL, 10), &parts);
	cpu = cpu_s();
	began_ns = clock_mono_ns();
	for (size_t i = 0; i < n; i++)
		copy(c, sql, file.data, parts[i]);
	printf("elapsed_s %.3f\ncpu_s %.3f\ntransactions %zu\n",
	       (double)(clock_mono_ns() - began_ns) / 1e9, cpu_s() - cpu, n);
	PQfinish(c);
	return 0;
}
