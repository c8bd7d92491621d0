#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh - make demo gives every kind of row within a minute and leaves nothing.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

stack_open
read -r port < <(free_ports 1)
kinds() {
	ask "select string_agg(distinct code, ' ' order by code) from request join reason using (reason_id) where local_port = $port and code = any('{app.error,client.abort,up.connect,up.error,up.retry,up.slow}')"
}
SECONDS_IN_ALL=1 PORT=$port timeout 200 make -s demo >"$tmp/demo" 2>&1
ok "make demo runs a round and ends well" test $? = 0
cat "$tmp/demo"
last_fault_s() { # after the beginning of the round
	sed -nE 's/^  ([0-9]{2}:[0-9]{2}:[0-9]{2})  .*/\1/p' "$tmp/demo" | sed -n '1p;$p' | date -f - +%s | xargs | awk '{ print ($2 - $1 + 86400) % 86400 }'
}
ok "every fault has begun within a minute ($(last_fault_s) s)" test "$(last_fault_s)" -le 60
ok "it made a row of every reason" await_value "app.error client.abort up.connect up.error up.retry up.slow" kinds
ok "its upstreams are shown by their own addresses" test "$(ask "select count(distinct upstreams -> -1 ->> 'addr') from request where local_port = $port and upstreams -> -1 ->> 'addr' like '10.231.77.%'")" = 2
ok "no namespace is left" eval '! ip netns list | grep -q seismo-demo'
ok "no link is left" eval '! ip link show seismo-a'
done_checking
