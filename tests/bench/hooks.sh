#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# hooks.sh - what the kernel programs take of each request of an nginx, by the kernel's own figures: those of the
# scheduler's hooks beside those of the sockets', and nginx's own record. Unlike CPU time per request this is steady on
# a busy host; not in it is what it takes to get into a program (a trap for nginx's record). Prints Markdown for
# RESULTS.md. ROUNDS=5 SECONDS_EACH=2.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/bench_rig.sh
rounds=${ROUNDS:-5}
bpftool=$(command -v bpftool || echo /usr/sbin/bpftool)
cgroup_make
nginx_rig
trap 'kill $server $probe 2>/dev/null; nginx -c "$tmp/nginx.conf" -e "$tmp/error.log" -s quit; sysctl -q kernel.bpf_stats_enabled=0; rm -rf "$tmp"; cgroup_gone' EXIT
for pid in "$(cat "$tmp/nginx.pid")" "$worker"; do # the probe leaves the load and the upstream alone
	echo "$pid" >"$cgroup/cgroup.procs"
done

runs() { # of the probe's programs: name, runs, ns
	"$bpftool" -j prog show | python3 -c '
import json, sys
for p in json.load(sys.stdin):
    if str(p["id"]) in sys.argv[1:]:
        print(p["name"], p.get("run_cnt", 0), p.get("run_time_ns", 0))' \
		$(sed -n 's/^prog_id:\s*//p' "/proc/$probe"/fdinfo/* | sort -un)
}

empty=$(empty_ns)

once() { # PORT: ns a request in each group of programs
	local n
	runs >"$tmp/before"
	n=$(taskset -c 1 wrk -t1 -c32 -d"${each}s" "http://127.0.0.1:$1/r/1" | awk '/requests in/ { print $1 }')
	runs >"$tmp/after"
	paste "$tmp/before" "$tmp/after" | awk -v n="$n" -v empty="$empty" '
		{ ns = $6 - $3 - ($5 - $2) * empty
		  group = $1 ~ /^on_(switch|waking)$/ ? "sched" : $1 ~ /^on_free_request$/ ? "nginx" : $1 ~ /^on_(recv|send|state|destroy|exit)$/ ? "request" : "other"
		  sum[group] += ns > 0 ? ns : 0 }
		END { printf "%d %d %d\n", sum["request"] / n, sum["sched"] / n, sum["nginx"] / n }'
}

measure() { # NAME PORT HOOKS
	local i
	: >"$tmp/each"
	for ((i = 0; i < rounds; i++)); do
		once "$2" >>"$tmp/each"
	done
	printf '| %s | %s | %s | %s | %s |\n' "$1" "$3" "$(cut -d' ' -f1 "$tmp/each" | median)" "$(cut -d' ' -f2 "$tmp/each" | median)" \
		"$(cut -d' ' -f3 "$tmp/each" | median)"
}

cat <<END
### What the kernel programs take of each request, $(date -u +%F)

$(machine), nginx $(nginx -v 2>&1 | sed 's|.*/||').
Command: \`make bench\` (\`tests/bench/hooks.sh\`, $rounds rounds of ${each} s; nginx's one worker on one processor; the probe watches its
cgroup alone). Nanoseconds a request, by the kernel's own figures less $empty ns a run, which they cost themselves; median (min..max).

| nginx answers | hooks | sockets or system calls | scheduler | nginx's own record |
|---|---|---|---|---|
END
for hooks in sockets syscalls; do
	taskset -c 1 "$B/seismo-probe" --hooks "$hooks" --scope "cgroup=$cgroup" --node bench --collector "tcp://127.0.0.1:$nobody" --collector-key "$nobodys_key" --keys "$tmp/keys" 2>"$tmp/probe.log" & probe=$!
	for _ in $(seq 100); do
		curl -s -o /dev/null -o /dev/null "http://127.0.0.1:$static/w" "http://127.0.0.1:$proxied/w"
		grep -q 'read exactly' "$tmp/probe.log" && break
		sleep 0.2
	done
	sysctl -q kernel.bpf_stats_enabled=1
	measure "by itself (return 200)" "$static" "$hooks"
	measure "through an upstream, kept alive" "$proxied" "$hooks"
	sysctl -q kernel.bpf_stats_enabled=0
	kill $probe && wait $probe 2>/dev/null
done
