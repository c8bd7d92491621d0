#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# rows.sh - how long the newest page of a day takes among ROWS=10000000 abnormal requests, by filter and text, and what
# their indexes cost. Prints Markdown for RESULTS.md. Making them takes a quarter of an hour and 9 GB; with VAR=dir
# they stay there, and the next run begins with the measuring.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
kept=${VAR:-} rows=${ROWS:-10000000}
. tests/lib/stack.sh
stack_open() { # as in stack.sh, but VAR may be kept
	read -r web bind < <(free_ports 2 | tr '\n' ' ')
	export VAR=${kept:-$tmp/var} WEB=127.0.0.1:$web BIND=tcp://127.0.0.1:$bind NODE=bench
	trap 'make -s stop >/dev/null 2>&1; rm -rf "$tmp"' EXIT
	stack_start && socket=/run/seismo-$(part_place)/s
}

say() {
	printf '  %-6s %s\n' "$1" "$2" >&2
}

# Tables are filled first and indexed then, as PostgreSQL's manual advises. What is made anew is what the schema made.
fill() {
	local indexes="from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = 'request'::regclass"
	ask "select pg_get_indexdef(indexrelid) || ';' $indexes" >"$tmp/indexes.sql"
	ask "select 'drop index ' || c.relname || ';' $indexes" >"$tmp/drop.sql"
	ask_all <"$tmp/drop.sql" && ask_all -v rows="$rows" <tests/bench/rows.sql >&2 || exit 1
	while read -r index; do
		say INDEX "${index#CREATE INDEX }"
		ask "set maintenance_work_mem = '512MB'; $index" || exit 1
	done < <(sed 's/ ON ONLY / ON /' "$tmp/indexes.sql")
	say VACUUM "and statistics"
	ask "vacuum analyze"
}

say START "PostgreSQL and collector"
stack_open || exit 1
kill "$(part_pid_of probe)" # its own rows are none of these
[ "$(ask 'select count(*) from (select from request limit 1000) r')" = 1000 ] || fill
say ASK "pages, texts and counts"
ask "alter role seismo_web set log_min_duration_statement = 0; select pg_terminate_backend(pid) from pg_stat_activity where usename = 'seismo_web'" >/dev/null
PSQL="setpriv --reuid postgres --regid postgres --init-groups psql -h $socket -U postgres -d seismo -XqAt" \
	LOGS=$VAR/log/postgresql python3 tests/bench/rows.py "$WEB"
ask "alter role seismo_web reset log_min_duration_statement"
