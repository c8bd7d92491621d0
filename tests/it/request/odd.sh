#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# odd.sh - servers that move their bytes by recvmmsg and sendmmsg, and one that moves its bytes by io_uring: read by the sockets'
# tracepoints, and counted as not read by those of the system calls; and of a connection of which those see all but one answer, or one
# request, only what is next to it is missing, and nobody has the call of another. Over a whole stack.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

started=
on_exit() { kill $started 2>/dev/null; }
stack_open --slow-ms 0 --rows-per-s 50000
read -r port mmsg half < <(free_ports 3 | tr '\n' ' ')
"$B/tools/odd" uring "$port" & started=$!
"$B/tools/odd" mmsg "$mmsg" & started+=" $!"
"$B/tools/odd" half "$half" "$mmsg" & started+=" $!"
listening "$port" "$mmsg" "$half"

rows() { # PREFIX
	ask "select count(*), min(status), max(status), count(distinct pid) from request where local_port = $port and path like '$1%'"
}

unread() { # of that server's connections
	ask "select coalesce(sum(n), 0) from unread where kind = 'io_uring' and app = 'odd'"
}

more_unread() { # THAN
	[ "$(unread)" -gt "$1" ] && echo yes
}

is_read() { # PATH: asks for it, too
	curl -s -o /dev/null -m 10 "http://127.0.0.1:$port$1"
	[ "$(rows "$1" | cut -d' ' -f1)" -gt 0 ]
}

for rung in $(rungs); do
	probe_by "$rung" --slow-ms 0 --rows-per-s 50000
	before=$(unread)
	[ "$rung" = syscalls ] || await 100 is_read "/first-$rung" # packets are looked at once io_uring was seen
	curl -s -o /dev/null -m 10 "http://127.0.0.1:$port/$rung/[1-10]"
	curl -s -o /dev/null -m 10 "http://127.0.0.1:$port/worker-$rung/[1-10]"
	if [ "$rung" = syscalls ]; then
		ok "$rung, its connections are counted as not read" await_value yes more_unread "$before"
		ok "$rung, and nothing else is" test "$(rows "/%$rung/" | cut -d' ' -f1)" = 0
	else
		ok "$rung, its requests are rows with their status" await_value "10 500 500 1" rows "/$rung/"
		ok "$rung, also those that a thread of the kernel answers" await_value "10 500 500 1" rows "/worker-$rung/"
	fi
	curl -s -o /dev/null -m 10 "http://127.0.0.1:$mmsg/$rung-m[1-5]"
	ok "$rung, requests by recvmmsg and sendmmsg, one connection kept, are rows with their status" \
		await_value "5 500 500" ask "select count(*), min(status), max(status) from request where local_port = $mmsg and path like '/$rung-m%'"
	if [ "$rung" = syscalls ]; then
		curl -s -m 10 "http://127.0.0.1:$half/"{half-1,unseen-2,half-3,half-4,unread-5,not-6,half-7,half-8} >/dev/null
		ok "$rung, where one answer was not seen the next request is a row, and so behind a request that was not seen" \
			await_value "/half-1 /half-3 /half-4 /half-7 /half-8" ask "select string_agg(path, ' ' order by path) from request where local_port = $half and path like '/half%'"
		ok "$rung, and each took no longer than it did" \
			test "$(ask "select count(*) from request where local_port = $half and path like '/half%' and request_us > 100000")" = 0
		printf 'GET /%s HTTP/1.1\r\nHost: odd\r\n\r\n' called-1 hidden-2 >"$tmp/both" # printf writes line by line, and they are to be read together
		exec 5<>"/dev/tcp/127.0.0.1/$half" && cat "$tmp/both" >&5
		timeout 10 head -c 80 <&5 >/dev/null # both answers
		exec 5>&-
		ok "$rung, nor has a request whose answer was not seen the call of the one behind it" \
			await_value "1 0" ask "select count(*) filter (where local_port = $mmsg), count(*) filter (where local_port = $half) from request where path like '/called%'"
		ok "$rung, but what was not seen is none" test "$(ask "select count(*) from request where local_port = $half and path !~ '^/(half|unread)'")" = 0
	fi
done
done_checking
