#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# limits.sh - deploy/firewall/seismo-collector.nft as it is shipped, in a network namespace with a listener, and storms from
# another: what is over the limits does not arrive and is counted; who is honest gets through.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
file=deploy/firewall/seismo-collector.nft
tmp=$(mktemp -d) || exit 1
there=seismo-limits-$$-there away=seismo-limits-$$-away listener=

clean() {
	trap - EXIT
	[ -z "$listener" ] || kill "$listener"
	[ -z "${staying_PID:-}" ] || kill "$staying_PID"
	wait 2>/dev/null
	ip netns delete "$there" 2>/dev/null
	ip netns delete "$away" 2>/dev/null
	rm -rf "$tmp"
}
trap clean EXIT
trap 'exit 130' INT TERM HUP

# Any address of 10.78.0.0/16 and of two IPv6 networks is one of the other side.
sides_make() {
	ip netns add "$there" && ip netns add "$away" &&
		ip link add eth0 netns "$there" type veth peer name eth0 netns "$away" &&
		ip -n "$there" -batch - <<-END && ip -n "$away" -batch - <<-END2
		link set lo up
		link set eth0 up
		address add 10.77.0.1/24 dev eth0
		address add fd77::1/64 dev eth0 nodad
		route add default via 10.77.0.2
		route add default via fd77::2
		END
		link set lo up
		link set eth0 up
		address add 10.77.0.2/24 dev eth0
		address add fd77::2/64 dev eth0 nodad
		route add local 10.78.0.0/16 dev lo
		route add local fd78:0:0:1::/64 dev lo
		route add local fd78:0:0:2::/64 dev lo
		END2
	for n in "$there" "$away"; do
		ip netns exec "$n" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0 net.ipv6.ip_nonlocal_bind=1
	done
}

at() { # SIDE COMMAND ARG...: of limits.py
	ip netns exec "$1" python3 tests/it/security/limits.py "${@:2}"
}

nft_there() {
	ip netns exec "$there" nft "$@"
}

counted() { # COUNTER: packets
	nft_there list counter inet seismo "$1" | sed -n 's/.*packets \([0-9]*\) .*/\1/p'
}

counted_all() {
	nft_there list counters table inet seismo | awk '$1 == "packets" { n += $2 } END { print n + 0 }'
}

stat_of() { # SIDE NAME: of the kernel's TCP
	ip netns exec "$1" nstat -asz "$2" | awk -v n="$2" '$1 == n { print $2 }'
}

asked() { # packets that asked for a connection
	echo $(($(stat_of "$away" TcpActiveOpens) + $(stat_of "$away" TcpExtTCPSynRetrans)))
}

arrived() { # REGEX OF AN ADDRESS: how many connections, over how many seconds, and how many were open at a time
	awk -v who="^$1\$" '$2 ~ who { if (!n++) first = $1; last = $1; if ($3 > peak) peak = $3 }
		END { printf "%d %.1f %d\n", n, last - first, peak }' "$tmp/log"
}

within() { # N LOW HIGH
	awk -v n="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(n >= low && n <= high) }' || { echo "$1 is not within $2 and $3"; return 1; }
}

rate_holds() { # CONNECTIONS SECONDS PER_S BURST: as many as the limit lets through, give or take 5 %
	local expected
	expected=$(awk "BEGIN { print int($4 + $3 * $2) }")
	within "$1" $((expected * 95 / 100 - 1)) $((expected * 105 / 100 + 1))
}

echoed() { # WORD: the connection from before the rules says it back
	local heard
	echo "$1" >&"${staying[1]}" && read -r -t 3 heard <&"${staying[0]}" && [ "$heard" = "$1" ]
}

sides_make || { echo "0 passed, 1 failed"; exit 1; }
ip netns exec "$there" python3 tests/it/security/limits.py listen "$tmp/log" &
listener=$!
until ip netns exec "$there" ss -Hltn sport = :7470 | grep -q .; do sleep 0.05; done
coproc staying { at "$away" stay 10.77.0.1 10.78.3.1; }
ok "a connection stands before there are rules" echoed before
ok "nft takes the file as it is shipped" nft_there -c -f $file
ok "it is loaded" nft_there -f $file
ok "and once more, over itself" nft_there -f $file
ok "what stood before stands" echoed after

# One address: 10 a second, 50 at once, 64 open.
before=$(asked)
at "$away" storm 10.77.0.1 3 300 keep 10.78.1.1 & storm=$!
slowest=$(at "$away" honest 10.77.0.1 10.78.2.1 8)
ok "while one address storms, another connects 8 of 8 times ($slowest at most)" test -n "$slowest"
slowest=$(at "$there" honest 127.0.0.1 127.0.0.1 3)
ok "and so does this machine ($slowest at most)" test -n "$slowest"
wait $storm
read -r n _ open < <(arrived 10.78.1.1)
ok "who keeps them has 64 open ($open)" test "$open,$n" = 64,64
ok "what went over that is counted ($(counted over_open))" within "$(counted over_open)" 1 50
at "$away" storm 10.77.0.1 3 300 close 10.78.1.2
read -r n s _ < <(arrived 10.78.1.2)
ok "who closes them gets 50 and 10 a second ($n in $s s)" rate_holds "$n" "$s" 10 50
missing=$(($(asked) - before - 64 - n - 8)) dropped=$(($(counted over_source) + $(counted over_open)))
ok "each packet that was dropped is counted ($dropped of $missing)" within $dropped $((missing - 2)) $((missing + 2))
ok "what stood before stands" echoed storm

# All addresses that are known: 800 a second, 1,600 at once. Each of the 250 is below its own limit.
at "$away" many 10.77.0.1 10.78.4. 250 0.5 600 close
at "$away" many 10.77.0.1 10.78.4. 250 3 2500 close
sleep 0.2 # time: what is under way arrives
read -r n s _ < <(arrived '10.78.4.[0-9]+')
most=$(awk "BEGIN { print 1600 + 800 * $s * 1.05 }")
ok "250 addresses together get no more than 800 a second and 1,600 at once ($n in $s s)" within "$n" 2500 "$most"
ok "the others are counted ($(counted over_all))" within "$(counted over_all)" 1000 9000

# Forged addresses: 600 a second of them are let in, 1,200 at once.
at "$away" forged 10.77.0.1 3 2000 >"$tmp/sent" & storm=$!
sleep 1 # time: it is in the midst of it
twice=$(stat_of "$away" TcpExtTCPSynRetrans)
slowest=$(at "$away" honest 10.77.0.1 10.78.2.1 6)
ok "while a flood comes under forged addresses, one that is known connects 6 of 6 times ($slowest at most)" test -n "$slowest"
ok "without asking twice" test "$(stat_of "$away" TcpExtTCPSynRetrans)" = "$twice"
wait $storm
read -r n s <"$tmp/sent"
passed=$((n - $(counted over_strangers)))
ok "of the forged ones 600 a second and 1,200 at once pass ($passed in $s s)" rate_holds $passed "$s" 600 1200

# IPv6: a /64 is one source, as many addresses as it may have.
at "$away" many fd77::1 fd78:0:0:1:: 200 2 300 close
read -r n s _ < <(arrived 'fd78:0:0:1:.*')
ok "200 addresses of one /64 are one source ($n in $s s)" rate_holds "$n" "$s" 10 50
slowest=$(at "$away" honest fd77::1 fd78:0:0:2::1 2)
ok "another /64 connects ($slowest at most)" test -n "$slowest"

# Who shares an address; who is on this machine.
ok "an address is named as shared" nft_there add element inet seismo shared4 '{ 10.78.5.0/24 }'
at "$away" storm 10.77.0.1 1 200 keep 10.78.5.1
read -r _ _ open < <(arrived 10.78.5.1)
ok "it may have more open than one node ($open)" within "$open" 150 200
at "$there" storm 127.0.0.1 2 300 close 127.0.0.2
read -r n s _ < <(arrived 127.0.0.2)
ok "this machine gets 50 a second and 50 at once ($n in $s s)" rate_holds "$n" "$s" 50 50
ok "and the others are counted ($(counted over_local))" within "$(counted over_local)" 300 600

before=$(counted_all)
ok "the file loads over all of this" nft_there -f $file
ok "and keeps what was counted ($before)" test "$(counted_all)" = "$before"
ok "what stood before stands" echoed last
ok "the table can be deleted" nft_there delete table inet seismo
ok "and nothing of it is left" test -z "$(nft_there list ruleset)"
done_checking
