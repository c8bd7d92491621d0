#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# red_roll.sh - the topology from counts of ten minutes is the same as from each row, also while rows come late, over a
# real collector and a real PostgreSQL.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')

# Of ranges and all filters: how many answers differ from those that are made of each row.
differ() { # RANGES
	sql -v ranges="$1" <<'END'
begin;
select setseed(0.5) \g /dev/null
select count(*) from (select now() - interval '3 hours' * random() as f, interval '1 s' * (60 + 9000 * random()) as l from generate_series(1, :ranges)) r,
	(values (null, null, null, 1000), (null, null, null, 3), ('one', null, null, 1000), (null, 'n2', null, 1000), (null, null, 'app-3', 1000), ('two', 'n1', 'app-1', 5)) q(region, node, app, most)
where api.topology(f, least(f + l, now()), region, node, app, most)::text is distinct from api.topology_by_rows(f, least(f + l, now()), region, node, app, most)::text;
commit;
END
}

# Of four ranges, the first of the twelve, each with six filters: what comes late lies in some of them. A processor takes 8 s for
# twelve, so those are asked when everything is rolled up, and again when everything that was late is.
same() { # [RANGES]
	local n
	n=$(differ "${1:-4}")
	[ "$n" = 0 ] || { echo "$n answers differ" >&2; return 1; }
}

is_rolled() { # SLOTS: so many at least, and none is left to do
	[ "$(sql -c "select (select count(distinct ts) from red_10m) >= $1 and not exists (select from red_late) and not exists (select from red_late_1m)")" = t ]
}

# As another collector would that is at it: nothing is rolled up until let_go.
hold() {
	{
		echo "select pg_advisory_lock(126879331840373);"
		echo "\\! touch $dir/held; while [ ! -e $dir/let ]; do sleep 0.1; done"
	} | sql >/dev/null &
	other=$!
	await 100 [ -e "$dir/held" ]
}

let_go() {
	touch "$dir/let"
	wait "$other"
	rm -f "$dir/held" "$dir/let"
	sql -c "notify seismo_seal"
}

made() { # WHOSE: which transactions made these rows of ten minutes and of minutes
	sql -c "select sum(xmin::text::bigint), count(*) from red_10m where $1" -c "select sum(xmin::text::bigint), count(*) from red_1m where $1"
}

# The number of rows that the topology of an application reads, in the range of an hour.
read_for() { # APP
	sql <<-END
	begin;
	select api.topology(now() - interval '1 hour', now(), null, null, '$1', 200) \g /dev/null
	select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) from pg_stat_xact_user_tables where relname ~ '^red(_1m|_10m|_key)?(_[0-9]+)?\$';
	commit;
	END
}

late() {
	[ "$(sql -c 'select count(*) > 0 from red_late')" = t ]
}

pg_make
start one "$port" "$web"
await 100 counted "$web" seismo_database_up 1
await 3 probe "$port" "node z 1" hello "want welcome 0 0" # a HELLO is lost before the keys were read
sql -f tests/it/collector/red_roll.sql
sql >/dev/null <<'END'
select setseed(0.25);
insert into region values (101, 'one'), (102, 'two');
insert into node (node_id, region_id, name) select n, 101 + n % 2, 'n' || n from generate_series(1, 4) n;
insert into place select n, ('10.0.0.' || n)::inet, 0, 1, 0, '', now() - interval '1 day', null from generate_series(1, 4) n;
insert into place select n, '0.0.0.0', 8000 + p, 2, 0, 'app-' || p, now() - interval '1 day', null from generate_series(1, 4) n, generate_series(1, 5) p;
insert into red_key select n, n * 1000 + a * 100 + p * 10 + r, 'app-' || a, '/' || r, case when p = 5 and a = 1 then '192.0.2.7:443' when p = 4 then 'unix:/run/x' else '10.0.0.' || 1 + (n + p) % 4 || ':800' || p end, 1
	from generate_series(1, 4) n, generate_series(1, 4) a, generate_series(1, 5) p, generate_series(1, 2) r;
insert into red_key select n, n * 1000 + 900 + 10 * r + a, 'app-' || a, '/', ':800' || a, r from generate_series(1, 4) n, generate_series(1, 5) a, (values (0), (2)) v(r);
insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b)
	select now() - interval '3 hours' * random(), node_id, key_id, (array[2, 2, 5, 0])[1 + floor(4 * random())::int], x, x * 1000, (random() * 20)::int, array[x, 0, (5 * random())::int]
	from red_key, generate_series(1, 60), lateral (select (1 + 50 * random())::int as x where key_id > 0) y;
-- edges of a slot, and what no histogram can hold
insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b)
	select date_bin('10 minutes', now() - interval '1 hour', timestamptz 'epoch') + d * interval '1 microsecond', 1, 1111, 2, 7, 70, 61, array[1, 2, 3, 4] from generate_series(-1, 1) d;
update red_closed set since = date_bin('10 minutes', now() - interval '170 minutes', timestamptz 'epoch'), until = date_bin('10 minutes', now() - interval '170 minutes', timestamptz 'epoch'),
	since_1m = date_bin('1 minute', now() - interval '100 minutes', timestamptz 'epoch'), until_1m = date_bin('1 minute', now() - interval '100 minutes', timestamptz 'epoch');
END
ok "the topology has edges" is t "select json_array_length(api.topology(now() - interval '1 hour', now(), null, null, null, 1000) -> 'edges') > 20"
ok "without slots the topology comes from each row" is 0 "select count(*) from red_10m"
ok "and as before" same
sql -c "notify seismo_seal"
ok "what is over is rolled up" await 300 is_rolled 14
ok "but not what goes on" is t "select max(ts) < now() - interval '10 minutes' from red_10m"
ok "by the minute, too" is t "select count(distinct ts) > 90 and max(ts) < now() - interval '1 minute' from red_1m"
ok "of calls and of what was served, nothing else" is 0 "select count(*) from (select * from red_10m union all select * from red_1m) r join red_key using (node_id, key_id) where role > 1"
ok "the topology is the same" same 12
ok "from the slots: without them it is another" is t "begin; delete from red_10m; select api.topology(now() - interval '2 hours', now(), null, null, null, 9)::text <> api.topology_by_rows(now() - interval '2 hours', now(), null, null, null, 9)::text; rollback"

# What comes late: as the writer stores it, for a slot that is closed already.
sql -c "insert into red_late select s from red_closed, generate_series(until, until + interval '50 minutes', interval '10 minutes') s" \
	-c "update red_closed set until = until + interval '1 hour'" -c "notify seismo_seal"
ok "what goes on may be closed, too" await 300 is_rolled 15
sql -c "insert into red_late_1m (slot) select m from red_closed c, generate_series(c.until_1m, date_bin('1 minute', now(), timestamptz 'epoch') + interval '4 minutes', interval '1 minute') m" \
	-c "update red_closed set until_1m = date_bin('1 minute', now(), timestamptz 'epoch') + interval '5 minutes'" -c "notify seismo_seal"
ok "so may minutes" await 300 is_rolled 15
ok "the topology is from them, too: without them it is another" is t "begin; delete from red_1m; select api.topology(f, now(), null, null, null, 9)::text <> api.topology_by_rows(f, now(), null, null, null, 9)::text
	from (select date_bin('10 minutes', now() - interval '1 hour', timestamptz 'epoch') + interval '200 s' as f) r; rollback"
hold
ok "a batch of a closed slot" probe "$port" "node z 1" hello "want welcome 0 0" "send 1 1 1 red" "want ack 1 1"
ok "says so with its rows" late
ok "and of which node it is" is t "select count(*) = 2 and bool_and(node_id = (select node_id from node where name = 'z')) from (select node_id from red_late union all select node_id from red_late_1m) l"
ok "and the topology has it at once" same
sql -c "insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b) select now() - interval '90 minutes', 2, 2111, 2, 5000, 5000, 3, array[5000]" \
	-c "select take_red_of(array[now() - interval '90 minutes'], array[2])" >/dev/null
ok "so is one of another hour" same
was=$(made "node_id in (1, 3, 4)")
sql -c "insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b) select now() - m * interval '1 minute', 2, 2111, 2, m, m, 3, array[m] from generate_series(3, 80, 7) m" \
	-c "select take_red_of(array_agg(now() - m * interval '1 minute'), array_agg(2)) from generate_series(3, 80, 7) m" >/dev/null
ok "and what a node had kept for an hour" same
rolls=$(counter "$web" seismo_red_rolls_total)
let_go
ok "they are rolled up anew" await 300 counted "$web" seismo_red_rolls_total "$((rolls + 2))"
ok "and none is left" await 300 is_rolled 15
ok "with all of it" is t "select max(n) between 5000 and 6000 from red_10m where key_id = 2111"
ok "the topology is the same again" same 12
ok "each row is counted once" is 0 "select count(*) from (select from red_10m group by ts, node_id, key_id, status_class having count(*) > 1 union all select from red_1m group by ts, node_id, key_id, status_class having count(*) > 1) d"
ok "of the other nodes nothing is made anew" test "$(made "node_id in (1, 3, 4)")" = "$was"

# A collector of before says of ten minutes that they are late, of all nodes, and rolls them up itself.
hold
sql -c "insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b) select now() - interval '50 minutes', 2, 2111, 2, 6000, 6000, 3, array[6000]" \
	-c "insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b) select now() - interval '58 minutes', 3, 3111, 2, 500, 500, 3, array[500]" \
	-c "select take_red(array[now() - interval '50 minutes', now() - interval '58 minutes'])" \
	-c "select take_red_of(array[now() - interval '58 minutes'], array[3])" >/dev/null
ok "the topology has a late row of an older collector at once" same
let_go
ok "and rolled up" await 300 is_rolled 15
sql -c "select roll_red(ts) from (select distinct ts from red_10m where ts < now() - interval '40 minutes') s" >/dev/null
ok "what one of before rolls up is the same" same

# A slot is closed only when whoever stores into it is done: rows that are not there yet would be missed.
sql -c "delete from red_10m where ts >= date_bin('10 minutes', now(), timestamptz 'epoch') - interval '20 minutes'" \
	-c "update red_closed set until = date_bin('10 minutes', now(), timestamptz 'epoch') - interval '20 minutes'"
{
	echo "begin; insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b) select until + interval '1 minute', 2, 2111, 2, 77777, 1, 3, array[77777] from red_closed;"
	echo "select take_red(array[until + interval '1 minute']) from red_closed;"
	echo "\\! touch $dir/open; while [ ! -e $dir/go ]; do sleep 0.1; done"
	echo "commit;"
} | sql >/dev/null &
holder=$!
await 100 [ -e "$dir/open" ]
sql -c "notify seismo_seal"
waits() {
	[ "$(sql -c "select count(*) from pg_locks where locktype = 'advisory' and not granted and mode = 'ExclusiveLock'")" = 1 ]
}
ok "closing waits for who stores" await 600 waits
touch "$dir/go"
wait "$holder"
ok "and has what was stored meanwhile" await 300 is t "select coalesce(max(n), 0) >= 77777 and not exists (select from red_late) from red_10m where key_id = 2111"
ok "and the topology is the same" same

# Among a thousand nodes that have nothing to do with it.
sql >/dev/null <<'END'
insert into node (node_id, region_id, name) select i, 101, 'm' || i from generate_series(1001, 2000) i;
insert into red_key select i, i * 100 + k, 'many-' || k, '/', '10.' || 1 + k || '.0.' || i % 250 || ':80', 1 from generate_series(1001, 2000) i, generate_series(0, 9) k;
insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b) select now() - interval '55 minutes' * random(), node_id, key_id, 2, 1, 1, 3, array[1] from red_key, generate_series(1, 12) where app like 'many-%';
insert into red_late (slot) select s from red_closed, generate_series(date_bin('10 minutes', now() - interval '1 hour', timestamptz 'epoch'), now() - interval '10 minutes', interval '10 minutes') s;
insert into red_late_1m (slot) select m from red_closed c, generate_series(date_bin('1 minute', now() - interval '1 hour', timestamptz 'epoch'), c.until_1m - interval '1 minute', interval '1 minute') m;
notify seismo_seal;
END
ok "more is rolled up" await 600 is_rolled 15
ok "and the topology is the same" same 2
few() {
	local n
	n=$(read_for app-3)
	[ "$n" -gt 500 ] && [ "$n" -lt 12000 ] || { echo "$n rows of $(sql -c "select (select count(*) from red) + (select count(*) from red_10m) + (select count(*) from red_1m)")" >&2; return 1; }
}
ok "the topology of one application reads only its edges" few
sql -c "analyze" >/dev/null
ok "also by who knows how many there are of all" few
sql -c "delete from red_10m where ts > now() - interval '30 minutes'" -c "update red_closed set until = date_bin('10 minutes', now() - interval '30 minutes', timestamptz 'epoch'), until_1m = date_bin('1 minute', now() - interval '30 minutes', timestamptz 'epoch')" >/dev/null
ok "and where nothing is rolled up yet" few
done_checking
