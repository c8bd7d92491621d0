#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [NAME...] - the probe on other kernels: each of tests/kernels/kernels.list is fetched (not installed) and booted
# under QEMU with nginx, a server, load and the probe; then the probe's rows are compared with nginx's log, and what the
# doctor says of each source there with kernels.list; so it is without cgroups, with a /sys that cannot be written, without
# BTF, and booted once more without pressure (PSI) and counters of the processor (PMU).
# One to three minutes each; root is needed only to install what is missing. What each said stays in build/kernels/reports.
set -u
cd "$(dirname "$0")/../.." || exit 1
deploy/dev/deps.sh kernels || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS
make --no-print-directory -j"$(nproc)" all tools || exit 1

B=build limit=900 passed=0 failed=0 began=$SECONDS machine=
out=$B/kernels/reports
mkdir -p "$out"
tmp=$(mktemp -d) || exit 1
trap '[ -z "$machine" ] || kill "$machine" 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP

# -icount: the machine's clock counts its own instructions (one is 2 ns) and skips what it sleeps, so its times do not
# depend on what else runs here. -cx16: QEMU 7.2 gives cmpxchg16b wrong flags without KVM, and kernels from 6.8 on die of it;
# slab_debug: without that instruction the newest kernels give BPF no storage of sockets and threads, but for checked slabs.
boot() { # KERNEL NAME HOOKS CPU WORD...: until it powers itself off; a line for each thing it does
	local at last=
	rm -f "$out/$2".*
	timeout -k 5 $limit qemu-system-x86_64 -accel tcg,thread=single -icount shift=1,sleep=off -cpu "max,-cx16$4" -smp 1 -m 768 \
		-kernel "$1" -initrd "$tmp/initramfs" -append "console=ttyS0 quiet loglevel=3 panic=-1 slab_debug=F hooks=$3 ${*:5}" \
		-display none -monitor none -nic none -no-reboot -serial "file:$out/$2.console" -serial "file:$out/$2.report" </dev/null &
	machine=$!
	while sleep 2 && kill -0 "$machine" 2>/dev/null; do
		at=$(grep -a '^== ' "$out/$2.report" 2>/dev/null | tail -n 1)
		[ "$at" = "$last" ] || printf '         %4d s  %s\n' $((SECONDS - start)) "${at#== }"
		last=$at
	done
	wait "$machine"
	machine=
}

add() { # PASSED FAILED
	passed=$((passed + $1)) failed=$((failed + $2))
}

judged() { # NAME WORD...: by what the report says
	local p f
	tests/kernels/judge.py "$out/$1.report" "${@:2}" >"$tmp/verdict" 2>&1
	sed 's/^/         | /' "$tmp/verdict"
	read -r p f < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$tmp/verdict")
	add "${p:-0}" "${f:-1}"
	[ "${f:-1}" = 0 ] || tail -n 5 "$out/$1.console" | tr -d '\r' | sed 's/^/         | console: /'
}

one() { # NAME MIRROR SUITE PACKAGE HOOKS=WANT,... SOURCE,...
	local kernel start=$SECONDS
	if ! kernel=$(tests/kernels/fetch.sh "$B/kernels/$1" "$2" "$3" "$4" 2>"$tmp/fetch"); then
		echo "  KERNEL $1: not reachable, so not tested: $(grep -m 1 '^[EW]:' "$tmp/fetch" || tail -n 1 "$tmp/fetch")"
		return
	fi
	echo "  KERNEL $1"
	boot "$kernel" "$1" "$(sed 's/=[a-z]*//g' <<<"$5")" ""
	judged "$1" "off=$6" ${5//,/ }
	boot "$kernel" "$1-less" "" ",-pmu" psi=0
	judged "$1-less" "off=$6" without=psi
	tested=$((tested + 1))
	echo "         $((SECONDS - start)) s"
}

programs=()
for f in $B/programs/*; do
	programs+=("$f=/programs/${f##*/}")
done
tests/kernels/image.sh "$tmp/initramfs" $B/seismo-probe=/bin/seismo-probe $B/tools/server=/bin/server $B/tools/load=/bin/load \
	$B/tools/fakecollector=/bin/fakecollector /usr/sbin/nginx tests/kernels/nginx.conf=/nginx.conf /etc/passwd /etc/group "${programs[@]}" || exit 1
tested=0
while read -r name rest; do
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	one "$name" $rest
done < <(grep -v '^#' tests/kernels/kernels.list)
[ $tested -gt 0 ] || { echo "no kernel could be tested"; add 0 1; }
echo "$tested kernels in $((SECONDS - began)) s; what each said is in $out"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
