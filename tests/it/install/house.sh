#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# house.sh - make run and make stop: whole stacks, in a checkout whose path has a space, under a 700 directory.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh

tmp=$(mktemp -d) || exit 1
chmod 755 "$tmp"
tree="$tmp/root/a tree"
mkdir -p "$tree" && chmod 700 "$tmp/root"
for f in Makefile bpf collector deploy lib probe schema tests web; do
	[ ! -e $f ] || cp -a $f "$tree/"
done
cp -a "${B:-build}" "$tree/build"
rm -rf "$tree/web/node_modules"
cd "$tree" || exit 1
unset B VAR WEB BIND NODE MAKEFLAGS MAKELEVEL
export KEEPER=off # what make run itself mends

read -r web1 bind1 web2 bind2 web3 < <(free_ports 5 | tr '\n' ' ')
one=(VAR=var WEB=127.0.0.1:$web1 BIND=tcp://127.0.0.1:$bind1 NODE=house-one)
two=(VAR="$tmp/two" WEB=127.0.0.1:$web2 BIND=tcp://127.0.0.1:$bind2 NODE=house-two)
trap 'make -s stop "${one[@]}" >/dev/null 2>&1; make -s stop "${two[@]}" >/dev/null 2>&1; rm -rf "$tmp"' EXIT

umask 077

run() {
	make -s run "$@" >"$tmp/out" 2>&1
}

says() { # the last run said one sentence with these words
	grep -q "^Seismo: .*$1" "$tmp/out" && [ "$(grep -c '^Seismo: ' "$tmp/out")" = 1 ]
}

pid_of() { # PART SETTING...
	make -s status "${@:2}" 2>/dev/null | sed -n "s/^$1 runs, pid //p"
}

pids_of() { # SETTING...: of all three, in this order; make takes half a second of a processor for each question
	make -s status "$@" 2>/dev/null | sed -n 's/^[a-z]* runs, pid //p' | tr '\n' ' '
}

well() { # PORT
	[ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$1/healthz")" = 200 ]
}

changed() { # "BEFORE" "AFTER" WHICH: just these of postgres, collector, probe have a new pid
	local b=($1) a=($2) i which=
	[ ${#a[@]} = 3 ] || return 1
	for i in 0 1 2; do
		[ "${b[i]}" = "${a[i]}" ] || which+="$i"
	done
	[ "$which" = "$3" ]
}

mended_after_kill() { # WHICH...
	local before=($(pids_of "${one[@]}")) i
	for i in "$@"; do
		kill -KILL "${before[i]:-none}"
	done
	run "${one[@]}" && well "$web1" && changed "${before[*]}" "$(pids_of "${one[@]}")" "$(printf %s "$@")"
}

renewed() { # WHICH SETTING...
	local before
	before=$(pids_of "${one[@]}")
	run "${@:2}" && changed "$before" "$(pids_of "${one[@]}")" "$1"
}

bpf_objects() { # of a process, as bpftool knows them
	sed -nE 's/^(link|prog|map)_id:\t([0-9]+)$/\1 \2/p' /proc/"$1"/fdinfo/* 2>/dev/null | sort -u
}

still_there() { # of "KIND ID" lines, those the kernel has yet
	while read -r kind id; do
		! bpftool "$kind" show id "$id" >/dev/null 2>&1 || echo "$kind $id"
	done
}

none_lives() { # PID...
	local p
	for p in "$@"; do
		! grep -q . "/proc/$p/cmdline" 2>/dev/null || return 1
	done
}

unlike_root() {
	mkdir -p "$tmp/files/var" && cp -r Makefile deploy "$tmp/files" && chmod -R a+rX "$tmp/files"
	! setpriv --reuid nobody --regid nogroup --clear-groups make -s -C "$tmp/files" run >"$tmp/out" 2>&1
}

without_btf() {
	! unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec make -s run "$@"' sh "${two[@]}" >"$tmp/out" 2>&1
}

ok "make run in a path with a space, under a 700 directory, gives a healthy stack" run "${one[@]}"
ok "it prints the console's address" grep -q "http://127.0.0.1:$web1/" "$tmp/out"
ok "the console answers" well "$web1"
ok "a second make run leaves every process as it is" renewed "" "${one[@]}"
ok "a killed probe is mended and the others are left" mended_after_kill 2
ok "a killed collector is mended and the others are left" mended_after_kill 1
ok "a killed PostgreSQL is mended and the others are left" mended_after_kill 0
ok "all three killed at once are mended" mended_after_kill 0 1 2
ok "a second stack runs beside the first" run "${two[@]}"
ok "both consoles answer" eval 'well "$web1" && well "$web2"'
ok "a new address moves the collector and the others are left" renewed 1 "${one[@]}" WEB=127.0.0.1:"$web3"
ok "the console answers there" well "$web3"
ok "and back" renewed 1 "${one[@]}"
cp build/seismo-probe build/new && mv build/new build/seismo-probe
ok "a rebuilt probe is renewed and the others are left" renewed 2 "${one[@]}"

objects=$(bpf_objects "$(pid_of probe "${one[@]}")")
pids=$(pids_of "${one[@]}")
place=$(tr '\0' '\n' <"/proc/${pids%% *}/cmdline" | sed -n 's|^\(/run/seismo-[0-9a-f]*\)/pg$|\1|p')
ok "the stack has a directory in /run" test -d "$place/s"
ok "the probe holds kernel programs" test -n "$objects"
ok "make stop stops" make -s stop "${one[@]}"
ok "no process is left" none_lives $pids
ok "no link, program or map is left" await 100 eval '[ -z "$(still_there <<<"$objects")" ]' # the kernel frees them a moment after their owner
ok "no directory in /run is left" test ! -e "$place"
ok "no mount is left" eval '! grep -q "$place" /proc/[0-9]*/mountinfo'
ok "the other stack still runs" well "$web2"
ok "a second make stop is content" make -s stop "${one[@]}"

identity=$(stat -c %i var/pg/PG_VERSION)
pid_of postgres "${two[@]}" >var/pg/postmaster.pid
ok "a lock that names another stack's PostgreSQL does not stop the start" run "${one[@]}"
ok "the data are the same as before" test "$(stat -c %i var/pg/PG_VERSION)" = "$identity"
make -s stop "${one[@]}" >/dev/null
mkdir var/pg.new && touch var/pg.new/half && rm var/pg/global/pg_control
ok "a broken cluster is set aside and a new one made" run "${one[@]}"
ok "nothing of it is thrown away" ls var/pg.broken-*/PG_VERSION
make -s stop "${one[@]}" >/dev/null

echo 9.6 >var/pg/PG_VERSION
ok "data of another PostgreSQL are refused" eval '! run "${one[@]}"'
ok "in one sentence that says what to install" says 'PostgreSQL 9.6.*install postgresql-9.6'
ok "a taken console port is refused" eval '! run "${one[@]}" WEB=127.0.0.1:$web2'
ok "in one sentence that names the holder and the way out" says "127.0.0.1:$web2 is taken by seismo-collecto.* (pid .*make run WEB="
ok "a taken collector port is refused" eval '! run "${one[@]}" BIND=tcp://127.0.0.1:$bind2'
ok "in one sentence, too" says "is taken by .*make run BIND="
ok "an address that is none is refused" eval '! run "${one[@]}" WEB=8080'
ok "in one sentence with an example" says 'for example WEB='
ok "without root nothing is done" unlike_root
ok "and one sentence says so" says 'needs root'
ok "a kernel without BTF is refused" without_btf
ok "in one sentence that says what to do" says 'CONFIG_DEBUG_INFO_BTF'
ok "the second stack was not harmed by any of this" well "$web2"
done_checking
