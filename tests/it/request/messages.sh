#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# messages.sh - a request begins where the message before it ends, whatever its method, whatever comes before it, and however
# its bytes are cut, over TCP and over Unix sockets. For each way to see requests.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

cgroup_make # other tests have answers that cannot be read
on_exit() { cgroup_gone; }
stack_open --slow-ms 0 --rows-per-s 50000

seen() { # RUNG
	ask "select count(*) from request where path like '/$1-%'"
}

all_seen() { # RUNG
	[ "$(seen "$1")" -ge "$(wc -l <"$tmp/$1")" ]
}

rows_of() { # RUNG CASE: its rows, as messages.py prints them
	ask "select '$2 ' || path || ' ' || method || ' ' || coalesce(status, 0) from request where path like '/$1-tcp-$2%' or path like '/$1-unix-$2%'" |
		grep -E "^$2 /$1-(tcp|unix)-$2(-[A-Za-z0-9-]*)? " | sort
}

rows_are_right() { # RUNG CASE
	diff <(awk -v c="$2" '$1 == c' "$tmp/$1" | sort) <(rows_of "$1" "$2")
}

for rung in $(rungs); do
	read -r port < <(free_ports 1)
	probe_by "$rung" --slow-ms 0 --rows-per-s 50000 --scope "cgroup=$cgroup"
	ok "$rung, every conversation went to its end" \
		eval '(cgroup_join && exec timeout 100 python3 tests/it/request/messages.py "$rung" "$port" "$tmp/$rung.sock") >"$tmp/$rung"'
	await 100 all_seen "$rung"
	for case in first_byte:"requests of whose bytes the first is read alone" every_byte:"one that is read byte by byte" \
		hints_joined:"an answer in one write with early hints" hints_several:"one behind several interim ones, cut anywhere" \
		methods:"methods of any name" proxy_1:"one behind a PROXY line" proxy_1_apart:"and behind one in pieces" \
		proxy_2:"one behind a PROXY head in binary" proxy_2_apart:"and behind one in pieces" \
		empty_lines:"requests behind empty lines" early_answer:"one that is read with the rest of a body" \
		early_answer_apart:"one after a body that looks like one" trailers:"chunked ones with trailers" \
		other_lengths:"fields that are named almost like a length" no_bodies:"answers without the body that they announce" \
		statuses:"statuses from 600 on" half_closed:"one whose client sends no more" long_target:"one behind a long target"; do
		ok "$rung, ${case#*:}: each has its row" rows_are_right "$rung" "${case%%:*}"
	done
	ok "$rung, no row is of another protocol's bytes, or of a body's" \
		test "$(ask "select count(*) from request where path like '%ghost%' or path ~ '-(database|text_protocol)'")" = 0
done
done_checking
