#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# relay_rollups.sh - samples by the minute, by regions in a row, eu to emea to the global one: what is packed there is here, row
# for row and once, and drawn from it, whoever was killed, came late, or keeps it for another time.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
. tests/it/relay/relay_rig.sh

read -r port web eu_port eu_web emea_port emea_web way < <(free_ports 7 | tr '\n' ' ')

starts_eu() { # to emea, by a way that can be cut
	RELAY_PUB=$dir/keys.emea/collector.pub relays eu "$eu_port" "$eu_web" "tcp://127.0.0.1:$way" "$@"
}

starts_emea() {
	relays emea "$emea_port" "$emea_web" "tcp://127.0.0.1:$port" "$@"
}

sampled() { # HOURS_AGO FROM UNTIL: stores a sample each 10 s, in the hour that began so long ago
	of eu "select ensure_partition('sample_raw', 'hour', t - $1 * interval '1 hour') from base" >/dev/null
	of eu "insert into sample_raw (ts, node_id, layout_id, entities, a) select t - $1 * interval '1 hour' + i * interval '10 s', e.node_id, l.layout_id, array[e.entity_id], array[i * 31 % 200 / 100.0, i % 7]::float4[]
		from base, entity e join layout l on l.entity_kind = e.kind, generate_series($2, $3) i where e.kind = 'fake'"
}

packs() {
	of eu "notify seismo_seal"
}

hours() { # REGION: what is packed by the minute
	of "$1" "select extract(epoch from hour)::bigint, node_id, layout_id, entities, md5(chunk) from sample_1m where part < 16777216 order by 1, 2, 3, 4"
}

same() { # HOURS: there are so many, and they are the same in all three
	[ "$(hours eu | wc -l)" = "$1" ] && [ "$(hours eu)" = "$(hours emea)" ] && [ "$(hours eu)" = "$(hours seismo)" ]
}

counted_in() { # EXPECTED REGION HOURS_AGO: samples of that hour
	[ "$(of "$2" "select coalesce(sum(n), 0) from api.series_1m where metric = 'speed' and hour = '$t'::timestamptz - $3 * interval '1 hour'")" = "$1" ]
}

columns() { # WEB STEP: of the hour that began 3 h before this one
	curl -s "http://127.0.0.1:$1/api/v1/series/columns?node=web-1&metric=speed,falls_total&from=$from&to=$to&step=$2"
}

alike() { # the same numbers, in the same steps, and as many as there are minutes
	python3 - <(columns "$eu_web" 60) <(columns "$web" "$1") <<-'END'
	import json, sys
	a, b = (json.load(open(f)) for f in sys.argv[1:])
	sys.exit(not (a == b and a['step'] == 60 and len(a['series']) == 2 and all(v is not None for s in a['series'] for v in s['values']) and len(a['series'][0]['values']) == 60))
	END
}

pg_make
regions_make eu emea
wire_up "$way" "$emea_port"
start one "$port" "$web" --region global
await 300 grep -q "is ready" "$dir/one.log"
seismo node token --for 1d --node relay-emea >"$dir/lets-emea"
starts_emea --relay-token "$dir/lets-emea"
at_region emea node token --for 1d --node relay-eu >"$dir/lets-eu"
starts_eu --relay-token "$dir/lets-eu"
token_of eu
as_node eu "$eu_port" "node web-1 7" hello "want welcome 0 0" "send 2 1 1 sample" "want dict" dict "send 2 1 1 sample" "want ack 2 1"
await 100 eval '[ "$(of eu "select count(*) from entity where kind = \$\$fake\$\$")" = 1 ]'
of eu "create table base as select date_bin('1 hour', now(), timestamptz 'epoch') - interval '3 hours' as t"
t=$(of eu "select t from base")
read -r from to < <(of eu "select api.rfc3339(t) || ' ' || api.rfc3339(t + interval '1 hour') from base")

sampled 0 0 359
packs
ok "an hour that is over is the same in all three" await 400 same 1
ok "each sample once" counted_in 360 seismo 0
ok "of the region that it is of" is "eu" "select g.name from node n join region g using (region_id) where n.name = 'web-1'"
ok "the global console draws the same of it" alike 60
ok "and also if it was asked for less than minutes" alike 10
ok "no sample was relayed" is "0|0" "select (select count(*) from sample_unsealed join entity using (node_id, entity_id) where kind = 'fake'), (select count(*) from sealed)"

# Rollups that were sent before their hour was over are replaced by those of the whole hour, which is sent again with late samples.
for r in emea seismo; do
	of $r "insert into sample_1m (hour, node_id, layout_id, part, entities, chunk, made_by) select hour, node_id, layout_id, 16777216 + 5 * 65536, entities, chunk, 2 from sample_1m"
done
ok "an hour that is not over is added up with the rest" counted_in 720 seismo 0
of eu "insert into sample (ts, node_id, entity_id, layout_id, v) select t + interval '33 s', e.node_id, e.entity_id, l.layout_id, array[9, 1] from base, entity e join layout l on l.entity_kind = e.kind where e.kind = 'fake'"
packs
ok "a late sample is sent with its hour" await 400 counted_in 361 seismo 0
ok "which is the same in all three" await 100 same 1
ok "nothing else is left of it" is 1 "select count(*) from sample_1m where hour = '$t'"

# Cut off, and killed before and after it packs.
sever
sampled 1 0 359
packs
ok "a region that is cut off packs, and keeps the hour in its outbox" await 300 eval '[ "$(hours eu | wc -l)" = 2 ] && [ "$(of eu "select count(*) from outbox where stream = 2")" -ge 1 ]'
halt eu KILL
halt emea KILL
starts_emea
starts_eu
sampled 2 0 359
packs
wire_up "$way" "$emea_port"
halt one KILL
start one "$port" "$web" --region global
ok "it catches up, row for row" await 600 same 3
ok "each sample once, still" eval 'counted_in 361 seismo 0 && counted_in 360 seismo 1 && counted_in 360 seismo 2'
ok "nothing was put aside" is "0" "select count(*) from quarantine"

# Before an hour is over.
now=$(date +%s)
slot=$((now / 300 * 300 - 300))
of eu "insert into sample_raw (ts, node_id, layout_id, entities, a) select to_timestamp($slot + i * 10), e.node_id, l.layout_id, array[e.entity_id], array[i, 2]::float4[]
	from entity e join layout l on l.entity_kind = e.kind, generate_series(0, 29) i where e.kind = 'fake'"
of eu "select set_relay_rolled($slot, 0)" >/dev/null
early() { # of how many samples, and their sum
	of "$1" "select sum(n), sum(sum) from api.series_1m where metric = 'speed' and ts >= to_timestamp($slot) and ts < to_timestamp($slot + 300)"
}
unpacked=$(of eu "select count(value), sum(value) from api.series where metric = 'speed' and ts >= to_timestamp($slot) and ts < to_timestamp($slot + 300)")
await 300 eval '[ $(date +%s) -ge $((slot + 320)) ]'
packs
ok "five minutes of an hour that is not over are sent" await 400 eval '[ "$(early seismo)" = "$unpacked" ]'
ok "there are some" test "${unpacked%%|*}" -ge 30
packs
sleep 1 # time: it would come twice
ok "once" eval '[ "$(early seismo)" = "$unpacked" ] && [ "$(early emea)" = "$unpacked" ]'

# Each collector keeps rollups for as long as it is configured to, and relays those that it does not keep.
sampled 120 0 359
packs
ok "an hour of five days ago is in all three" await 400 same 4
halt emea TERM
starts_emea --keep-1m-days 3
ok "who keeps minutes for three days drops it" await 300 eval '[ "$(hours emea | wc -l)" = 3 ]'
ok "the others have it" eval '[ "$(hours eu | wc -l)" = 4 ] && [ "$(hours seismo)" = "$(hours eu)" ]'
of eu "select ensure_partition('sample', 'day', t - interval '120 hours') from base" >/dev/null
of eu "insert into sample (ts, node_id, entity_id, layout_id, v) select t - interval '120 hours' + interval '33 s', e.node_id, e.entity_id, l.layout_id, array[9, 1] from base, entity e join layout l on l.entity_kind = e.kind where e.kind = 'fake'"
packs
ok "and have what comes late for it" await 400 eval 'counted_in 361 seismo 120 && [ "$(hours seismo)" = "$(hours eu)" ]'

# Rows that waited in the outbox for longer than the region keeps anything are dropped, and the gap is recorded.
sever
await 600 eval '[ "$(counter "$eu_web" seismo_relay_up)" = 0 ]' # from now on it sends nothing about itself
deliver eu "$eu_port" app-1 70 20 100000 request
halt eu TERM
of eu "update outbox set made = now() - interval '40 days' where stream = 1 and seq <= (select max(seq) - 10 from outbox where stream = 1)"
starts_eu
ok "rows that waited in the outbox for longer than a region keeps anything are dropped" await 300 eval '[ "$(of eu "select count(*) from outbox where stream = 1")" = 10 ]'
lost=$(of eu "select min(seq) from outbox where stream = 1")
halt eu TERM # which may have read it before
starts_eu
wire_up "$way" "$emea_port"
ok "what is left of it arrives" await 400 is 10 "select count(*) from request"
ok "with a gap for the rest" eval '[ "$(of emea "select count(*) from gap where stream = 1")" = 1 ] && [ "${lost:-0}" -gt 10 ]'
deliver eu "$eu_port" app-2 71 5 100000 request
ok "and so does what comes next" await 300 is 15 "select count(*) from request"

# Who may not, and what is none.
seismo node token --for 1d --uses 9 >"$dir/anybody"
COLLECTOR_PUB=$dir/keys/collector.pub TOKEN=$dir/anybody "$fake" "tcp://127.0.0.1:$port" script >/dev/null <<<$'node thief 1\nhello\nwant welcome 0 0\nsend 2 1 1 rollup@\nwant ack 2 1'
ok "a node cannot send rollups" is "only a relay may speak for others" "select message from quarantine"
done_checking
