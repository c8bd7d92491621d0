# SPDX-License-Identifier: Apache-2.0
# noise_rig.sh - what is flagged and what is not, end to end: nginx before an application whose answers take
# lognormal times (median 8 ms, SIGMA 0.5), four routes at once, of which a share can be made 60 ms later. The
# truth is nginx's log. What is measured runs before all else on the machine (PRIORITY, "" for like all else): who
# waits for a processor for 20 ms is slow indeed, but says nothing about the rule. Needs check.sh and stack.sh.
declare -A every=([half]=2 [five]=20 [one]=100 [none]=0) # route: one of so many is delayed, in a phase with faults
priority=${PRIORITY-$(chrt -r 10 echo chrt -r 10 2>/dev/null)}

rig_open() { # PROBE_FLAG...
	stack_open "$@"
	read -r ng app < <(free_ports 2 | tr '\n' ' ')
	cat >"$tmp/nginx.conf" <<-END
	worker_processes 1; pid $tmp/nginx.pid; error_log $tmp/error.log crit; user root;
	events { worker_connections 2000; }
	http {
		client_body_temp_path $tmp/t1; proxy_temp_path $tmp/t2; fastcgi_temp_path $tmp/t3; uwsgi_temp_path $tmp/t4; scgi_temp_path $tmp/t5;
		log_format truth '\$uri|\$args|\$request_time'; access_log $tmp/access.log truth;
		keepalive_requests 1000000; proxy_http_version 1.1; proxy_set_header Connection "";
		upstream app { server 127.0.0.1:$app; keepalive 128; }
		server { listen 127.0.0.1:$ng backlog=4096; location / { proxy_pass http://app; } }
	}
	END
	$priority "$B/tools/server" "$app" --median 8 --sigma "${SIGMA:-0.5}" & server=$!
	$priority nginx -c "$tmp/nginx.conf" -e "$tmp/error.log" || echo "nginx did not start"
}

on_exit() {
	kill "$server" $loads 2>/dev/null
	nginx -c "$tmp/nginx.conf" -e "$tmp/error.log" -s quit 2>/dev/null
}

play() { # PHASE FAULTS SECONDS RATE: each route at RATE a second; a phase is a digit, FAULTS 0 or 1
	local route rule
	loads=
	for route in "${!every[@]}"; do
		rule=
		[ "$2" = 1 ] && [ "${every[$route]}" -gt 0 ] && rule="--every ${every[$route]},m=60"
		$priority "$B/tools/load" "127.0.0.1:$ng" --conns 32 --prefix "/$route/${1}00" --rate "$4" --seconds "$3" $rule >>"$tmp/load" & loads+=" $!"
	done
	wait $loads
	loads=
}

# One line for each phase, route and server: phase route server requests delayed caught others flagged held
# (flagged, and as slow by nginx's own log and the wait before nginx read it).
figures() {
	sleep 3 # time: the last rows are stored, and one too many would be
	ask_all <<END
create temp table log (path text, args text, seconds numeric);
\\copy log from pstdin delimiter '|'
$(cat "$tmp/access.log")
\\.
create temp table mine as select path, local_port, min(limit_us) as limit_us, max(queue_us) as queue_us from request where local_port in ($ng, $app) group by 1, 2;
select substr(split_part(l.path, '/', 3), 1, 1), split_part(l.path, '/', 2), s.name, count(*),
	count(*) filter (where l.args like 'm=%'), count(*) filter (where l.args like 'm=%' and m.path is not null),
	count(*) filter (where l.args not like 'm=%'), count(*) filter (where l.args not like 'm=%' and m.path is not null),
	count(*) filter (where l.args not like 'm=%' and l.seconds * 1e6 + 1000 + m.queue_us >= m.limit_us)
from log l cross join (values ('nginx', $ng), ('app', $app)) s(name, port) left join mine m on m.path = l.path and m.local_port = s.port
group by 1, 2, 3 order by 1, 2, 3 desc;
END
}
