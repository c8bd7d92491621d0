#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# probe.sh - seismo-probe as a process: what it keeps of root, what it costs, how it goes. No collector is there.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh

probe=${B:-build}/seismo-probe
tmp=$(mktemp -d) || exit 1
chmod 755 "$tmp"
cp "$probe" "$tmp/seismo-probe" # where another user can start it
read -r port < <(free_ports 1)
pid= keys=0
cgroup_make # what other tests' servers are asked would fill its memory
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$tmp"; cgroup_gone' EXIT

start() { # COMMAND...
	mkdir -p -m 777 "$tmp/keys" # of whoever starts it
	keys=$((keys + 1))
	"$@" --collector "tcp://127.0.0.1:$port" --collector-key "$nobodys_key" --keys "$tmp/keys/$keys" --node it-probe 2>"$tmp/err" &
	pid=$!
}

# Ended by SIGTERM, with status 0, within a second.
stops() {
	local i status
	kill -TERM "$pid"
	for i in $(seq 20); do
		[ "$(awk '$1 == "State:" { print $2 }' "/proc/$pid/status" 2>/dev/null)" = Z ] || [ ! -d "/proc/$pid" ] && break
		sleep 0.05
	done
	[ "$i" -lt 20 ] || return 1
	wait "$pid"
	status=$?
	pid=
	[ $status -eq 0 ]
}

# CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_NET_ADMIN, and nothing to get more from; the one that
# has the kernel count keeps CAP_SYS_ADMIN alone.
only_five() {
	local task n=0 kept counting=0
	for task in /proc/"$pid"/task/*; do
		n=$((n + 1)) kept=000000c000081004
		[ "$(cat "$task/comm")" != counting ] || kept=0000000000200000 counting=$((counting + 1))
		for set in CapPrm CapEff CapBnd; do
			grep -qx "$set:[[:space:]]$kept" "$task/status" || return 1
		done
		grep -qx "CapInh:[[:space:]]0*" "$task/status" && grep -qx "NoNewPrivs:[[:space:]]1" "$task/status" || return 1
	done
	[ $n -gt 2 ] && [ $counting = 1 ]
}

# A filter in each, which the kernel calls mode 2.
only_filtered() {
	local task
	for task in /proc/"$pid"/task/*; do
		grep -qx "Seccomp:[[:space:]]2" "$task/status" || return 1
	done
}

# Resident, less the kernel's ring, in KiB.
resident() {
	awk '/^[0-9a-f]+-[0-9a-f]+ / { ring = /bpf-map/ } /^Rss:/ && !ring { n += $2 } END { print n }' "/proc/$pid/smaps"
}

# What it holds, by kind. What is open for a moment only (a look at a process, a try to connect) is not held.
fds() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		find "/proc/$pid/fd" -type l -printf '%f %l\n'
		sleep 0.1 # time: what is open for a moment only is not there each time
	done | sort | uniq -c | awk '$1 == 10 { sub(/\[[0-9]+\]/, "", $3); print $3 }' | sort
}

no_more_fds() {
	local more
	more=$(comm -13 <(echo "$before") <(fds))
	[ -z "$more" ] || { echo "more: $more"; return 1; }
}

sources_off() {
	grep 'source .* is off' "$tmp/err" | grep -vc 'source runq is off: .*cpu.wait.share'
}

# Each nginx of another test is a descriptor more, and what times waits for a CPU is only there while tasks wait.
start "$tmp/seismo-probe" --scope "cgroup=$cgroup" --nginx off --cpu-wait-share 0
for i in $(seq 300); do # its sources are open by then
	grep -q 'does not answer' "$tmp/err" && break
	sleep 0.1
done
sleep 1 # time: what it opens at the start only is closed again
before=$(fds)
ok "a probe on a machine with BTF and root has every source" [ "$(sources_off)" = 0 ]
ok "every thread keeps five capabilities, or the one that it is for, and can get no more" only_five
ok "every thread is behind a filter of system calls" only_filtered
sleep 5 # time: it would say so again, or open more
ok "a collector that does not answer is logged once" [ "$(grep -c 'does not answer' "$tmp/err")" = 1 ]
ok "its memory is below 10 MiB, the kernel's ring aside ($(resident) KiB)" [ "$(resident)" -le 10240 ]
ok "it holds no more descriptors than before ($(wc -l <<<"$before"))" no_more_fds
ok "SIGTERM ends it with status 0 within a second" stops
ok "undelivered batches are logged at the end" grep -q 'were not delivered' "$tmp/err"

start setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/seismo-probe"
await 100 grep -q 'source request is off' "$tmp/err"
ok "without root the probe runs on" [ -d "/proc/$pid" ]
ok "without root it says which source is off and what to do" grep -q 'source request is off: .*root' "$tmp/err"
ok "without root the node itself is still measured" sh -c "! grep -q 'source proc is off' '$tmp/err'"
ok "without root it is behind its filter, too" only_filtered
ok "without root SIGTERM ends it with status 0" stops

done_checking
