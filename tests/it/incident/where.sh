#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# where.sh - which host it was, of a time that somebody asks about: from counts in a real PostgreSQL, by a real collector.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')

at() { # SECONDS: that long after the fault began, as a URL has it
	date -ud "@$((began + $1))" +%FT%TZ
}

where() { # FROM UNTIL MORE PYTHON: true of the answer a
	local a
	a=$(curl -s "http://127.0.0.1:$web/api/v1/where?from=$(at "$1")&to=$(at "$2")$3")
	python3 -c "import json, sys; a = json.load(sys.stdin); sys.exit(not ($4))" <<<"$a" || { echo "$a" >&2; return 1; }
}

traffic() { # FROM UNTIL MS
	sql -c "select traffic('$(at "$1")', '$(at "$2")', $3)" >/dev/null
}

pg_make
start one "$port" "$web"
await 300 counted "$web" seismo_database_up 1
sql -f tests/it/incident/incidents.sql >/dev/null
began=$(date -ud '-20 min' +%s)
named="[(c['node'], c['ranking'], round(c['share'], 2)) for c in a['candidates']]"

ok "of no node there is nothing, and that is no error" where 0 60 "" "a['candidates'] == [] and a['nodes'] == 0 and a['graph'] == [] and a['usual'] == {'from': None, 'to': None}"
sql -c "select add_node(name, addr::inet) from (values ('front', '10.0.0.1'), ('app', '10.0.0.2'), ('db', '10.0.0.3'), ('lone', '10.0.0.9')) v(name, addr)" \
	-c "update node set last_seen = now()" >/dev/null
traffic -1800 0 0
ok "a time like any other has nobody" where -120 0 "" "a['candidates'] == [] and a['nodes'] == 4"
traffic 0 120 8
traffic 120 300 0
sql -c "update node set last_seen = now()" >/dev/null
await 30 counted "$web" seismo_incidents_open 0
ok "eight milliseconds are no incident" is 0 "select count(*) from incident"
ok "and yet, asked about, db has all of it, as those who waited for it do not" where 0 100 "" "$named == [('db', 'time', 1.0)] and a['clear'] and not a['candidates'][0]['external']"
ok "in milliseconds: twenty each ten seconds, for 120 s" where 0 100 "" "a['candidates'][0]['own'] == 12 * 20 * 8 and a['whole'] == 12 * 20 * 8000"
ok "and where it passed" where 0 100 "" "sorted((p['from'], p['to']) for p in a['graph']) == [('app', 'db'), ('db', None), ('front', 'app')]"
ok "compared with the half hour before" where 0 100 "" "a['usual'] == {'from': '$(at -1820 | sed 's/Z/.000Z/')', 'to': '$(at -20 | sed 's/Z/.000Z/')'}"
ok "asked of one node, those that it calls are looked at, and what they call" where 0 100 "&node=front" "$named[0][0] == 'db' and a['nodes'] == 3"
ok "asked of a region, all of it" where 0 100 "&region=local" "a['nodes'] == 4"
ok "of one that is not there, nobody" where 0 100 "&region=none" "a['nodes'] == 0 and a['candidates'] == []"
ok "who failed by itself is ranked, too" where 0 100 "&node=lone" "a['candidates'] == []"
sql -c "select count_red('lone', 0, ':80', 20, 0, '$(at -600)', '$(at 60)'), count_red('lone', 0, ':80', 10, 0, '$(at 0)', '$(at 60)', 5)" >/dev/null
ok "and that is not mixed up with time" where 0 60 "" "$named == [('db', 'time', 1.0), ('lone', 'errors', 1.0)] and a['candidates'][1]['own'] == 60"
sql -c "select happened('app', 'io.slow', '$(at 5)')" >/dev/null
ok "what happened to a node is no time by itself" where 0 100 "" "$named[0][0] == 'db'"
# From 300 s on front is asked as often as ever, and asks app less; from 500 s on app asks db less, too.
sql -c "select count_red(n, 0, ':80', 20, 0, '$(at 300)', '$(at 600)') from unnest(array['front']) n" \
	-c "select count_red('front', 1, '10.0.0.2:80', 8, 0, '$(at 300)', '$(at 600)'), count_red('app', 0, ':80', 8, 0, '$(at 300)', '$(at 600)')" \
	-c "select count_red('app', 1, '10.0.0.3:80', 8, 0, '$(at 300)', '$(at 500)'), count_red('app', 1, '10.0.0.3:80', 2, 0, '$(at 500)', '$(at 600)')" >/dev/null
missing="[(c['node'], round(c['own']), round(c['share'], 2)) for c in a['candidates'] if c['ranking'] == 'calls']"
ok "as many calls for each request as before is nobody's fault" where 130 270 "" "$missing == [] and a['missed'] == []"
ok "who makes less of them, as it fails without a word, is named" where 310 450 "" "$missing == [('front', 12 * 16, 0.6)]"
ok "and to whom" where 310 450 "" "[p for c in a['candidates'] if c['ranking'] == 'calls' for p in c['parts']] == [{'from': 'front', 'to': 'app', 'value': 192, 'net': 320}]"
ok "not who is asked less by that" where 310 450 "&node=app" "$missing == [('front', 192, 0.6)]"
ok "of two that do, the one with more first" where 510 560 "" "[m[0] for m in $missing] == ['front', 'app']"
ok "without an end it is up to now" curl -sf -o "$dir/answer" "http://127.0.0.1:$web/api/v1/where"
ok "of more than an hour it says what to do" grep -q 'at most an hour is compared with what was before; ask for the part in which it began' < <(curl -s "http://127.0.0.1:$web/api/v1/where?from=$(at -8000)&to=$(at 60)")
ok "with a status that says whose mistake it is" [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$web/api/v1/where?from=$(at -8000)&to=$(at 60)")" = 400 ]
halt one TERM

done_checking
