#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ingest_evidence.sh - where the time went, evidence, stacks and events, from a probe's batch to the API's answer, over
# a real collector and a real PostgreSQL.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')

api() { # PATH PYTHON: true of the answer a
	curl -s "http://127.0.0.1:$web/api/v1/$1" | python3 -c "import json, sys; a = json.load(sys.stdin); sys.exit(not ($2))" ||
		{ curl -s "http://127.0.0.1:$web/api/v1/$1" >&2; return 1; }
}

pg_make
start one "$port" "$web"
await 300 curl -sf "http://127.0.0.1:$web/healthz"
n="node n1 11"
ok "the parts are those of the table" await 300 is "$(grep -c '^PART' schema/def/parts.def)" "select count(*) from part"
ok "the API names them in the order of the bar" api parts "[p['code'] for p in a['parts']][:2] == ['queue', 'pool'] and len(a['parts']) == $(grep -c '^PART' schema/def/parts.def)"

ok "a batch with all of it is acked" probe "$port" "$n" hello "want welcome 0 0" "send 1 1 1 whole" "want ack 1 1"
ok "a row of the first form beside it" probe "$port" "$n" "send 1 2 1 request" "want ack 1 2"
ok "parts are in the order of the bar and add up" is "{1,500,1,6,900,0,17,600,20}|t" \
	"select shares, shares[2] + shares[5] + shares[8] = queue_us + request_us from request where app = 'whole'"
ok "losses are stored" is "{1,4,2}" "select losses from request where app = 'whole'"
ok "what was checked is stored once" is '["net.loss"]|[{"code":"lock","why":"no \"futex\""},{"code":"unknown","why":"later"}]' "select checked, unchecked from checks join request using (checks_id)"
ok "a row without any of it has nulls" is t "select shares is null and checks_id is null and losses is null from request where app = 'fake'"
ok "the stack is stored, whatever its frames hold" is '77|2|1|f\x0a\xff' "select stack_id, cardinality(frames), flags, frames[2] from stack"
ok "evidence lies beside its owner" is "3|t" "select count(*), bool_and(exists (select from request r where r.ts = e.ts and r.request_id = owner_id)
	or exists (select from event v where v.ts = e.ts and v.event_id = owner_id)) from evidence e"
ok "after how long it began is kept" is "1000|2000" "select min(start_us), max(start_us) from evidence"

id=$(sql -c "select api.id_text(ts, request_id) from request where app = 'whole'")
r="a['requests'][[q['app'] for q in a['requests']].index('whole')]"
ok "the list says where the time went" api "requests" "$r['shares'] == [dict(code='queue', ms=0.5, normal=0.001),
	dict(code='io', ms=0.9, normal=0), dict(code='unattributed', ms=0.6, normal=0.02)] and round(sum(s['ms'] for s in $r['shares']), 3) == $r['totalTime']"
ok "and what was checked and found clean, and what was not" api requests "$r['checked'] == ['net.loss'] and $r['unchecked'] == [dict(code='lock', why='no \"futex\"'), dict(code='unknown', why='later')]"
ok "and what was lost, by side and kind" api requests "$r['losses'] == [dict(side='upstream', kind='rto', count=2)]"
ok "but has no evidence, which would cost" api requests "'evidence' not in $r"
ok "a row without has empty lists" api requests "[q['shares'] + q['checked'] + q['unchecked'] + q['losses'] for q in a['requests'] if q['app'] == 'fake'] == [[]]"
ok "one request is the same, with evidence" api "requests/$id" "a['shares'][1]['code'] == 'io' and len(a['evidence']) == 2"
ok "evidence says what, when and how long" api "requests/$id" "[a['evidence'][0][k] for k in ('ms', 'startTime', 'part', 'pid', 'tid', 'comm', 'call', 'what', 'who')] ==
	[0.9, 1, 'io', 7, 8, 'fake', 'fsync', '/a\"b on vda1', None]"
ok "with its stack" api "requests/$id" "a['evidence'][0]['stack'] == ['do_fsync+0x1a', 'f' + chr(92) + 'x0a' + chr(92) + 'xff'] and a['evidence'][0]['stackFlags'] == ['cut']"
ok "a stack that was never sent is unknown" api "requests/$id" "a['evidence'][1]['stack'] is None and a['evidence'][1]['stackFlags'] == []"
ok "events are there" api events "len(a['events']) == 1 and a['next'] is None and a['events'][0]['kind'] == 'io.slow' and a['events'][0]['severity'] == 'warning'"
ok "with time, error, reason and evidence" api events "(lambda e: (e['ms'], e['errorMs'], e['reason']['code'], e['params'], len(e['evidence']), e['node'], e['region'], e['pid'], e['comm']))(a['events'][0])
	== (250, 100, 'io.slow', {'file': '/a'}, 1, 'n1', 'local', 7, 'fake')"
event=$(sql -c "select api.id_text(ts, event_id) from event")
ok "one event is the same object" api "events/$event" "a['diagnosis'] == '/events/$event' and a['evidence'][0]['stack'][0] == 'do_fsync+0x1a' and a['evidence'][0]['startTime'] == 2"

ok "parts that do not add up are not shown" probe "$port" "$n" "send 1 3 1 uneven" "want ack 1 3"
ok "the row is stored without them" is "1" "select count(*) from request where app = 'whole' and shares is null"
ok "and that is counted" counted "$web" seismo_shares_refused_total 1
ok "stacks and lists are not stored again" is "1|1" "select (select count(*) from stack), (select count(*) from checks)"

# One that PostgreSQL refuses does not take the others with it, and leaves nothing of itself.
sql -c "alter table evidence add constraint poison check (comm <> 'fake' or ts < now() - interval '1 day') not valid"
ok "of a group the one with evidence that is refused is set aside" probe "$port" "$n" "send 1 4 1 a=/before" "send 1 5 1 whole" "send 1 6 1 b=/behind" "want ack 1 6"
ok "its neighbours are stored" is 2 "select count(*) from request where path in ('/before', '/behind')"
ok "it is kept aside, whole" is "5|23514|0" "select seq, sqlstate, (select count(*) from request where path = '/r/5') from quarantine"
sql -c "alter table evidence drop constraint poison"
ok "sent once more it is a repetition" probe "$port" "$n" "send 1 5 1 whole" "want ack 1 6"
ok "rows are counted by table" [ "$(counter "$web" 'seismo_rows_total{table="event"}') $(counter "$web" 'seismo_rows_total{table="evidence"}')" = "2 6" ]

# An ongoing event: each report is a row, the last one counts.
l="[e for e in a['events'] if e['kind'] == 'fake.lasting']" state="e['goingOn'], e['endSeen'], e['told']" began=$(($(date +%s) - 1))
ok "an ongoing event is reported twice" probe "$port" "node n3 13" hello "want welcome 0 0" "send 1 1 1 goes-on-1-$began" "send 1 2 1 goes-on-2-$began" "want ack 1 2"
ok "it is there once, and goes on" api events "[($state, e['evidence'][0]['ms'], e['ms'] >= 1000) for e in $l] == [(True, False, 2, 0.002, True)]"
ok "its end is reported" probe "$port" "node n3 13" hello "want welcome 2 0" "send 1 3 1 is-over-3-$began" "want ack 1 3"
ok "then it is over, and still there once" api events "[($state) for e in $l] == [(False, True, 3)]"

# Exactly once, for every table that a batch has rows in.
sql -c "truncate request, event, evidence, stack, checks"
timeout 60 "$fake" "tcp://127.0.0.1:$port" deliver killed 2 1500 800 64 whole >"$dir/killed" &
delivering=$!
for k in 1 2 3 4; do
	sleep "0.$((RANDOM % 4 + 2))" # time: killed at any moment
	halt one KILL
	start one "$port" "$web"
done
delivered() { ! kill -0 $delivering; }
ok "batches with all of it are delivered while the collector is killed" await 500 delivered
ok "each is stored once" is "1500|1500|1500|1500|4500|1|1" "select (select count(*) from request), (select count(distinct path) from request), (select count(*) from event),
	(select count(distinct event_id) from event), (select count(*) from evidence), (select count(*) from stack), (select count(*) from checks)"
ok "no block is without its owner" is 0 "select count(*) from evidence e where not exists (select from request r where r.ts = e.ts and r.request_id = owner_id)
	and not exists (select from event v where v.ts = e.ts and v.event_id = owner_id)"

# Retention: evidence goes before its request; what is shared goes when it is not used.
sql -c "set role seismo" -c "create table evidence_20200101 partition of evidence for values from ('2020-01-01') to ('2020-01-02')" \
	-c "create table event_20200101 partition of event for values from ('2020-01-01') to ('2020-01-02')" \
	-c "select drop_old('{\"event\":3650,\"evidence\":1}'::jsonb)" -c "insert into stack values (1, '{x}', 0, now() - interval '40 days')" \
	-c "insert into checks values (1, '[]', '[]', now() - interval '40 days')" >/dev/null
ok "of a longer retention the shorter one of evidence is kept" is "0|1" "select count(*) filter (where relname = 'evidence_20200101'), count(*) filter (where relname = 'event_20200101')
	from pg_class where relname like '%_20200101'"
halt one TERM
start one "$port" "$web" --keep-days 20 --keep-evidence-days 1
await 300 is 0 "select count(*) from pg_class where relname = 'event_20200101'"
ok "old days of events go" is 0 "select count(*) from pg_class where relname = 'event_20200101'"
ok "stacks and lists of checks that nobody used go" await 300 is "1|1" "select (select min(stack_id) from stack) / 77, (select count(*) from checks)"
ok "evidence of the day before yesterday is not kept" is t "select min(ts) >= now() - interval '2 days' from api.oldest_evidence"
sql -c "insert into request select (jsonb_populate_record(r, jsonb_build_object('ts', date_trunc('day', now()) - interval '30 hours'))).*
	from request r where app = 'whole' and shares is not null limit 1"
id=$(sql -c "select api.id_text(ts, request_id) from request where ts < date_trunc('day', now()) - interval '1 day'")
ok "of a request whose evidence is dropped it is not said that there was none" api "requests/$id" "a['evidence'] is None and len(a['shares']) == 3"
done_checking
