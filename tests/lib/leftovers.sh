# SPDX-License-Identifier: Apache-2.0
# leftovers.sh - what a test run left: processes, BPF objects, namespaces, mounts, temporary files, crashes.
# `remember` before, `leftovers` after. Needs TMPDIR and SEISMO_TEST, which every test inherits.

bpf_ids() {
	for kind in link prog map; do
		bpftool -j $kind show 2>/dev/null | grep -o '"id":[0-9]*' | sed "s/^/$kind /"
	done
}

places() {
	ip netns list 2>/dev/null | sed 's/ .*//; s/^/netns /'
	# The first `ip netns add` since boot makes a mount of /run/netns: it is whoever's uses namespaces next.
	awk '$5 != "/run/netns" { print "mount " $5 }' /proc/self/mountinfo
	ls -d /run/seismo-* /tmp/seismo* /var/lib/seismo* 2>/dev/null | grep -v "^$TMPDIR" | sed 's/^/file /'
	git ls-files --others --exclude-standard 2>/dev/null | sed 's/^/file /'
	find /sys/fs/cgroup -type d -name 'seismo*' 2>/dev/null | sed 's/^/cgroup /'
}

remember() {
	bpf_ids | sort >"$TMPDIR.bpf"
	places | sort >"$TMPDIR.places"
	cut -d' ' -f1 /proc/uptime >"$TMPDIR.uptime"
}

processes_of() { # NAME=VALUE: which inherited that from the environment
	grep -lzxF "$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | sort -u
}

# Processes that inherited the mark of this run (parts of stacks do, too: other stacks are let be);
# not this shell, its parents and what it started itself.
left_processes() {
	local pid
	processes_of "SEISMO_TEST=$SEISMO_TEST" | while read -r pid; do
		[ ! -d "/proc/$pid" ] || descends "$pid" $$ || descends $$ "$pid" || echo "$pid"
	done
}

descends() { # PID FROM
	local p=$1
	while [ "${p:-0}" -gt 1 ]; do
		[ "$p" != "$2" ] || return 0
		p=$(awk '$1 == "PPid:" { print $2 }' "/proc/$p/status" 2>/dev/null)
	done
	return 1
}

kill_leftovers() {
	left_processes | xargs -r kill -KILL 2>/dev/null
	rm -rf "$TMPDIR".*
}

# Programs of ours that the kernel ended since `remember`: a crash while a program stops shows nowhere else.
crashes() {
	dmesg 2>/dev/null | grep -E 'seismo-(probe|collect|replay)[a-z]*\[[0-9]+\]:? (trap|segfault|general)' |
		awk -v from="$(cat "$TMPDIR.uptime")" '{ t = $0; sub(/^\[ */, "", t); if (t + 0 >= from + 0) print "crash " $0 }'
}

# Prints what is left and the count as a suite does; the kernel frees BPF objects a moment after their owner.
leftovers() {
	local i left
	for i in 1 2 3 4 5 6 7 8 9 10; do
		left=$(
			for pid in $(left_processes); do
				echo "process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline" | cut -c1-100)"
			done
			bpf_ids | sort | comm -23 - "$TMPDIR.bpf"
			places | sort | comm -23 - "$TMPDIR.places"
			find "$TMPDIR" -mindepth 1 -maxdepth 3 2>/dev/null | head -n 20
			crashes
		)
		[ -n "$left" ] || break
		sleep 1
	done
	[ -z "$left" ] && echo "1 passed, 0 failed" && return
	printf 'left behind:\n%s\n0 passed, 1 failed\n' "$left"
	return 1
}
