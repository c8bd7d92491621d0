#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# foreign.sh - an outsider cannot stop the probe: user nobody runs servers whose files, mounts, mappings and descriptors cost
# a reader much, while another server is under load. All attacks run at once; LONG=1 makes them larger.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

if [ "${LONG:-}" = 1 ]; then mounts=20000 lines=60000 descriptors=200000 spaces=200 processes=20000 threads=10000 seconds=120
else mounts=5000 lines=30000 descriptors=20000 spaces=20 processes=3000 threads=2000 seconds=16; fi
pids=() attackers=()
on_exit() {
	[ ${#pids[@]} = 0 ] || { kill "${pids[@]}"; wait "${pids[@]}"; } 2>/dev/null
	rm -rf "$shm"
	rm -f $maps
	umount -l "$tmp/silent" 2>/dev/null
}
shm=$(mktemp -d /dev/shm/seismo-foreign.XXXXXX) || exit 1
read -r port sparse sections deep many listeners wide silent swarm herd odd gone < <(free_ports 12 | tr '\n' ' ')
mapfile -t map_ports < <(free_ports 7)
holes=${map_ports[0]}
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

many_sections() { # each is a table of symbols
	python3 tests/it/hostile/foreign_make.py sections "$tmp/hostile" "$shm/sections" 1000000 && chown 65534:65534 "$shm/sections" &&
		attack "$sections" "$shm/sections" "$sections"
}

gone_program() { # its file is deleted once it runs
	install -o 65534 -m 755 "$tmp/hostile" "$shm/gone" && attack "$gone" "$shm/gone" "$gone" && rm "$shm/gone"
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

bad_map() { # NAME COMMAND: a server of this name has a perf map that is made by the command, with $1 for its path
	local port=${map_ports[0]} map
	map_ports=("${map_ports[@]:1}")
	attack "$port" "$tmp/hostile" "$port" --name "$1" || return 1
	map=/tmp/perf-${pids[-1]}.map maps+=" $map"
	outsider bash -c "$2" - "$map" &
	pids+=($!)
	await 100 is_there "$map"
}

is_there() {
	[ -e "$1" ] || [ -L "$1" ]
}

many_spaces() { # network namespaces
	local i
	for ((i = 0; i < spaces; i++)); do
		outsider unshare -Urn sleep 600 &
		pids+=($!)
	done
	outsider bash -c 'while sleep 1; do unshare -Urn sleep 2 & done' & # and others that end
	pids+=($!)
}

turns() { # METRIC: the largest in ms, over all reports of turns since the attacks began
	ask "select coalesce(max(value), 0) * 1000 from api.series where metric = '$1' and value <> 'nan' and ts > to_timestamp($began)"
}

reports() {
	ask "select count(*) from api.series where metric = 'loop_turn_longest_seconds'"
}

refused() { # [METRIC]: all, or those of one kind
	ask "select coalesce(sum(value), 0)::int from api.series where metric = 'foreign_${1:-files}_refused' and value <> 'nan'"
}

ask_first() { # PORT COMMAND...: one more sample of that attacker, then whether it is so
	curl -s -o /dev/null --max-time 5 "http://127.0.0.1:$1/"
	"${@:2}"
}

is_refused() { # METRIC
	[ "$(refused "$1")" -ge 1 ]
}

is_named() { # KIND PROGRAM REASON
	grep -q "refused to read the $1 of $2 (pid [0-9]*): $3;" "$VAR/log/probe.log" || { grep refused "$VAR/log/probe.log"; return 1; }
}

doctor_names() { # KIND PROGRAM REASON
	"$B/seismo-probe" doctor --state "$VAR/probe.state" --collector "$BIND" >"$tmp/doctor" 2>&1
	grep "files of others" "$tmp/doctor" | grep -q "^off .* the $1 of $2 is not read: $3; refused [0-9]* times" || { cat "$tmp/doctor"; return 1; }
}

rows_of() {
	ask "select count(*) from request where local_port = $port"
}

is_below() { # MS LIMIT
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && a <= b) }' || { echo "$1 ms"; return 1; }
}

asking() {
	while sleep 0.2; do # time: so that the attackers do not take all of the processors
		for p in "${attackers[@]}"; do
			curl -s -o /dev/null --max-time 5 "http://127.0.0.1:$p/"
		done
	done
}

maps=
probe_first # what is measured by the clock is the work of the probe, not that of others
began=$(($(date +%s) + 11)) # a report is of the ten seconds before it
install -m 755 "$tmp/hostile" "$shm/hostile"
"$B/tools/server" "$port" & pids+=($!)
listening "$port"
make="python3 tests/it/hostile/foreign_make.py map"
ok "a sparse program runs" sparse_program
ok "one with 65,279 tables of symbols runs" many_sections
ok "one whose file is deleted runs" gone_program
ok "a server below $mounts nested mounts runs" deep_mounts
ok "one with very many mappings runs" attack "$wide" "$tmp/hostile" "$wide" --name wide --lines "$lines"
ok "one with $descriptors descriptors runs" attack "$many" "$tmp/hostile" "$many" --descriptors "$descriptors"
ok "one with 3,000 listening sockets runs" attack "$listeners" "$tmp/hostile" "$listeners" --listeners 3000
ok "one with $processes processes runs" attack "$swarm" "$tmp/hostile" "$swarm" --processes "$processes"
ok "one with $threads threads runs" attack "$herd" "$tmp/hostile" "$herd" --threads "$threads"
ok "one with an odd name and 100 KB of arguments runs" attack "$odd" "$tmp/hostile" "$odd" --name $'\n\e[2J) R 1' \
	"$(head -c 100000 /dev/zero | tr '\0' x)"
[ ! -c /dev/fuse ] || ok "one before a file system that never answers runs" silent_fuse
ok "one with a sparse perf map runs" bad_map holes 'echo "1000 10 a" >"$1"; truncate -s 1T "$1"'
ok "one whose perf map is a FIFO runs" bad_map fifo 'mkfifo "$1"'
ok "one whose perf map is a device runs" bad_map device 'ln -s /dev/zero "$1"'
ok "one whose perf map is a circle of links runs" bad_map circle 'ln -s "$1" "$1"'
ok "one whose perf map is very long runs" bad_map long "$make wide "'"$1"'
ok "one whose perf map is a single line runs" bad_map line "$make line "'"$1"'
ok "one whose perf map grows runs" bad_map grows "$make grow "'"$1"'
many_spaces

"$B/tools/load" "127.0.0.1:$port" --prefix /other/ --rate 500 --seconds "$seconds" >"$tmp/load" &
load=$!
asking & asking=$!
pids+=($asking)
wait "$load"
sent=$(sed -n 's/.*sent \([0-9]*\).*/\1/p' "$tmp/load")
ok "no row of the other server is lost" await_value "$sent" rows_of
before=$(reports)
more() { [ "$(reports)" -gt "$before" ]; }
ok "turns of the loop are reported" await 400 more
cpu=$(turns loop_turn_longest_cpu_seconds) clock=$(turns loop_turn_longest_seconds)
echo "longest turn: $cpu ms of CPU, $clock ms by the clock; $(refused) files refused"
# 36 to 45 ms when nothing else runs; the limits are for a machine that runs other suites.
ok "the longest takes at most 100 ms of CPU" is_below "$cpu" 100
ok "and 250 ms by the clock" is_below "$clock" 250
# On a busy machine few stacks of each attacker are looked at, so the one that counts is asked until it was.
kill "$asking"
all_are() { # COMMAND: which looks for a kind, a program and a reason
	ok "$1: a sparse program" await 400 ask_first "$sparse" "$1" "ELF file" sparse "it is too large"
	ok "$1: one with a sparse perf map" await 400 ask_first "$holes" "$1" "perf map" holes "it has holes"
	ok "$1: one with too many mappings" await 400 ask_first "$wide" "$1" "list of mappings" wide "it is too large"
}
all_are is_named
all_are doctor_names
for kind in elf_files perf_maps mappings; do
	ok "the refused $kind are counted" await 400 is_refused "$kind"
done
done_checking
