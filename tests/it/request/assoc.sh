#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assoc.sh - which upstream call belongs to which request, for each way to see them, by the logs of the servers that
# were called: all is known where it can be, and a doubtful call is given to no request. LONG=1: ten seconds of each, as a table.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh
. tests/lib/nginx_rig.sh

nginx_apart
seconds=2
[ -z "${LONG:-}" ] || seconds=10
read -r kept few new retry auth piped b1 b2 b3 < <(free_ports 9 | tr '\n' ' ')
on_exit() { nginx_gone; }
stack_open --slow-ms 0 --rows-per-s 50000 --ring-mb 16
proxied_started
proxied | nginx_start 1
warm "$kept" "$few" "$new" "$retry" "$auth"

row_of() { # NAME
	table+="| $rung | $1 | ${f[rows]} | ${f[calls]} | ${f[right]} | $((f[calls] - f[right] - f[wrong])) | ${f[wrong]} |"$'\n'
}

is_right() { # NAME
	ok "$1: every line of the log has its one row" figure "${f[lines]:-0}" -eq "$sent" -a "${f[matched]:-0}" -eq "$sent" -a "${f[rows]:-0}" -eq "$sent"
	ok "$1: method, path, status and remoteAddr are equal" figure "${f[unequal]:-1}" -eq 0
	ok "$1: no upstream call is given to a wrong request" figure "${f[wrong]:-1}" -eq 0 -a "${f[upstream_wrong]:-1}" -eq 0
	row_of "$1"
}

scenario() { # NAME PORT RATE ARG...
	local name="$rung, $1" prefix="/$rung-$((n += 1))/"
	load "$2" "$prefix" "$3" "$seconds" "${@:4}"
	measure "$name" "$2" "$prefix" path ${before:-}
	is_right "$name"
	ok "$name: at least 99.9 % of the calls have their request" figure "$((${f[right]:-0} * 1000))" -ge "$((${f[calls]:-1} * 999))" -a "${f[calls]:-0}" -ge "$sent"
}

piped_counted() {
	ask "select coalesce(sum(n), 0) > 0 from unread where kind = 'pipelined' and app = 'nginx'"
}

rows_settle() { # PORT PREFIX: until no row came for 3 s, as no number of rows is known beforehand
	local before= now
	while now=$(rows "$1" "$2") && [ "$now" != "$before" ]; do
		before=$now
		sleep 3
	done
}

pipelined() { # at a depth of 4
	local name="$rung, pipelined" prefix="/$rung-$((n += 1))/" before
	before=$(coverage pipelined)
	load "$piped" "$prefix" 500 "$seconds" --conns 50 --pipeline 4
	rows_settle "$piped" "$prefix"
	ok "$name: they are counted" await 300 eval '[ "$(coverage pipelined)" -gt "$((before + 40))" ]'
	expected=$(rows "$piped" "$prefix") measure "$name" "$piped" "$prefix" path
	ok "$name: all were answered" figure "$(awk '{ print $4 }' "$tmp/load")" = "$sent" -a "${f[lines]:-0}" = "$sent"
	ok "$name: their connections are counted as not read" await_value t piped_counted
	ok "$name: a row that there is is right" figure "${f[matched]:-1}" = "${f[rows]:-0}" -a "${f[unequal]:-1}" = 0
	ok "$name: none has the call of another" figure "${f[wrong]:-1}" = 0 -a "${f[upstream_wrong]:-1}" = 0
	row_of pipelined
}

n=0 table=
for rung in $(rungs); do
	probe_by "$rung" --slow-ms 0 --rows-per-s 50000 --ring-mb 16 --nginx off
	scenario "keep-alive" "$kept" 1000 --conns 100
	scenario "a thousand connections" "$kept" 2000 --conns 1000
	scenario "two upstream connections are kept" "$few" 1000 --conns 100
	scenario "no keep-alive" "$new" 1000 --conns 100 --close
	scenario "30 % failures with retry" "$retry" 1000 --conns 100
	before=127.0.0.1:$b3 scenario "auth_request" "$auth" 500 --conns 100
	scenario "POST of 40 KB" "$kept" 500 --conns 100 --post 40000
	pipelined
done
[ -z "${LONG:-}" ] || cat <<END
| hooks | traffic | rows | calls | right | unknown | wrong |
|---|---|---|---|---|---|---|
$table
END
ok "nothing was withheld" test "$(coverage rows_withheld)" = 0
ok "no record was lost in the ring" test "$(coverage ring_full)" = 0
done_checking
