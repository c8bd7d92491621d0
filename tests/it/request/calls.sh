#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# calls.sh - bytes that are moved by unusual system calls: splice both ways. For each way to see requests,
# over a whole stack.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

started=
on_exit() { kill $started 2>/dev/null; }
stack_open --slow-ms 0 --rows-per-s 50000 --ring-mb 16

row() { # PATH COLUMNS
	ask "select $2 from request where local_port = $port and path = '$1'"
}

get() { # PATH CURL_ARG...; took: the client's own microseconds
	took=$(curl -s -o /dev/null -m 10 -w '%{time_total}' "http://127.0.0.1:$port$1" "${@:2}" | tr -d .)
}

head -c 3000000 /dev/zero >"$tmp/body"
read -r port < <(free_ports 1)
python3 tests/it/request/splice.py "$port" & started=$!
listening "$port"
for rung in $(rungs); do
	probe_by "$rung" --slow-ms 0 --rows-per-s 50000 --ring-mb 16
	get "/in/$rung" --data-binary @"$tmp/body" -H Expect:
	ok "$rung, a body that is spliced away is part of its request" await_value 501 row "/in/$rung" status
	get "/out/$rung"
	ok "$rung, an answer whose body is spliced out has its status" await_value 502 row "/out/$rung" status
	ok "$rung, and ends with its last byte" test "$(row "/out/$rung" "request_us between 480000 and $((10#$took))")" = t
	get "/all/$rung"
	ok "$rung, an answer that is spliced out altogether has its own status or none" \
		await_value t row "/all/$rung" "status in (0, 503)"
	ok "$rung, there is nothing else" test "$(ask "select count(*) from request where local_port = $port and path like '%/$rung'")" = 3
done
done_checking
