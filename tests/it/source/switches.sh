#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# switches.sh - at a switch of the scheduler two sources look, and join: one goes on where the other ends, but in the windows
# in which each is counted. Here twice a second: no wait of a request is lost or reported twice meanwhile. And who serves is known
# by a count, which is right when threads end, and when one takes the place of its process. The probe watches a cgroup with
# nothing but the servers in it.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

started=
cgroup_make
on_exit() {
	[ -z "$started" ] || kill $started 2>/dev/null
	cgroup_gone
}
trap 'on_exit; rm -rf "$tmp"' EXIT
make -s -j"$(nproc)" B="$B" "$B/fault/server" || { echo "0 passed, 1 failed"; exit 1; }
read -r port other < <(free_ports 2 | tr '\n' ' ')
mkdir "$tmp/files"
(cgroup_join && exec "$B/fault/server" threaded "127.0.0.1:$port" --log "$tmp/log" --dir "$tmp/files") >/dev/null 2>&1 & threaded=$!
started=$threaded
# Serves one request in a thread, and in that thread executes itself once more, to serve from then on.
cat >"$tmp/again.py" <<'END'
import http.server, os, sys, threading, time
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.03)  # time: how long its answer takes
        self.send_response(200)
        self.send_header('Content-Length', '0')
        self.end_headers()
    def log_message(self, *a):
        pass
def once():
    http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).handle_request()
    os.execv(sys.executable, [sys.executable, *sys.argv, 'again'])
if sys.argv[2:]:
    http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()
threading.Thread(target=once).start()
threading.Event().wait()
END
(cgroup_join && exec python3 "$tmp/again.py" "$other") >/dev/null 2>&1 & again=$!
started+=" $again"
stack_open --slow-ms 5 --rows-per-s 50000 --budget-look-s 2 --scope "cgroup=$cgroup"
listening "$port" "$other"
probe=$(part_pid_of probe)

map() { # NAME: that map of this probe
	local id
	for id in $(cat "/proc/$probe/fdinfo/"* 2>/dev/null | sed -n 's/^map_id:[^0-9]*//p' | sort -u); do
		! bpftool -j map show id "$id" | grep -q "\"name\":\"$1\"" || echo "$id"
	done
}
second=$(map second)
served=$(map served)

joined() {
	bpftool -j map dump id "$second" | grep -q '"formatted"'
}

serving() { # threads that are known to serve
	bpftool -j map dump id "$served" | python3 -c '
import json, sys
e = json.load(sys.stdin)[0]
print(sum(e["formatted"]["value"]["n"]), sum(bin(w).count("1") for w in e["formatted"]["value"]["any"]["word"]))'
}

waits() { # PREFIX MS: requests, and of how many the sleep that they were asked for is there, and no longer than they took
	python3 - "http://$WEB" "$1" "$2" <<'END'
import json, sys, urllib.request
web, prefix, ms = sys.argv[1], sys.argv[2], float(sys.argv[3])
n, right, cursor = 0, 0, ''
while cursor is not None:
    with urllib.request.urlopen(f'{web}/api/v1/requests?limit=1000' + (f'&cursor={cursor}' if cursor else '')) as r:
        page = json.load(r)
    for row in page['requests']:
        if row['path'].startswith(prefix):
            n += 1
            slept = sum(s['ms'] for s in row['shares'] if s['code'] == 'sleep')
            good = ms / 2 <= slept <= row['totalTime']  # one that is lost is 0; its clock may run for long before it leaves its processor
            right += good
            good or print(row['path'], row['totalTime'], row['shares'], file=sys.stderr)
    cursor = page.get('next')
print(n, right)
END
}

ok "they join when the programs have been counted for a while" await 300 joined
clients=
for client in 1 2 3 4 5 6 7 8; do
	curl -s -o /dev/null -m 60 "http://127.0.0.1:$port/switch/$client/[1-1000]?f=sleep&ms=6" & clients+=" $!"
done
seen=0 apart=0 most=0
while kill -0 ${clients##* } 2>/dev/null; do
	seen=$((seen + 1))
	sleep 0.02
	joined || apart=$((apart + 1))
	[ $((seen % 20)) != 0 ] || most+=" $(serving | cut -d' ' -f1)"
done
wait $clients
ok "they were joined for most of the time ($apart of $seen looks apart)" test "$seen" -ge 20 -a "$apart" -le "$((seen / 2))"
ok "and apart in between" test "$apart" -ge 1
ok "each of 8000 requests has its wait, once" await_value "8000 8000" waits /switch/ 6
ok "its threads are known (at some times:$most)" grep -qw 8 <<<"$most"

curl -s -o /dev/null -m 10 "http://127.0.0.1:$other/again/first"
listening "$other"
for i in 1 2 3 4 5; do
	curl -s -o /dev/null -m 10 "http://127.0.0.1:$other/again/$i"
done
ok "a thread that took the place of its process is seen" await_value "6 6" waits /again/ 30

kill $started
wait $started 2>/dev/null
started=
ok "who serves no more is not counted" await_value "0 0" serving
done_checking
