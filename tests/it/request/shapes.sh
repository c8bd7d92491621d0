#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# shapes.sh - requests and answers in every shape that a socket lets through, each a right row. SHAPES_MB and
# SHAPES_STORM make it longer. For each way to see requests.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

storm=${SHAPES_STORM:-1000}
cgroup_make # other tests have answers that cannot be read
on_exit() { cgroup_gone; }
stack_open --slow-ms 0 --rows-per-s 50000

row() { # PATH COLUMNS
	ask "select $2 from request join reason using (reason_id) where local_port = $port and path = '$1'"
}

nothing() { # COMMAND...: which prints no line
	local said
	said=$("$@")
	echo "$said"
	[ -z "$said" ]
}

odd() { # rows of what was no request
	ask "select method, path, status, request_us, params from request where local_port = $port and path !~ '^/[a-z0-9-]+$'"
}

printed() { # PATH FIELD: of the line that shapes.py printed
	awk -v p="$1" -v f="$2" '$1 == p { print $f }' "$tmp/printed"
}

near() { # PATH: the row's time is the server's own, within 30 ms
	local a b
	a=$(row "$1" request_us) b=$(printed "$1" 3)
	[ -n "$a" ] && [ -n "$b" ] && [ $((a - b)) -lt 30000 ] && [ $((b - a)) -lt 30000 ]
}

storm_rows() {
	ask "select count(distinct path) || ' ' || count(*) from request where local_port = $port and path like '/storm-%' and status = 500"
}

for rung in $(rungs); do
	read -r port < <(free_ports 1)
	probe_by "$rung" --slow-ms 0 --rows-per-s 50000 --scope "cgroup=$cgroup"
	missed=$(coverage head_missed)
	began=$(date +%s%N)
	(cgroup_join && exec timeout 100 python3 tests/it/request/shapes.py "$port") >"$tmp/printed" 2>"$tmp/errors" || cat "$tmp/errors"
	wall_us=$((($(date +%s%N) - began) / 1000))
	await_value "$storm $storm" storm_rows
	ok "$rung, a storm of accepts and closes gives each request its row, on fds used again and again" test "$(storm_rows)" = "$storm $storm"
	for shape in bytes:"a request in one-byte writes" segments:"a head over three segments" read-one:"a server that reads byte by byte" \
		status-split:"a status line over two sends" parts:"an answer of forty parts of seven bytes" writev:"a status line in pieces of one writev" \
		sendfile:"a file sent by sendfile" chunked:"a chunked stream" dup:"an fd that was dup'ed meanwhile" head:"a HEAD answered with a length" \
		not-modified:"a 304 with a length" continue:"a 100 Continue before the answer"; do
		path=/${shape%%:*}
		ok "$rung, ${shape#*:} is one row with its status" test "$(row "$path" status)" = "$(printed "$path" 2)" -a -n "$(printed "$path" 2)"
	done
	ok "$rung, the end of a sendfile is its last byte" near /sendfile
	ok "$rung, the end of a chunked stream is its last chunk" near /chunked
	ok "$rung, an event stream is judged by its first byte, and lasts to its last" \
		test "$(row /events "status || ' ' || ((params ->> 'first_ms')::real < 100) || ' ' || (request_us > 590000)")" = "200 true true"
	ok "$rung, so is a file of 200 MB" test "$(row /sendfile "(params ->> 'first_ms')::real < 100")" = t
	ok "$rung, an event stream that its reader leaves is none that failed" test "$(row /events-left "status || ' ' || (code !~ 'abort|error')")" = "200 true"
	ok "$rung, a request in pieces begins with its first byte" test "$(row /bytes "request_us > 100000")" = t
	ok "$rung, bytes that are no HTTP make no row" nothing odd
	ok "$rung, no duration is negative or longer than the wall" test "$(ask "select count(*) from request where local_port = $port and (request_us < 0 or queue_us < 0 or request_us + queue_us > $wall_us)")" = 0
	ok "$rung, no answer went unread" test "$(coverage head_missed)" = "$missed"
done
done_checking
