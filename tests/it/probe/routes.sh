#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# routes.sh - a crawler of 40,000 random paths that fail, over a whole stack: one route, one group, and what has a name keeps
# it. Another app's routes are its own.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

values=50 # of one place of a path, until the place is learnt: probe/request/record/route_learn.h
stack_open
read -r port other < <(free_ports 2 | tr '\n' ' ')
cp "$B/tools/server" "$tmp/routes-shop" && cp "$B/tools/server" "$tmp/routes-bank" # an app is called like its program
"$tmp/routes-shop" "$port" & started=$!
"$tmp/routes-bank" "$other" & started+=" $!"
on_exit() { kill $started 2>/dev/null; }
listening "$port" && listening "$other"
probe_first

ask_server() { # PORT PATH TIMES
	curl -s -o /dev/null -m 20 "http://127.0.0.1:$1$2?s=500&n=[1-$3]"
}

counted() { # APP LEAST
	[ "$(ask "select coalesce(sum(n), 0) from red join red_key k using (node_id, key_id) where k.role = 0 and k.app = '$1'")" -ge "$2" ]
}

groups() { # APP PYTHON: an expression over g, the groups that the console shows, as a list of pairs of route and count
	curl -s -m 20 "http://127.0.0.1:$web/api/v1/requests/groups?app=$1&limit=200" |
		python3 -c 'import json, sys; g = [(x["route"], x["count"]) for x in json.load(sys.stdin)["groups"]]; print(eval(sys.argv[1]))' "$2"
}

ask_server "$port" /checkout 20 # a route with a name, before the crawler comes
ask_server "$other" /account 5
python3 tests/it/probe/routes.py "$port" 40000
ask_server "$other" /account 5
ask_server "$other" /never-seen 5
ok "the requests are counted" await 600 counted routes-shop 39600 # a busy machine may lose some
ok "and those of the other app" await 600 counted routes-bank 15

routes="select count(distinct route) from"
ok "40,000 paths make one route, and those of before it was learnt" [ "$(ask "$routes request where app = 'routes-shop'")" -le $((values + 2)) ]
ok "in the counts as well" [ "$(ask "$routes red_key where app = 'routes-shop' and role = 0")" -le $((values + 2)) ]
ok "the crawler is one group" [ "$(groups routes-shop 'sum(r == "GET /:x" for r, _ in g)')" = 1 ]
ok "that has all of it, but what came before it was learnt" [ "$(groups routes-shop 'sum(n for r, n in g if r not in ("GET /:x", "GET /checkout"))')" -le "$values" ]
ok "the route with a name keeps it" [ "$(ask "select string_agg(distinct route, ' ') from request where app = 'routes-shop' and path = '/checkout'")" = "GET /checkout" ]
ok "and is counted by it" [ "$(ask "select sum(n) from red join red_key k using (node_id, key_id) where k.app = 'routes-shop' and k.role = 0 and k.route = 'GET /checkout'")" -ge 396 ]
ok "the other app has its own routes" [ "$(ask "select string_agg(distinct route, ', ' order by route) from red_key where app = 'routes-bank' and role = 0")" = "GET /account, GET /never-seen" ]
ok "nothing is counted as other" [ "$(ask "select count(*) from red_key where route = '(other)' and app like 'routes-%'")" = 0 ]
done_checking
