#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# space.sh - a database on a file system of 300 MB that abnormal requests fill: data is dropped in the order of its value, never
# that of the newest hour, each drop is counted, and at the limit batches wait. PostgreSQL never runs out of space.
set -u
cd "$(dirname "$0")/../../.." || exit 1
# In a mount namespace, so that the file system is gone with the test.
[ "${1:-}" = here ] || exec unshare -m "tests/it/collector/$(basename "$0")" here
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')
mkdir "$dir/d"
mount -t tmpfs -o size=300m none "$dir/d"
pg_flags=(-c max_wal_size=48MB -c min_wal_size=48MB -c log_lock_waits=off)

# Rows of the day before yesterday and of the day before that, as they would be there after some days.
fill() {
	sql >/dev/null <<-'END'
	set role seismo;
	insert into region values (101, 'one');
	insert into node (node_id, region_id, name) values (1, 101, 'old');
	create temp table hours as select date_bin('1 day', now(), timestamptz 'epoch') - i * interval '1 hour' as hour from generate_series(30, 70, 8) i;
	select ensure_partition(t, 'day', hour) from hours, unnest('{profile,red,request,evidence,sealed}'::text[]) t;
	insert into profile select hour + i * interval '1 s', 1, 'app-' || i % 7, 1, array[1, 2, 3], array[i], array[1] from hours, generate_series(1, 8000) i;
	insert into sealed select hour, 1, i, 0, array[1], convert_to(repeat(md5(i::text), 100), 'UTF8'), 2 from hours, generate_series(1, 500) i;
	insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b) select hour + i % 3600 * interval '1 s', 1, i % 50, 2, 1, 1, 3, array[1, 2, 3] from hours, generate_series(1, 8000) i;
	insert into request (ts, node_id, request_id, stored, app, comm, pid, tid, local_port, remote_port, method, path, route, flags, status, request_us, queue_us, bytes_in, bytes_out, normal_us, limit_us, retrans, srtt_us, rcv_ooo, reason_id, params, upstreams)
		select hour + i % 3600 * interval '1 s', 1, i * 7919, now(), case when i % 5 = 0 then 'rare' else 'shop' end, '', 0, 0, 0, 0, 'GET', '/' || md5(i::text), case when i % 5 = 0 then '/rare/' || i % 300 else '/common' end, 0, 500, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1, '{}', '[]' from hours, generate_series(1, 5000) i;
	insert into evidence (ts, node_id, owner_id, place, start_us, us, part_id, pid, tid, comm, call, what, who)
		select ts, node_id, request_id, 0, 0, 0, 1, 0, 0, '', '', '', '' from request;
	create table before as select 'profile' as fact, count(*) as n from profile union all select 'sealed', count(*) from sealed union all select 'red', count(*) from red
		union all select 'request', count(*) from request union all select 'evidence', count(*) from evidence;
	END
}

trap 'umount -l "$dir/d"; clear_away' EXIT
pg_make
start one "$port" "$web" --node-rows-per-s 1000000 # so that a fast machine withholds none
await 100 counted "$web" seismo_database_up 1
let_in
await 100 counted "$web" seismo_disk_limit_bytes 1
ok "the limit is four fifths of the file system" [ "$(counter "$web" seismo_disk_limit_bytes)" = $((300 * 1024 * 1024 / 100 * 80)) ]
fill
# Others use the disk, too. When this file is gone there is room again.
sql -d postgres -c checkpoint
fallocate -l 80M "$dir/d/others"
"$fake" "tcp://127.0.0.1:$port" deliver live 1 1000000 1000 8 slow@500/60/0 >/dev/null &

is_full() {
	[ "$(counter "$web" seismo_disk_refusing)" = 1 ] &&
		is 0 "select count(*) from disk_leaves('{profile,sealed,red,request,evidence}') where until < now() - interval '2 hours'"
}

counted_as_noted() { # STEP NAME
	[ "$(counter "$web" "seismo_disk_dropped_rows_total{step=\"$2\"}")" = "$(sql -c "select sum(rows) from disk_drop where step = $1")" ]
}

ok "near the limit data is dropped" await 600 is t "select count(*) > 0 from disk_drop"
ok "the size of each table is known" await 300 counted "$web" 'seismo_table_bytes{table="request"}' 10000000
ok "at the limit, with nothing left to drop, batches are refused" await 600 is_full
# So that it stays full when a checkpoint makes the WAL shorter.
sql -d postgres -c checkpoint
fallocate -l "$(($(df --output=avail -B 1 "$dir/d" | tail -n 1) - (24 << 20)))" "$dir/d/more"
ok "and the console has it" await 300 is "full|t" "select state, avail > 0 from disk_now"
# Data of a lower step may come, or fit, after a higher one was taken: then the lower one is taken again.
ok "each step was taken, for the first time in the order of the value" is "1 2 3 4 5" \
	"select string_agg(step::text, ' ' order by first) from (select step, min(at) as first from disk_drop group by 1) d"
ok "the oldest first" is t "select bool_and(since >= before) from (select since, lag(since, 1, since) over (partition by step, fact order by at) as before from disk_drop) d"
ok "the commonest group is the one of four fifths" is "shop /common|80" "select min(what), (100 * sum(rows) / (select n from before where fact = 'request'))::int from disk_drop where fact = 'request' and step = 4 group by step having count(distinct what) = 1"
ok "every row that is gone is counted" is 0 "select count(*) from before b where b.n <> (select sum(d.rows) from disk_drop d where d.fact = b.fact and d.exact)"
for step in "1 profiles" "2 samples" "3 counts" "4 commonest" "5 hours"; do
	ok "also as a metric: ${step#* }" counted_as_noted $step
done
ok "each drop is in the log" [ "$(grep -c "near its limit: dropped" "$dir/one.log")" = "$(sql -c 'select count(*) from disk_drop')" ]
ok "and that batches wait" grep -q "at its limit: .* batches wait on their nodes" "$dir/one.log"
ok "the newest hour is complete" is t "select count(*) > 0 and count(*) = 500 * (select max(seq) from ingest_mark join node using (node_id) where name = 'live') from request join node using (node_id) where name = 'live'"
ok "PostgreSQL has space ($(grep -m 2 "PANIC\|No space left" "$dir/pg.log"))" [ "$(grep -c "PANIC\|No space left" "$dir/pg.log")" = 0 ]
was=$(sql -c "select max(seq) from ingest_mark")
sleep 2 # time: a probe needs as long to send anew; nothing may come in
ok "nothing more is stored" is "$was" "select max(seq) from ingest_mark"
rm "$dir/d/others" "$dir/d/more"
ok "with room again the nodes send on" await 600 is t "select max(seq) > $was from ingest_mark"
ok "and nothing is missing" is t "select count(*) = 500 * (select max(seq) from ingest_mark join node using (node_id) where name = 'live') from request join node using (node_id) where name = 'live'"

# The oldest hours of the newest partition, by a time of this test's choice.
kill $!
halt one TERM
sql >/dev/null <<-'END'
set role seismo;
truncate request, evidence, event, unread, red_10m, red_1m, sample_1m;
select ensure_partition('event', 'day', now() - interval '1 day');
insert into event (ts, node_id, event_id, stored, kind, severity, pid, tid, comm, us, error_us, reason_id, params)
	select date_bin('1 day', now(), timestamptz 'epoch') - interval '1 day' + h * interval '1 hour' + i * interval '1 s', 1, h * 100 + i, now(), 'x', 1, 0, 0, '', 0, 0, 1, '{}' from generate_series(0, 9) h, generate_series(1, 100) i;
END
at() { # HOUR of yesterday
	echo "date_bin('1 day', now(), timestamptz 'epoch') - interval '1 day' + interval '$1 hours'"
}
ok "of a partition with the newest hour whole hours go, a quarter of the rows" is 300 "select rows from disk_drop_hours($(at 8), 1000000000)"
ok "the oldest" is t "select min(ts) >= $(at 3) and count(*) = 700 from event"
ok "without room to copy the others nothing goes" is 0 "select count(*) from disk_drop_hours($(at 8), 0)"
ok "never the newest hour" is 500 "select sum(d.rows) from generate_series(1, 9), lateral disk_drop_hours($(at 8) + 0 * generate_series * interval '1 s', 1000000000) d"
ok "the newest hours are those of the newest row" is t "select disk_newest() between now() - interval '2 hours' and now() - interval '1 hour'"
done_checking
