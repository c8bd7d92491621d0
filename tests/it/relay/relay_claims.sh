#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# relay_claims.sh - relays that report incidents that are not theirs, not known, or not to be believed: no incident of
# another region is changed, delayed or lost by them. The relays are written from docs/reference/wire.md.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
python=/usr/bin/python3 # for which Debian's packages are

read -r port web < <(free_ports 2 | tr '\n' ' ')
url=tcp://127.0.0.1:$port
# 256 bytes, and a character that is cut where names are
long=$(printf 'n%.0s' {1..126})$(printf 'é%.0s' {1..65})

relay() { # REGION COMMAND ARG...
	timeout 60 $python tests/it/relay/relay_claims.py "$url" "$1" "$dir/lets-$1" "${@:2}"
}

here() { # ID SIGNALS: it is an incident, with signals of these nodes
	is "$2" "select coalesce(string_agg(distinct n.name, ' ' order by n.name), '') from incident i left join incident_signal s using (incident_id)
		left join node n on n.node_id = s.host_id where i.incident_id = $1 and i.merged_into is null having count(i) > 0"
}

untouched() { # nobody's but by who may
	here 7001 "$long" && here 7002 web-1 && is 0 "select count(*) from incident where merged_into is not null"
}

pg_make
start one "$port" "$web" --region global
await 300 grep -q "is ready" "$dir/one.log"
for r in eu us; do seismo node token --for 1d --node "relay-$r" >"$dir/lets-$r"; done
sql -c "insert into relayed (node_id, epoch, heard) values (1, 1, now() - interval '36 days'), (1, 2, now() - interval '34 days')"
halt one TERM
start one "$port" "$web" --region global
await 300 eval '[ "$(grep -c "is ready" "$dir/one.log")" = 2 ]'
ok "processes that were not heard of for longer than rows are kept are forgotten" is "2" "select string_agg(epoch::text, ' ') from relayed where node_id = 1"

ok "a region reports its nodes" relay eu nodes web-1 "$long"
ok "and another its own" relay us nodes store-1 store-2 old/old-1
ok "an incident with numbers and texts that are beyond all" relay eu wild 7001 "$long"
ok "is taken" await 100 here 7001 "$long"
ok "it is of now, and no number is one that sums do not hold" is t "select i.last <= now() and i.opened <= now() and s.last <= now() and s.n = 1e15 and s.excess_us = 1e15
	from incident i join incident_signal s using (incident_id) where incident_id = 7001"
ok "what is cut of it is cut between characters" is "aééééééé" "select class from incident_signal where incident_id = 7001"
ok "it is reported again, and another one after it" eval 'relay eu wild 7001 "$long" && relay eu incident 7002 web-1'
ok "which is taken, too" await 100 here 7002 web-1
ok "the console has both" eval 'curl -s "http://127.0.0.1:$web/api/v1/incidents" | $python -c "import json, sys; sys.exit(len(json.load(sys.stdin)[\"incidents\"]) != 2)"'

ok "a region whose node has the name of another's" relay us incident 8001 web-1 store-1
ok "reports its own alone" await 100 here 8001 store-1
ok "and nothing of the other is changed" untouched

ok "a hundred of nodes that nobody knows" relay us unknown 120
ok "and one of a node that is known" relay us incident 8002 store-2
ok "which is not behind them" await 100 here 8002 store-2
ok "and they are not asked for again and again" is 0 "select count(*) from incidents_told()"

sql -c "insert into region_relay select region_id, 1, '', now(), now() from region where name = 'old'"
ok "an incident of a region with a relay of its own, reported by another relay," relay us incident old/8003 old-1
ok "is not stored" is 0 "select count(*) from incident_told where incident_id = 8003"
sql -c "update region_relay set heard = now() - interval '25 hours' where relay_id = 1"
ok "until that relay was silent for a day" eval 'relay us incident old/8003 old-1 && await 100 here 8003 old-1'

# An incident that the collector itself opened before the report came, and that was merged into one that was merged into another.
sql -c "insert into incident (incident_id, region_id, onset, last, opened, closed, merged_into) select id, region_id, now(), now(), now(), now(), nullif(into_id, 0) from region,
	(values (9001, 9002), (9002, 9003), (9003, 0)) v(id, into_id) where name = 'us'" -c "insert into incident_step values (9001, 1, now(), now(), 'opened', '', '{}')"
ok "one that was merged twice here" relay us incident 9001 store-2
ok "is what it was merged into" await 100 is 9003 "select incident_id from incident_part where told_id = 9001"
ok "and stays merged" is 9002 "select merged_into from incident where incident_id = 9001"
ok "an incident without an id" relay us incident 0 store-2
ok "is none" is 0 "select (select count(*) from incident_told where incident_id = 0) + (select count(*) from incident where incident_id = 0)"

ok "clocks of which nothing is known" eval 'relay eu vague web-1 && relay us vague store-1'
ok "are taken to be within what is usual" is "00:00:00 00:00:05" "select ahead || ' ' || within from api.clocks_apart((select node_id from node where name = 'web-1'),
	(select node_id from node where name = 'store-1'), now())"
ok "counts that are beyond all" relay us counts store-2
passed=$(counter "$web" seismo_correlate_passes_total)
ok "are looked at like others" await 150 counted "$web" seismo_correlate_passes_total $((passed + 3))
ok "and nothing of it failed" eval '[ "$(counter "$web" seismo_correlate_failures_total)" = 0 ] && is 0 "select count(*) from quarantine"'

# What this database cannot store, for whatever reason.
sql -c "alter table incident_signal add constraint no_evil check (app <> 'evil')"
ok "an incident that is refused where it is written down" relay us evil 8004 store-1
ok "and one that is not" relay eu incident 7003 web-1
ok "is left out, and that is said" await 200 eval 'grep -q "stored rows of incidents cannot be applied and are skipped" "$dir/one.log" && is 23514 "select distinct sqlstate from engine_refused where message like '\''%no_evil%'\''"'
ok "others are taken when they are reported again" eval 'relay eu incident 7003 web-1 && await 100 here 7003 web-1'
sql -c "alter table incident_signal drop constraint no_evil"
ok "and that one, too, when it can be" eval 'relay us evil 8004 store-1 && await 100 here 8004 store-1'
done_checking
