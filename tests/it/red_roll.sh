#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# red_roll.sh - who calls whom is told the same from counts of ten minutes as from each row, also while rows come late, over a
# real collector and a real PostgreSQL.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/check.sh
. tests/it/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')

# Of 12 ranges and all filters: how many answers differ from those that are made of each row.
differ() {
	sql <<'END'
begin;
select setseed(0.5) \g /dev/null
select count(*) from (select now() - interval '3 hours' * random() as f, interval '1 s' * (60 + 9000 * random()) as l from generate_series(1, 12)) r,
	(values (null, null, null, 1000), (null, null, null, 3), ('one', null, null, 1000), (null, 'n2', null, 1000), (null, null, 'app-3', 1000), ('two', 'n1', 'app-1', 5)) q(region, node, app, most)
where api.topology(f, least(f + l, now()), region, node, app, most)::text is distinct from api.topology_by_rows(f, least(f + l, now()), region, node, app, most)::text;
commit;
END
}

same() {
	local n
	n=$(differ)
	[ "$n" = 0 ] || { echo "$n answers differ" >&2; return 1; }
}

is_rolled() { # SLOTS: so many at least, and none is left to do
	[ "$(sql -c "select (select count(distinct ts) from red_10m) >= $1 and not exists (select from red_late)")" = t ]
}

late() {
	[ "$(sql -c 'select count(*) > 0 from red_late')" = t ]
}

pg_make
start one "$port" "$web"
await 100 counted "$web" seismo_database_up 1
await 3 probe "$port" "node z 1" hello "want welcome 0 0" # a HELLO is lost before the keys were read
sql -f tests/it/red_roll.sql
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
update red_closed set since = date_bin('10 minutes', now() - interval '170 minutes', timestamptz 'epoch'), until = date_bin('10 minutes', now() - interval '170 minutes', timestamptz 'epoch');
END
ok "there is something to tell" is t "select json_array_length(api.topology(now() - interval '1 hour', now(), null, null, null, 1000) -> 'edges') > 20"
ok "without slots it is told from each row" is 0 "select count(*) from red_10m"
ok "and as before" same
sql -c "notify seismo_seal"
ok "what is over is rolled up" await 300 is_rolled 14
ok "but not what goes on" is t "select max(ts) < now() - interval '10 minutes' from red_10m"
ok "of calls and of what was served, nothing else" is 0 "select count(*) from red_10m join red_key using (node_id, key_id) where role > 1"
ok "it is told the same" same
ok "from the slots: without them it is another" is t "begin; delete from red_10m; select api.topology(now() - interval '2 hours', now(), null, null, null, 9)::text <> api.topology_by_rows(now() - interval '2 hours', now(), null, null, null, 9)::text; rollback"

# What comes late: as the writer stores it, for a slot that is closed already.
sql -c "insert into red_late select s from red_closed, generate_series(until, until + interval '50 minutes', interval '10 minutes') s" \
	-c "update red_closed set until = until + interval '1 hour'" -c "notify seismo_seal"
ok "what goes on may be closed, too" await 300 is_rolled 15
ok "a batch of a closed slot" probe "$port" "node z 1" hello "want welcome 0 0" "send 1 1 1 red" "want ack 1 1"
ok "says so with its rows" late
ok "and is told at once" same
sql -c "insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b) select now() - interval '90 minutes', 2, 2111, 2, 5000, 5000, 3, array[5000]" \
	-c "select take_red(array[now() - interval '90 minutes'])" >/dev/null
ok "so is one of another hour" same
rolls=$(counter "$web" seismo_red_rolls_total)
sql -c "notify seismo_seal"
ok "they are rolled up anew" await 300 counted "$web" seismo_red_rolls_total "$((rolls + 2))"
ok "and none is left" await 300 is_rolled 15
ok "with all of it" is t "select max(n) between 5000 and 6000 from red_10m where key_id = 2111"
ok "it is told the same again" same
ok "each row is counted once" is 0 "select count(*) from (select from red_10m group by ts, node_id, key_id, status_class having count(*) > 1) d"

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
ok "which is told the same" same
done_checking
