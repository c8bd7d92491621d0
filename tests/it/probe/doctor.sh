#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# doctor.sh - seismo-probe doctor: all is well as root, one clear sentence for each thing that is not, and nothing is left.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/leftovers.sh

tmp=$(mktemp -d) || exit 1
chmod 755 "$tmp"
cp "${B:-build}/seismo-probe" "$tmp/seismo-probe" # where another user can start it
probe=$tmp/seismo-probe
read -r port deaf < <(free_ports 2 | tr '\n' ' ')
python3 -c 'import signal, socket, sys
s = socket.create_server(("127.0.0.1", int(sys.argv[1]))); signal.pause()' "$port" & started=$!
"$probe" --collector "tcp://127.0.0.1:$deaf" --collector-key "$nobodys_key" --keys "$tmp/keys" --node it-doctor 2>"$tmp/err" & running=$!
trap 'kill $started $running 2>/dev/null; rm -rf "$tmp"' EXIT
# What it loads is there by then.
ok "another probe runs beside" await 300 grep -q "does not answer" "$tmp/err"

doctor() { # COMMAND...: what it says is in $tmp/out, what it ends with in $status
	"$@" doctor --collector "tcp://127.0.0.1:$port" >"$tmp/out" 2>"$tmp/doctor.err"
	status=$?
}

says() { # ok|off NAME [REGEX]
	grep -qE "^$1 +$2  .*${3:-}" "$tmp/out"
}

# A probe that somebody else starts meanwhile holds a descriptor for each of its own.
bpf_objects_of_nobody() {
	sed -nE 's/^(prog|map|link)_id:\s*([0-9]+)$/\1 "id":\2/p' /proc/[0-9]*/fdinfo/* 2>/dev/null | sort -u >"$tmp/held"
	bpf_ids | sort | comm -23 - "$tmp/held"
}

nothing_new_is_left() {
	local i
	for i in 1 2 3 4 5; do
		sleep 1 # the kernel frees them a moment after their owner
		[ -n "$(bpf_objects_of_nobody | comm -13 "$tmp/before" -)" ] || return 0
	done
	return 1
}

setpriv_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

bpf_objects_of_nobody >"$tmp/before"
doctor "$probe"
ok "as root every source attaches" [ $status = 0 ]
ok "a source is a line with what it does" says ok request "attached and read: HTTP/1"
ok "every line begins with ok or off, a name and a sentence" eval '! grep -vqE "^(ok |off)  [^ ].{24}  [^ ].*" "$tmp/out"'
ok "a source that is not enabled would work, and its option is named" says ok vfs "would work: .*; on_demand = vfs enables it"
ok "what kernel programs cost can be counted" says ok "cost of programs" "counted by the kernel a twentieth of the time; its hook makes each run [-+][0-9]"
ok "the memory of maps is printed, here and for many processors" says ok "map memory" "MiB of kernel memory here; .* with 256"
for name in proc 'hooks sockets' 'hooks syscalls' privileges seccomp BTF sys_exit sock_send_length sock_recv_length inet_sock_set_state tcp_destroy_sock sk_storage task_storage \
	iter/bpf_sk_storage_map iter/bpf_map_elem ancestor_cgroup_id task_pt_regs bpf_rdonly_cast 'ring buffer' /proc/stat /proc/pressure/io; do
	ok "as root $name is there" says ok "$name"
done
unit_capabilities() {
	sed -n 's/^CapabilityBoundingSet=//p' deploy/systemd/seismo-probe.service | tr ' ' '\n' | sed 's/^CAP_/+/' | tr 'A-Z\n' 'a-z,' | sed 's/,$//'
}

ok "a collector that listens is reached" says ok collector "tcp://127.0.0.1:$port took a connection"
ok "the clock is printed" grep -qE '^(ok |off)  clock +20[0-9-]+T' "$tmp/out"
ok "nothing is said beside the lines" test ! -s "$tmp/doctor.err"
ok "no BPF object is left behind" nothing_new_is_left

"$probe" doctor --collector "tcp://127.0.0.1:$deaf" >"$tmp/out"
ok "a collector that does not listen is reported with its remedy" says off collector "Connection refused; start seismo-collector"
ok "sources that attach do not need one" [ "$("$probe" doctor --collector "tcp://127.0.0.1:$deaf" >/dev/null; echo $?)" = 0 ]

"$probe" doctor --keys "$tmp/keys" --collector-key "$nobodys_key" >"$tmp/out"
ok "the key of this node is printed" says ok key "collectors know this node by $(sed -n 's/^# Its public key is //p' "$tmp/keys/node.key" | sed 's/[][^$.*?+(){}|/]/\\&/g')"
ok "and that a collector's is known" says ok trust "1 collector key is known"
"$probe" doctor --keys "$tmp/none" >"$tmp/out"
ok "no key yet is well, and the doctor makes none" eval 'says ok key "the first start creates one" && [ ! -e "$tmp/none" ]'
ok "a node without a trusted collector is reported with its remedy" says off trust "set collector_key to the output of seismo-collector key"
echo "not a key" >"$tmp/pub"
"$probe" doctor --collector-key "$tmp/pub" >"$tmp/out"
ok "a key file without a key is reported" says off trust "\"not\" is not a public key of 40 characters"

"$probe" doctor --state "$tmp/state" >"$tmp/out"
ok "a state file that is not there yet is well, and the doctor makes none" eval 'says ok state "will be created" && [ ! -e "$tmp/state" ]'
"$probe" doctor --state /etc/passwd >"$tmp/out"
ok "a foreign state file is reported" says off state "/etc/passwd is not a file of seismo-probe"
"$probe" doctor --state "$tmp/none/state" >"$tmp/out"
ok "a missing directory is reported" says off state "No such file or directory; create its directory"

"$probe" doctor --spool "$tmp/spool" >"$tmp/out"
ok "a spool that is not there yet is well, and the doctor makes none" eval 'says ok spool "will be created" && [ ! -e "$tmp/spool" ]'
"$probe" doctor --spool "$tmp" >"$tmp/out"
ok "an existing one is reported with its free space" says ok spool "$tmp is writable and has [0-9]* MiB free"
"$probe" doctor --spool "$tmp/none/spool" >"$tmp/out"
ok "one that cannot be made is reported" says off spool "No such file or directory; unsent batches will be kept in memory"

doctor setpriv_nobody "$probe"
ok "without root it ends with status 1" [ $status = 1 ]
ok "without root it says that the source needs root" says off request "needs root .*start as root"
ok "without root it says so once more for what root may ask" says off task_storage "only root .*start as root"
ok "without root it still finds the tracepoints" says ok sock_send_length
ok "without root the node itself can be measured" says ok proc
doctor setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+bpf,+perfmon,+syslog --ambient-caps=+bpf,+perfmon,+syslog "$probe"
ok "three capabilities are enough" [ $status = 0 ]

doctor setpriv --bounding-set "-all,$(unit_capabilities)" "$probe"
ok "those that the unit leaves it are" [ $status = 0 ]
doctor setpriv --bounding-set -all,+bpf,+perfmon "$probe"
ok "without that of the kernel's log its source says so" eval 'says off kmsg "/dev/kmsg: .*CAP_SYSLOG" || [ "$(cat /proc/sys/kernel/dmesg_restrict)" = 0 ]'
ok "the unit does not hide the log" eval '! grep -qE "^(ProtectKernelLogs|PrivateDevices)=(yes|true)" deploy/systemd/seismo-probe.service'

doctor unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh "$probe"
ok "without BTF it ends with status 1" [ $status = 1 ]
ok "without BTF it says which kernel to boot" says off request "no BTF; boot one with CONFIG_DEBUG_INFO_BTF=y"
ok "without BTF it does not claim that tracepoints are missing" says off sock_send_length "cannot be looked up without BTF"

ok "--help names it" eval '"$probe" --help | grep -q "^  doctor "'
ok "a probe that runs goes on" kill -0 $running
ok "and has every source still" eval '! grep -E "source .*(is off|will retry)" "$tmp/err"' # that one is asked less often is well on a busy machine
done_checking
