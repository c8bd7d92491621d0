#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scores.sh - how bad a node is: from what probes send to the fleet's answer, over a real collector and a real PostgreSQL.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')

fleet() { # PYTHON: true of the answer a, and of n, the nodes by name
	curl -s "http://127.0.0.1:$web/api/v1/fleet" | python3 -c "import json, sys; a = json.load(sys.stdin); n = {x['name']: x for x in a['nodes']}; sys.exit(not ($1))"
}

began=$(($(date +%s) - 60))

pg_make
start one "$port" "$web"
await 100 counted "$web" seismo_database_up 1
await 3 probe "$port" "node a 1" hello "want welcome 0 0" # a HELLO is lost before the keys were read

ok "requests that failed" probe "$port" "node a 1" hello "want welcome 0 0" "send 1 1 1 red" "want ack 1 1" "send 1 2 1 served" "want ack 1 2"
ok "an event of another" probe "$port" "node b 1" hello "want welcome 0 0" "send 1 1 1 goes-on-1-$began" "want ack 1 1" "send 1 2 1 goes-on-2-$began" "want ack 1 2"
sql -c "insert into node_score select node_id, '2020-01-01', 1, 1, 1, 1, '{}' from node where name = 'b' on conflict (node_id) do update set at = excluded.at, saturation = 1"
ok "a third sends nothing that is scored" probe "$port" "node c 1" hello "want welcome 0 0" "send 2 1 1 sample" "want dict" dict "send 2 1 1 sample" "want ack 2 1"
sql -c "update node set last_seen = now() + interval '10 min'" # none is silent, however long this takes
ok "scores are there within some ten seconds, and what was older is no more" await 200 is 3 "select count(*) from node_score where at > '2020-01-01'"
ok "each has a score of what it sent, and no other" fleet "n['a']['error'] is not None and n['b']['saturation'] is None"
ok "of requests, each counted once" fleet "n['a']['error'] == 95 and n['a']['causes']['error'] == dict(code='failed', what=None, value=100, unknown=[])"
ok "what is usual is not known, and that is said" fleet "n['a']['latency'] is None and n['a']['causes']['latency']['code'] == 'noNormal'"
ok "an event that goes on is one" fleet "n['b']['error'] == 40 and (lambda c: (c['code'], c['what'], c['value']))(n['b']['causes']['error']) == ('event', 'fake.lasting', 1)"
ok "a node that sent nothing of it has no score" fleet "n['c']['worst'] is None and n['c']['causes']['saturation']['code'] == 'notMeasured' and n['c']['causes']['error']['code'] == 'noRequests'"
ok "the worst is first" fleet "[x['name'] for x in a['nodes']] == ['a', 'b', 'c']"
ok "there is one for each node" is 3 "select count(*) from node_score"
ok "none failed" eval '[ "$(counter "$web" seismo_score_failures_total)" = 0 ]'

# A table that cannot be written costs no batch.
sql -c "alter table node_score add constraint none check (error is null or error < 0) not valid"
ok "a refused score stops nothing" probe "$port" "node a 1" hello "want welcome 2 0" "send 1 3 1 red" "want ack 1 3"
ok "it is counted" await 200 counted "$web" seismo_score_failures_total 1
ok "and what comes next is stored" probe "$port" "node a 1" hello "want welcome 3 0" "send 1 4 1 red" "want ack 1 4"
done_checking
