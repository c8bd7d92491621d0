#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# foreign.sh - an outsider cannot stop the probe: user nobody runs servers whose files, mounts, mappings and descriptors cost
# a reader much, while another server is under load. All attacks run at once; LONG=1 makes them larger.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

if [ "${LONG:-}" = 1 ]; then mounts=20000 lines=60000 descriptors=200000 spaces=200 seconds=120
else mounts=5000 lines=30000 descriptors=20000 spaces=20 seconds=16; fi
pids=() attackers=()
on_exit() {
	[ ${#pids[@]} = 0 ] || { kill "${pids[@]}"; wait "${pids[@]}"; } 2>/dev/null
	rm -rf "$shm"
	umount -l "$tmp/silent" 2>/dev/null
}
shm=$(mktemp -d /dev/shm/seismo-foreign.XXXXXX) || exit 1
read -r port sparse deep many wide silent holes fifo < <(free_ports 8 | tr '\n' ' ')
stack_open --slow-ms 0 --rows-per-s 50000
gcc -O1 -fno-omit-frame-pointer -o "$tmp/hostile" tests/it/hostile/foreign_server.c || { echo "0 passed, 1 failed"; exit 1; }
chmod 777 "$shm"
mkdir -p "$tmp/silent" "$tmp/deep" && chmod 777 "$tmp/deep"

outsider() { # COMMAND...: takes the place of the shell, so that its process is known
	exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

attack() { # PORT COMMAND...: its server listens there
	outsider "${@:2}" >>"$tmp/attacks.out" 2>&1 &
	pids+=($!)
	listening "$1" || { cat "$tmp/attacks.out"; return 1; }
	attackers+=("$1")
}

sparse_program() { # claims 3e12 bytes of symbols
	python3 tests/it/hostile/foreign_make.py sparse "$tmp/hostile" "$shm/sparse" 3000000000000 && chown 65534:65534 "$shm/sparse" &&
		attack "$sparse" "$shm/sparse" "$sparse"
}

deep_mounts() { # files on an anonymous device below nested mounts
	attack "$deep" unshare -Urm bash -c 'mount -t tmpfs deep "$1" && mkdir "$1/x" &&
		exec "$2" "$3" --mounts "$1/x" "$4" --files "$1/x" 64' - "$tmp/deep" "$tmp/hostile" "$deep" "$mounts"
}

# Mounted as root, so that the file system would ask its silent server for the probe, too.
silent_fuse() { # whoever looks into its /tmp waits for ever
	unshare -m python3 tests/it/hostile/foreign_make.py fuse /tmp \
		setpriv --pdeathsig KILL --reuid 65534 --regid 65534 --clear-groups "$shm/hostile" "$silent" >>"$tmp/attacks.out" 2>&1 &
	pids+=($!)
	listening "$silent" && attackers+=("$silent")
}

bad_map() { # PORT COMMAND: its perf map is made by the command, with $1 for its name
	attack "$1" "$tmp/hostile" "$1" && (outsider bash -c "$2" - "/tmp/perf-${pids[-1]}.map") && maps+=" /tmp/perf-${pids[-1]}.map"
}

many_spaces() { # network namespaces
	local i
	for ((i = 0; i < spaces; i++)); do
		outsider unshare -Urn sleep 600 &
		pids+=($!)
	done
}

turns() { # METRIC: the largest in ms, over all reports of turns since the attacks began
	ask "select coalesce(max(value), 0) * 1000 from api.series where metric = '$1' and value <> 'nan' and ts > to_timestamp($began)"
}

reports() {
	ask "select count(*) from api.series where metric = 'loop_turn_longest_seconds'"
}

refused() {
	ask "select coalesce(sum(value), 0)::int from api.series where metric = 'foreign_files_refused' and value <> 'nan'"
}

is_refused() {
	[ "$(refused)" -ge 1 ]
}

is_named() {
	grep -qE "refused to read the .* of (sparse|hostile)" "$VAR/log/probe.log"
}

rows_of() {
	ask "select count(*) from request where local_port = $port"
}

is_below() { # MS LIMIT
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && a <= b) }' || { echo "$1 ms"; return 1; }
}

maps=
probe_first # what is measured by the clock is the work of the probe, not that of others
began=$(($(date +%s) + 11)) # a report is of the ten seconds before it
install -m 755 "$tmp/hostile" "$shm/hostile"
"$B/tools/server" "$port" & pids+=($!)
listening "$port"
ok "a sparse program runs" sparse_program
ok "a server below $mounts nested mounts runs" deep_mounts
ok "one with very many mappings runs" attack "$wide" "$tmp/hostile" "$wide" --lines "$lines"
ok "one with $descriptors descriptors runs" attack "$many" "$tmp/hostile" "$many" --descriptors "$descriptors"
[ ! -c /dev/fuse ] || ok "one before a file system that never answers runs" silent_fuse
ok "one with a sparse perf map runs" bad_map "$holes" 'echo "1000 10 a" >"$1"; truncate -s 1T "$1"'
ok "one whose perf map is a FIFO runs" bad_map "$fifo" 'mkfifo "$1"'
many_spaces

"$B/tools/load" "127.0.0.1:$port" --prefix /other/ --rate 500 --seconds "$seconds" >"$tmp/load" &
load=$! until=$((SECONDS + seconds))
while [ $SECONDS -lt $until ]; do
	for p in "${attackers[@]}"; do
		curl -s -o /dev/null --max-time 5 "http://127.0.0.1:$p/"
	done
	sleep 0.2 # so that the attackers do not take all of the processors
done
wait "$load"
sent=$(sed -n 's/.*sent \([0-9]*\).*/\1/p' "$tmp/load")
ok "no row of the other server is lost" await_value "$sent" rows_of
before=$(reports)
more() { [ "$(reports)" -gt $((before + 1)) ]; }
ok "turns of the loop are reported" await 400 more
cpu=$(turns loop_turn_longest_cpu_seconds) clock=$(turns loop_turn_longest_seconds)
echo "longest turn: $cpu ms of CPU, $clock ms by the clock; $(refused) files refused"
ok "the longest takes at most 200 ms of CPU" is_below "$cpu" 200
ok "and 250 ms by the clock" is_below "$clock" 250
ok "what was refused is counted" await 400 is_refused
ok "and its program is named in the log" is_named
rm -f $maps
done_checking
