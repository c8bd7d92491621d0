#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# incidents.sh - from abnormal requests and counts in a real PostgreSQL to incidents, by a real collector.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')

api() { # PATH PYTHON: true of the answer a
	curl -s "http://127.0.0.1:$web/api/v1/$1" | python3 -c "import json, sys; t = sys.stdin.read(); a = json.loads(t); ($2) or sys.exit(t)"
}

counted_more() { # PASSES: two more have begun and ended
	[ "$(counter "$web" seismo_correlate_passes_total)" -ge $(($1 + 2)) ]
}

counter_is() { # WEB NAME VALUE: also after two more looks
	await 300 counted_more "$(counter "$1" seismo_correlate_passes_total)"
	[ "$(counter "$1" "$2")" = "$3" ]
}

at() { # SECONDS: that long after the fault began
	echo "timestamptz '$began' + interval '$1 s'"
}

abnormal() { # NODE COUNT REASON MS STATUS FROM UNTIL
	sql -c "select abnormal('$1', $2, '$3', $4, 10, $(at "$6"), $(at "$7"), $5)" >/dev/null
}

traffic() { # FROM UNTIL MS
	sql -c "select traffic($(at "$1"), $(at "$2"), $3)" >/dev/null
}

pg_make
start one "$port" "$web" --incidents-quiet-s 120 --incidents-join-s 60 --incidents-window-s 60
await 300 counted "$web" seismo_database_up 1
sql -f tests/it/incident/incidents.sql >/dev/null
began=$(sql -c "select now() - interval '30 minutes'")
sql -c "select add_node(name, addr::inet) from (values ('front', '10.0.0.1'), ('app', '10.0.0.2'), ('db', '10.0.0.3')) v(name, addr)" >/dev/null

ok "an address of a call is read, and what is none is none" is "10.0.0.1,::1,2001:db8::2,1:2:3:4:5:6:7:8,-,-,-,-,-" "select string_agg(coalesce(host(api.peer_ip(p)), '-'), ',' order by i)
	from unnest(array['10.0.0.1:80', '[::1]:80', '[2001:db8::2]:443', '[1:2:3:4:5:6:7:8]:1', 'unix:/run/app.sock', '300.0.0.1:80', '[1::2::3]:80', '[1:2:3:4:5:6:7:8:9]:80', '[:::]:80'])
	with ordinality u(p, i)"
# Half an hour without a fault, with the few abnormal requests that there always are.
traffic -1800 0 0
abnormal front 36 up.slow 60 200 -1800 0
ok "what came is looked at" await 300 counted "$web" seismo_incident_rows_total 36
ok "the abnormal requests of every day are no incident" is 0 "select count(*) from incident"

sql -c "select happened('db', 'io.slow', $(at 5))" >/dev/null
for node in front app; do abnormal $node 80 up.slow 450 200 0 30; done
abnormal db 80 io.block 430 200 0 30
traffic 0 40 400 # counts come after rows; else it would begin as one of means
ok "a fault of db, which all before it wait for, is one incident" await 300 api "incidents?from=2020-01-01T00:00:00Z" "len(a['incidents']) == 1 and a['incidents'][0]['signals'] == 3 and a['incidents'][0]['first']"
all="incidents?from=2020-01-01T00:00:00Z" one="a['incidents'][0]"
ok "it began with the first request" api "$all" "$one['onset'] == '$(sql -c "select api.rfc3339('$began')")' and $one['state'] == 'open'"
ok "db is named, and that it was the disk" api "$all" "$one['first']['node'] == 'db' and $one['first']['share'] == 1 and $one['clear'] and $one['first']['reason'] == 'io.block'"
ok "in one sentence" api "$all" "$one['text']['en'].startswith('front-app slow: 440 ms of 440 ms arose in db (io.block), since ') and $one['text']['en'].endswith(', 3 nodes, 3 apps')"
ok "in Chinese, too" api "$all" "$one['text']['zh'].startswith('front-app 变慢：440 ms 中的 440 ms 发生在 db（io.block）')"
ok "filters find it" api "$all&node=db&app=app-app&region=local&state=open" "len(a['incidents']) == 1 and a['next'] is None"
ok "and leave it out" api "$all&node=!db" "a['incidents'] == []"
ok "and so does a time when it was not" api "incidents?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z" "a['incidents'] == []"
id=$(sql -c "select id from api.incident")
ok "one has the signals that it rests on" api "incidents/$id" "sorted((e['node'], e['class'], e['count']) for e in a['evidence']) == [('app', 'up', 80), ('db', 'io', 80), ('front', 'up', 80)]"
ok "each with requests that show it" api "requests/$(sql -c "select api.id_text(worst[1], worst_ids[1]) from incident_signal where class = 'io'")" "a['node'] == 'db' and a['requestTime'] == 430"
ok "which say of what they are a part" api "requests?from=2020-01-01T00:00:00Z&node=db" "{q['incident'] for q in a['requests']} == {'$id'}"
ok "also one by one" api "requests/$(sql -c "select api.id_text(worst[1], worst_ids[1]) from incident_signal where class = 'io'")" "a['incident'] == '$id'"
ok "those of before are a part of none" api "requests?from=2020-01-01T00:00:00Z&to=$(sql -c "select api.rfc3339('$began')")" "len(a['requests']) == 36 and {q['incident'] for q in a['requests']} == {None}"
ok "the other events of the node are beside it" api "incidents/$id" "[(e['node'], e['kind'], e['count']) for e in a['events']] == [('db', 'io.slow', 1)]"
ok "where time arose, and where it only passed" api "incidents/$id" "sorted((p['from'], p['to'], p['value'] > 0) for p in a['graph']) == [('app', 'db', False), ('db', None, True), ('front', 'app', False)]"
ok "and each step" api "incidents/$id" "[s['kind'] for s in a['steps']] == ['opened', 'joined', 'joined', 'ranked']"
ok "it is found by its number, whatever its link says of when it began" api "incidents/$(printf %x $((0x${id%-*} + 83)))-${id#*-}" "a['id'] == '$id'"

abnormal db 40 io.block 430 200 30 50
traffic 40 60 400
ok "what comes is counted on" await 300 is 120 "select n from incident_signal where class = 'io'"
halt one KILL
start one "$port" "$web" --incidents-quiet-s 120 --incidents-join-s 60 --incidents-window-s 60
abnormal db 20 io.block 430 200 50 60
ok "once, also by a collector that was killed in between" await 300 is 140 "select n from incident_signal where class = 'io'"
traffic 60 200 0
ok "when it was quiet for long enough it is closed" await 300 api "incidents/$id" "a['state'] == 'closed' and a['steps'][-1]['kind'] == 'closed'"
ok "then, by the time of the data" is "t" "select closed = last + interval '120 s' from incident"

abnormal db 30 io.block 430 200 200 230
traffic 200 240 400
ok "the same again keeps its name" await 300 api "incidents/$id" "a['state'] == 'open' and 'reopened' in [s['kind'] for s in a['steps']]"
ok "and its count" is "170|1" "select n, (select count(*) from incident) from incident_signal where class = 'io'"
traffic 240 400 0
ok "it is over again" await 300 is 0 "select count(*) from incident where closed is null"

# Another node, far from all: its own incident, by errors.
sql -c "select add_node('lone', '10.0.0.9'), count_red('lone', 0, ':80', 20, 0, $(at 300), $(at 430)), count_red('lone', 0, ':80', 10, 0, $(at 400), $(at 430), 5)" \
	-c "update node set last_seen = $(at 430) where name = 'lone'" >/dev/null
abnormal lone 30 app.error 5 500 400 420
ok "errors are an incident of their own" await 300 api "$all&node=lone" "len(a['incidents']) == 1 and $one['first']"
ok "with who failed by itself" api "$all&node=lone" "$one['code'] == 'failed' and $one['first']['node'] == 'lone' and $one['text']['en'].startswith('lone-app fails: 100 % of 30 failed requests began in lone (app.error), since ')"

# What people decide.
decide() { # PATH BODY FLAG...: the answer and its status
	curl -s -w '\n%{http_code}' -H "Content-Type: ${type:-application/json}" "${@:3}" -d "$2" "http://127.0.0.1:$web/api/v1/incidents/$1"
}
answers() { # STATUS PATH BODY FLAG...
	local a
	a=$(decide "${@:2}")
	[ "${a##*$'\n'}" = "$1" ] || { echo "$a" >&2; return 1; }
}
lone=$(sql -c "select id from api.incident where nodes = '{lone}'")
ok "it is acknowledged" answers 200 "$lone/acknowledge" '{"by":"ada"}'
ok "and commented, whatever it says" answers 200 "$lone/comment" '{"by":"ada","text":"\u003cb\u003e \u0027; drop table incident --"}'
ok "both are steps" api "incidents/$lone" "[(s['kind'], s['who'], s['detail'].get('text')) for s in a['steps'][-2:]] == [('acknowledged', 'ada', None), ('commented', 'ada', '<b> \'; drop table incident --')] and a['acknowledged']['by'] == 'ada'"
ok "a page of another site may not" answers 403 "$lone/close" '{"by":"eve"}' -H 'Origin: http://evil.example'
ok "nor one that says so itself" answers 403 "$lone/close" '{"by":"eve"}' -H 'Sec-Fetch-Site: cross-site'
type=text/plain
ok "nor a form" answers 415 "$lone/close" '{"by":"eve"}'
type=
ok "a body has an end" answers 413 "$lone/comment" "{\"by\":\"ada\",\"text\":\"$(printf %20000s)\"}"
ok "somebody decides" answers 400 "$lone/close" '{}'
ok "in JSON" answers 400 "$lone/close" '{"by":'
ok "of an incident that there is" answers 404 "1-0000000000000001/close" '{"by":"ada"}'
ok "what is no verb is no route" answers 405 "$lone/open" '{"by":"ada"}'
ok "one becomes a part of the other" answers 200 "$lone/merge" "{\"by\":\"ada\",\"into\":\"$id\"}"
ok "which has its signals then, each once" api "incidents/$id" "sorted((e['node'], e['count']) for e in a['evidence'] if e['class'] != 'slow') == [('app', 80), ('db', 170), ('front', 80), ('lone', 30)]"
rows_of() { # ID...: how many abnormal requests of each there are, and that each is of one
	is "$1" "with r as (select array_agg(ts order by ts, request_id) as t, array_agg(request_id order by ts, request_id) as n from request where ts >= $(at 0)),
		i as (select x.i, x.incident from r, api.incidents_of(r.t, r.n) x)
		select string_agg(v.n::text, ' ' order by o) || ' ' || (select count(*) from i) || ' ' || (select count(distinct i) from i) from (select o, (select count(*) from i where i.incident = w.id) as n
			from unnest('{$2}'::text[]) with ordinality w(id, o)) v"
}
ok "and its requests are that one's" rows_of "360 0 360 360" "$id,$lone"
ok "and it says where it went" api "incidents/$lone" "a['state'] == 'merged' and a['mergedInto'] == '$id' and a['evidence'] == []"
ok "twice it cannot" answers 409 "$lone/merge" "{\"by\":\"ada\",\"into\":\"$id\"}"
signal=$(sql -c "select lpad(to_hex(signal_id), 16, '0') from incident_signal where class = 'error'")
ok "a signal is taken out again, by a command" grep -q '"done" : "split"' < <(seismo incident split "$id" --by bob "$signal")
ok "as an incident of its own" api "$all&node=lone" "len(a['incidents']) == 1 and $one['nodes'] == ['lone'] and $one['requests'] == 30"
ok "with its requests, each of one still" rows_of "330 30 360 360" "$id,$(sql -c "select id from api.incident where nodes = '{lone}' and state <> 'merged'")"
ok "the list of a terminal has both" [ "$(seismo incident list --all | grep -c -- '-app ')" = 2 ]
ok "one is shown with its steps" grep -q 'split .* bob' < <(seismo incident show "$id")
sql -c "update incident set closed = null where incident_id = api.id_number('$id')"
ok "an open one is closed" answers 200 "$id/close" '{"by":"ada"}'
ok "and then it is" answers 409 "$id/close" '{"by":"ada"}'

# Two more, and requests that are all 30 ms slower than usual, of which none is abnormal.
mild() { # FROM UNTIL MS
	sql -c "select count_red('shop', 0, ':80', 20, $3, $(at "$1"), $(at "$2")), count_red('shop', 1, '10.0.1.2:80', 20, $3, $(at "$1"), $(at "$2")),
		count_red('shop', 2, ':80', 20, 0, $(at "$1"), $(at "$2")), count_red('cart', 0, ':80', 20, $3, $(at "$1"), $(at "$2")),
		count_red('cart', 2, ':80', 20, $3, $(at "$1"), $(at "$2")), count_red('cart', 3, '10.0.1.1', 20, $3, $(at "$1"), $(at "$2"))" \
		-c "update node set last_seen = $(at "$2") where name in ('shop', 'cart')" >/dev/null
}
sql -c "select add_node('shop', '10.0.1.1'), add_node('cart', '10.0.1.2')" >/dev/null
mild 440 1000 0
mild 1000 1020 30
mild 1020 1100 0
mild 1100 1150 15
mild 1150 1200 0
before=$(counter "$web" seismo_correlate_passes_total)
ok "it is looked at" await 300 counted_more "$before"
ok "20 s of that, or less than 20 ms more, are no incident" is 0 "select count(*) from incident_signal where host_id in (node_of('shop'), node_of('cart'))"
mild 1200 1240 30
ok "what is slower on the whole is an incident without one abnormal request" await 300 api "$all&node=cart" "len(a['incidents']) == 1 and $one['first'] and $one['headline']['class'] == 'slow'"
ok "with the host where it arose" api "$all&node=cart" "$one['first']['node'] == 'cart' and $one['nodes'] == ['cart', 'shop']"
ok "since the first count of it" api "$all&node=cart" "$one['onset'] == '$(sql -c "select api.rfc3339($(at 1200))")'"
mild 1240 1270 30
ok "what goes on is counted, once" await 300 is "140|140|140" "select string_agg(n::text, '|') from incident_signal where class = 'slow' and host_id in (node_of('shop'), node_of('cart'))"
mild 1270 1420 0
ok "and it closes when it was quiet for long enough" await 300 api "$all&node=cart" "$one['state'] == 'closed' and $one['closed'] == '$(sql -c "select api.rfc3339($(at 1390))")'"

# One that asks a host by a protocol that is not read, and one that asks itself so: there it arose.
waits() { # FROM UNTIL MS
	sql -c "select count_red(x.n, 0, ':80', 20, $3, $(at "$1"), $(at "$2")), count_red(x.n, 2, ':80', 20, 0, $(at "$1"), $(at "$2")),
		count_red(x.n, 4, x.whom, 20, $3, $(at "$1"), $(at "$2")) from (values ('till', '10.0.1.4:5432'), ('solo', '127.0.0.1:5432')) x(n, whom)" \
		-c "update red r set sum_us = r.n * 10000 + r.excess_us from red_key k where (k.node_id, k.key_id) = (r.node_id, r.key_id) and k.role = 4" \
		-c "update node set last_seen = $(at "$2") where name in ('till', 'solo', 'ledger')" >/dev/null
}
sql -c "select add_node('till', '10.0.1.3'), add_node('ledger', '10.0.1.4'), add_node('solo', '10.0.1.5')" >/dev/null
waits 900 1420 0
waits 1420 1480 100
abnormal till 30 net.wait 130 30 1420 1480
abnormal solo 30 net.wait 130 30 1420 1480
ok "who waits for a database is not who is slow: the way there is" await 300 api "$all&node=till" "len(a['incidents']) == 1 and $one['first']['node'] == 'ledger' and $one['code'] == 'slow.way'"
ok "unless it is its own" await 300 api "$all&node=solo" "len(a['incidents']) == 1 and $one['first']['node'] == 'solo' and $one['code'] == 'slow'"

# A balancer without a probe, between two hosts that have one.
passes() { # FROM UNTIL MS
	sql -c "select count_red('edge', 0, ':80', 20, $3, $(at "$1"), $(at "$2")), count_red('edge', 1, '10.0.2.9:80', 20, $3, $(at "$1"), $(at "$2")),
		count_red('edge', 2, ':80', 20, 0, $(at "$1"), $(at "$2")), count_red('shelf', 0, ':80', 20, $3, $(at "$1"), $(at "$2")),
		count_red('shelf', 2, ':80', 20, $3, $(at "$1"), $(at "$2")), count_red('shelf', 3, '10.0.2.9', 20, $3, $(at "$1"), $(at "$2"))" \
		-c "update node set last_seen = $(at "$2") where name in ('edge', 'shelf')" >/dev/null
}
sql -c "select add_node('edge', '10.0.2.1'), add_node('shelf', '10.0.2.3')" >/dev/null
passes 1000 1500 0
abnormal edge 60 up.slow 450 200 1500 1530
abnormal shelf 60 io.block 430 200 1500 1530
passes 1500 1540 400
ok "a fault behind a balancer without a probe is one incident" await 300 api "$all&node=edge" "len(a['incidents']) == 1 and $one['nodes'] == ['edge', 'shelf'] and $one['first']"
ok "of the host behind it, of which nothing is counted twice" await 100 api "$all&node=edge" "$one['first']['node'] == 'shelf' and $one['first']['share'] == 1 and $one['clear']"
ok "and the balancer only passed it on" api "incidents/$(sql -c "select id from api.incident where 'edge' = any(nodes)")" \
	"sorted((str(p['from']), str(p['to']), p['value'] > 0) for p in a['graph']) == [('10.0.2.9:80', 'shelf', False), ('edge', '10.0.2.9:80', False), ('shelf', 'None', True)]"
passes 1540 1600 0

# Two hosts, of which the one that is asked has a clock that is 100 s ahead; both probes said how far theirs is off.
off() { # FROM UNTIL MS
	sql -c "select count_red('south', 0, ':80', 20, $3, $(at "$1"), $(at "$2")), count_red('south', 1, '10.0.3.2:80', 20, $3, $(at "$1"), $(at "$2")),
		count_red('south', 2, ':80', 20, 0, $(at "$1"), $(at "$2")), count_red('north', 0, ':80', 20, $3, $(at $(($1 + 100))), $(at $(($2 + 100)))),
		count_red('north', 2, ':80', 20, $3, $(at $(($1 + 100))), $(at $(($2 + 100)))), count_red('north', 3, '10.0.3.1', 20, $3, $(at $(($1 + 100))), $(at $(($2 + 100))))" \
		-c "update node set last_seen = $(at "$2") where name in ('south', 'north')" >/dev/null
}
clocks_are_known() { # UNCERTAINTY_US: of the one that is ahead
	sql -c "select take_clocks(array[node_of('south'), node_of('north')], array[$(at 900), $(at 1000)], array[0, -100000000], array[2000, $1])" >/dev/null
}
sql -c "select add_node('south', '10.0.3.1'), add_node('north', '10.0.3.2')" >/dev/null
clocks_are_known 3000
off 900 1640 0
abnormal south 60 up.slow 450 200 1640 1670
abnormal north 60 io.block 430 200 1739.96 1769.96
off 1640 1680 400
ok "a fault of two hosts whose clocks are 100 s apart is one incident" await 300 api "$all&node=south" "len(a['incidents']) == 1 and $one['nodes'] == ['north', 'south'] and $one['first']"
ok "of who made it, as what both counted at the same time is compared" await 100 api "$all&node=south" "$one['first']['node'] == 'north' and $one['first']['share'] == 1 and $one['clear']"
ok "since the first request, by the collector's clock" api "$all&node=south" "$one['onset'] == '$(sql -c "select api.rfc3339($(at 1639.96))")'"
off=$(sql -c "select id from api.incident where 'south' = any(nodes)")
ok "its evidence has both times, and how far the clock was off" api "incidents/$off" "[(e['first'], e['began'], e['clock']) for e in a['evidence'] if e['node'] == 'north'] == [('$(sql -c "select api.rfc3339($(at 1739.96))")', '$(sql -c "select api.rfc3339($(at 1639.96))")', {'ahead': 100000, 'uncertainty': 3})]"
ok "the first host is named where the clocks are exact enough" api "incidents/$off" "a['order']['known'] and a['order']['text']['en'] == 'north went wrong first, 40 ms before south; that is exact to 5.0 ms.'"
ok "in a terminal, too" grep -q 'north went wrong first' < <(seismo incident show "$off")
clocks_are_known 45000
ok "and not where they do not" api "incidents/$off" "not a['order']['known'] and a['order']['text']['en'] == 'Which of north and south went wrong first is not known: the 40 ms between them are exact to 47 ms only.'"
sql -c "delete from clock where node_id = node_of('south')"
ok "nor where nobody knows one of them" api "incidents/$off" "not a['order']['known'] and a['order']['within'] is None and a['order']['text']['en'].endswith('the clock offset of south is not known.')"
ok "of one host alone there is no order" api "incidents/$(sql -c "select id from api.incident where nodes = '{solo}'")" "a['order'] is None"

# Its probe has sent failed requests and an event, but no counts yet.
sql -c "select add_node('bare', '10.0.0.8'), happened('bare', 'io.slow', $(at 1705))" >/dev/null
abnormal bare 30 app.error 5 500 1700 1720
sql -c "update node set last_seen = $(at 1760) where name = 'bare'" >/dev/null
ok "an event of a host without counts is beside its incident" await 300 api "$all&node=bare" "len(a['incidents']) == 1 and a['incidents'][0]['signals'] == 1"
ok "and nothing ended by it" await 300 is "io.slow" "select string_agg(kind, ',') from incident_event where host_id = node_of('bare')"

# One whose probe knows its route by its first hundred requests: of the next ones some take longer than any of these.
sql -c "select add_node('fresh', '10.0.5.1'), count_red('fresh', 0, ':80', 20, 0, $(at 1700), $(at 1810))" \
	-c "update node set last_seen = $(at 1810) where name = 'fresh'" >/dev/null
abnormal fresh 6 cpu.own 60 10 1750 1790
before=$(counter "$web" seismo_correlate_passes_total)
ok "a route that has just become known is looked at" await 300 counted_more "$before"
ok "but some that are slower than what it is known by are no incident" is 0 "select count(*) from incident_signal where host_id = node_of('fresh')"

# A fault of four minutes, and two minutes later a small one of the same host.
mint() { # FROM UNTIL MS
	sql -c "select count_red('mint', 0, ':80', 20, $3, $(at "$1"), $(at "$2")), count_red('mint', 2, ':80', 20, $3, $(at "$1"), $(at "$2"))" >/dev/null
}
until_now() { # LAST NOW: up to NOW all is stored, and the incident of mint went on until LAST
	sql -c "update node set last_seen = $(at "$2") where name = 'mint'"
	await 300 is t "select coalesce(bool_and(last = $(at "$1")), false) from incident_signal where host_id = node_of('mint')"
}
sql -c "select add_node('mint', '10.0.4.1')" >/dev/null
mint 780 1380 0; mint 1380 1620 200; mint 1620 1740 0
ok "one that is slow on the whole is seen" until_now 1620 1740
mint 1740 1780 30
ok "and once more, though a quarter of what was before is of the first time" until_now 1780 1780
ok "an incident that is over is not opened again by counts of the same requests" is "0" "select count(*) from incident_step s join incident_signal g using (incident_id)
	where (s.kind = 'reopened' or g.class = 'slow') and g.host_id in (node_of('edge'), node_of('shelf'))"

ok "nothing of it failed" [ "$(counter "$web" seismo_correlate_failures_total)" = 0 ]
ok "that there is none is 404" api "incidents/1-0000000000000001" "a['error']['code'] in ('not_found', 'aged_out')"
halt one TERM # or it writes what it knows of one that goes on
sql -c "update incident set last = now() - interval '40 days'"
start one "$port" "$web" --keep-days 30
ok "old ones go, with all that was of them" await 300 is "0|0|0|0|0" "select (select count(*) from incident), (select count(*) from incident_signal),
	(select count(*) from incident_candidate), (select count(*) from incident_graph), (select count(*) from incident_step)"

# More than one look reads, of two commits, so that it ends within one.
rows=$(counter "$web" seismo_incident_rows_total)
sql -c "select abnormal('front', 30005, 'up.slow', 60, 0, $(at -900), $(at -800)), abnormal('front', 30005, 'up.slow', 60, 0, $(at -700), $(at -600), 200, '1 ms')" >/dev/null
ok "what is cut within a commit is read on" await 300 counted "$web" seismo_incident_rows_total $((rows + 60010))
ok "once" counter_is "$web" seismo_incident_rows_total $((rows + 60010))
done_checking
