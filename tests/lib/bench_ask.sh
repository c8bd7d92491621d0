# SPDX-License-Identifier: Apache-2.0
# bench_ask.sh - how long the console's questions take, in the database and over HTTP. Needs ingest_rig.sh; $web and $rounds.

HOUR="date_bin('10 minutes', now() - interval '1 hour', timestamptz 'epoch'), now()" # of the topology, where nobody says since when

ask_ms() { # SQL N: ms of each of N times, as the console's role on a connection of its own that has asked once before, as those of its pool have
	{
		printf '%s\n' '\o /dev/null' "$1;" '\timing on'
		printf "$1;\n%.0s" $(seq "$2")
	} | PGOPTIONS="-c jit=off" "$pgbin/psql" -h "$dir/s" -U seismo_web -X -q -A -t -d seismo | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p'
}

http_ms() { # PATH: also of an error, which is printed
	curl -s -o /dev/null -w '%{time_total} %{http_code}\n' "http://127.0.0.1:$web/api/v1/$1" |
		awk -v path="$1" '{ print 1000 * $1 } $2 != 200 { print "  " path " is answered by " $2 " after " $1 " s" >"/dev/stderr" }'
}

in_ms() { # of numbers, one a line: median (least..most)
	sort -n | awk '{ v[NR] = $1 } END { printf "%.1f (%.1f..%.1f)", v[int((NR + 1) / 2)], v[1], v[NR] }'
}

in_database() { # SQL [ROUNDS]
	ask_ms "$1" "${2:-$rounds}" | in_ms
}

by_http() { # PATH
	local i
	for i in $(seq "$rounds"); do
		http_ms "$1"
	done | in_ms
}
