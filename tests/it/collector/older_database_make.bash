#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# older_database_make.bash COLLECTOR FILE - makes the database that older_database.sh opens: COLLECTOR is a collector of an older
# release, which creates and fills it. Made with the collector of commit 3182ec7 (schema version 49). B is a build of this tree.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
collector=$1
read -r port web < <(free_ports 2 | tr '\n' ' ')

pg_make
start one "$port" "$web" --incidents-quiet-s 120 --incidents-join-s 60 --incidents-window-s 60
await 300 counted "$web" seismo_database_up 1

# By the wire: requests with all their evidence, an event, samples, places, translations, a clock, a source, counts.
probe "$port" "node web-1 7" hello "want welcome 0 0" "send 2 1 1 sample" "want dict" dict "send 2 1 1 sample" "want ack 2 1" "send 1 1 1 whole" "want ack 1 1" \
	"send 1 2 1 request" "want ack 1 2" "send 2 2 1 red" "want ack 2 2" "send 2 3 1 served" "want ack 2 3" "send 1 3 1 source" "want ack 1 3" \
	"send 1 4 1 all@1/10.0.9.1/0//0,2/10.0.9.1/80/shop/0," "want ack 1 4" "send 1 5 1 nat@1/10.96.0.1/80/10.0.9.1/80," "want ack 1 5" \
	"send 1 6 1 clock@-5000000/500" "want ack 1 6" "send 1 8 8 request" "want ack 1 8" "send 2 4 1 sample" "want ack 2 4"
seismo node tag web-1 rack=r7 az=a >/dev/null

# An incident, as in tests/it/incident/incidents.sh.
sql -f tests/it/incident/incidents.sql >/dev/null
sql <<'END' >/dev/null
select add_node(name, addr::inet) from (values ('front', '10.0.0.1'), ('app', '10.0.0.2'), ('db', '10.0.0.3')) v(name, addr);
create table began as select now() - interval '30 minutes' as t;
select traffic(t - interval '30 minutes', t, 0) from began;
select abnormal('front', 36, 'up.slow', 60, 10, t - interval '30 minutes', t) from began;
select happened('db', 'io.slow', t + interval '5 s') from began;
select abnormal(name, 80, 'up.slow', 450, 10, t, t + interval '30 s') from began, unnest(array['front', 'app']) name;
select abnormal('db', 80, 'io.block', 430, 10, t, t + interval '30 s') from began;
select traffic(t, t + interval '40 s', 400) from began;
END
await 100 is t "select count(*) > 0 from incident where first_host is not null and whole_us > 0" || echo "there is no incident"
curl -s -d '{"text": "known"}' "http://127.0.0.1:$web/api/v1/incidents/$(sql -c "select id from api.incident")/comment" >/dev/null || true

# Hours of samples that are over, which the collector packs; and rows of tables that no fake probe fills.
sql <<'END' >/dev/null
insert into layout values (7, 'disk', '{reads,busy,odd}', '{reads,s,x}', '{1,1,0}');
insert into entity (node_id, entity_id, kind, name) select node_id, e, 'disk', 'd' || e from node, unnest(array[1, 2]) e where name = 'web-1';
create table base as select date_bin('1 hour', now(), timestamptz 'epoch') - interval '5 hours' as t, node_id from node where name = 'web-1';
select ensure_sealed(t + h * interval '1 hour') from base, generate_series(0, 1) h;
insert into sample select t + i * interval '30 s', node_id, e, 7, array[(i * 7919 % 1000)::float8, i / 8.0, case i % 7 when 0 then float8 'NaN' else i * e end]
	from base, generate_series(0, 239) i, unnest(array[1, 2]) e;
insert into profile select date_trunc('minute', now()), node_id, 'shop', 10000, '{0}', array[(select min(stack_id) from stack)], '{42}' from base;
insert into quarantine (node_id, epoch, stream, seq, sqlstate, message, body) select node_id, 7, 1, 99, '22003', 'out of range', '\x00' from base;
insert into unread select now(), node_id, 'shop', 'tls', 3 from base;
notify seismo_seal;
END
await 100 is t "select count(*) >= 2 from sealed" || echo "nothing is sealed"
halt one TERM || true

sql <<'END' >/dev/null
do $$
declare
	f regprocedure;
begin
	for f in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace
		and proname in ('node_of', 'add_node', 'count_red', 'abnormal', 'traffic', 'happened') loop
		execute 'drop function ' || f;
	end loop;
end $$;
drop table base, began;
END
for t in request event evidence stack checks sample_raw sealed sample_1m red red_key red_10m incident incident_signal incident_step incident_graph \
	incident_event node_key tag place nat clock gap source; do
	echo "$t $(sql -c "select count(*) from $t")"
done
"$pgbin/pg_dump" -h "$dir/s" -U postgres -d seismo | grep -vE '^(--|$|\\(un)?restrict )' | gzip -9n >"$2"
ls -l "$2"
