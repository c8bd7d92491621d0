#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# samples.sh - sample configuration and manual match the programs, and make install puts all in place.
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
	program=seismo-$what sample=deploy/conf/$what.conf
	ok "$program takes its sample" "$B/$program" --check-config --config "$sample"
	sed -E 's/^#([a-z0-9_]+ =)/\1/' "$sample" >"$tmp/all.conf"
	ok "$program takes it with every line in force" "$B/$program" --check-config --config "$tmp/all.conf"
	ok "the sample of $program has just the keys that there are" test "$(keys "$sample")" = "$(flags "$program")"
	ok "$program refuses an unknown key with file and line" mistake "$program" "# a comment"$'\n'"[$what]"$'\n'"nonsense = 1" 3
	ok "$program refuses a value that is none" mistake "$program" "$(grep -m1 '^\[' "$sample")"$'\n'"$(sed -nE 's/^#?([a-z0-9_]+) = .*/\1 =/p' "$sample" | head -n 1)" 2
done

ok "the committed samples, manual pages and configuration.md are those that the programs print" docs/gen/options.sh --check
for page in docs/man/*; do
	ok "$page is valid" eval '[ -s "$page" ] && [ -z "$(groff -man -ww -Tascii "$page" 2>&1 >"$tmp/page")" ] && [ -s "$tmp/page" ]'
done
for program in seismo-probe seismo-collector seismo-replay; do
	ok "no line of $program --help is over 100 columns" eval '"$B/$program" --help | awk "length(\$0) > 100 { bad = 1 } END { exit bad || NR < 10 }"'
	ok "$program refuses an unknown format of help" eval '! "$B/$program" --help=nonsense >"$tmp/answer" 2>&1 && grep -q "markdown" "$tmp/answer"'
done
ok "the commands of a group are listed" eval '"$B/seismo-collector" node --help | grep -q "^  node approve "'

ok "make install installs" make -s install DESTDIR="$tmp/a dir" PREFIX=/opt/seismo
ok "the programs are there" test -x "$tmp/a dir/opt/seismo/sbin/seismo-probe" -a -x "$tmp/a dir/opt/seismo/sbin/seismo-collector"
ok "the programs of one's own that are shipped are there, with manifest and source" test -s "$tmp/a dir/opt/seismo/lib/seismo/programs/runqlat.bpf.o" \
	-a -s "$tmp/a dir/opt/seismo/lib/seismo/programs/tcpconnect.conf" -a -s "$tmp/a dir/opt/seismo/lib/seismo/programs/tcpconnect.bpf.c"
for page in man8/seismo-probe.8 man8/seismo-collector.8 man5/seismo-probe.conf.5 man5/seismo-collector.conf.5 man1/seismo-replay.1; do
	ok "the manual page $page is there" cmp "docs/man/${page#*/}" "$tmp/a dir/opt/seismo/share/man/$page"
done
ok "the samples are there" cmp deploy/conf/collector.conf "$tmp/a dir/etc/seismo/collector.conf"
ok "the units name the programs" grep -q '^ExecStart=/opt/seismo/sbin/seismo-probe ' "$tmp/a dir/opt/seismo/lib/systemd/system/seismo-probe.service"
ok "a probe that is installed keeps on disk what waits and what is usual, where its unit lets it write" \
	eval '[ "$(grep -cE "^(spool|state) = /var/lib/seismo/" deploy/conf/probe.conf)" = 2 ] && grep -qx StateDirectory=seismo deploy/systemd/seismo-probe.service'
done_checking
