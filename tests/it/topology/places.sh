#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# places.sh - the owner of an address: from a probe's batch to the answer, over a real collector and a real
# PostgreSQL.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')

place() { # ADDR PORT [ASKING [AT]]: node, app and how; nothing: it is external
	sql -c "select coalesce(n.name, '-'), coalesce(r.app, '-'), r.kind from resolve('$1', $2, ${4:-now()},
		(select node_id from node where name = '${3:-}')) r left join node n using (node_id)"
}

whose() { # EXPECTED ADDR PORT [ASKING [AT]]
	[ "$(place "${@:2}")" = "$1" ] || { echo "${*:2}: $(place "${@:2}"), not $1" >&2; return 1; }
}

pg_make
start one "$port" "$web"
await 300 curl -sf "http://127.0.0.1:$web/healthz"
let_in
await 300 counted "$web" seismo_database_up 1
await 3 probe "$port" "node a 1" hello "want welcome 0 0" # a HELLO is lost before the keys were read

a="1/10.0.0.1/0//0,2/0.0.0.0/80/nginx/0,2/127.0.0.1/8080/local/0,2/10.0.0.1/9000/own/0,1/172.17.0.1/0//0,"
a+="3/172.17.0.2/0//7,2/::/80/inside/7,1/2001:db8::1/0//0,2/0.0.0.0/8080/other/7,"
ok "all places of a node are stored" probe "$port" "node a 1" hello "want welcome 0 0" "send 1 1 1 all@$a" "want ack 1 1"
ok "with what was left out" is "9|3" "select places, left_out from place_told"
ok "places of others" probe "$port" "node b 2" hello "want welcome 0 0" "send 1 1 1 all@1/10.0.0.2/0//0,1/172.17.0.1/0//0,1/10.0.0.9/0//0,2/::/5432/postgres/0," "want ack 1 1"
ok "and of one with an address that another has, too" probe "$port" "node c 3" hello "want welcome 0 0" "send 1 1 1 all@1/10.0.0.3/0//0,1/10.0.0.9/0//0,2/10.0.0.9/443/vip/0," "want ack 1 1"

ok "who listens at all addresses has each of the node's" whose "a|nginx|listener" 10.0.0.1 80
ok "who listens at one has that" whose "a|own|listener" 10.0.0.1 9000
ok "where nobody listens the node is known" whose "a|-|address" 10.0.0.1 40000
ok "a listener of another network namespace has only the addresses of that" whose "a|inside|listener" 172.17.0.2 80
ok "one at :: has those of IPv4, too" whose "b|postgres|listener" 10.0.0.2 5432
ok "one at 0.0.0.0 has none of IPv6" whose "a|-|address" 2001:db8::1 80
ok "what nobody has is external" whose "" 198.51.100.1 80
ok "of two the one that listens is meant" whose "c|vip|listener" 10.0.0.9 443
ok "where none of two listens the owner is ambiguous" whose "-|-|ambiguous" 10.0.0.9 444
ok "an address that every docker host has is the asking node's" whose "b|-|address" 172.17.0.1 80 b
ok "and with its listener" whose "a|nginx|listener" 172.17.0.1 80 a
ok "to others it is ambiguous, unless only one listens" whose "a|nginx|listener" 172.17.0.1 80 c
ok "loopback is the asking node's" whose "a|-|address" 127.0.0.1 7 a
ok "with who listens there: of two in several network namespaces the nearer address" whose "a|local|listener" 127.0.0.1 8080 a
ok "and nobody's without one" whose "" 127.0.0.1 8080
ok "of another node that listens nowhere only the node is known" whose "c|-|address" ::1 80 c

# An address that moves: history, and who has been silent.
before=$(sql -c "select now()")
ok "a place that is somebody else's now, one that has gone, one that is new" probe "$port" "node a 1" hello "want welcome 1 0" \
	"send 1 2 1 change@2/0.0.0.0/80/caddy/0,-2/10.0.0.1/9000/own/0,2/10.0.0.1/9001/new/0," "want ack 1 2"
ok "the app is another now" whose "a|caddy|listener" 10.0.0.1 80
ok "and was what it was" whose "a|nginx|listener" 10.0.0.1 80 "" "'$before'"
ok "what has gone was there" eval 'whose "a|own|listener" 10.0.0.1 9000 "" "'"'\$before'"'" && whose "a|-|address" 10.0.0.1 9000'
ok "a new place counts for a time just before its report, too" whose "a|new|listener" 10.0.0.1 9001 "" "'$before'"
ok "and for nothing of a minute ago" whose "" 10.0.0.1 9001 "" "timestamptz '$before' - interval '1 minute'"
sql -c "update node set last_seen = now() - interval '1 hour' where name = 'a'"
ok "an address of a silent node that another has now is the other's" probe "$port" "node d 4" hello "want welcome 0 0" "send 1 1 1 all@1/10.0.0.1/0//0," "want ack 1 1"
ok "even if the silent one listened" whose "d|-|address" 10.0.0.1 80
ok "a complete report ends each place that is not in it" probe "$port" "node d 4" hello "want welcome 1 0" "send 1 2 1 all@1/10.0.0.7/0//0," "want ack 1 2"
ok "then the silent one has it" whose "a|caddy|listener" 10.0.0.1 80
ok "nothing at all ends everything" probe "$port" "node d 4" hello "want welcome 2 0" "send 1 3 1 all@" "want ack 1 3"
ok "which is history" is "2|0" "select count(*), count(*) filter (where until is null) from place join node using (node_id) where name = 'd'"
ok "the web's role can ask" [ "$("$pgbin/psql" -h "$dir/s" -U seismo_web -XqAt -d seismo -c "select app from api.resolve_all(array['10.0.0.1'::inet], array[80], array[now()], array[null::bigint])")" = caddy ]

# Addresses that are translated: a service that two nodes know of, a port of a that leads into its container, what leaves by a.
from() { # ADDR: whose a call from there is
	sql -c "select coalesce(n.name, '-'), r.how from api.resolve_from(array['$1'::inet], array[40000], array[now()], array[null::bigint]) r left join node n using (node_id)"
}
asks_from() { # EXPECTED ADDR
	[ "$(from "$2")" = "$1" ] || { echo "$2: $(from "$2"), not $1" >&2; return 1; }
}
sql -c "update node set last_seen = now() where name = 'a'"
ok "without a report nobody is there" whose "" 10.96.0.1 80 c
ok "a way is stored" probe "$port" "node a 1" hello "want welcome 2 0" "send 1 3 1 nat@1/10.96.0.1/80/10.0.0.2/5432,1/10.0.0.1/8443/172.17.0.2/80,2/10.0.0.1/0/10.0.0.2/0," "want ack 1 3"
ok "who calls an address that is translated reaches who is behind it" whose "b|postgres|listener" 10.96.0.1 80 a
ok "whoever calls it, if nobody else has it" whose "b|postgres|listener" 10.96.0.1 80 c
ok "by that port only" whose "" 10.96.0.1 81 a
ok "a port of a node that leads into a container is who listens there" whose "a|inside|listener" 10.0.0.1 8443 c
ok "what listens on the node itself still does" whose "a|new|listener" 10.0.0.1 9001 c
ok "who asks from an address that is another's is that other" asks_from "b|address" 10.0.0.1
ok "to call that address is something else" whose "a|caddy|listener" 10.0.0.1 80 c
ok "a second place behind the same address" probe "$port" "node c 3" hello "want welcome 1 0" "send 1 2 1 nat@1/10.96.0.1/80/10.0.0.9/443," "want ack 1 2"
ok "is known to who goes there by itself" whose "c|vip|listener" 10.96.0.1 80 c
ok "and not to who does not" whose "b|postgres|listener" 10.96.0.1 80 a
ok "for others it is ambiguous" whose "-|-|ambiguous" 10.96.0.1 80 b
before=$(sql -c "select now()")
ok "a complete report ends each way that is not in it" probe "$port" "node a 1" hello "want welcome 3 0" "send 1 4 1 nat@2/10.0.0.1/0/10.0.0.2/0,2/10.0.0.1/0/10.0.0.3/0," "want ack 1 4"
ok "then it leads nowhere else" whose "c|vip|listener" 10.96.0.1 80 a
ok "and did before" whose "b|postgres|listener" 10.96.0.1 80 a "'$before'"
ok "one address for several is none of them" asks_from "-|several" 10.0.0.1
ok "nothing at all ends everything" probe "$port" "node a 1" hello "want welcome 4 0" "send 1 5 1 nat@" "want ack 1 5"
ok "and then it is who has it" asks_from "a|address" 10.0.0.1

# Clocks.
clocks() { # EXPECTED SQL: of each row of the clock of a, the oldest first; s is the time of a row
	is "$1" "select string_agg(($2)::text, ' ' order by s) from (select *, told as s from clock) c join node using (node_id) where name = 'a'"
}
ok "how far a clock is off is stored" probe "$port" "node a 1" hello "want welcome 5 0" "send 1 6 1 clock@-65000000/700" "want ack 1 6" "send 1 7 1 clock@5000000/300" "want ack 1 7"
ok "with its history" clocks "-65000000/700 5000000/300" "offset_us || '/' || uncertainty_us"
ok "since when it is so by the clock itself" clocks "65 -5" "round(extract(epoch from since - s))::int"
ok "and by the collector's" clocks "0 0" "round(extract(epoch from collector_since - s))::int"

# Four thousand of a node, hundreds of nodes, and a page of a hundred addresses.
sql -c "insert into node (node_id, region_id, name) select i, 0, 'n' || i from generate_series(1, 500) i" \
	-c "insert into place select i, ('10.9.' || i / 250 || '.' || i % 250)::inet, 0, 1, 0, '', now(), null from generate_series(1, 500) i" \
	-c "insert into place select i, '172.17.0.1', 0, 1, 0, '', now(), null from generate_series(1, 500) i" \
	-c "insert into place select i, '0.0.0.0', 1000 + p, 2, 0, 'app' || p, now(), null from generate_series(1, 500) i, generate_series(1, 40) p" -c "analyze place"
ok "a hundred are found among them" is "100|100" "select count(*), count(*) filter (where how = 'listener' and app = 'app7') from api.resolve_all(
	(select array_agg(('10.9.0.' || i)::inet) from generate_series(1, 100) i), array_fill(1007, array[100]), array_fill(now(), array[100]), array_fill(null::bigint, array[100]))"
done_checking
