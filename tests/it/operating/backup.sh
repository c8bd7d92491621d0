#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# backup.sh - the commands of docs/operating.md make backups of a collector's database, and restore them elsewhere.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
. tests/it/operating/page.bash
read -r port web < <(free_ports 2 | tr '\n' ' ')

pg_make
start one "$port" "$web"
await 300 counted "$web" seismo_database_up 1
ok "a probe sends" probe "$port" "node web-1 7" hello "want welcome 0 0" "send 1 1 1 whole" "want ack 1 1" "send 1 2 1 request" "want ack 1 2" "send 1 3 1 source" "want ack 1 3"
sums >"$dir/before"

ok "the dump is made while the collector runs" run_page dump
DAY=$(sql -c "select to_char(max(ts) at time zone 'utc', 'YYYYMMDD') from request")
ok "one of a day, too" run_page day
ok "which has the requests of that day" grep -q "TABLE DATA public request_$DAY" < <("$pgbin/pg_restore" -l "$BACKUP/day-$DAY.dump")
ok "so is the base backup" run_page base
ok "after the backups the probe sends on" probe "$port" "node web-1 7" hello "want welcome 3 0" "send 1 4 1 request" "want ack 1 4"
halt one TERM

# Elsewhere: another data directory.
pg_kill INT
rm -rf "$dir/d"
ok "the base backup is copied" run_page copy
mv "$DATA" "$dir/d"
pg_start
ok "and has every row of that time" eval 'sums >"$dir/after" && diff "$dir/before" "$dir/after"'
start one "$port" "$web"
await 300 counted "$web" seismo_database_up 1
ok "a collector goes on with it, from the batch that the backup has" probe "$port" "node web-1 7" hello "want welcome 3 0" "send 1 4 4 request" "want ack 1 4"
halt one TERM

# Into a new cluster.
pg_kill INT
rm -rf "$dir/d"
install -d -o postgres -g postgres -m 700 "$dir/d"
(cd / && "${as_postgres[@]}" "$pgbin/initdb" -D "$dir/d" -U postgres -A trust -N -E UTF8 --locale=C.UTF-8) >/dev/null
pg_start
ok "the dump is restored into a cluster that has nothing" run_page restore
ok "with every row" eval 'sums >"$dir/after" && diff "$dir/before" "$dir/after"'
start one "$port" "$web"
await 300 counted "$web" seismo_database_up 1
ok "and a collector goes on with it" probe "$port" "node web-1 7" hello "want welcome 3 0" "send 1 4 4 request" "want ack 1 4"
done_checking
