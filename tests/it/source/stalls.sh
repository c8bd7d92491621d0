#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stalls.sh - a disk that is slow, a memory limit that is too low, more work than a CPU takes: each is one event, soon, that
# names who causes it and is closed when it is over. In a cgroup that is all the probe watches, so that others do not count.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

blkio=$(awk '$3 == "cgroup" && $4 ~ /(^|,)blkio(,|$)/ { print $2 }' /proc/mounts)/seismo-stalls.$$
memory=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2 }' /proc/mounts)/seismo-stalls.$$
slow= under= hog=
on_exit() {
	local i d
	[ -z "$hog" ] || kill $hog 2>/dev/null
	[ -z "$slow" ] || losetup -d "$slow"
	[ -z "$under" ] || losetup -d "$under"
	for d in "$blkio" "$memory"; do
		for ((i = 0; i < 50; i++)); do
			[ -d "$d" ] && ! rmdir "$d" 2>/dev/null || break
			sleep 0.1
		done
	done
	cgroup_gone
}

fault() { # KIND SECONDS PATH CGROUP...
	python3 tests/it/source/stalls.py "$@" "$cgroup" & hog=$!
}

reports() { # KIND COLUMNS: over all reports of the events of this kind
	ask "select ${*:2} from event where kind = '$1'"
}

one_event() { # KIND: its last report so far, as the API has it
	ask "select body from api.event where kind = '$1'"
}

going_on() { # KIND
	reports "$1" "coalesce($(in_last_report going_on), -1)"
}

named() { # KIND WHO
	one_event "$1" | grep -qF "$2"
}

check_kind() { # KIND
	ok "$1: it is reported while it goes on" await_value 1 going_on "$1"
	ok "$1: by less than 3 s of it" test "$(reports "$1" "min(us) < 3000000")" = t
	ok "$1: it names who does it" named "$1" python3
}

check_end() { # KIND
	wait $hog
	hog=
	ok "$1: it is closed when it is over" await_value 0 going_on "$1"
	ok "$1: it is one event" test "$(reports "$1" "count(distinct event_id)")" = 1
	ok "$1: it is reported when it began and when it was over" test "$(reports "$1" "count(*)")" = 2
}

cgroup_make
trap 'on_exit; rm -rf "$tmp"' EXIT
mkdir "$blkio" "$memory" || { echo "0 passed, 1 failed"; exit 1; }
truncate -s 16M "$tmp/disk"
under=$(losetup -f --show --direct-io=on "$tmp/disk")
slow=$(losetup -f --show --direct-io=on "$under")
stack_open --scope "cgroup=$cgroup" --memory-stall-pct 2
probe_first

# A disk whose own disk takes 20 writes a second.
echo "$(stat -c '%Hr:%Lr' "$under") 20" >"$blkio/blkio.throttle.write_iops_device"
fault disk 6 "$slow" "$blkio"
check_kind io.stall
ok "io.stall: it names the disk" named io.stall "${slow#/dev/}:"
check_end io.stall

fault cpu 4 3
check_kind cpu.stall
ok "cpu.stall: and who waits" test "$(reports cpu.stall "max(params ->> 'waiter') like 'python3[%'")" = t
check_end cpu.stall

# Memory for half of what is read all the time, from a disk that is made slow.
echo 10M >"$memory/memory.limit_in_bytes"
echo "$(stat -c '%Hd:%Ld' "$tmp") 16777216" >"$blkio/blkio.throttle.read_bps_device"
fault memory 12 "$tmp/file" "$memory" "$blkio"
check_kind mem.stall
ok "mem.stall: it names the cgroup" named mem.stall "${memory##*/}"
ok "mem.stall: and its limit" test "$(reports mem.stall "max((params ->> 'limit_mb')::float) between 10 and 11")" = t
wait $hog
hog=
ok "mem.stall: it is closed when it is over" await_value 0 going_on mem.stall
done_checking
