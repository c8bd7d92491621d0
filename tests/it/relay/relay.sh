#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# relay.sh - regions: two collectors with databases of their own relay to a third. What they stored is there, row for row
# and once, whatever was cut or killed on the way; who is not approved, or brings what was there before, is refused.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
. tests/it/relay/relay_rig.sh

read -r port web eu_port eu_web us_port us_web way < <(free_ports 7 | tr '\n' ' ')
url=tcp://127.0.0.1:$port

# What a table holds, but for what each collector says of itself: when it stored.
rows_of() { # TABLE REGION...
	local columns r
	columns=$(of seismo "select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute where attrelid = '$1'::regclass
		and attnum > 0 and not attisdropped and attname <> all('{stored,last_used,since,until,first_seen,last_seen,region_id}')")
	for r in "${@:2}"; do
		of "$r" "select $columns from $1 where $(case $1 in node) echo "name not like 'relay-%'" ;; *) echo true ;; esac)"
	done | sort
}

same() { # TABLE: the global one is the union of the two
	[ -n "$(rows_of "$1" eu us)" ] && cmp <(rows_of "$1" eu us | case $1 in stack | checks) uniq ;; *) cat ;; esac) <(rows_of "$1" seismo)
}

all_there() {
	local t
	for t in request red event evidence red_key node tag source stack; do
		same "$t" >"$dir/differs" 2>&1 || { echo "$t: $(head -c 300 "$dir/differs")" >&2; return 1; }
	done
}

count() { # REGION: of requests
	of "$1" "select count(*) from request"
}

starts_eu() {
	relays eu "$eu_port" "$eu_web" "tcp://127.0.0.1:$way"
}

lag_ms() { # REGION
	sql -c "select (body ->> 'lag')::numeric::bigint from api.region where name = '$1'"
}

pg_make
regions_make eu us
wire_up "$way" "$port"
start one "$port" "$web" --region global
starts_eu
await 300 grep -q "is ready" "$dir/one.log"
seismo node token --for 1d --node relay-us >"$dir/lets-us"
seismo node token --for 1d --uses 9 >"$dir/anybody"
relays us "$us_port" "$us_web" "$url" --relay-token "$dir/lets-us"
token_of eu; token_of us

ok "a relay that nobody approved logs that it waits, and the command that approves it" says eu "has not approved node relay-eu: run seismo-collector node approve '"
ok "so is the operator, who reads for what" says one "node relay-eu (key .* waits for approval to relay all of region eu: seismo"
ok "one with a token that was made for it comes in" await 150 eval 'seismo node list | grep -q "^approved .*relay of us"'
as_node eu "$eu_port" "node web-1 7" hello "want welcome 0 0" "send 1 1 1 whole" "want ack 1 1" "send 2 1 1 red" "want ack 2 1" \
	"send 1 2 1 goes-on-1-$(date +%s)" "want ack 1 2" "send 1 3 1 clock@-5000000/500" "want ack 1 3"
as_node us "$us_port" "node web-2 8" hello "want welcome 0 0" "send 1 1 1 whole" "want ack 1 1" "send 2 1 1 served" "want ack 2 1" \
	"send 1 2 1 source" "want ack 1 2"
"$collector" --database "host=$dir/s dbname=eu user=seismo" node tag web-1 rack=r7 role=web >/dev/null
"$collector" --database "host=$dir/s dbname=us user=seismo" node tag web-2 rack=r9 >/dev/null
ok "what the other one has arrives" await 150 eval '[ "$(count seismo)" = 1 ]'
ok "what this one has is kept until then" eval '[ "$(of eu "select count(*) from outbox")" -ge 3 ] && [ "$(of seismo "select count(*) from node where name = \$\$web-1\$\$")" = 0 ]'
ok "it is approved for its region" eval 'seismo node approve relay-eu | grep -q "may send all of region eu"'
ok "and all of both is at the global collector, row for row" await 200 all_there
ok "of the region that it is of" is "eu web-1,us web-2" "select string_agg(g.name || ' ' || n.name, ',' order by n.name) from node n join region g using (region_id) where n.name like 'web-%'"
ok "a request has the same permalink there" eval '[ "$(curl -s "http://127.0.0.1:$web/api/v1/requests" | grep -o "\"id\":\"[0-9a-z-]*\"" | sort | head -2)" = "$(for w in $eu_web $us_web; do curl -s "http://127.0.0.1:$w/api/v1/requests" | grep -o "\"id\":\"[0-9a-z-]*\""; done | sort)" ]'
ok "an event that goes on in a region goes on there" eval 'curl -s "http://127.0.0.1:$web/api/v1/events?kind=fake.lasting" | grep -q "\"goingOn\" *: *true"'
ok "regions are listed with their console, and a lag of seconds" await 100 eval '[ "$(lag_ms eu)" -lt 15000 ] && curl -s "http://127.0.0.1:$web/api/v1/regions" | grep -q "\"name\" : \"eu\", \"relay\" : true, \"console\" : \"http://127.0.0.1:$eu_web\""'
ok "nodes were heard there when they were heard in their region" await 100 eval '[ "$(sql -c "select last_seen::timestamptz(3) from node where name = \$\$web-1\$\$")" = "$(of eu "select last_seen::timestamptz(3) from node where name = \$\$web-1\$\$")" ]'
ok "who relays looks for incidents, too" await 200 eval 'counted "$eu_web" seismo_relay_up 1 && counted "$eu_web" seismo_correlate_passes_total 1'
ok "the clock of a node is off there by what its region measured" await 100 eval '[ "$(sql -c "select offset_us from clock join node using (node_id) where name = \$\$web-1\$\$")" = -5000000 ]'
ok "and each relay reports its own clock" await 100 eval '[ "$(sql -c "select count(distinct name) from clock join node using (node_id) where name like \$\$relay-%\$\$ and abs(offset_us) <= uncertainty_us")" = 2 ]'
at_region eu node tag web-1 --since "$(date -u -d '5 days ago' +%FT%TZ)" rack=r3 >/dev/null
at_region eu node tag web-1 --since "$(date -u -d '12 hours ago' +%FT%TZ)" rack=r7 >/dev/null
as_node eu "$eu_port" "node web-1 7" hello "want welcome 3 1" "send 1 4 1 slow@3/310/86400" "want ack 1 4"
found() { # TAG TIME: how many of web-1's requests of shop have that tag then
	curl -s -G "http://127.0.0.1:$web/api/v1/requests" -d "tag=$1" -d node=web-1 -d app=shop -d "from=$(date -u -d "$2 - 1 hour" +%FT%TZ)" -d "to=$(date -u -d "$2 + 1 hour" +%FT%TZ)" | grep -o '"id" *: *"[0-9a-z-]*"' | wc -l
}
ok "what happened yesterday is found by what its node was yesterday, here as in its region" await 300 eval '[ "$(found rack=r3 yesterday) $(found rack=r7 yesterday)" = "3 0" ]'
ok "each tag for as long as it held" await 100 eval '[ "$(sql -c "select key, value, since, until from tag join node using (node_id) where name = \$\$web-1\$\$ order by 1, 3")" = "$(of eu "select key, value, since, until from tag join node using (node_id) where name = \$\$web-1\$\$ order by 1, 3")" ]'
ok "a relay is no node" eval '! curl -s "http://127.0.0.1:$web/api/v1/nodes" | grep -q relay-'

# Cut off, with the clocks of its nodes an hour on, then both sides killed while it catches up.
sever
deliver eu "$eu_port" app-1 70 1500 100000 whole & d1=$!
deliver us "$us_port" app-2 80 300 100000 whole & d2=$!
wait $d1 $d2
as_node eu "$eu_port" "node web-1 7" hello "want welcome 4 1" "send 2 2 1 served" "want ack 2 2"
ok "a region that is cut off keeps all" eval '[ "$(count eu)" = 1504 ] && [ "$(of eu "select count(*) from outbox")" -ge 1500 ]'
ok "and says so" says eu "does not answer; keeping everything in the outbox"
ok "the other one goes on" await 150 eval '[ "$(of seismo "select count(*) from request where path like \$\$/r/%\$\$ and node_id in (select node_id from node where name = \$\$app-2\$\$)")" = 300 ]'
ok "its lag grows" await 200 eval '[ "$(lag_ms eu)" -gt 6000 ]'
wire_up "$way" "$port"
ok "it catches up" await 300 eval '[ "$(count seismo)" -gt 350 ]'
halt eu KILL
halt one KILL
start one "$port" "$web" --region global
starts_eu
deliver eu "$eu_port" app-3 90 200 100000 whole
halt eu KILL
starts_eu
ok "killed on both sides it has all of both, each row once" await 300 all_there
ok "which is $(count eu) and $(count us) requests" [ "$(count seismo)" = "$(($(count eu) + $(count us)))" ]
ok "without a gap" is 0 "select count(*) from gap"
ok "nothing was put aside" is 0 "select count(*) from quarantine"
ok "what arrived is kept no longer" await 150 eval '[ "$(of eu "select count(*) from outbox")" -le 1 ]'
ok "the lag is small again" await 150 eval '[ "$(lag_ms eu)" -lt 15000 ]'

# Who may not.
as_node us "$us_port" "node web-1 9" hello "want welcome 0 0" "send 1 1 1 request" "want ack 1 1"
ok "a region cannot speak of a node of another one" await 100 eval "is 1 \"select count(*) from quarantine where message like '%node web-1 belongs to region eu here, but region us relays a node of the same name%'\""
COLLECTOR_PUB=$dir/keys/collector.pub TOKEN=$dir/anybody "$fake" "$url" script >/dev/null <<<$'node thief 1\nhello\nwant welcome 0 0\nsend 1 1 1 origin\nwant ack 1 1'
ok "a node cannot speak for another" is "1 0" "select (select count(*) from quarantine where message = 'only a relay may speak for others') || ' ' || (select count(*) from node where name = 'stolen')"
halt us TERM
relays us "$us_port" "$us_web" "$url" --region fr --relay-node relay-us
ok "a relay whose region has another name is refused" says us "approved the key of node relay-us for another region"
ok "which the operator reads, too" eval 'seismo node list | grep -q "relay of us wants to relay fr"'
halt us TERM
relays us "$us_port" "$us_web" "$url" --region global --relay-node relay-us
await 150 eval 'seismo node list | grep -q "wants to relay global"'
seismo node approve relay-us >/dev/null
as_node us "$us_port" "node loop-1 9" hello "want welcome 0 0" "send 1 1 1 request" "want ack 1 1"
ok "what is of the global region itself is a loop, dropped and counted" await 150 counted "$web" seismo_relay_loops_total 1
ok "it is said" says one "a relay loop, or a chain of more than"
ok "nothing of it is stored" is 0 "select count(*) from node where name = 'loop-1'"
ok "a collector that relays nowhere writes no outbox" is 0 "select count(*) from outbox_head"
ok "a relay without a key is refused, and relay.key is named" eval '! "$collector" --check-config --relay-to "$url" 2>"$dir/err" && grep -q "relay.key is missing" "$dir/err"'
done_checking
