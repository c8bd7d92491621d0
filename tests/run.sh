#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [SUITE...] - everything that can be checked on this machine. Every suite ends in "N passed, N failed";
# one that dies or says nothing counts as a failure. T= seconds for each fuzzer (3).
#
# Lanes run side by side, as most suites wait most of the time. What waits longest runs while the rest is built; then come
# four lanes, one for those where a delay counts most, one for the others that watch real servers, and two of lower
# priority, for what needs only a processor or the database and for the browser, lint and fuzzers. Whoever is ready helps
# with those that watch servers. What promises a time or a share of slow requests is measured when they are done, alone.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib/leftovers.sh

began=$SECONDS
[ "$(id -u)" = 0 ] || { echo "Seismo: the tests load kernel programs and make network namespaces: use sudo make test." >&2; exit 1; }
deploy/dev/deps.sh test || exit 1
PATH=$(dirname "$(python3 -c 'import sys; print(sys.executable)')"):$PATH # itself, not a script of a version manager, which takes ten times as long
unset MAKEFLAGS MAKELEVEL MFLAGS VAR WEB BIND NODE

# Whatever the tests put into temporary files lies here, and must be gone at the end.
TMPDIR=$(mktemp -d /tmp/seismo-test.XXXXXX) || exit 1
chmod 755 "$TMPDIR"
export TMPDIR SEISMO_TEST=$TMPDIR B=build PYTHONDONTWRITEBYTECODE=1
logs=$PWD/build/logs
mkdir -p "$logs"
counts=$logs/counts failures=$logs/failures
: >"$counts"
: >"$failures"
trap 'kill_leftovers; rm -rf "$TMPDIR"' EXIT
trap '[ -z "$lanes" ] || { kill $lanes; wait $lanes; } 2>/dev/null; exit 130' INT TERM HUP
lanes=

count() { # PASSED FAILED
	echo "$1 $2" >>"$counts"
}

wrong() { # NAME LOG: what it calls wrong, or its last words
	{ grep --no-group-separator -A2 -E '^ *FAIL' "$2" || tail -n 3 "$2"; } | sed "s|^ *|$1: |"
}

hung() { # GROUP SECONDS: what it runs then
	read -r -t "$2" <> <(:) # nobody writes there
	echo "after $2 s this still runs, for so many seconds:"
	ps -eo pgid,pid,ppid,etimes,args | awk -v group="$1" '$1 == group' | cut -c1-300
}

suite() { # NAME SECONDS COMMAND...
	local name=$1 limit=$2 log="$logs/${1//\//_}.log" start=$SECONDS rc p f
	shift 2
	: >"$log"
	SEISMO_SUITE=$name timeout -k 10 "$limit" "$@" >>"$log" 2>&1 </dev/null &
	job=$!
	hung "$job" $((limit - 5)) >>"$log" &
	watch=$!
	wait "$job"
	rc=$? job=
	{ kill "$watch"; wait "$watch"; } 2>/dev/null
	read -r p f < <(tail -n 1 "$log" | tr -d '\r' | sed -nE 's/^(.* )?([0-9]+) passed, ([0-9]+) failed$/\2 \3/p')
	p=${p:-0} f=${f:-0}
	[ $rc -eq 0 ] && [ $((p + f)) -gt 0 ] || [ "$f" -gt 0 ] || f=1
	count "$p" "$f"
	if [ $rc = 124 ] || [ $rc = 137 ]; then
		processes_of "SEISMO_SUITE=$name" | xargs -r kill -KILL 2>/dev/null # else they disturb the other suites
		echo "it did not end within $limit s" >>"$log"
	fi
	[ "$f" = 0 ] || wrong "$name" "$log" >>"$failures"
	{
		printf '  TEST   %-28s %s\n' "$name" "$p passed, $f failed, $((SECONDS - start)) s"
		[ "$f" = 0 ] || tail -n 60 "$log" | sed 's/^/         | /'
	} | cat # in one piece: the other lane prints, too
}

threaded() { # the unit tests that start threads
	grep -lE 'pthread_create|thread_start' $(find tests/unit -name "test_*.c") | sed "s|.*/\(.*\)\.c|$1/test/\1|"
}

wanted() {
	[ ${#only[@]} -eq 0 ] || [[ " ${only[*]} " == *" $1 "* ]]
}

# Suites of tests/it go by it, it/TOPIC, it/TOPIC/NAME.sh, NAME.sh or NAME.
asked() { # FILE
	local name=${1##*/} path=${1#tests/}
	wanted it || wanted "${path%/*}" || wanted "$path" || wanted "$name" || wanted "${name%.*}"
}

it() { # FILE...
	local t
	for t; do
		[ ! -f "$t" ] || [ ! -x "$t" ] || ! asked "$t" || suite "${t#tests/}" 600 "$t"
	done
}

lane() { # FUNCTION
	job=
	trap - EXIT
	trap '[ -z "$job" ] || { kill "$job" "$watch"; wait "$job"; }; exit 130' INT TERM HUP
	"$1"
}

early() { # what waits most of its time, while the rest is built
	local t
	for t in $waiting; do
		it tests/it/*/"$t.sh"
	done
}

# What promises a time or a share of slow ones; what compares times; then the others, those first that are sooner disturbed.
waiting="outage keys hostile limits"
alone="visible first_byte noise"
exact="request nginx_exact kinds kinds_syscalls calls shapes assoc assoc_delayed"
standing="between budget split block files stacks nginx_files odd own older owners losses keep scope probe demo house doctor walk samples"

queue() { # what the lists forget is tested, too
	local t
	for t in $standing $(ls tests/it/*/*.sh | sed 's|.*/||; s|\.sh$||'); do
		case " $alone $exact $queued " in *" $t "*) continue ;; esac
		case " $waiting " in *" $t "*) continue ;; esac
		case $t in ingest*) continue ;; esac
		queued+=" $t"
		echo "$t"
	done
}

next() { # of the queue, once for all lanes
	(
		flock 9
		head -n 1 "$logs/queue"
		sed -i 1d "$logs/queue"
	) 9>"$logs/queue.lock"
}

watching() { # real servers, by the kernel's programs: what is compared with what they say themselves
	local t
	for t in $exact; do
		it tests/it/*/"$t.sh"
	done
	standing
}

standing() { # the others
	local t
	while t=$(next) && [ -n "$t" ]; do
		it tests/it/*/"$t.sh"
	done
}

working() {
	local t
	if wanted unit; then
		for t in $(find build-clang/test -name "test_*" -type f -executable | sort); do
			suite "unit/${t##*/}" 600 "$t"
		done
		for t in $threads; do
			suite "threads/${t##*/}" 600 "$t"
		done
	fi
	it tests/it/*/ingest*.sh tests/it/*/*.py
	standing
}

browsing() { # one after the other, as each of the two takes a whole processor
	! wanted web || [ ! -x tests/web/run ] || suite web 1200 tests/web/run
	! wanted lint || suite lint 800 env COMPILERS=clang tests/lint/all.sh
	! wanted fuzz || suite fuzz 400 tests/fuzz.sh build-clang/fuzz "${T:-3}"
	standing
}

# Warnings of both compilers are errors here, so that lint need not build everything once more.
only=("$@")
make --no-print-directory -j"$(nproc)" WERROR=1 all tools objects || count 0 1
remember
lane early & lanes=$!
for goal in clang-objects $(! wanted unit || echo clang-unit) $(! wanted fuzz || echo clang-fuzzers); do
	nice make --no-print-directory -j"$(nproc)" WERROR=1 "$goal" || count 0 1
done
threads=$(! wanted unit || threaded build-san-thread)
if [ -n "$threads" ]; then # of what they take if its list is complete, else of everything
	rm -f $(threaded build)
	nice make --no-print-directory -j"$(nproc)" WERROR=1 MAP=1 $(threaded build) || count 0 1
	nice make --no-print-directory -j"$(nproc)" SAN=thread $threads 2>/dev/null ||
		{ rm -f build/test/*.map; nice make --no-print-directory -j"$(nproc)" SAN=thread $threads; } || count 0 1
fi

queued=
queue >"$logs/queue"
lane watching & lanes+=" $!"
lane standing & lanes+=" $!"
for low in working browsing; do
	(renice -n 10 -p "$BASHPID" >/dev/null; lane $low) & lanes+=" $!"
done
wait $lanes
lanes=
for t in $alone; do
	it tests/it/*/"$t.sh"
done
suite "nothing is left behind" 60 bash -c '. tests/lib/leftovers.sh; leftovers'

read -r passed failed < <(awk '{ p += $1; f += $2 } END { print p + 0, f + 0 }' "$counts")
cat "$failures" # once more, as who sees only the end must know, too
echo "$((SECONDS - began)) s in all; the output of each suite is in build/logs"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
