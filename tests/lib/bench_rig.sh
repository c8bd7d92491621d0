# SPDX-License-Identifier: Apache-2.0
# bench_rig.sh - what the benches share: medians, the machine's facts, and an nginx of one worker on a processor of its own.
# Needs check.sh. Set probe to the pid of what is to end with the bench.
B=${B:-build} rounds=${ROUNDS:-7} each=${SECONDS_EACH:-2} probe=
tmp=$(mktemp -d) || exit 1
chmod 755 "$tmp"

median() { # of numbers, one a line: "median (min..max)"
	sort -n | awk '{ v[NR] = $1 } END { printf "%d (%d..%d)\n", v[int((NR + 1) / 2)], v[1], v[NR] }'
}

machine() { # what belongs beside every figure
	echo "$(uname -sr), $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
}

empty_ns() { # what the kernel's figures say of a program that does nothing: their own cost, in each run
	sysctl -q kernel.bpf_stats_enabled=1
	"$B/tools/pingpong" 1 200000 | "$B/tools/emptyhook"
	sysctl -q kernel.bpf_stats_enabled=0
}

nginx_rig() { # answers by itself at $static, through $proxied by an upstream; nothing listens at $nobody
	[ "$(nproc)" -ge 2 ] || { echo "needs two processors: one for nginx, one for the load" >&2; exit 1; }
	read -r static proxied backend nobody < <(free_ports 4 | tr '\n' ' ')
	cat >"$tmp/nginx.conf" <<-END
	worker_processes 1; pid $tmp/nginx.pid; error_log $tmp/error.log crit; user root; worker_rlimit_nofile 20000;
	events { worker_connections 8000; }
	http {
		client_body_temp_path $tmp/t1; proxy_temp_path $tmp/t2; fastcgi_temp_path $tmp/t3; uwsgi_temp_path $tmp/t4; scgi_temp_path $tmp/t5;
		access_log off; keepalive_requests 100000000; proxy_http_version 1.1; proxy_set_header Connection "";
		upstream one { server 127.0.0.1:$backend; keepalive 128; }
		server { listen 127.0.0.1:$static backlog=4096; location / { return 200 "ok"; } }
		server { listen 127.0.0.1:$proxied backlog=4096; location / { proxy_pass http://one; } }
	}
	END
	taskset -c 1 "$B/tools/server" "$backend" & server=$!
	taskset -c 0 nginx -c "$tmp/nginx.conf" -e "$tmp/error.log"
	trap 'kill $server $probe 2>/dev/null; nginx -c "$tmp/nginx.conf" -e "$tmp/error.log" -s quit 2>/dev/null; rm -rf "$tmp"' EXIT
	listening "$static" "$proxied" "$backend"
	worker=$(pgrep -P "$(cat "$tmp/nginx.pid")")
}

per_request() { # PORT: ns of the worker's CPU time
	local before after n
	before=$(cut -d' ' -f1 "/proc/$worker/schedstat")
	n=$(taskset -c 1 wrk -t1 -c32 -d"${each}s" "http://127.0.0.1:$1/r/1" | awk '/requests in/ { print $1 }')
	after=$(cut -d' ' -f1 "/proc/$worker/schedstat")
	echo $(((after - before) / n))
}
