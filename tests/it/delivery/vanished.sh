#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# vanished.sh - the host of a collector is gone from one moment to the next, as when its power is: the database does not
# wait for it for two hours, and another collector does what that one did.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

net=10.231.93 ns=seismo-v$$ link=sv$$ # no other test uses that net
read -r port web < <(free_ports 2 | tr '\n' ' ')
trap 'clear_away; ip netns delete "$ns" 2>/dev/null' EXIT

passes() { # PREFIX...: of who looks for incidents
	"$@" curl -s "http://127.0.0.1:$web/metrics" | awk '$1 == "seismo_correlate_passes_total" { n = $2 } END { print n + 0 }'
}

connected() { # from there
	sql -c "select count(*) from pg_stat_activity where client_addr = '$net.2'"
}

ip netns add "$ns" && ip link add dev "$link" type veth peer name e netns "$ns" && ip address add "$net.1/24" dev "$link" && ip link set "$link" up &&
	ip -n "$ns" address add "$net.2/24" dev e && ip -n "$ns" link set e up && ip -n "$ns" link set lo up || { echo "0 passed, 1 failed"; exit 1; }
pg_flags=(-c listen_addresses="$net.1" -c port=5432)
pg_make
echo "host all all $net.0/24 trust" >>"$dir/d/pg_hba.conf"
sql -c 'select pg_reload_conf()' >/dev/null
ip netns exec "$ns" "$collector" --bind "tcp://127.0.0.1:$port" --web "127.0.0.1:$web" --keys "$dir/keys" --database "host=$net.1 dbname=seismo user=seismo" \
	--web-database "host=$net.1 dbname=seismo user=seismo_web" >"$dir/there.log" 2>&1 &
running[there]=$!
ok "a collector of another host looks for incidents" await 300 eval '[ "$(passes ip netns exec "$ns")" -ge 2 ]'
start here "$port" "$web"
ok "one that comes later stores" await 300 grep -q "is ready" "$dir/here.log"
ok "and leaves that to it" eval 'sleep 7; [ "$(passes)" = 0 ]' # time: a pass is due every 5 s
ip link set "$link" down
halt there KILL
ok "what the host that is gone had is not kept for it" await 600 eval '[ "$(connected)" = 0 ]'
ok "and the other one looks for incidents" await 150 eval '[ "$(passes)" -ge 1 ]'
done_checking
