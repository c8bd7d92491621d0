#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# replay.sh - seismo-replay: what it reads and refuses, that all of a recording is stored once, and that of recorded faults the sums
# of RED name the right host. The long form is `make bench-incidents`.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
B=${B:-build}
head='window,start_ns,host,client_host,operation,request_us,upstream_us'

says() { # SENTENCE TEXT: of a file with this text
	local out
	printf "$2" >"$tmp/r.csv"
	out=$("$B/seismo-replay" --check --requests "$tmp/r.csv" 2>&1) && return 1
	grep -q "r.csv:$1" <<<"$out"
}

reads() { # HOW MANY TEXT
	printf "$2" >"$tmp/r.csv"
	"$B/seismo-replay" --check --requests "$tmp/r.csv" | head -n 1 | grep -qx "$1 requests, calls and events"
}

t=1661273967991908975
ok "a good file is read" reads 2 "$head\nw,$t,a,b,/,5,3\nw,$t,a,b,/,5,3\n"
ok "columns may come in any order, quoted, with others among them" reads 1 'x,host,"request_us",start_ns\r\n"a, b","h""1",7,1661273967991908975\r\n'
ok "an empty file is refused" says "0: the file is empty" ""
ok "a column that is missing is named" says "1: .*no column request_us" "start_ns,host\n$t,a\n"
ok "a line that is too short is refused" says "3: there are fewer columns" "$head\nw,$t,a,b,/,5,3\nw,$t,a\n"
ok "a field that is not a number is refused" says '3: request_us is .5ms., not a whole number' "$head\nw,$t,a,b,/,5,3\nw,$t,a,b,/,5ms,3\n"
ok "a negative one, too" says '2: upstream_us is' "$head\nw,$t,a,b,/,5,-3\n"
ok "and one beyond a day" says '2: request_us is' "$head\nw,$t,a,b,/,86400000001,3\n"
ok "a request without a time is refused" says "2: start_ns is missing" "$head\nw,,a,b,/,5,3\n"
ok "and one without a duration" says "2: request_us is missing" "$head\nw,$t,a,b,/,,\n"
for unit in 000:microseconds 000000:milliseconds 000000000:seconds; do
	ok "a time in ${unit#*:} is refused as such" says "2: start_ns is [0-9]*, a time in ${unit#*:}" "$head\nw,$((t / 1${unit%:*})),a,b,/,5,3\n"
done
ok "a time of the year 2200 is refused" says "2: start_ns is .* not a time from 1990" "$head\nw,7258118400000000000,a,b,/,5,3\n"
ok "a request that waited for longer than it took is refused" says "2: upstream_us is 3000, more" "$head\nw,$t,a,b,/,5,3000\n"
ok "but not one whose times were rounded" reads 1 "$head\nw,$t,a,b,/,5000,5900\n"
ok "a column that is named twice is refused" says "1: .*names column host twice" "$head,host\nw,$t,a,b,/,5,3,c\n"
ok "a status that cannot be is refused" says "2: status is not" "$head,status\nw,$t,a,b,/,5,3,42\n"
ok "a byte order mark is skipped" reads 1 "\xef\xbb\xbf$head\nw,$t,a,b,/,5,3\n"
ok "and one without a host" says "2: a line names no host" "$head\nw,$t,,b,/,5,3\n"
ok "a quote that is not closed is refused" says "2: a quote is not closed" "$head\nw,$t,\"a,b,/,5,3\n"
ok "a byte that is not text is refused" says "2: this is no text" "$head\nw,$t,a\\0,b,/,5,3\n"
ok "so is a line without an end" says "2: the line is longer" "$head\n$(printf '%05000d' 1)\n"
{ printf x; head -c 100000 /dev/urandom; } >"$tmp/noise.csv" # its first line is not empty
ok "noise is refused with its line" sh -c "! '$B/seismo-replay' --check --requests '$tmp/noise.csv' 2>&1 | grep -v noise.csv:1:"

refuses() { # SENTENCE FLAG TEXT
	local out
	printf "$3" >"$tmp/x.csv"
	out=$("$B/seismo-replay" --check "$2" "$tmp/x.csv" 2>&1) && return 1
	grep -q "x.csv:$1" <<<"$out"
}
ok "a call that names no callee is refused" refuses "2: a call names no callee_host" --calls "start_ns,caller_host,callee_host,caller_us\n$t,a,,5\n"
ok "so is an event of severity 4" refuses "2: severity is not" --events "start_ns,host,kind,severity\n$t,a,oom,4\n"

summary() { # two requests of one host, one of another; three calls: of one request, of either of two, of none
	printf "$head\nw,$t,a,b,/,5000,3\nw,$((t + 1000)),a,b,/,5000,3\nv,$t,c,b,/,2000000,3\n" >"$tmp/r.csv"
	printf "window,start_ns,caller_host,callee_host,caller_us\nw,$((t + 2000)),a,d,5\nv,$((t + 5000)),c,d,5\nw,$t,d,e,7\n" >"$tmp/x.csv"
	"$B/seismo-replay" --check --requests "$tmp/r.csv" --calls "$tmp/x.csv" >"$tmp/out"
}
has() { # each of these lines
	local line
	for line; do grep -qxF -- "$line" "$tmp/out" || { cat "$tmp/out"; return 1; }; done
}
ok "--check sums up what is good" summary
ok "with hosts, windows, times, and what the calls belong to" has "6 requests, calls and events" "requests  3" \
	"calls     3: 1 belong to one request of their caller, 1 only to its route, 1 to none" "events    0" "hosts     3: a, c, d" \
	"          a token for them: seismo-collector node token --uses 3" "time      2022-08-23T16:59:27Z to 2022-08-23T16:59:29Z" \
	"window    w: 4 records in 0.0 s from 2022-08-23T16:59:27Z" "window    v: 2 records in 2.0 s from 2022-08-23T16:59:27Z"

faults="fault-04 fault-22"
replayed() {
	FAULTS="$faults" LEARN=4 REST=1 RULE="by hand" MIN=1,1 KEEP="$tmp/kept" tests/incidents/run.sh >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
}
ok "of recorded faults the right host is named" replayed
read -r looked busy < <(sed -nE 's/.*looked at each ([0-9]+) s of data, in ([0-9]+) % of the time$/\1 \2/p' "$tmp/out")
ok "what passes 120 times as fast as time is looked at more often than once a second, as far as there is time (each ${looked:=999} s of it, in ${busy:=0} %)" \
	test "$looked" -le 50 -o "$busy" -ge 6 # 4 on a quiet machine; 70 to 80, and 2 %, by the second
want() { # requests of the windows, as often as they were played
	xz -dc tests/data/onlineboutique/requests.csv.xz | awk -F, -v faults="$faults" 'BEGIN { split(faults, f, " "); for (i in f) times[f[i]] = 1; times["baseline"] = 4 + length(f) }
		$1 in times { n += times[$1] } END { print n }'
}
counted() { # ROLE
	awk -F'|' -v role="$1" '$3 == role { n += $7 } END { print n + 0 }' "$tmp/kept/red"
}
all=$(want)
for role in 0 2 3; do
	ok "each request is counted once (role $role: $(counted "$role") of $all)" test "$(counted "$role")" = "$all"
done
ok "of most of them it is known how usual they were" \
	awk -F'|' '$3 == 2 { n += $7; judged += $10 } END { exit judged < 0.7 * n }' "$tmp/kept/red"
ok "and abnormal ones are rows" test -s "$tmp/kept/rows"
done_checking
