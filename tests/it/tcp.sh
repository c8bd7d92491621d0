#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tcp.sh - what is told of the TCP connections of a program is what it did: connections that came about and why others did not,
# and the bytes of both sides, also in a network namespace of its own; and what connections do that were there before.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/check.sh
. tests/stack.sh

told() { # APP METRIC: all ticks together; a metric that ends in _ is all of that histogram
	ask "select coalesce(sum(value) filter (where counter), max(value), 0)::bigint from api.series where entity_kind = 'app' and entity = '$1' and
		(metric = '$2' or '$2' like '%\_' and starts_with(metric, '$2'))"
}

coproc opened { python3 tests/it/tcp_open.py "tcpo$$"; }
on_exit() { [ -z "${opened_PID:-}" ] || kill "$opened_PID"; }
read -r -t 20 line <&"${opened[0]}"
ok "connections are open before the probe is there" test "$line" = ready
stack_open
echo >&"${opened[1]}"
client=tcpc$$ server=tcps$$
python3 tests/it/tcp.py "$client" "$server" >"$tmp/did" || { echo "0 passed, 1 failed"; exit 1; }
ok "a program did what it says" test "$(wc -l <"$tmp/did")" = 14
while read -r app metric n; do
	ok "$app: $metric is $n" await_value "$n" told "$app" "$metric"
done < <(cat "$tmp/did" && head -n 8 <&"${opened[0]}")
done_checking
