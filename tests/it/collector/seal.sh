#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# seal.sh - hours that are over: packed and rolled up without a value changed, whoever is killed, late, or reading meanwhile.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
read -r port web port2 web2 < <(free_ports 4 | tr '\n' ' ')

# A database of before schema_file, with samples in it, a row for each entity; with the tables of later migrations, which the API's
# views of now read.
older() {
	local file number
	{
		echo "begin; create table migration (number int primary key, name text not null, applied timestamptz not null default now());"
		echo "insert into migration (number, name) values (49, '049_red_time.sql');"
		cat schema/sql/049_baseline/*.sql schema/sql/*.sql schema/sql/api/*.sql schema/sql/functions/*.sql
		for file in schema/sql/*.sql; do
			number=${file##*/}
			echo "insert into migration (number, name) values ($((10#${number%%_*})), '${file##*/}');"
		done
		cat <<-'END'
		select ensure_partitions(2, 1);
		insert into region values (1, 'home');
		insert into node (node_id, region_id, name) values (1, 1, 'one'), (2, 1, 'two'), (3, 1, 'old');
		insert into layout values (7, 'disk', '{zero,count,share,big,odd,gap,steady}', '{a,b,c,d,e,f,g}', '{1,1,0,0,0,0,1}'), (8, 'coverage', '{rows}', '{r}', '{1}');
		insert into entity select n, e, case e when 9 then 'coverage' else 'disk' end, case e when 9 then '' else 'd' || e end from generate_series(1, 3) n, unnest(array[1, 2, 9]) e;
		create table base as select date_bin('1 hour', now(), timestamptz 'epoch') - interval '3 hours' as t;
		create function made(i int, e int) returns float8[] language sql as $$ select array[0, i * 7919 % 1000 * (i % 3), (i * 31 % 200 / 100.0)::float4, 4e9 + i * 4096,
			(array['Infinity', '-Infinity', -1.5, 0.1, 1e300, 1e-300, 5e-324, 3.4e38, 1e-40, 9007199254740993, -0.0])[1 + i % 11]::float8,
			case when i % 5 < e then float8 'NaN' else i end, 12.5] $$;
		insert into sample select t - d * interval '20 hours' + i * interval '20 s', 3, 1, 7, made(i, 1) from base, generate_series(0, 179) i, generate_series(0, 1) d;
		commit;
		END
	} | sql -U seismo >/dev/null
}

# Two hours of two nodes that are due, as they come, beside those of before, which are due, too.
samples() {
	sql -c "
	select ensure_partition('sample_raw', 'hour', t) from base;
	select ensure_sealed(t), ensure_sealed(t - interval '20 hours') from base;
	insert into sample_raw select t + i * interval '20 s' + (i * 977 % 5000) * interval '1 us', n, 7, array[1, 2],
		array(select case when v = 0 then null when abs(v) < 1e38 and abs(v) > 1e-37 and v = v::float4 or v::text in ('NaN', 'Infinity', '-Infinity') then v::float4 end
			from unnest(made(i, 1) || made(i + 1, 2)) with ordinality u(v, o) order by o),
		array(select case when v <> 0 and not (abs(v) < 1e38 and abs(v) > 1e-37 and v = v::float4 or v::text in ('NaN', 'Infinity', '-Infinity')) then v end
			from unnest(made(i, 1) || made(i + 1, 2)) with ordinality u(v, o) order by o)
		from base, generate_series(0, 359) i, generate_series(1, 2) n;
	insert into sample_raw select t + i * interval '20 s', n, 8, array[9], array[i], null from base, generate_series(0, 359) i, generate_series(1, 2) n;
	create view everything as select * from sample_unsealed union all select * from sample_sealed;
	create table before as select * from everything" >/dev/null
	sql -f tests/it/collector/raw.sql
}

# Each second tick, as a collector of now stores it; the others are of one of before, at the same time.
as_bytes() {
	sql -c "update sample_raw r set a = null, b = null, v = raw_bytes(array(select coalesce(a[i], b[i], 0) from generate_series(1, cardinality(entities) * cardinality(names)) i))
		from layout l where l.layout_id = r.layout_id and extract(epoch from ts)::bigint / 20 % 2 = 0"
}

# What a collector of before does: it takes what a and b have.
packs_as_before() { # TABLE
	sql -c "begin; delete from sample_raw; insert into $1 (hour, node_id, layout_id, part, entities, chunk) select t, 1, 7, 0, '{1}', '' from base; commit"
}

same() { # TABLE: it holds what is stored, and nothing else is
	is "0|0|t" "select (select count(*) from (select * from everything except all select * from $1) x), (select count(*) from (select * from $1 except all select * from everything) y),
		(select count(*) from $1) > 1000"
}

answers() { # FILE: of the API, by the tick and by the minute
	local from to q
	read -r from to < <(sql -F ' ' -c "select to_char(t at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), to_char((t + interval '100 minutes') at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') from base")
	{
		for q in "[node=one&entity=d1&step=5" ",node=old&step=2" ",node=two&step=60" ",node=one&step=600"; do
			echo "${q:0:1}"
			curl -s "http://127.0.0.1:$web/api/v1/series?metric=*&from=$from&to=$to&${q:1}"
		done
		echo "]"
	} >"$1"
	grep -q '"points"' "$1"
}

# Equal numbers, but for the last digits of a sum that was added up in another order.
alike() { # FILE FILE
	python3 - "$@" <<-'END'
	import json, math, sys
	def walk(a, b):
	    if type(a) in (int, float) and type(b) in (int, float):
	        return math.isclose(a, b, rel_tol=1e-6)
	    if isinstance(a, dict):
	        return a.keys() == b.keys() and all(walk(a[k], b[k]) for k in a)
	    if isinstance(a, list):
	        return len(a) == len(b) and all(map(walk, a, b))
	    return a == b
	a, b = (json.load(open(f)) for f in sys.argv[1:])
	sys.exit(0 if walk(a, b) else 1)
	END
}

rolled() { # VIEW SPAN: as SQL adds it up
	is "t|0" "with want as (select date_bin('$2', ts, timestamptz 'epoch') as ts, node, entity, metric, count(value) as n, min(value) as min, max(value) as max, sum(value) as sum
		from api.series group by 1, 2, 3, 4 having count(value) > 0)
		select count(*) > 50, count(*) filter (where w.n is distinct from r.n or w.min is distinct from r.min or w.max is distinct from r.max
			or r.sum is null or abs(w.sum - r.sum) > 1e-6 * greatest(abs(w.sum), abs(w.min), abs(w.max)))
		from want w full join api.$1 r using (ts, node, entity, metric)"
}

packs() { # by the thread of whichever collector leads
	sql -c "notify seismo_seal" -c "do \$\$ begin
		for i in 1 .. 300 loop
			if not exists (select from sample_raw, base where ts < t + interval '2 hours') and not exists (select from sample) then return; end if;
			perform pg_sleep(0.1);
		end loop;
		raise 'it is not packed';
	end \$\$"
}

pg_make
older
coproc holder { sql; }
echo "select pg_advisory_lock(126879331840368);" >&"${holder[1]}" # of who packs
await 300 is 1 "select count(*) from pg_locks where locktype = 'advisory' and granted" || echo "nobody holds it"
start one "$port" "$web"
ok "a database of an older version is brought up to date" await 300 grep -q "is ready" "$dir/one.log"
ok "and has its samples" is "360|324" "select count(*), count(value) from api.series where node = 'old' and metric in ('count', 'gap') and ts < (select t from base)"
halt one KILL
samples
as_bytes
ok "each value as bytes is what it was" same before
ok "there are some of both" is "t|t" "select count(v) > 100, count(a) > 100 from sample_raw"
for table in sealed sample_1m sample_10m sample_1h; do
	ok "a collector that does not know bytes cannot pack to $table" eval "! packs_as_before $table 2>'$dir/said' && grep -q packed_by_a_collector_since_029 '$dir/said'"
done
ok "and has taken nothing" same before
echo "select pg_advisory_unlock(126879331840368);" >&"${holder[1]}"

# Killed in the middle: it has taken the rows, and waits to put them.
echo "begin; lock table sealed in share mode; select pg_advisory_xact_lock(1);" >&"${holder[1]}"
await 300 is 1 "select count(*) from pg_locks where locktype = 'advisory' and objid = 1 and granted" || echo "nobody holds it"
start one "$port" "$web"
ok "the API has all that is not packed" answers "$dir/unpacked"
waits="select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like 'copy sealed%'"
ok "it packs, and waits in the middle" await 300 is 1 "$waits"
ok "meanwhile everything is read as before" same before
halt one KILL
echo "rollback;" >&"${holder[1]}"
ok "its transaction ends" await 300 is 0 "select count(*) from pg_stat_activity where query like 'copy sealed%' and pid <> pg_backend_pid()"
ok "killed in the middle, it leaves all as it was" same before
ok "and nothing is packed" is 0 "select count(*) from sealed"

# Who began to read before has it all, however long he reads.
echo "begin isolation level repeatable read; select 1; select pg_advisory_xact_lock(2);" >&"${holder[1]}"
await 300 is 1 "select count(*) from pg_locks where locktype = 'advisory' and objid = 2 and granted" || echo "nobody reads"
start one "$port" "$web"
ok "what is due is packed" packs
ok "every value is what it was" same before
ok "each node, layout and hour is one chunk" is "10|10" "select count(*), count(distinct (node_id, layout_id, hour)) from sealed"
ok "the API answers the same" eval 'answers "$dir/packed" && alike "$dir/unpacked" "$dir/packed"'
ok "minutes are as SQL adds them up" rolled series_1m "1 minute"
ok "so are ten minutes" rolled series_10m "10 minutes"
ok "and hours" rolled series_1h "1 hour"
sql -c "vacuum sample_raw" -c "vacuum sample"
echo "create temp table seen as select count(*) as n from everything; commit; insert into before select now(), 0, 0, n, null from seen; select pg_advisory_lock(3);" >&"${holder[1]}"
await 300 is 1 "select count(*) from pg_locks where locktype = 'advisory' and objid = 3 and granted" || echo "nobody read"
ok "who began to read before it was packed counts the same" is 1 "select count(*) from before where node_id = 0 and layout_id = (select count(*) from before where node_id > 0)"
sql -c "delete from before where node_id = 0" -c "vacuum sample_raw" -c "vacuum sample"
ok "then the room is given back" is 0 "select sum(pg_relation_size(inhrelid)) from pg_inherits where inhparent in ('sample_raw'::regclass, 'sample'::regclass)"
sql -c "select ensure_partition('sample_raw', 'hour', now() - interval '20 hours')" >/dev/null
ok "an hour that has nothing and is over is dropped" is "1|0" "select drop_empty_hours(), drop_empty_hours()"
hour=sample_raw_$(date -u -d "21 hours ago" +%Y%m%d%H)
sql -c "set role seismo; create table $hour (like sample_raw including all) partition by hash (node_id); create table spread partition of $hour for values with (modulus 1, remainder 0)
	" -c "set role seismo" -c "alter table sample_raw attach partition $hour for values from (date_trunc('hour', now()) - interval '21 hours') to (date_trunc('hour', now()) - interval '20 hours')" \
	-c "insert into spread (ts, node_id, layout_id, entities) values (date_trunc('hour', now()) - interval '21 hours', 1, 7, '{}')"
ok "an hour that is spread over other tables has no size, and rows" is "0|1" "select pg_relation_size('$hour'), count(*) from $hour"
ok "it is not dropped" is "0|1" "select drop_empty_hours(), (select count(*) from $hour)"
sql -c "delete from spread"
ok "until it is empty" is "1|0" "select drop_empty_hours(), drop_empty_hours()"
eval "exec ${holder[1]}>&-"

# Late, and twice in a tick.
sql -c "insert into sample select t + i * interval '7 s' + interval '3 us', 1, 1, 7, made(i, 1) from base, generate_series(1, 20) i, generate_series(1, 2) twice" \
	-c "insert into sample select t + interval '5 min', 2, 77, 7, array[float8 'NaN'] from base" -c "insert into entity values (2, 77, 'disk', 'late')" \
	-c "create table late as select * from everything"
ok "what comes late is read at once" is 41 "select (select count(*) from late) - (select count(*) from before)"
ok "and packed with the rest" packs
sql -c "update late set v = array_fill(float8 'NaN', array[7]) where entity_id = 77"
ok "nothing is lost or doubled" same late
ok "there is one chunk as before" is "10|10" "select count(*), count(distinct (node_id, layout_id, hour)) from sealed"
ok "and its minutes are added up anew" rolled series_1m "1 minute"

# A database that refuses.
sql -c "insert into sample select t + interval '1 s', 1, 1, 7, made(1, 1) from base" -c "drop table late" -c "create table late as select * from everything" \
	-c "alter table sample_1h add constraint full_disk check (part < 0) not valid" -c "notify seismo_seal"
ok "a failed compaction is logged" await 300 grep -q "cannot compact finished hours: .*full_disk" "$dir/one.log"
ok "and stays" same late
sql -c "alter table sample_1h drop constraint full_disk"
ok "until it can" packs
ok "with nothing lost" same late
ok "the error was logged once" test "$(grep -c "cannot compact" "$dir/one.log")" = 1

# A chunk that is damaged is not packed anew with others, which would make it look whole.
sql -c "update sealed set chunk = set_byte(chunk, length(chunk) - 3, get_byte(chunk, length(chunk) - 3) # 1) where (node_id, layout_id, hour) = (select 2, 7, t from base)" \
	-c "insert into sample select t + interval '2 s', 2, 1, 7, made(1, 1) from base"
ok "late rows beside a damaged chunk are packed" packs
ok "into one of their own" is 2 "select count(*) from sealed, base where (node_id, layout_id, hour) = (2, 7, t)"
sql -c "delete from sealed using base where (node_id, layout_id, hour, part) = (2, 7, t, 0)"

# A row that is not what it should be: its layout has one metric.
sql -c "select ensure_partition('sample_raw', 'hour', t) from base" -c "insert into sample_raw select t + interval '4 s', 2, 8, array[9], array[1, 2, 3], null from base" \
	-c "insert into sample select t + interval '4 s', n, 1, 7, made(1, 1) from base, unnest(array[1, 3]) n" -c "notify seismo_seal" >/dev/null
ok "a row that cannot be read holds up no node but its own" await 300 is "0|1" "select (select count(*) from sample), (select count(*) from sample_raw, base where ts < t + interval '2 hours')"
ok "which is said" await 300 grep -q "a row is malformed" "$dir/one.log"
sql -c "delete from sample_raw using base where ts = t + interval '4 s'"

# Two collectors: one packs, and the other one when that is gone.
start two "$port2" "$web2"
ok "of two collectors one packs" await 300 is 1 "select count(*) from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and granted and (classid::bigint << 32 | objid::bigint) = 126879331840368"
sql -c "drop table late" -c "insert into sample select t + interval '3 s', 1, 1, 7, made(1, 1) from base" -c "create table late as select * from everything"
halt one KILL
ok "the other one goes on" packs
ok "with nothing lost or doubled by the two" same late
halt two TERM

# Retention, each class for itself.
sql -c "select ensure_sealed(now() - interval '70 days')" >/dev/null
start one "$port" "$web" --keep-samples-days 60 --keep-1m-days 80 --keep-10m-days 20
old="select string_agg(p.relname, ' ' order by p.relname) from pg_inherits i join pg_class c on c.oid = inhrelid join pg_class p on p.oid = inhparent
	where p.relname in ('sealed', 'sample_1m', 'sample_10m', 'sample_1h') and substring(c.relname from '[0-9]+\$') like to_char(now() - interval '70 days', 'YYYYMM') || '%'"
ok "each class is kept for its days" await 300 is "sample_1h sample_1m" "$old"
done_checking
