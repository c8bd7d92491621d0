#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# block.sh - the metrics of a disk against its own counters: a loop device, read and written directly.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

loop='' other=''
on_exit() {
	[ -z "$loop" ] || losetup -d "/dev/$loop"
	[ -z "$other" ] || control remove "$other"
}

control() { # add|remove MINOR: a loop device of this number
	[ "$1" = add ] || losetup -d "/dev/loop$2" 2>/dev/null
	python3 -c 'import fcntl, sys; fcntl.ioctl(open("/dev/loop-control"), {"add": 0x4C80, "remove": 0x4C81}[sys.argv[1]], int(sys.argv[2]))' "$@"
}

place() { # MINOR: where bpf/disk/block.bpf.c, place_of(), puts that loop device
	echo $(((((7 << 20 | $1) * 0x9e3779b1) & 0xffffffff) >> 25))
}

same_place() { # MINOR: another that falls there, too
	local m
	for ((m = $1 + 1; $(place "$m") != $(place "$1"); m++)); do :; done
	echo "$m"
}

new_disk() {
	truncate -s 64M "$tmp/disk.img"
	loop=$(losetup -f --show --direct-io=on "$tmp/disk.img" 2>/dev/null || losetup -f --show "$tmp/disk.img") || return
	loop=${loop#/dev/}
}

# The sum of what the probe reported of the disk in the metrics like this, over all ticks.
reported() { # PATTERN
	ask "select round(coalesce(sum(value), 0)::numeric, 6)::float8 from api.series where entity = '$loop' and metric like '$1'"
}

slots() { # read|write|flush: requests in all slots of latency
	reported "disk_$1_latency_us_%"
}

counted() { # COLUMN of /sys/block/DISK/stat
	awk -v c="$1" '{ print $c }' "/sys/block/$loop/stat"
}

move() { # read|write SIZE COUNT
	if [ "$1" = read ]; then
		dd if="/dev/$loop" of=/dev/null bs="$2" count="$3" iflag=direct status=none
	else
		dd if=/dev/zero of="/dev/$loop" bs="$2" count="$3" oflag=direct,sync status=none
	fi
}

# All but one in a hundred: under load 4 of 108,000 writes were not in the kernel's map itself, nor counted by the kernel as a run
# that it left out. They may have ended while process 1 had the processor, when some kernels run no program of BPF (docs/limits.md).
almost() { # N COMMAND...
	local n
	AWAIT_S=15 await_value "$@" && return
	n=$("${@:2}")
	[ "$n" -le "$1" ] && [ $((n * 100)) -ge $(($1 * 99 - 99)) ]
}

stack_open
new_disk || { echo "no loop device here"; echo "0 passed, 1 failed"; exit 1; }

reads=$(counted 1) # of those who had this device before
move read 64k 300
move write 4k 200
ok "every read is in the slot of its size" almost 300 reported disk_read_size_bytes_65536
ok "every write is in the slot of its size" almost 200 reported disk_write_size_bytes_4096
ok "every read has a latency" almost $(($(counted 1) - reads)) slots read
ok "every write has a latency" almost 200 slots write
ok "no other size is reported" test "$(reported disk_write_size_bytes_65536)" = 0
flushes=$(slots flush) before=$(counted 16)
python3 -c 'import os, sys; f = os.open(sys.argv[1], os.O_RDWR); [os.fsync(f) for _ in range(25)]' "/dev/$loop"
ok "every flush has a latency" almost $((${flushes%.*} + $(counted 16) - before)) slots flush
ok "and there were some" test "$(counted 16)" -ge $((before + 20))
device_ms=$(awk -v s="$(reported disk_read_device_seconds_total)" 'BEGIN { print s * 1000 }')
# the disk counts from when a request was made; in whole milliseconds
ok "the time of the reads ($device_ms ms) is within that of the disk ($(counted 4) ms)" \
	awk -v a="$device_ms" -v b="$(counted 4)" 'BEGIN { exit !(a > 0 && a <= b + 300) }'
ok "no request failed" test "$(reported disk_errors_total)" = 0

# Another disk that the kernel's map has to put elsewhere.
first=${loop#loop} other=$(same_place "${loop#loop}")
ok "a disk of a number that falls on the same place ($other) is made" control add "$other"
losetup "/dev/loop$other" "$tmp/disk.img"
of_first=$(reported disk_read_size_bytes_8192)
loop=loop$other move read 8k 70
loop=loop$first move read 8k 30
ok "the second disk is reported under its own name" almost 70 eval 'loop=loop$other reported disk_read_size_bytes_8192'
ok "and the first under its own" almost $((${of_first%.*} + 30)) reported disk_read_size_bytes_8192

# A kernel that keeps no times of requests: they are noted by hand. This one does; the other way is tried apart.
coproc hand { "$B/tools/byhand" "$loop"; }
hand_pid=$!
exec {answers}<&"${hand[0]}" # its own are gone as soon as it has ended
read -r -t 10 ready <&"$answers"
before=$(counted 1)
move read 64k 100
reads=$(($(counted 1) - before))
eval "exec ${hand[1]}>&-"
read -r -t 10 timed untimed by_hand_ms <&"$answers"
wait "$hand_pid"
ok "by hand all reads but one in a hundred have a time (${ready:-not ready}, ${timed:-none} of $reads)" test "${timed:-0}" -ge $((reads * 99 / 100))
ok "by hand none is without" test "${untimed:-1}" = 0
ok "by hand the time is as long as it was (${by_hand_ms:-0} ms)" awk -v a="${by_hand_ms:-0}" 'BEGIN { exit !(a > 0.1 && a < 5000) }'
done_checking
