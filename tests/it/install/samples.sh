#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# samples.sh - the sample configuration says what the programs do, and make install puts all in place.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
B=${B:-build}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

keys() { # of a sample: its keys as flags
	sed -nE 's/^#?([a-z0-9_]+) =.*/--\1/p' "$1" | tr _ - | sort
}

flags() { # of a program, without those that are no keys, and without the name of their section
	"$B/$1" --help 2>&1 | sed -nE 's/^  (--[a-z0-9-]+).*/\1/p' | sed -E 's/^--(incidents|relay)-/--/' | grep -vxE -e '--(config|check-config|help|version)' | sort
}

mistake() { # PROGRAM TEXT: refused, and the answer has file and line
	printf '%s\n' "$2" >"$tmp/wrong.conf"
	! "$B/$1" --check-config --config "$tmp/wrong.conf" >"$tmp/answer" 2>&1 && grep -q "wrong.conf:$3" "$tmp/answer"
}

for what in probe collector; do
	program=seismo-$what sample=deploy/$what.conf
	ok "$program takes its sample" "$B/$program" --check-config --config "$sample"
	sed -E 's/^#([a-z0-9_]+ =)/\1/' "$sample" >"$tmp/all.conf"
	ok "$program takes it with every line in force" "$B/$program" --check-config --config "$tmp/all.conf"
	ok "the sample of $program has just the keys that there are" test "$(keys "$sample")" = "$(flags "$program")"
	ok "$program refuses an unknown key with file and line" mistake "$program" "# a comment"$'\n'"[$what]"$'\n'"nonsense = 1" 3
	ok "$program refuses a value that is none" mistake "$program" "$(grep -m1 '^\[' "$sample")"$'\n'"$(sed -nE 's/^#?([a-z0-9_]+) = .*/\1 =/p' "$sample" | head -n 1)" 2
done

ok "make install installs" make -s install DESTDIR="$tmp/a dir" PREFIX=/opt/seismo
ok "the programs are there" test -x "$tmp/a dir/opt/seismo/sbin/seismo-probe" -a -x "$tmp/a dir/opt/seismo/sbin/seismo-collector"
ok "the programs of one's own that are shipped are there, with manifest and source" test -s "$tmp/a dir/opt/seismo/lib/seismo/programs/runqlat.bpf.o" \
	-a -s "$tmp/a dir/opt/seismo/lib/seismo/programs/tcpconnect.conf" -a -s "$tmp/a dir/opt/seismo/lib/seismo/programs/tcpconnect.bpf.c"
ok "the samples are there" cmp deploy/conf/collector.conf "$tmp/a dir/etc/seismo/collector.conf"
ok "the units name the programs" grep -q '^ExecStart=/opt/seismo/sbin/seismo-probe ' "$tmp/a dir/opt/seismo/lib/systemd/system/seismo-probe.service"
ok "a probe that is installed keeps on disk what waits and what is usual, where its unit lets it write" \
	eval '[ "$(grep -cE "^(spool|state) = /var/lib/seismo/" deploy/conf/probe.conf)" = 2 ] && grep -qx StateDirectory=seismo deploy/systemd/seismo-probe.service'
done_checking
