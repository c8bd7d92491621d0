# SPDX-License-Identifier: Apache-2.0
# nginx_rig.sh - a real nginx before two servers under load, compared with the log of nginx and those of the servers:
# what each request was, how long it took, and whose upstream calls are whose. Needs check.sh and stack.sh, a stack
# whose every request is a row (--slow-ms 0), and an on_exit that calls nginx_gone.
nginx_servers= urgent= figured= odd=

# nginx has a processor to itself, and what belongs to the load goes before all else: nginx's log takes its time from
# its own loop, which must not be held up.
nginx_apart() {
	taskset -pc 1 $$ >/dev/null 2>&1
	! chrt -r 1 true 2>/dev/null || urgent="chrt -r 1"
}

server_start() { # PORT ARG...: its log is $tmp/served.PORT
	$urgent "$B/tools/server" "$1" --log "$tmp/served.$1" "${@:2}" & nginx_servers+=" $!"
}

nginx_start() { # WORKERS, what belongs into http { } on standard input
	nginx_stop
	cat >"$tmp/nginx.conf" <<-END
	worker_processes $1; pid $tmp/nginx.pid; error_log $tmp/error.log crit; user root; worker_rlimit_nofile 20000;
	events { worker_connections 8000; }
	http {
		client_body_temp_path $tmp/t1; proxy_temp_path $tmp/t2; fastcgi_temp_path $tmp/t3; uwsgi_temp_path $tmp/t4; scgi_temp_path $tmp/t5;
		log_format rows '\$server_port|\$remote_addr:\$remote_port|\$upstream_addr|\$request_method|\$uri|\$status|\$request_time|\$upstream_response_time|\$http_x_id';
		access_log $tmp/access.log rows; keepalive_requests 1000000; proxy_http_version 1.1; proxy_set_header Connection "";
		$(cat)
	}
	END
	(
		[ -z "${cgroup:-}" ] || cgroup_join
		$urgent taskset -c 0 nginx -c "$tmp/nginx.conf" -e "$tmp/error.log"
	) || echo "nginx did not start: $(cat "$tmp/error.log")"
}

# The servers of the loads that say whose upstream calls are whose, at $kept, $few, $new, $retry, $auth and $piped; they
# call servers at $b1, of which $b2 fails often and $b3 is the gate.
proxied_started() {
	server_start "$b1" --max-delay 8
	server_start "$b2" --fail 60
	server_start "$b3" --max-delay 4
}

proxied() { # lines for http { }
	cat <<-END
	sendfile on;
	upstream one { server 127.0.0.1:$b1; keepalive 128; }
	upstream two { server 127.0.0.1:$b2 max_fails=0; server 127.0.0.1:$b1 max_fails=0; keepalive 128; }
	upstream few { server 127.0.0.1:$b1; keepalive 2; }
	upstream gate { server 127.0.0.1:$b3; keepalive 2; }
	server { listen 127.0.0.1:$kept backlog=4096; location / { proxy_pass http://one; } }
	server { listen 127.0.0.1:$few backlog=4096; location / { proxy_pass http://few; } }
	server { listen 127.0.0.1:$new backlog=4096; location / { proxy_http_version 1.0; proxy_set_header Connection close; proxy_pass http://127.0.0.1:$b1; } }
	server { listen 127.0.0.1:$retry backlog=4096; location / { proxy_next_upstream_tries 5; proxy_pass http://two; } }
	server { listen 127.0.0.1:$auth backlog=4096; location / { auth_request /gate; proxy_pass http://one; }
		location = /gate { internal; proxy_pass_request_body off; proxy_pass http://gate/gate\$request_uri; } }
	server { listen 127.0.0.1:$piped backlog=4096; location / { proxy_pass http://one; } }
	END
}

nginx_stop() {
	local i pid
	pid=$(cat "$tmp/nginx.pid" 2>/dev/null) || return 0
	kill -TERM "$pid"
	for ((i = 0; i < 50; i++)); do
		[ -d "/proc/$pid" ] || return 0
		sleep 0.1
	done
}

nginx_gone() {
	kill $nginx_servers 2>/dev/null
	nginx_stop
}

# Before anything is judged: a thread that waits for its own pages meanwhile has a call that cannot be assigned.
warm() { # PORT...
	local port
	for port; do
		"$B/tools/load" "127.0.0.1:$port" --prefix /warm/ --rate 200 --seconds 0.3 --close >/dev/null
	done
}

load() { # PORT PREFIX RATE SECONDS ARG...: what it says is in $tmp/load, what it sent in $sent
	local f
	for f in "$tmp"/served.*; do : >"$f"; done
	: >"$tmp/access.log"
	$urgent "$B/tools/load" "127.0.0.1:$1" --prefix "$2" --rate "$3" --seconds "$4" "${@:5}" >"$tmp/load"
	sent=$(awk '{ print $2 }' "$tmp/load")
}

rows() { # PORT PREFIX
	ask "select count(*) from request where path like '$2%' and local_port = $1"
}

# The figures of one load, one "name value" a line, by SQL over rows and logs. A row's line in the log is that of
# its path, or of its place on its connection; a call's is the request that the server read in its place on its
# connection, and where rows lack some calls, one that it read while the call went on, to a millisecond.
figures() { # PORT PREFIX path|order [ADDRESS of a call before the logged ones]
	local key='path' f
	[ "$3" = path ] || key="remote || '#' || row_number() over (partition by remote order by n)"
	ask_all <<END
create temp table log (n serial, port int, remote text, upstream text, method text, path text, status int, seconds numeric, up_seconds text, id int);
\\copy log (port, remote, upstream, method, path, status, seconds, up_seconds, id) from pstdin delimiter '|'
$(grep "^$1|.*|$2" "$tmp/access.log")
\\.
create temp table served (n serial, server int, client int, us bigint, id int);
\\copy served (server, client, us, id) from pstdin delimiter ' '
$(for f in "$tmp"/served.*; do sed "s/^/${f##*.} /" "$f"; done)
\\.
create temp table mine as select *, (select string_agg(u ->> 'addr', ', ' order by i) from jsonb_array_elements(upstreams) with ordinality t(u, i)) as ups
	from (select ts, row_number() over (order by ts) as n, host(remote) || ':' || remote_port as remote, method, path, status, request_us, upstreams
		from request where path like '$2%' and local_port = $1) r;
create temp table both_sides as select l.*, r.ts, r.request_us, r.upstreams, r.ups, r.status as row_status, r.method as row_method, r.path as row_path,
	r.remote as row_remote, ntile(3) over (order by r.ts) as third
	from (select *, $key as key from log) l join (select *, $key as key from mine) r using (key);
create temp table asked as select *, row_number() over (partition by conn order by at) as k, count(*) over (partition by conn) as of
	from (select b.id, u ->> 'localPort' || '-' || split_part(u ->> 'addr', ':', 2) as conn,
			extract(epoch from b.ts) * 1e6 + (u ->> 'startUs')::bigint as at, (u ->> 'responseUs')::bigint as took
		from both_sides b, jsonb_array_elements(b.upstreams) u where (u ->> 'localPort')::int <> 0) a;
create temp table got as select *, client || '-' || server as conn,
	row_number() over (partition by client, server order by us) as k, count(*) over (partition by client, server) as of from served;
create temp table calls as select a.*, case when exists (select from got g where g.conn = a.conn and g.of = a.of)
		then (select g.id from got g where g.conn = a.conn and g.k = a.k)
		else (select g.id from got g where g.conn = a.conn and g.us between a.at - 1000 and a.at + a.took + 1000 order by g.id = a.id desc, g.us desc limit 1) end as got
	from asked a;
select 'lines', count(*) from log
union all select 'rows', count(*) from mine
union all select 'matched', count(distinct key) from both_sides
union all select 'unequal', count(*) from both_sides where status <> row_status or method <> row_method or remote <> row_remote or path <> row_path
union all select 'upstream_unequal', count(*) from both_sides where ups <> '${4:+$4, }' || upstream or (ups is null and upstream <> '-')
union all select 'upstream_wrong', count(*) from both_sides where ups <> '${4:+$4, }' || upstream
union all select 's' || status, count(*) from log group by status
union all select 'request_p99_us', percentile_disc(0.5) within group (order by p) from (
	select percentile_disc(0.99) within group (order by abs(request_us - seconds * 1e6)) p from both_sides group by third) t
union all select 'upstream_p99_us', percentile_disc(0.5) within group (order by p) from (
	select percentile_disc(0.99) within group (order by abs((u ->> 'responseUs')::bigint - s::numeric * 1e6)) p
	from both_sides, jsonb_array_elements(upstreams) with ordinality a(u, i), unnest(string_to_array(up_seconds, ', ')) with ordinality b(s, j)
	where i = j + ${4:+1}+0 and s <> '-' group by third) t
union all select 'request_off_us', percentile_cont(0.5) within group (order by request_us - seconds * 1e6) from both_sides
union all select 'upstream_off_us', percentile_cont(0.5) within group (order by (u ->> 'responseUs')::bigint - s::numeric * 1e6)
	from both_sides, jsonb_array_elements(upstreams) with ordinality a(u, i), unnest(string_to_array(up_seconds, ', ')) with ordinality b(s, j)
	where i = j + ${4:+1}+0 and s <> '-'
union all select 'calls', count(*) from served
union all select 'right', count(*) from calls where id = got
union all select 'wrong', count(*) from calls where id <> got
union all select 'of_nobody', count(*) from calls where got is null;
select 'odd', format('call of %s read as %s: at +%s for %s us, reads of its connection at %s', a.id, a.got, a.at - r.at, a.took,
		(select string_agg(format('%s of %s', g.us - a.at, g.id), ', ' order by g.us) from got g where g.conn = a.conn and abs(g.us - a.at) < 50000))
	from calls a, lateral (select extract(epoch from ts) * 1e6 as at from both_sides where id = a.id) r where a.id <> a.got limit 3;
select 'odd', format('%s %s: calls %s, in the log %s', remote, path, ups, upstream) from both_sides
	where (ups is null and upstream <> '-') or ups <> '${4:+$4, }' || upstream limit 3;
select 'odd', format('line without a row: %s %s to %s, %s s, %s s', remote, path, upstream, seconds, up_seconds)
	from (select *, $key as key from log) l where key not in (select key from both_sides) limit 3;
select 'odd', format('row without a line: %s %s to %s, %s us', remote, path, ups, request_us)
	from (select *, $key as key from mine) m where key not in (select key from both_sides) limit 3;
END
}

# Into the array f; waits until there are as many rows as were sent. What is odd is kept as text.
measure() { # NAME PORT PREFIX KEY [ADDRESS]
	local key value
	await_value "${expected:-$sent}" rows "$2" "$3"
	unset f; declare -gA f
	odd=
	while read -r key value; do
		if [ "$key" = odd ]; then odd+="; $value"; else f[$key]=${value%.*}; fi
	done < <(figures "${@:2}")
	figured="$1: $(cat "$tmp/load"); $(for key in lines rows matched unequal upstream_unequal upstream_wrong request_p99_us upstream_p99_us request_off_us upstream_off_us calls right wrong of_nobody; do
		printf '%s %s ' $key "${f[$key]:-none}"; done)"
	echo "$figured"
}

# A test of these figures: where it fails, they are worth reading.
figure() { # EXPRESSION of test
	test "$@" && return
	echo "${figured#*: }"
	echo "${odd#; }; $(ask "select string_agg(format('%s %s', name, n), ', ' order by name)
		from (select name, sum(value) as n from api.coverage group by name having sum(value) > 0) c")"
	return 1
}
