#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stacks.sh - servers that are busy for 100 ms: what they did stands with the request, by name where there is one.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

pids=()
on_exit() {
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
}

started() { # PORT COMMAND...
	"${@:2}" >"$tmp/server.out" 2>&1 &
	pids+=($!)
	listening "$1" || { cat "$tmp/server.out"; return 1; }
}

# All frames of all stacks of the last row from this port, innermost first, each stack on a line with its flags.
stacks() { # PORT
	curl -s "http://127.0.0.1:$web/api/v1/requests?limit=1000" | python3 -c '
import json, sys, urllib.request
rows = [r for r in json.load(sys.stdin)["requests"] if r["app"].startswith(sys.argv[2])]
for r in rows:
    one = json.load(urllib.request.urlopen("http://127.0.0.1:%s/api/v1/requests/%s" % (sys.argv[1], r["id"])))
    for e in one.get("evidence", []):
        if e["part"] == "cpu" and e["stack"]:
            print("%.0f" % e["ms"], ",".join(sorted(e["stackFlags"])), " < ".join(e["stack"]))
' "$web" "$1"
}

seen() { # APP PATTERN: one of its stacks looks like this, within 15 s
	local until=$((SECONDS + 15))
	while [ $SECONDS -le $until ]; do
		stacks "$1" >"$tmp/seen"
		grep -Eq "$2" "$tmp/seen" && return
		sleep 0.3
	done
	echo "$1:"
	cat "$tmp/seen"
	return 1
}

ask_n() { # PORT N
	for _ in $(seq "$2"); do
		curl -s -o /dev/null "http://127.0.0.1:$1/"
	done
}

ids=(eb11000000000000000000000000000000000001 eb11000000000000000000000000000000000002
	eb11000000000000000000000000000000000003 eb11000000000000000000000000000000000004 eb11000000000000000000000000000000000005)
build() { # NAME ID: one build, one id
	gcc -O1 -fno-omit-frame-pointer "-Wl,--build-id=0x$2" -o "$tmp/$1" tests/it/profile/stacks_server.c
}
build named "${ids[0]}" && build stripped "${ids[1]}" && build forking "${ids[2]}" && build deleted "${ids[3]}" &&
	build inside "${ids[4]}" ||
	{ echo "0 passed, 1 failed"; exit 1; }
strip -s "$tmp/stripped"
id=${ids[1]}
read -r named stripped forking deleted inside node < <(free_ports 6 | tr '\n' ' ')

stack_open --slow-ms 50
started "$named" "$tmp/named" "$named"
ask_n "$named" 3
ok "what a server was doing has its name, and who called it, up to where the thread began" \
	seen named "^[0-9]+ user burn_cpu\+0x[0-9a-f]+ \(named\) < serve_one\+0x[0-9a-f]+ \(named\) < main\+0x[0-9a-f]+ \(named\) < "
ok "of 100 ms most was seen there ($(grep -c . "$tmp/seen") stacks)" awk '/burn_cpu/ && $1 > 60 && $1 < 130 { n++ } END { exit !n }' "$tmp/seen"
started "$stripped" "$tmp/stripped" "$stripped"
ask_n "$stripped" 3
ok "without names it is the build id and the offset in the file" \
	seen stripped "^[0-9]+ user $id\+0x[0-9a-f]+ \(stripped\) < $id\+0x[0-9a-f]+ \(stripped\) < "
started "$forking" "$tmp/forking" "$forking" fork
ask_n "$forking" 5
ok "a process that was there for one request only is named, too" seen forking "user burn_cpu\+0x[0-9a-f]+ \(forking\) < serve_one"
started "$deleted" "$tmp/deleted" "$deleted"
rm "$tmp/deleted"
ask_n "$deleted" 3
ok "so is a program whose file was deleted" seen deleted "user burn_cpu\+0x[0-9a-f]+ \(deleted\) < serve_one"
mkdir "$tmp/own"
started "$inside" unshare -m sh -c "mount -t tmpfs none $tmp/own && cp $tmp/inside $tmp/own/ && exec $tmp/own/inside $inside"
ask_n "$inside" 3
ok "so is one whose file lies in a mount namespace of its own" seen inside "user burn_cpu\+0x[0-9a-f]+ \(inside\) < serve_one"
if command -v node >/dev/null; then
	started "$node" env -C "$tmp" node --perf-basic-prof --interpreted-frames-native-stack \
		"$PWD/tests/it/profile/stacks_server.mjs" "$node" # there: it writes a log where it is
	ask_n "$node" 5
	ok "code of a runtime has the name that its map gives" seen node "JS:[^<]*burnCpu [^<]*stacks_server.mjs"
	rm -f "/tmp/perf-${pids[-1]}.map"
else
	echo "no node here: code of a runtime is left to tests/unit/probe/symbol/user/test_usym.c"
fi
done_checking
