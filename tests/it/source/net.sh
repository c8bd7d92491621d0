#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# net.sh - a network that loses segments, and a server that refuses connections: each is one event, soon, that names whose they
# are, with whom and by which interface, and is closed when it is over. In a cgroup that is all the probe watches.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

here=seismo-net-a.$$ there=seismo-net-b.$$ host=10.234.1.2 started= loss= refused=
on_exit() {
	[ -z "$started" ] || kill $started 2>/dev/null
	[ -z "$loss" ] || exec {loss}>&-
	[ -z "$refused" ] || exec {refused}>&-
	ip netns delete "$here"
	ip netns delete "$there"
	cgroup_gone
}

link() {
	ip netns add "$here" && ip netns add "$there" &&
		ip -n "$here" link add lossy0 gso_max_segs 1 type veth peer name eth0 netns "$there" gso_max_segs 1 &&
		ip -n "$here" address add 10.234.1.1/30 dev lossy0 && ip -n "$there" address add $host/30 dev eth0 &&
		ip -n "$here" link set lossy0 up && ip -n "$there" link set eth0 up
}

reports() { # KIND COLUMNS: over all reports of the events of this kind
	ask "select ${*:2} from event where kind = '$1'"
}

in_ns() { # NETNS NAME WHAT...: a program of the test, in the cgroup
	cgroup_join # its files are not to be seen from inside
	exec ip netns exec "$1" python3 tests/it/source/net.py "${@:2}"
}

going_on() { # KIND
	reports "$1" "coalesce($(in_last_report going_on), -1)"
}

param() { # KIND KEY: its value in the last report
	reports "$1" "$(in_last_report "params ->> '$2'")"
}

sent_again() { # APP
	ask "select coalesce(sum(value), 0)::bigint from api.series where entity_kind = 'app' and entity = '$1' and metric = 'tcp_retransmits_total'"
}

check_kind() { # KIND APP PEER
	ok "$1: it is reported while it goes on" await_value 1 going_on "$1"
	ok "$1: by less than 3 s of it ($(reports "$1" "min(us) / 1000") ms)" test "$(reports "$1" "min(us) < 3000000")" = t
	ok "$1: it names the application" test "$(param "$1" app)" = "$2"
	ok "$1: and its peer" test "$(param "$1" peer)" = "$3"
	ok "$1: and the interface" test "$(param "$1" dev)" = lossy0
}

check_end() { # KIND
	ok "$1: it is closed when it is over" await_value 0 going_on "$1"
	ok "$1: it is one event" test "$(reports "$1" "count(distinct event_id)")" = 1
	ok "$1: each report of it is stored once" test "$(reports "$1" "count(*) between 2 and 8 and count(distinct told) = count(*)")" = t
}

cgroup_make
trap 'on_exit; rm -rf "$tmp"' EXIT
link || { echo "0 passed, 1 failed"; exit 1; }
stack_open --scope "cgroup=$cgroup"
probe_first
in_ns "$there" taker take 7070 & started=$!
ok "somebody listens there" await 100 ip netns exec "$here" timeout 1 bash -c "exec 3<>/dev/tcp/$host/7070"
coproc sending { in_ns "$here" "lossy$$" send $host 7070; }
started+=" $sending_PID"
# One whose SYN is lost would be counted otherwise: segments are dropped once all connections are open.
ok "it opens its connections" eval 'read -r -t 60 word <&"${sending[0]}" && [ "$word" = open ]'
has_sent() {
	[ "$(ask "select coalesce(sum(value), 0) > 0 from api.series where entity = 'lossy$$' and metric = 'tcp_sent_bytes_total'")" = t ]
}
ok "what it sends is counted" await 150 has_sent
ok "without a loss there is no event" test "$(going_on net.retransmits)" = -1
exec {loss}> >(exec "$B/fault/drop" "$B/fault/drop.bpf.o" "$there" eth0 any 8 >"$tmp/lost")
exec {refused}> >(in_ns "$here" "caller$$" ask $host 7071)
check_kind net.retransmits "lossy$$" "$host:7070"
check_kind net.connect "caller$$" "$host:7071"
ok "net.connect: and why" test "$(param net.connect error)" = refused
exec {loss}>&- {refused}>&-
echo >&"${sending[1]}"
read -r -t 90 again <&"${sending[0]}"
check_end net.retransmits
check_end net.connect
ok "segments were lost" test "$(grep -c dropped "$tmp/lost")" -gt 10
ok "as many were sent again as the kernel says of the sockets ($again)" await_value "$again" sent_again "lossy$$"

coproc keeping { in_ns "$here" "stuck$$" keep $host 7070; }
started+=" $keeping_PID"
read -r -t 60 _ <&"${keeping[0]}"
dropped() { # NETNS HOOK: what is for the one who takes
	ip netns exec "$1" nft "add table ip kept; add chain ip kept c { type filter hook $2 priority 0; }; add rule ip kept c tcp dport 7070 drop"
}
dropped "$there" input # it is sent, and lost
echo >&"${keeping[1]}"
read -r -t 60 _ <&"${keeping[0]}"
dropped "$here" output # it cannot be sent again
echo >&"${keeping[1]}"
read -r -t 60 again <&"${keeping[0]}"
ok "segments that did not leave the host are counted as by the kernel ($again)" await_value "${again:-some}" sent_again "stuck$$"
done_checking
