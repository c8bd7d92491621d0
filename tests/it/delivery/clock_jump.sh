#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clock_jump.sh - the clocks of PostgreSQL and of the collector jump 40 days and a year, at a start and while they run: no row is dropped, rows
# that come meanwhile keep the time of their node, the log and the console say why retention is held, and it goes on when the clocks
# are right again.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

faketime=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null)
[ -n "$faketime" ] || { echo "0 passed, 1 failed: is faketime installed?"; exit 1; }
read -r port web < <(free_ports 2 | tr '\n' ' ')
days=86400 epoch=0 heard=1 cause= began=$(date +%s)

set_clock() { # WHOSE SECONDS: ahead, within a second
	printf '%+d\n' "$2" >"$dir/$1.new" && mv "$dir/$1.new" "$dir/clock.$1"
}

faked() { # WHOSE: the environment of a program whose clock is to be set
	env=(env LD_PRELOAD="$faketime" FAKETIME_TIMESTAMP_FILE="$dir/clock.$1" FAKETIME_CACHE_DURATION=1 FAKETIME_DONT_RESET=1
		DONT_FAKE_MONOTONIC=1 FAKETIME_DONT_FAKE_MONOTONIC=1)
}

collect() { # starts the collector
	start one "$port" "$web" --keep-days 30
}

clocks_are() { # DATABASE COLLECTOR: seconds off; both programs see it
	set_clock database "$1"
	set_clock collector "$2"
	await 300 off_by "$1"
}

off_by() {
	local now
	now=$(date +%s)
	[ "$(sql -c "select abs(extract(epoch from clock_timestamp()) - $now - ($1)) < 5")" = t ]
}

is_held() { # CAUSE
	[ "$(counter "$web" "seismo_retention_held{cause=\"$1\"}")" = 1 ]
}

is_free() {
	[ "$(curl -s "http://127.0.0.1:$web/metrics" | awk '/^seismo_retention_held/ { n++; sum += $2 } END { print n, sum }')" = "4 0" ]
}

deliver() { # 40 rows of a node whose clock is right
	epoch=$((epoch + 1))
	timeout 60 "$fake" "tcp://127.0.0.1:$port" deliver n1 "$epoch" 40 1000 >>"$dir/deliver.log" 2>&1
}

old_rows="with r as (select ts from request union all select ts from event union all select ts from red) select count(*) from r where ts < to_timestamp($began) - interval '1 day'"
new_rows="with r as (select * from request where app = 'fake' and path like '/%') select count(*) || ' ' || count(*) filter (where ts >= to_timestamp($began)
	and ts < to_timestamp($began) + interval '1 hour') from r"

nothing_lost() { # of the old rows; the new ones are all there, at the time when they were sent
	is 2400 "$old_rows" && is "$((40 * epoch)) $((40 * epoch))" "$new_rows" && is 0 "select count(*) from quarantine"
}

make_days() { # FROM TO: days ago, with 40 rows of three tables each
	sql -c "set role seismo" -c "create temp table days as select now() - i * interval '1 day' as at from generate_series($1, $2) i" \
		-c "select count(ensure_partition(f, 'day', at)) from days, unnest(array['request', 'event', 'red']) f" \
		-c "insert into request select (jsonb_populate_record(x.r, jsonb_build_object('ts', at, 'app', 'old'))).* from (select r from request r limit 1) x, days, generate_series(1, 40)" \
		-c "insert into event (ts, node_id, event_id, stored, kind, severity, pid, tid, comm, us, error_us, reason_id, params) select at, 1, 1, at, 'kmsg', 1, 0, 0, '', 0, 0, 0, '{}' from days, generate_series(1, 40)" \
		-c "insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b) select at, 1, 1, 2, 1, 1, 0, '{1}' from days, generate_series(1, 40)"
}

says() { # TEXT: in its log since the last call of `listen`
	tail -n "+$heard" "$dir/one.log" | grep -q "$1"
}

listen() {
	heard=$(($(wc -l <"$dir/one.log") + 1))
}

console_says() { # CAUSE DAYS
	curl -s "http://127.0.0.1:$web/api/v1/console" | python3 -c 'import json, sys
r = json.load(sys.stdin)["retention"]
sys.exit(r["held"] != sys.argv[1] or abs(r["apartSeconds"] - 86400 * int(sys.argv[2])) > 3600)' "$@"
}

jump() { # TITLE CAUSE DATABASE COLLECTOR: days off, while it runs; the largest is not that of the jump before. The log has a line when the cause changes.
	local most=${3#-}
	[ "$most" -ge "${4#-}" ] || most=${4#-}
	listen
	clocks_are $(($3 * days)) $(($4 * days))
	ok "$1: the console says that retention is held, and by which clocks" await 300 console_says "$2" "$most"
	ok "$1: so does a metric" is_held "$2"
	[ "$2" = "$cause" ] || ok "$1: so does the log" says "retention drops nothing"
	cause=$2
	ok "$1: rows are stored" deliver
	ok "$1: no row is lost or at another time" nothing_lost
}

start_there() { # TITLE
	halt one TERM
	listen
	collect
	ok "$1, at a start: retention is held" await 300 eval '[ "$(held)" = 1 ]'
	ok "$1, at a start: the log says so" says "retention drops nothing"
	ok "$1, at a start: rows are stored" deliver
	ok "$1, at a start: no row is lost or at another time" nothing_lost
}

held() { # how many causes
	curl -s "http://127.0.0.1:$web/metrics" | awk '/^seismo_retention_held/ { sum += $2 } END { print sum }'
}

set_clock database 0
set_clock collector 0
faked collector
printf '#!/bin/sh\nexec %s "$@"\n' "$(printf '%q ' "${env[@]}" "$PWD/$collector")" >"$dir/collector" && chmod 755 "$dir/collector"
collector=$dir/collector
faked database
as_postgres+=("${env[@]}")
pg_make
collect
await 300 grep -q "is ready" "$dir/one.log"
let_in
deliver
make_days 3 22 >/dev/null
ok "rows of twenty days are there" is 2400 "$old_rows"
ok "nothing is held" await 300 is_free
jump "40 days ahead" nodes 40 40
start_there "40 days ahead"
jump "a year ahead" nodes 365 365
start_there "a year ahead"
jump "40 days behind" nodes -40 -40
start_there "40 days behind"
jump "the collector a day behind" database 0 -1
listen
clocks_are 0 0
ok "with right clocks, and a node that delivers, the hold ends" await 300 eval "deliver && is_free"
ok "and the log says so" says "agree with the stored rows again"
ok "and the console" eval '! curl -s "http://127.0.0.1:$web/api/v1/console" | grep -q retention'
ok "and no row is lost" nothing_lost
done_checking
