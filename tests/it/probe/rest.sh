#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# rest.sh - what a probe costs that has nothing to do: how often it wakes, its system calls and its memory, all counted; and
# that it is awake at once when there is something. It watches an empty cgroup, and not how tasks are stuck, as that goes
# by what else the machine does.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

server=
cgroup_make
on_exit() {
	[ -z "$server" ] || kill $server
	cgroup_gone
}
trap 'on_exit; rm -rf "$tmp"' EXIT
read -r port < <(free_ports 1)
(cgroup_join && exec "$B/tools/server" "$port") & server=$!
stack_open --scope "cgroup=$cgroup" --stuck-s 0
pid=$(part_pid_of probe)

wakings() { # of its main thread, so far
	awk '/^voluntary/ { print $2 }' "/proc/$pid/status"
}

in_3s() { # wakings in 3 s
	local before
	before=$(wakings)
	sleep 3 # time: over which it is counted
	echo $(($(wakings) - before))
}

rests() { # 5 a second, and as many more for who answers and whatever else; 33 when nothing rested
	local n
	n=$(in_3s)
	echo "$n in 3 s"
	[ "$n" -le 30 ]
}

# What is read every 10 s, of each cgroup and program, is as much as there are: in between is looked.
between() {
	# time: the next reading is not within the 3 s after it
	python3 -c 'import time; at = (time.monotonic() - 0.5) % 10; time.sleep(10 - at if at > 6 else 0)'
}

calls() { # system calls of all its threads in 3 s
	between
	timeout -s INT 3 strace -f -c -o "$tmp/calls" -p "$pid" 2>/dev/null
	awk '$NF == "total" { print $4 }' "$tmp/calls"
}

few_calls() { # 750 a second when each counter was asked for
	local n
	n=$(calls)
	echo "$n in 3 s"
	[ "$n" -gt 0 ] && [ "$n" -le 900 ]
}

# Without what it shares with the kernel's programs, of which the ring is as large as it is set.
own_kib() { # Rss|Anonymous
	awk -v of="^$1:" '/^[0-9a-f]+-/ { maps = /anon_inode:bpf-map/ } $0 ~ of && !maps { n += $2 } END { print n }' "/proc/$pid/smaps"
}

# What it allocated is about 4 MiB. Of its programs and libraries, the kernel maps what is cached around each page that is used:
# 4 to 5.5 MiB, by the state of the cache.
small() {
	local all allocated
	all=$(own_kib Rss) allocated=$(own_kib Anonymous)
	echo "$all KiB, of which $allocated are its own"
	[ "$all" -le 10240 ] && [ "$allocated" -le 4608 ]
}

answered() { # N: a request on a connection that stays open, so that nothing but the sweep ends it; N rows by then
	exec 5<>"/dev/tcp/127.0.0.1/$port" && printf 'GET /?s=500 HTTP/1.1\r\nHost: x\r\n\r\n' >&5 || return
	await_value "$1" ask "select count(*) from request where local_port = $port and status = 500"
}

ok "it comes to rest" await 4 rests
ok "it makes few system calls" await 4 few_calls
ok "it takes less than 10 MiB, half of it its own" small
listening "$port"
ok "a request that comes then has its row" answered 1
ok "and so has the next one" answered 2
ok "it rests again" await 4 rests
ok "and takes no more" small
done_checking
