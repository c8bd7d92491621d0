#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the figures of I/O: bytes, calls and latency beside fio and the disk, histograms beside libbpf-tools, and what each
# source costs, into RESULTS.md. Some 30 minutes on a quiet machine of two processors; SHORT=1 tries all of it in three.
set -u
cd "$(dirname "$0")/../../.." || exit 1
[ "$(id -u)" = 0 ] || { echo "Seismo: this loads kernel programs and makes a loop device: use sudo make bench-io." >&2; exit 1; }
deploy/dev/deps.sh bench || exit 1
. tests/lib/bench_rig.sh
trap 'rm -rf "$tmp"' EXIT
export B PYTHONDONTWRITEBYTECODE=1
if [ -n "${SHORT:-}" ]; then
	ios=2000 seconds=5 rounds=1 each=0.05
else
	ios=20000 seconds=60 rounds=16 each=0.05
fi

unfinished="It did not come to its end."

section() { # TITLE COMMAND...: its Markdown, with what belongs beside every figure
	printf '### %s, %s\n\n%s, load average %s, fio %s, a loop device over memory.\n' "$1" "$(date -u +%F)" "$(machine)" \
		"$(cut -d' ' -f1 /proc/loadavg)" "$(fio --version | sed 's/fio-//')"
	printf 'Command: `make bench-io` (`%s`%s).\n\n' "${*:3}" "${SHORT:+, in short}"
	"${@:2}" || echo "$unfinished"
	echo
}

into_results() { # FILE: each section that came to its end takes the place of the one before of the same title
	python3 - "$1" "$unfinished" <<-'END'
	import re, sys
	path = "tests/bench/RESULTS.md"
	new, old = open(sys.argv[1]).read(), open(path).read()
	for part in re.split(r"(?m)^(?=### )", new)[1:]:
	    if sys.argv[2] in part:
	        continue
	    title = re.match(r"### (.*), \d{4}-", part)[1]
	    found = re.search(rf"(?ms)^### {re.escape(title)}, \d.*?(?=^### |\Z)", old)
	    old = old[:found.start()] + part + old[found.end():] if found else old.rstrip("\n") + "\n\n" + part
	open(path, "w").write(old.rstrip("\n") + "\n")
	END
}

{
	section "I/O beside fio and the disk" python3 tests/bench/io/exact.py $ios
	section "Histograms beside libbpf-tools" python3 tests/bench/io/beside.py $seconds
	section "What the sources cost who writes to a disk" python3 tests/bench/io/cost.py $rounds $each
} >"$tmp/results.md"
cat "$tmp/results.md"
[ -n "${SHORT:-}" ] || into_results "$tmp/results.md"
