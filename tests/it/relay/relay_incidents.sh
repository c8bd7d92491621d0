#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# relay_incidents.sh - one fault has one name: an incident of a region is under its id at the global collector, too, and is
# closed there when it is closed at home; one of two regions is one there, and says of which it is made. What a relay is
# refused by its own database is said.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
. tests/it/relay/relay_rig.sh

read -r port web eu_port eu_web us_port us_web < <(free_ports 6 | tr '\n' ' ')
url=tcp://127.0.0.1:$port
limits=(--incidents-quiet-s 18 --incidents-join-s 10 --incidents-window-s 60)

api() { # WEB PATH PYTHON: true of the answer a
	local answer
	answer=$(curl -s "http://127.0.0.1:$1/api/v1/$2")
	python3 -c "import json, sys; a = json.load(sys.stdin); sys.exit(not ($3))" <<<"$answer" 2>/dev/null || { echo "$answer" >&2; return 1; }
}

ids() { # WEB: of its incidents, but the merged
	curl -s "http://127.0.0.1:$1/api/v1/incidents?limit=50" | python3 -c "import json, sys; print(*sorted(i['id'] for i in json.load(sys.stdin)['incidents']))"
}

# A minute's story of a node: requests that were slow a moment ago, and counts of it, which go on.
slow() { # REGION PORT NODE EPOCH ADDRESS [CALLED [SECONDS_AGO]]
	as_node "$1" "$2" "node $3 $4" hello "want welcome 0 0" "send 1 1 1 all@1/$5/0//0," "want ack 1 1" "send 2 1 1 counts@100/300/" "want ack 2 1" \
		"send 2 2 1 counts@100/300/${6:-}" "want ack 2 2" "send 1 2 1 slow@40/310/${7:-11}" "want ack 1 2" "send 2 3 1 counts@100/300/" "want ack 2 3"
}

goes_on() { # REGION PORT NODE EPOCH SEQ
	as_node "$1" "$2" "node $3 $4" hello "send 2 $5 $5 counts@20/0/" "want ack 2 $5"
}

pg_make
regions_make eu us
start one "$port" "$web" --region global "${limits[@]}"
await 300 grep -q "is ready" "$dir/one.log"
for r in eu us; do seismo node token --for 1d --node "relay-$r" >"$dir/lets-$r"; done
relays eu "$eu_port" "$eu_web" "$url" --relay-token "$dir/lets-eu" "${limits[@]}"
relays us "$us_port" "$us_web" "$url" --relay-token "$dir/lets-us" "${limits[@]}"
token_of eu; token_of us

# One region alone.
slow eu "$eu_port" disk-1 7 10.0.5.1
ok "a fault in a region is an incident there" await 300 eval '[ "$(ids "$eu_web" | wc -w)" = 1 ]'
eu=$(ids "$eu_web")
ok "and has the same id at the global collector" await 200 eval '[ "$(ids "$web")" = "$eu" ]'
ok "of its region" api "$web" "incidents/$eu" "a['region'] == 'eu'"
ok "with its signals, counted once" await 300 api "$web" "incidents/$eu" "[(e['node'], e['class'], e['count']) for e in a['evidence']] == [('disk-1', 'io', 40)]"
ok "it is ranked there, too" await 300 api "$web" "incidents/$eu" "a['first']['node'] == 'disk-1'"
ok "it says under what name it is at home, and how" await 200 api "$web" "incidents/$eu" \
	"[(p['region'], p['id'], p['first']) for p in a['parts']] == [('eu', '$eu', 'disk-1')] and 'shop slow' in a['parts'][0]['title']"
ok "at home it has no parts" api "$eu_web" "incidents/$eu" "a['parts'] == []"
for ((i = 4; i < 30; i++)); do
	goes_on eu "$eu_port" disk-1 7 $i
	[ "$(of eu "select count(*) from incident where closed is not null")" = 1 ] && break
	sleep 1
done
ok "it is over at home" api "$eu_web" "incidents/$eu" "a['state'] == 'closed'"
ok "and at the global collector, at the same moment" await 200 eval '[ "$(sql -c "select closed from incident")" = "$(of eu "select closed from incident")" ]'
ok "it was one there all the time" is 1 "select count(*) from incident"

# One fault over two regions: front of eu calls store of us.
slow us "$us_port" store-1 8 10.0.6.1 "" 13
slow eu "$eu_port" front-1 9 10.0.6.2 10.0.6.1
ok "a fault of another region" await 300 eval '[ "$(ids "$us_web" | wc -w)" = 1 ]'
us=$(ids "$us_web")
ok "of which this one has a part" await 300 eval '[ "$(ids "$eu_web" | wc -w)" = 2 ]'
front=$(ids "$eu_web" | tr ' ' '\n' | grep -v "$eu")
ok "is one at the global collector, under the older id" await 300 eval '[ "$(ids "$web")" = "$(printf "%s\n" "$eu" "$us" | sort | tr "\n" " " | sed "s/ $//")" ]'
ok "whose parts name what it is in each region" await 200 api "$web" "incidents/$us" "sorted((p['region'], p['id']) for p in a['parts']) == [('eu', '$front'), ('us', '$us')]"
ok "it has the signals of both" await 100 api "$web" "incidents/$us" "sorted(a['nodes']) == ['front-1', 'store-1']"
ok "the name of the other leads there" api "$web" "incidents/$front" "a['state'] == 'merged' and a['mergedInto'] == '$us'"
ok "no region speaks of another's" eval '[ "$(of us "select count(*) from incident")" = 1 ] && [ "$(of eu "select count(*) from incident_told")" = 0 ]'
ok "nothing of it failed" eval 'for w in $web $eu_web $us_web; do [ "$(counter $w seismo_correlate_failures_total)" = 0 ] || exit 1; done'

# What its database refuses the relay is said, and holds up nothing else.
of us "alter function incidents_to_tell(boolean, int) rename to not_incidents_to_tell"
ok "a region that cannot relay its incidents logs that" says us "changes of incidents are not relayed: function incidents_to_tell"
deliver us "$us_port" app-9 90 50 1000 request
ok "and its rows arrive" await 200 is 50 "select count(*) from request join node using (node_id) where name = 'app-9'"
of us "alter function not_incidents_to_tell(boolean, int) rename to incidents_to_tell"
ok "and logs when it can again" says us "changes of incidents are relayed again"
of us "alter function outbox_home(bigint) rename to not_outbox_home"
halt us TERM
relays us "$us_port" "$us_web" "$url" "${limits[@]}"
ok "one that cannot relay at all says why" says us "region us is not relayed: function outbox_home(bigint) does not exist, SQLSTATE 42883; new data waits"
of us "alter function not_outbox_home(bigint) rename to outbox_home"
ok "and when it does again" says us "region us is relayed again"
ok "each was said once" eval '[ "$(grep -cE "(is|are) (not relayed|relayed again)" "$dir/us.log")" = 4 ]'
done_checking
