#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ondemand.sh - what sources that are measured only on demand cost who does what they are about: CPU time of a call, with one
# of them alone and without it in turn. Prints Markdown for RESULTS.md. ROUNDS=7 CALLS=200000.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/bench_rig.sh
calls=${CALLS:-200000}
mkdir "$tmp/mnt"
mount -t tmpfs none "$tmp/mnt"
trap '[ -z "$probe" ] || kill $probe 2>/dev/null; umount "$tmp/mnt"; rm -rf "$tmp"' EXIT
dd if=/dev/zero of="$tmp/mnt/data" bs=1M count=64 status=none

of_cpu() { # N COMMAND...: ns of CPU time of each of N
	local t
	t=$({ TIMEFORMAT='%U %S'; time taskset -c 1 "${@:2}" >/dev/null 2>&1; } 2>&1)
	awk -v n="$1" '{ print ($1 + $2) * 1e9 / n }' <<<"$t"
}

a_read() { # one of a file in memory, and one of /dev/zero's like, which is none of a mount's
	of_cpu "$calls" dd if="$tmp/mnt/data" of=/dev/null bs=256 count="$calls"
}

a_switch() { # with a read and a write of a pipe
	"$B/tools/pingpong" 1 "$calls"
}

a_file() { # made and unlinked
	of_cpu 5000 python3 -S -c "import os
for i in range(5000):
    os.close(os.open('$tmp/mnt/f%d' % i, os.O_CREAT | os.O_RDWR)); os.unlink('$tmp/mnt/f%d' % i)"
}

a_timer() {
	of_cpu 3000 python3 -S -c "import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM]); signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
for i in range(3000): signal.sigwait([signal.SIGALRM])"
}

alone_on() { # SOURCE
	"$B/tools/alone" "$1" >"$tmp/ready" & probe=$!
	await 100 grep -q ready "$tmp/ready" || exit 1
}

measure() { # SOURCE WHAT NAME
	local i off again on
	: >"$tmp/off"; : >"$tmp/added"
	for ((i = 0; i < rounds; i++)); do
		off=$("$2")
		alone_on "$1"
		on=$("$2")
		kill $probe && wait $probe 2>/dev/null
		probe=
		again=$("$2")
		awk -v a="$off" -v b="$again" 'BEGIN { print (a + b) / 2 }' >>"$tmp/off"
		awk -v a="$off" -v b="$again" -v on="$on" 'BEGIN { print on - (a + b) / 2 }' >>"$tmp/added"
	done
	echo "| $1 | $3 | $(median <"$tmp/off") | $(median <"$tmp/added") |"
}

echo "| source | what | ns of CPU time without it | added by it |"
echo "|---|---|---|---|"
for source in ${ONLY:-timers vfs dentries locks}; do
	measure "$source" a_read "256 bytes read of a file in memory, and written to /dev/null"
	measure "$source" a_switch "a byte read of a pipe and one written, and a switch"
	measure "$source" a_file "a file made, closed and unlinked, by Python"
	measure "$source" a_timer "a timer that fires, and its signal"
done
