#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# relay_chain.sh - regions in a row, eu to emea to the global one: an incident of the first has one id in all three, what was
# cut off for an hour is caught up by each row once, and what goes round is refused.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
. tests/it/relay/relay_rig.sh

read -r port web eu_port eu_web emea_port emea_web way < <(free_ports 7 | tr '\n' ' ')
limits=(--incidents-quiet-s 18 --incidents-join-s 10 --incidents-window-s 60 --node-rows-per-s 1000000)

ids() { # WEB: of its incidents of disk-1, but the merged: what is delivered below failed, which is one, too, half a minute later
	curl -s "http://127.0.0.1:$1/api/v1/incidents?limit=50" | python3 -c "import json, sys; print(*sorted(i['id'] for i in json.load(sys.stdin)['incidents'] if 'disk-1' in i['nodes']))"
}

starts_eu() { # to emea, by a way that can be cut
	RELAY_PUB=$dir/keys.emea/collector.pub relays eu "$eu_port" "$eu_web" "tcp://127.0.0.1:$way" "$@" "${limits[@]}"
}

count() { # REGION
	of "$1" "select count(*) from request"
}

pg_make
regions_make eu emea
wire_up "$way" "$emea_port"
start one "$port" "$web" --region global "${limits[@]}"
await 300 grep -q "is ready" "$dir/one.log"
seismo node token --for 1d --node relay-emea >"$dir/lets-emea"
relays emea "$emea_port" "$emea_web" "tcp://127.0.0.1:$port" --relay-token "$dir/lets-emea" "${limits[@]}"
at_region emea node token --for 1d --node relay-eu >"$dir/lets-eu"
starts_eu --relay-token "$dir/lets-eu"
token_of eu

as_node eu "$eu_port" "node disk-1 7" hello "want welcome 0 0" "send 1 1 1 all@1/10.0.5.1/0//0," "want ack 1 1" "send 2 1 1 counts@50/300/" "want ack 2 1" \
	"send 1 2 1 slow@20/310/11" "want ack 1 2" "send 2 2 1 counts@50/300/" "want ack 2 2"
ok "a fault of the first is an incident" await 400 eval '[ "$(ids "$eu_web" | wc -w)" = 1 ]'
eu=$(ids "$eu_web")
ok "which has the same id in the next region" await 400 eval '[ "$(ids "$emea_web")" = "$eu" ]'
ok "and in the one behind that" await 400 eval '[ "$(ids "$web")" = "$eu" ]'
ok "it is stored there as of the first region, by way of the second" is "eu|emea" "select g.name, t.via from incident_told t join region g using (region_id)"
ok "and is a part of itself" is t "select told_id = incident_id from incident_part"

# An hour of two batches a second, while the first is cut off.
sever
deliver eu "$eu_port" app-1 70 7200 100000 request
ok "who is cut off keeps all" eval '[ "$(count eu)" = 7220 ]'
pg_tool pg_dump -Fc eu >"$dir/backup"
wire_up "$way" "$emea_port"
began=$(date +%s%N)
ok "an hour is caught up" await 600 eval '[ "$(count seismo)" = 7220 ]'
echo "7,200 batches went two ways in $((($(date +%s%N) - began) / 1000000)) ms"
ok "and nothing is there twice" is "7220|0|0" "select count(distinct (ts, request_id)), (select count(*) from gap), (select count(*) from quarantine) from request"

ok "the incident is still one" eval '[ "$(ids "$web")" = "$eu" ] && [ "$(ids "$emea_web")" = "$eu" ]'

# The backup from before that is restored, and more comes in before it is connected.
halt eu TERM
sever
sql -d postgres -c "drop database eu" -c "create database eu owner seismo"
pg_tool pg_restore -d eu "$dir/backup"
starts_eu
ok "it says that it is in another database" says eu "in another database than before"
deliver eu "$eu_port" app-2 71 300 100000 request
wire_up "$way" "$emea_port"
ok "what is new arrives" await 600 eval '[ "$(count seismo)" = 7520 ]'
ok "what was sent before is known" await 300 eval '[ "$(counter "$emea_web" seismo_relayed_again_total)" -ge 7200 ]'
ok "and still nothing is there twice, or was lost" is "7520|7520|0" "select count(*), count(distinct (ts, request_id)), (select count(*) from gap) from request"
ok "nor is an incident" await 300 eval '[ "$(ids "$web")" = "$eu" ] && [ "$(ids "$emea_web")" = "$eu" ]'

# The last one relays to the first.
halt one TERM
at_region eu node token --for 1d --node relay-global >"$dir/lets-global"
start one "$port" "$web" --region global "${limits[@]}" --relay-to "tcp://127.0.0.1:$eu_port" --relay-key "$dir/keys.eu/collector.pub" --relay-token "$dir/lets-global"
ok "what goes round is refused where it came from" await 400 counted "$eu_web" seismo_relay_loops_total 1
ok "its incident, too" await 400 grep -q "sent an incident of region eu that passed 2 regions" "$dir/eu.log"
ok "of which nothing is taken" eval '[ "$(of eu "select count(*) from incident_told")" = 0 ] && [ "$(of eu "select count(*) from request")" = 7520 ]'
done_checking
