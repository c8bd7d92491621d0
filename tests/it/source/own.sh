#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# own.sh - kernel programs of the operator's own: the two shipped ones report correct metrics. Each that is broken, that others
# may write or that would change what it sees is off with a sentence that says why, while all others run.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh

B=${B:-build}
tmp=$(mktemp -d) || exit 1
chmod 755 "$tmp"
dir=$tmp/programs received=$tmp/received
read -r port calls refuses hangs < <(free_ports 4 | tr '\n' ' ')
pids=
cgroup_make
trap '[ -z "$pids" ] || { kill $pids; wait $pids; } 2>/dev/null; rm -rf "$tmp"; cgroup_gone' EXIT

CLANG=$(command -v clang || command -v clang-14)
object() { # NAME FLAG...
	"$CLANG" -O2 -g -target bpf -mcpu=v3 -I"/usr/include/$(uname -m)-linux-gnu" "${@:2}" -c -o "$dir/$1.bpf.o" tests/it/source/own_bad.bpf.c &&
		manifest "$1"
}

manifest() { # NAME [SED_EXPRESSION]
	sed -e "${2:-}" >"$dir/$1.conf" <<-END
	[map counts]
	[metric own_calls_total]
	map = counts
	field = n
	kind = counter
	END
}

# 16 in all: the two that are shipped, one that has many keys, and of each mistake one.
programs() {
	local w
	install -d -m 755 "$dir"
	install -m 644 "$B"/programs/* "$dir"
	object plenty -DPLENTY && sed -i 's/^.map counts.$/&\nentities = 2/' "$dir/plenty.conf" || return
	for w in BIG PINNED RING SIGNAL TRAFFIC NOWHERE REFUSED; do
		object "$w" -D$w || return
	done
	object plain && object untyped -g0 && object eb -target bpfeb -DBIG || return
	for w in torn whose field; do
		cp "$dir/plain.bpf.o" "$dir/$w.bpf.o" && manifest $w || return
	done
	truncate -s -700 "$dir/torn.bpf.o"
	chmod o+w "$dir/whose.bpf.o"
	manifest field 's/= n$/= m/'
	mv "$dir/plain.conf" "$tmp"
}

value() { # ENTITY METRIC: the sum of all samples; both are regular expressions
	awk -F '\t' -v e="$1" -v m="$2" '$1 == "sample" && $3 ~ "^(" e ")$" { n = split($4, v, " ")
		for (i = 1; i <= n; i++) { split(v[i], p, "="); if (p[1] ~ "^" m "$") s += p[2] } } END { printf "%.6g\n", s }' "$received"
}

last() { # ENTITY METRIC: its last sample
	awk -F '\t' -v e="$1" -v m="$2" '$1 == "sample" && $3 == e { n = split($4, v, " ")
		for (i = 1; i <= n; i++) { split(v[i], p, "="); if (p[1] == m) s = p[2] } } END { print s }' "$received"
}

await() { # VALUE COMMAND...
	local until=$((SECONDS + 20))
	while [ $SECONDS -le $until ] && kill -0 "$probe_pid" 2>/dev/null; do
		[ "$("${@:2}")" = "$1" ] && return
		sleep 0.2
	done
	echo "not $1 but $("${@:2}"): ${*:2}"
	return 1
}

within() { # LOW HIGH COMMAND...
	local until=$((SECONDS + 20)) n
	while [ $SECONDS -le $until ] && kill -0 "$probe_pid" 2>/dev/null; do
		n=$("${@:3}")
		awk -v n="$n" -v a="$1" -v b="$2" 'BEGIN { exit !(n >= a && n <= b) }' && return
		sleep 0.2
	done
	echo "$n is not within $1 and $2: ${*:3}"
	return 1
}

off() { # NAME TEXT: the collector received this reason, and the doctor prints it
	grep -F "source	own.$1	off	" "$received" | grep -qF -- "$2" && grep -E "^off  own.$1 " "$tmp/doctor" | grep -qF -- "$2"
}

# 37 that are taken, 11 that are refused, and one that nobody answers until the end of input.
call() {
	python3 - "$calls" "$refuses" "$hangs" <<-END
	import socket, sys
	calls, refuses, hangs = map(int, sys.argv[1:])
	there = socket.create_server(("127.0.0.1", calls), backlog=64)
	full = socket.socket()
	full.bind(("127.0.0.1", hangs))
	full.listen(0)
	for _ in range(37): socket.create_connection(("127.0.0.1", calls)).close()
	for _ in range(11):
	    try: socket.create_connection(("127.0.0.1", refuses))
	    except ConnectionRefusedError: pass
	held = []
	for _ in range(3): # of which one finds room, or two
	    s = socket.socket()
	    s.setblocking(False)
	    s.connect_ex(("127.0.0.1", hangs))
	    held.append(s)
	print("called", flush=True)
	open("$tmp/hang").read()
	for s in held: s.close()
	END
}

# A task that sleeps, and works beside another on one processor: prints how often at least and at most it was given one
# while it was in the cgroup, for how many seconds it waited, and how many of those waits may have begun or ended while process 1 had
# the processor, when some kernels run no program of BPF (docs/limits.md): each time that it left one, and one for each of its milliseconds.
waiter() {
	python3 - "$cgroup" <<-'END'
	import os, sys, time
	def switches(pid="self"):
	    return sum(int(l.split()[1]) for l in open(f"/proc/{pid}/status") if "ctxt_switches" in l)
	def waited():
	    return int(open("/proc/self/schedstat").read().split()[1]) / 1e9
	def first():
	    n = 0
	    for task in os.listdir("/proc/1/task"):
	        try: n += switches(f"1/task/{task}") + int(open(f"/proc/1/task/{task}/schedstat").read().split()[0]) // 1000000
	        except OSError: pass # it has ended
	    return n
	os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
	other = os.fork()
	if not other:
	    while True: pass
	unseen = first()
	a = switches(), waited()
	open(sys.argv[1] + "/cgroup.procs", "w").write(str(os.getpid()))
	b = switches(), waited()
	for _ in range(300): time.sleep(0.001) # time: 300 switches
	end = time.process_time() + 0.3
	while time.process_time() < end: pass
	c = switches(), waited()
	open(os.path.dirname(sys.argv[1]) + "/cgroup.procs", "w").write(str(os.getpid()))
	d = switches(), waited()
	os.kill(other, 9)
	print(c[0] - b[0], d[0] - a[0], c[1] - b[1], d[1] - a[1], max(first() - unseen, 0))
	END
}

programs || { echo "0 passed, 1 failed"; exit 1; }
"$B/tools/fakecollector" "tcp://127.0.0.1:$port" "$tmp/collector" >"$received" 2>"$tmp/collector.err" & pids=$!
listening "$port"
probe=("$B/seismo-probe" --collector "tcp://127.0.0.1:$port" --collector-key "$tmp/collector/collector.pub" --keys "$tmp/keys" --programs "$dir")
"${probe[@]}" --node own --scope "cgroup=$cgroup" --nginx off 2>"$tmp/err" & pids+=" $!"
probe_pid=$!
i=0
until grep -qE '^source	own.tcpconnect' "$received" || [ $((++i)) -gt 300 ]; do sleep 0.1; done
mkfifo "$tmp/hang"
coproc caller { call; }
caller_pid=$!
read -r -t 20 _ <&"${caller[0]}"
read -r least most seconds_least seconds_most unseen < <(waiter)
id=$(stat -c %i "$cgroup")

ok "each connect is counted by its port" await 37 value "port=$calls" 'tcp_connect_latency_us_.*'
ok "none of them failed" await 0 value "port=$calls" tcp_connect_failed_total
ok "they took some time ($(value "port=$calls" tcp_connect_seconds_total) s)" within 0.0001 10 value "port=$calls" tcp_connect_seconds_total
ok "each refused connect is counted" await 11 value "port=$refuses" tcp_connect_failed_total
ok "and is no connect" await 0 value "port=$refuses" 'tcp_connect_latency_us_.*'
ok "one that waits for an answer is reported as connecting" within 1 2 last "port=$hangs" tcp_connecting
waiting=$(last "port=$hangs" tcp_connecting)
echo >"$tmp/hang"
ok "when it is given up it is counted as failed" await "$waiting" value "port=$hangs" tcp_connect_failed_total
ok "and waits no more" await 0 last "port=$hangs" tcp_connecting
ok "none was missed" test "$(value "" tcp_connect_missed_total)" = 0
ok "each wait for a processor is counted by its cgroup (${least:-none} to ${most:-none}), but for what process 1 hides (${unseen:-none} at most)" \
	within $((${least:-1} - ${unseen:-0})) "${most:-0}" value "cgroup=$id" 'runqueue_latency_us_.*'
ok "there were some" test "${least:-0}" -ge 300
ok "they took as long as the kernel says (${seconds_least:-none} to ${seconds_most:-none} s)" \
	within "$(awk -v s="${seconds_least:-9}" 'BEGIN { print s * 0.9 - 0.01 }')" "$(awk -v s="${seconds_most:-0}" 'BEGIN { print s * 1.1 + 0.01 }')" \
	value "cgroup=$id" runqueue_wait_seconds_total
# The kernel refuses to make storage for a new task while another change of such storage is preempted on the processor.
few_missed() {
	local missed all
	missed=$(value "" runqueue_missed_total) all=$(value 'cgroup=.*' 'runqueue_latency_us_.*')
	echo "missed $missed, counted $all"
	awk -v missed="$missed" -v all="$all" 'BEGIN { exit !(all > 0 && missed * 100 <= all) }'
}
ok "at most one wait of 100 was missed, on the whole machine" few_missed
ok "keys beyond the limit are counted" within 1 1000 last own.plenty program_keys_untold
ok "and said once, with what to do" test "$(grep -c 'source own.plenty: map counts has [0-9]* keys beyond the limit of 2; raise entities = in plenty.conf' "$tmp/err")" = 1
ok "all that under the filter of system calls" grep -qx "Seccomp:[[:space:]]2" "/proc/$probe_pid/status"

"${probe[@]}" doctor >"$tmp/doctor" 2>"$tmp/doctor.err"
for name in proc own.plenty own.runqlat own.tcpconnect; do
	ok "$name runs" eval 'grep -q "^source	$name	attached" "$received" && grep -qE "^ok   $name " "$tmp/doctor"'
done
ok "maps that are too big are refused with their sizes" off BIG "its maps take more than 4 MiB: counts is 1048576 entries of 20 + 72 bytes"
ok "a pinned map is refused" off PINNED "map counts is pinned: leave out LIBBPF_PIN_BY_NAME"
ok "a map that nobody would read is refused" off RING "map ring is of a type, 27, that is not allowed"
ok "a helper that sends signals is refused, also in a function" off SIGNAL "calls bpf_send_signal: a program may observe"
ok "a program for packets is refused" off TRAFFIC 'program on_call in SEC("xdp") is not of a kind that is allowed'
ok "a section without a target is refused" off NOWHERE 'on_call in SEC("tracepoint") cannot be attached by its section alone'
ok "a program that the verifier refuses is off with the reason that the verifier gives" off REFUSED "the kernel's verifier refused program on_call: R"
ok "an object without types is refused" off untyped "BTF"
ok "one of another byte order is refused" off eb "is no object that libbpf can read"
ok "a truncated one is refused" off torn "torn.bpf.o is"
ok "one that others may write is refused, with the remedy" off whose "others may write $dir/whose.bpf.o, which goes into the kernel: chmod go-w it"
ok "an unknown field is refused with file, line and the known fields" off field "field.conf:2: the value has no member m; it has slots, n"
ok "one without a manifest is refused" off plain "plain.conf cannot be read: No such file or directory"
silent() { # FILE, or what it says
	[ ! -s "$1" ] || { cat "$1" >&2; return 1; }
}
ok "nothing is said beside the doctor's lines" silent "$tmp/doctor.err"
ok "the probe runs on" kill -0 "$probe_pid"

cp "$tmp/plain.conf" "$dir"
cp "$dir/plain.bpf.o" "$dir/zlast.bpf.o"
manifest field 's/counter/count/'
"${probe[@]}" doctor >"$tmp/doctor" 2>&1
ok "a mended one is attached" grep -qE '^ok   own.plain ' "$tmp/doctor"
ok "an unknown kind is refused with file and line" \
	grep -qE '^off  own.field +field.conf:2: kind = "count": counter, gauge or histogram is allowed' "$tmp/doctor"
ok "the program beyond the limit is named" grep -qE '^off  own  .*has more than 16 programs: zlast is one too many' "$tmp/doctor"
chmod g+w "$dir"
"${probe[@]}" doctor >"$tmp/doctor" 2>&1
ok "a directory that others may write is refused" grep -qE '^off  own  .*others may write .*/programs, .*: chmod go-w it' "$tmp/doctor"
ok "and nothing of it is loaded" eval '! grep -q "own\." "$tmp/doctor"'
done_checking
