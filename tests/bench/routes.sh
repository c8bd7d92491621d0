#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# routes.sh - how long the lists beside the page of requests take when ROWS=2000000 abnormal requests of the last hour have
# ROUTES=40000 routes. Prints Markdown for RESULTS.md. With VAR=dir the rows stay there, and the next run begins with the
# measuring.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
kept=${VAR:-} rows=${ROWS:-2000000} routes=${ROUTES:-40000}
. tests/lib/stack.sh
read -r web bind < <(free_ports 2 | tr '\n' ' ')
export VAR=${kept:-$tmp/var} WEB=127.0.0.1:$web BIND=tcp://127.0.0.1:$bind NODE=bench
trap 'make -s stop >/dev/null 2>&1; rm -rf "$tmp"' EXIT
stack_start || exit 1
socket=/run/seismo-$(part_place)/s
kill "$(part_pid_of probe)" # its own rows are none of these

# Indexes are made after the rows, which takes a third of the time.
fill() {
	local indexes="from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = 'request'::regclass" index
	ask "select pg_get_indexdef(indexrelid) || ';' $indexes" >"$tmp/indexes.sql"
	ask "select 'drop index ' || c.relname || ';' $indexes" >"$tmp/drop.sql"
	printf '  FILL   %s rows\n' "$rows" >&2
	ask_all <"$tmp/drop.sql" && ask_all -v rows="$rows" -v routes="$routes" <tests/bench/routes.sql >&2 || exit 1
	while read -r index; do
		printf '  INDEX  %s\n' "${index#CREATE INDEX }" >&2
		ask "set maintenance_work_mem = '512MB'; $index" || exit 1
	done < <(sed 's/ ON ONLY / ON /' "$tmp/indexes.sql")
	ask "vacuum analyze request"
}

if [ "$(ask 'select count(*) from (select from request limit 1000) r')" != 1000 ]; then
	fill
fi
read -r since until < <(ask "select to_char(max(ts) at time zone 'UTC' - interval '1 hour', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), to_char(max(ts) at time zone 'UTC' + interval '1 s', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') from request")

seconds() { # PATH: of five answers, the median, and their status
	local i
	for i in 1 2 3 4 5; do
		curl -s -o /dev/null -w '%{time_total} %{http_code}\n' "http://127.0.0.1:$web$1?from=$since&to=$until$2"
	done | sort -n | sed -n 3p
}

printf '| answer | median of five, s | status |\n|---|---|---|\n'
for what in requests/facets requests/groups requests/histogram requests/count coverage requests; do
	read -r s status < <(seconds "/api/v1/$what" "")
	printf '| `/%s` | %s | %s |\n' "$what" "$s" "$status"
done
read -r s status < <(seconds "/api/v1/requests/facets" "&status=404")
printf '| `/requests/facets`, status 404 | %s | %s |\n' "$s" "$status"
read -r s status < <(seconds "/api/v1/requests/groups" "&app=shop")
printf '| `/requests/groups`, app shop | %s | %s |\n' "$s" "$status"
