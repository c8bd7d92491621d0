# SPDX-License-Identifier: Apache-2.0
# fronts.sh - real proxies before the server at $back, each as its manual says: fronts_start NAME..., whose ports are
# then in ${port[NAME]}. Needs check.sh, stack.sh and a directory $tmp.
declare -A port
fronts_started=

front_run() { # COMMAND...; Apache passes its SIGTERM on to the whole process group
	setsid "$@" >>"$tmp/fronts.out" 2>&1 &
	fronts_started+=" $!"
}

front_nginx() {
	cat >"$tmp/nginx.conf" <<-END
	daemon off; pid $tmp/nginx.pid; error_log $tmp/nginx.log crit; user root; worker_processes 1; events { }
	http {
		client_body_temp_path $tmp/t1; proxy_temp_path $tmp/t2; fastcgi_temp_path $tmp/t3; uwsgi_temp_path $tmp/t4; scgi_temp_path $tmp/t5;
		access_log off; keepalive_requests 1000000; upstream one { server 127.0.0.1:$back; keepalive 64; }
		server { listen 127.0.0.1:$1; location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://one; } }
	}
	END
	front_run nginx -c "$tmp/nginx.conf" -e "$tmp/nginx.log"
}

front_node() {
	front_run node -e '
		const http = require("http"), agent = new http.Agent({ keepAlive: true }), [port, back] = process.argv.slice(1).map(Number);
		http.createServer((q, a) => {
			const up = http.request({ host: "127.0.0.1", port: back, path: q.url, method: q.method, headers: q.headers, agent }, (r) => {
				a.writeHead(r.statusCode, r.headers);
				r.pipe(a);
			});
			up.on("error", () => a.writeHead(502).end());
			q.pipe(up);
		}).listen(port, "127.0.0.1")' "$1" "$back"
}

front_lighttpd() {
	cat >"$tmp/lighttpd.conf" <<-END
	server.modules = ( "mod_proxy" )
	server.document-root = "$tmp"
	server.bind = "127.0.0.1"
	server.port = $1
	server.errorlog = "$tmp/lighttpd.log"
	proxy.server = ( "" => (( "host" => "127.0.0.1", "port" => $back )) )
	END
	front_run lighttpd -D -f "$tmp/lighttpd.conf"
}

front_apache() { # MPM PORT
	cat >"$tmp/$1.conf" <<-END
	ServerRoot /usr/lib/apache2
	LoadModule mpm_$1_module modules/mod_mpm_$1.so
	LoadModule authz_core_module modules/mod_authz_core.so
	LoadModule proxy_module modules/mod_proxy.so
	LoadModule proxy_http_module modules/mod_proxy_http.so
	User www-data
	Group www-data
	ServerName front
	Mutex pthread
	PidFile $tmp/$1.pid
	ErrorLog $tmp/$1.log
	Listen 127.0.0.1:$2
	KeepAlive On
	MaxKeepAliveRequests 0
	KeepAliveTimeout 60
	StartServers 2
	$([ "$1" = prefork ] && echo "MaxRequestWorkers 80" || echo "ThreadsPerChild 40
	MaxRequestWorkers 80")
	ProxyPass / http://127.0.0.1:$back/
	END
	front_run apache2 -D FOREGROUND -f "$tmp/$1.conf"
}

front_haproxy() { # THREADS PORT
	cat >"$tmp/haproxy$1.cfg" <<-END
	global
		nbthread $1
	defaults
		mode http
		timeout client 60s
		timeout server 60s
		timeout connect 5s
	frontend in
		bind 127.0.0.1:$2
		default_backend out
	backend out
		http-reuse safe
		server one 127.0.0.1:$back
	END
	front_run haproxy -db -f "$tmp/haproxy$1.cfg"
}

front_aiohttp() {
	front_run /usr/bin/python3 -c '
import sys, aiohttp
from aiohttp import web
port, back = sys.argv[1:]
async def one(q):
    head = {k: v for k, v in q.headers.items() if k in ("X-Id", "X-Request-Id")}
    async with q.app["client"].request(q.method, "http://127.0.0.1:" + back + q.path_qs, headers=head) as r:
        return web.Response(status=r.status, body=await r.read())
async def client(app):
    app["client"] = aiohttp.ClientSession()
    yield
    await app["client"].close()
app = web.Application()
app.router.add_route("*", "/{any:.*}", one)
app.cleanup_ctx.append(client)
web.run_app(app, host="127.0.0.1", port=int(port), print=None, access_log=None)' "$1" "$back"
}

# One thread and two clients: it reads A, calls for A, reads B, reads the answer of A, calls for B, answers A, then B.
front_batch() {
	front_run /usr/bin/python3 -c '
import select, socket, sys
port, back = map(int, sys.argv[1:])
def head(c):
    d = b""
    while b"\r\n\r\n" not in d:
        x = c.recv(65536)
        if not x:
            return None
        d += x
    return d
def answer(c):
    d = head(c)
    at = d.index(b"\r\n\r\n") + 4
    need = int(d[:at].lower().split(b"content-length:")[1].split(b"\r\n")[0])
    while len(d) < at + need:
        d += c.recv(65536)
    return d
listener = socket.create_server(("127.0.0.1", port))
while True:
    a, b = listener.accept()[0], listener.accept()[0]
    ua, ub = (socket.create_connection(("127.0.0.1", back)) for _ in "ab")
    ep = select.epoll()
    for s in a, b, ua, ub:
        ep.register(s, select.EPOLLIN)
    while True:
        ep.poll(1)
        qa = head(a)
        if not qa:
            break
        ua.sendall(qa)
        qb = head(b)
        ep.poll(1)
        ra = answer(ua)
        ub.sendall(qb)
        a.sendall(ra)
        b.sendall(answer(ub))' "$1" "$back"
}

batch_load() { # two clients, in turn
	local prefix=/batch-$rung-$((n += 1))/ half=$((each / 4))
	/usr/bin/python3 - "${port[batch]}" "$prefix" "$half" <<-'END'
	import socket, sys
	port, prefix, times = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
	clients = [socket.create_connection(("127.0.0.1", port)) for _ in "ab"]
	for i in range(times):
	    for name, c in zip("ab", clients):
	        c.sendall(b"GET %s%d%s HTTP/1.1\r\nHost: x\r\n\r\n" % (prefix.encode(), i, name.encode()))
	    for c in clients:
	        d = b""
	        while b"\r\n\r\n" not in d:
	            d += c.recv(65536)
	        at = d.index(b"\r\n\r\n") + 4
	        need = int(d[:at].lower().split(b"content-length:")[1].split(b"\r\n")[0])
	        while len(d) < at + need:
	            d += c.recv(65536)
	END
	sent+="batch turns $prefix $((2 * half)) $((2 * half))"$'\n'
}

fronts_start() { # NAME...
	local name ports
	mapfile -t ports < <(free_ports $#)
	for name; do
		port[$name]=${ports[0]}
		ports=("${ports[@]:1}")
		case $name in
		event | worker | prefork) front_apache "$name" "${port[$name]}" ;;
		haproxy*) front_haproxy "${name#haproxy}" "${port[$name]}" ;;
		*) "front_$name" "${port[$name]}" ;;
		esac
	done
	for name; do
		listening "${port[$name]}" || { echo "$name does not listen:"; tail -n 3 "$tmp/fronts.out"; }
	done
}

# A thread that waits for its own pages has a call that cannot be read.
warm_front() { # NAME
	[ "$1" = batch ] || "$B/tools/load" "127.0.0.1:${port[$1]}" --prefix /warm/ --conns 8 --rate 200 --seconds 0.2 >/dev/null 2>&1
}

fronts_gone() {
	kill $fronts_started 2>/dev/null
}
