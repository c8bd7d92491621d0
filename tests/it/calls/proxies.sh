#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# proxies.sh - which upstream call belongs to which request, for real proxies, by the rows of the server behind them:
# no request has the call of another, and one without its call says so. FRONTS="haproxy1 ..." and HOOKS=sockets|syscalls
# select. LONG=1: a thousand requests of each, with a table.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh
. tests/it/calls/fronts.sh

each=200
[ -z "${LONG:-}" ] || each=1000
fronts=${FRONTS:-nginx node lighttpd event worker prefork haproxy1 haproxy2 aiohttp batch}
on_exit() { fronts_gone; }
stack_open --slow-ms 0 --rows-per-s 50000 --ring-mb 16
read -r back < <(free_ports 1)
"$B/tools/server" "$back" --max-delay 8 & fronts_started=$!
listening "$back"
fronts_start $fronts

# Of each load "FRONT NAME PREFIX REQUESTS ANSWERED": Apache's event module closes kept connections when its threads are
# busy, with a request in them that it never forwards.
sent=
load_on() { # FRONT NAME CONNS RATE ARG...
	local front=$1 prefix
	prefix=/$front-$2-$rung-$((n += 1))/
	"$B/tools/load" "127.0.0.1:${port[$front]}" --prefix "$prefix" --conns "$3" --rate "$4" \
		--seconds "$(awk "BEGIN { print $each / $4 }")" "${@:5}" >"$tmp/load" 2>&1
	sent+="$front $2 $prefix $(awk '{ print $2, $4 }' "$tmp/load")"$'\n'
}

# Rows of the front's port only: PostgreSQL reads these paths, too, and a read of it can begin with one.
rows_there() { # PREFIX REQUESTS ANSWERED: are all at the front, and at the back at least those answered
	ask "select count(*) filter (where local_port = $front_port) = $2 and count(*) filter (where local_port = $back) between $3 and $2
		from request where path like '$1%'"
}

# A request's own call is the one that the server behind read: the same key, connection and status, and at that time.
# One without an answer that the server behind never read made no call.
figures_of() { # PREFIX KEY: known foreign unknown silent
	ask "with mine as (select * from request where path like '$1%' and local_port = $front_port),
		own as (select $2 as key, remote_port, ts, request_us, status from request where path like '$1%' and local_port = $back),
		judged as (select r.flags, r.status > 0 or r.$2 in (select key from own) as read, jsonb_array_length(r.upstreams) as n, (select count(*) from jsonb_array_elements(r.upstreams) u, own o
			where o.key = r.$2 and o.remote_port = (u ->> 'localPort')::int and o.status = (u ->> 'status')::int
			and o.ts between r.ts + ((u ->> 'startUs')::bigint - 5000) * interval '1 us'
				and r.ts + ((u ->> 'startUs')::bigint + (u ->> 'responseUs')::bigint + 5000) * interval '1 us') as matches from mine r)
		select count(*) filter (where n > 0 and n = matches), count(*) filter (where n > matches), count(*) filter (where n = 0 and flags & 8 <> 0),
			count(*) filter (where n = 0 and flags & 8 = 0 and read) from judged"
}

judge() { # FRONT NAME PREFIX REQUESTS ANSWERED
	local known foreign unknown silent key=path least front_port=${port[$1]}
	[[ $2 != *ids* ]] || key=sent_id
	ok "$3: each request has its row at the front and behind" await_value t rows_there "$3" "$4" "$5"
	read -r known foreign unknown silent < <(figures_of "$3" "$key")
	echo "$3: of $4 requests, $5 answered, ${known:-?} with their call, ${foreign:-?} with a foreign one, ${unknown:-?} unknown, ${silent:-?} silent"
	ok "$3: none has the call of another" test "${foreign:-1}" = 0
	ok "$3: none without its call is silent about it" test "${silent:-1}" = 0
	least=$(least_of "$1" "$2")
	ok "$3: at least $least of 1000 have their call" test "$((${known:-0} * 1000))" -ge "$(($5 * least))"
}

least_of() { # FRONT NAME: known of 1000
	case $1 in
	haproxy* | aiohttp) [[ $2 == same ]] && echo 0 || echo "$((each == 200 ? 950 : 990))" ;; # the first few are unknown
	node) echo 990 ;;
	batch) echo 970 ;; # it connected before it had read anything
	*) echo 999 ;;
	esac
}

n=0
for rung in $(rungs); do
	probe_by "$rung" --slow-ms 0 --rows-per-s 50000 --ring-mb 16 --nginx off
	sent=
	# how system calls are seen differs by what a server does with its threads: the short form has one of each kind
	[ "$rung" = sockets ] || [ -n "${LONG:-}${FRONTS:-}" ] || fronts="nginx event haproxy2 aiohttp batch"
	for front in $fronts; do
		warm_front "$front"
		if [ "$front" = batch ]; then
			batch_load
			continue
		fi
		load_on "$front" few 8 1000
		load_on "$front" many 64 3000
		case $front in haproxy* | aiohttp)
			load_on "$front" ids 64 2000 --ids --same
			load_on "$front" same 16 1000 --same ;;
		esac
	done
	while read -r front name prefix requests answered; do
		judge "$front" "$name" "$prefix" "$requests" "$answered"
	done <<<"${sent%$'\n'}"
done
unclear() { # as many as rows say so
	[ "$(coverage calls_unclear)" = "$(ask "select count(*) from request where flags & 8 <> 0")" ] && echo so
}
ok "the requests whose calls are unknown are counted" await_value so unclear
[[ " $fronts " != *" haproxy2 "* ]] || ok "and so is a proxy whose threads do not show them" test "$(coverage calls_by_name)" -gt 0
ok "nothing was withheld" test "$(coverage rows_withheld)" = 0
ok "no record was lost in the ring" test "$(coverage ring_full)" = 0
done_checking
