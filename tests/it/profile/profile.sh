#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# profile.sh - programs that are busy all the time: the profile of each names the function that they are in.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

pids=()
on_exit() {
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
	cgroup_gone
}

profile() { # QUERY
	curl -s "http://127.0.0.1:$web/api/v1/profile?$1"
}

# The function that most samples were in, and how many of a hundred, of an app that was seen five times at the least.
hottest() { # APP
	profile "app=$1" | python3 -c '
import collections, json, sys
a, n = json.load(sys.stdin), collections.Counter()
for s in a["stacks"]:
    n[((s["kernel"] or s["user"] or ["?"])[0])] += s["samples"]
for name, of in n.most_common(1) if a["samples"] >= 5 else []:
    print(100 * of // a["samples"], name)'
}

is_hot() { # APP PATTERN LEAST: within 100 s, on a busy machine
	local until=$((SECONDS + 100)) share name
	while [ $SECONDS -le $until ]; do
		read -r share name < <(hottest "$1")
		[[ ${name:-} =~ $2 ]] && [ "$share" -ge "$3" ] && return
		sleep 0.3
	done
	echo "$1: ${share:-} ${name:-}"
	profile "app=$1" | cut -c1-1000
	grep -v 'attached' "$VAR/log/probe.log" | tail -n 5
	tail -n 3 "$tmp"/node.out
	grep -H '^Name\|^State' /proc/"${pids[-1]}"/status # of whoever began last
	return 1
}

gcc -O1 -fno-omit-frame-pointer -o "$tmp/hotloop" tests/it/profile/stacks_server.c || { echo "0 passed, 1 failed"; exit 1; }
read -r first second < <(free_ports 2 | tr '\n' ' ')
cgroup_make
# Names of a large program cost much at once: what is read rarer for that is seen later.
stack_open --scope "cgroup=$cgroup" --budget-percent 0
(cgroup_join && exec "$tmp/hotloop" "$first" spin) &
pids+=($!)
if command -v node >/dev/null; then # there: it writes a log where it is
	(cgroup_join && exec env -C "$tmp" node --perf-basic-prof --interpreted-frames-native-stack --title=hotscript \
		"$PWD/tests/it/profile/stacks_server.mjs" "$second" spin) >"$tmp/node.out" 2>&1 &
	pids+=($!)
fi
ok "of a C program most samples are in its hot function" is_hot hotloop '^burn_cpu \(hotloop\)$' 50
ok "who called it is known up to where its thread began" python3 -c '
import json, sys
s = max(json.loads(sys.argv[1])["stacks"], key=lambda s: s["samples"])
sys.exit(s["cut"] or s["kernel"] != [] or not any(f.startswith("main (") for f in s["user"][1:]))' "$(profile app=hotloop)"
if [ ${#pids[@]} = 2 ]; then
	ok "of a Node program most are in its hot function" is_hot hotscript '^JS:.*(spin|burnCpu)' 50
	rm -f "/tmp/perf-${pids[1]}.map"
else
	echo "no node here: code of a runtime is left to tests/unit/probe/source/profile/test_fold.c"
fi
kill "${pids[@]}"
pids=()
done_checking
