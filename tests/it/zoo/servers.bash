# SPDX-License-Identifier: Apache-2.0
# servers.bash - starts servers of many kinds, each as its manual says. serve_NAME starts NAME in the foreground on $port (TCP) and,
# if it can, on the Unix socket $sock; $dir is its directory. A path with /fail/ is answered with 500, one with /slow/ with 200 after
# 300 ms, any other with 200. Below, of each server: its transports, whether it can be slow, and a command that it needs.
servers=(
	"nginx tcp,tcp6,unix - nginx"
	"haproxy tcp,unix - haproxy"
	"apache_event tcp slow apache2"
	"apache_worker tcp slow apache2"
	"apache_prefork tcp slow apache2"
	"lighttpd tcp slow lighttpd"
	"php_fpm tcp slow php-fpm8.2"
	"gunicorn_sync tcp,unix slow gunicorn"
	"gunicorn_gthread tcp,unix slow gunicorn"
	"uvicorn tcp slow uvicorn"
	"aiohttp tcp,unix slow /usr/bin/python3"
	"node tcp,unix slow node"
	"node_cluster tcp slow node"
	"go tcp,unix slow go"
	"puma tcp,unix slow puma"
	"perl_fork tcp slow perl"
	"socat_exec tcp slow socat"
	"java tcp slow javac"
)

write_cgi() { # FILE: answers as CGI
	cat >"$1" <<-'END'
	#!/bin/sh
	[ "$REQUEST_METHOD" != POST ] || head -c "${CONTENT_LENGTH:-0}" >/dev/null
	case ${REQUEST_URI:-$PATH_INFO} in
	*/fail/*) printf 'Status: 500 Internal Server Error\r\n' ;;
	*/slow/*) sleep 0.3 ;;
	esac
	printf 'Content-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n'
	END
	chmod 755 "$1"
}

write_wsgi() {
	cat >"$dir/app.py" <<-'END'
	import time

	def app(environ, start):
	    path = environ["PATH_INFO"]
	    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
	    if "/slow/" in path:
	        time.sleep(0.3)
	    start("500 Failed" if "/fail/" in path else "200 OK", [("Content-Type", "text/plain"), ("Content-Length", "3")])
	    return [b"ok\n"]
	END
}

serve_nginx() {
	cat >"$dir/conf" <<-END
	pid $dir/pid; error_log $dir/log crit; daemon off; worker_processes 2; user root; events { }
	http { access_log off; client_body_temp_path $dir/t1; proxy_temp_path $dir/t2; fastcgi_temp_path $dir/t3; uwsgi_temp_path $dir/t4; scgi_temp_path $dir/t5;
		server { listen 127.0.0.1:$port; listen [::1]:$port; listen unix:$sock;
			location ~ /fail/ { return 500; } location / { return 200 "ok\n"; } } }
	END
	exec nginx -c "$dir/conf" -e "$dir/log"
}

serve_haproxy() {
	cat >"$dir/conf" <<-END
	global
	    nbthread 2
	defaults
	    mode http
	    timeout client 30s
	    timeout connect 5s
	    timeout server 30s
	frontend all
	    bind 127.0.0.1:$port
	    bind unix@$sock
	    http-request return status 500 content-type text/plain string "no" if { path -m sub /fail/ }
	    http-request return status 200 content-type text/plain string "ok"
	END
	exec haproxy -f "$dir/conf" -db
}

apache() { # MPM
	local m=/usr/lib/apache2/modules
	write_cgi "$dir/answer.cgi"
	cat >"$dir/conf" <<-END
	ServerName localhost
	ServerRoot $dir
	PidFile $dir/pid
	ErrorLog $dir/log
	Listen 127.0.0.1:$port
	User www-data
	Group www-data
	LoadModule mpm_$1_module $m/mod_mpm_$1.so
	LoadModule authz_core_module $m/mod_authz_core.so
	LoadModule alias_module $m/mod_alias.so
	$([ "$1" = prefork ] && echo "LoadModule cgi_module $m/mod_cgi.so" || echo "LoadModule cgid_module $m/mod_cgid.so
	ScriptSock $dir/cgid")
	ScriptAliasMatch ^/ $dir/answer.cgi
	<Directory $dir>
	    Require all granted
	    Options +ExecCGI
	</Directory>
	END
	exec setsid apache2 -f "$dir/conf" -DFOREGROUND
}

serve_apache_event() { apache event; }
serve_apache_worker() { apache worker; }
serve_apache_prefork() { apache prefork; }

serve_lighttpd() {
	write_cgi "$dir/answer.cgi"
	cat >"$dir/conf" <<-END
	server.modules = ("mod_rewrite", "mod_cgi")
	server.document-root = "$dir"
	server.bind = "127.0.0.1"
	server.port = $port
	cgi.assign = (".cgi" => "")
	url.rewrite-once = ("^(.*)$" => "/answer.cgi")
	END
	exec lighttpd -D -f "$dir/conf"
}

serve_php_fpm() { # behind nginx, by FastCGI
	cat >"$dir/answer.php" <<-'END'
	<?php if (strpos($_SERVER["REQUEST_URI"], "/fail/")) http_response_code(500); if (strpos($_SERVER["REQUEST_URI"], "/slow/")) usleep(300000); echo "ok\n";
	END
	cat >"$dir/fpm" <<-END
	[global]
	pid = $dir/fpm.pid
	error_log = $dir/fpm.log
	daemonize = no
	[www]
	user = www-data
	group = www-data
	listen = $dir/fpm.sock
	listen.mode = 0666
	pm = static
	pm.max_children = 4
	END
	cat >"$dir/conf" <<-END
	pid $dir/pid; error_log $dir/log crit; worker_processes 1; user root; events { }
	http { access_log off; client_body_temp_path $dir/t1; proxy_temp_path $dir/t2; fastcgi_temp_path $dir/t3; uwsgi_temp_path $dir/t4; scgi_temp_path $dir/t5;
		server { listen 127.0.0.1:$port; location / { fastcgi_pass unix:$dir/fpm.sock; fastcgi_param SCRIPT_FILENAME $dir/answer.php;
			fastcgi_param REQUEST_URI \$request_uri; fastcgi_param REQUEST_METHOD \$request_method;
			fastcgi_param CONTENT_LENGTH \$content_length; fastcgi_param CONTENT_TYPE \$content_type; } } }
	END
	nginx -c "$dir/conf" -e "$dir/log" -g 'daemon off;' &
	exec php-fpm8.2 -y "$dir/fpm" -F
}


serve_gunicorn_sync() {
	write_wsgi
	cd "$dir" && exec gunicorn --worker-class sync --workers 4 --bind "127.0.0.1:$port" --bind "unix:$sock" app:app
}

serve_gunicorn_gthread() {
	write_wsgi
	cd "$dir" && exec gunicorn --worker-class gthread --workers 2 --threads 4 --keep-alive 30 --bind "127.0.0.1:$port" --bind "unix:$sock" app:app
}

serve_uvicorn() {
	cat >"$dir/app.py" <<-'END'
	import asyncio

	async def app(scope, receive, send):
	    if scope["type"] != "http":
	        return
	    while (await receive()).get("more_body"):
	        pass
	    if "/slow/" in scope["path"]:
	        await asyncio.sleep(0.3)
	    await send({"type": "http.response.start", "status": 500 if "/fail/" in scope["path"] else 200, "headers": [(b"content-length", b"3")]})
	    await send({"type": "http.response.body", "body": b"ok\n"})
	END
	cd "$dir" && exec uvicorn --host 127.0.0.1 --port "$port" --log-level critical app:app
}

serve_aiohttp() {
	exec /usr/bin/python3 - "$port" "$sock" <<-'END'
	import asyncio, sys
	from aiohttp import web

	async def answer(request):
	    await request.read()
	    if "/slow/" in request.path:
	        await asyncio.sleep(0.3)
	    return web.Response(status=500 if "/fail/" in request.path else 200, text="ok\n")

	async def main():
	    app = web.Application()
	    app.router.add_route("*", "/{path:.*}", answer)
	    runner = web.AppRunner(app)
	    await runner.setup()
	    await web.TCPSite(runner, "127.0.0.1", int(sys.argv[1])).start()
	    await web.UnixSite(runner, sys.argv[2]).start()
	    await asyncio.Event().wait()

	asyncio.run(main())
	END
}

write_node() {
	cat >"$dir/app.js" <<-'END'
	const http = require("http"), cluster = require("cluster");
	const [, , port, sock, how] = process.argv;
	if (how === "cluster" && cluster.isPrimary) { for (let i = 0; i < 2; i++) cluster.fork(); return; }
	const answer = (q, a) => {
		q.resume();
		const end = () => { a.statusCode = q.url.includes("/fail/") ? 500 : 200; a.end("ok\n"); };
		q.on("end", () => q.url.includes("/slow/") ? setTimeout(end, 300) : end());
	};
	http.createServer(answer).listen(Number(port), "127.0.0.1");
	if (sock) http.createServer(answer).listen(sock);
	END
}

serve_node() { write_node; exec node "$dir/app.js" "$port" "$sock"; }
serve_node_cluster() { write_node; exec node "$dir/app.js" "$port" "" cluster; }

serve_go() {
	cat >"$dir/main.go" <<-'END'
	package main

	import (
		"io"
		"net"
		"net/http"
		"os"
		"strings"
		"time"
	)

	func answer(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if strings.Contains(r.URL.Path, "/slow/") {
			time.Sleep(300 * time.Millisecond)
		}
		if strings.Contains(r.URL.Path, "/fail/") {
			w.WriteHeader(500)
		}
		io.WriteString(w, "ok\n")
	}

	func main() {
		local, err := net.Listen("unix", os.Args[2])
		if err != nil {
			panic(err)
		}
		go http.Serve(local, http.HandlerFunc(answer))
		panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(answer)))
	}
	END
	HOME=$dir GOCACHE=${SEISMO_GOCACHE:-$dir/cache} GOFLAGS=-mod=mod GO111MODULE=off go build -o "$dir/server" "$dir/main.go" && exec "$dir/server" "$port" "$sock"
}

serve_puma() {
	cat >"$dir/config.ru" <<-'END'
	run lambda { |env|
	  path = env["PATH_INFO"]
	  env["rack.input"].read
	  sleep 0.3 if path.include?("/slow/")
	  [path.include?("/fail/") ? 500 : 200, {"Content-Type" => "text/plain", "Content-Length" => "3"}, ["ok\n"]]
	}
	END
	cd "$dir" && exec puma --quiet --threads 4:4 --bind "tcp://127.0.0.1:$port" --bind "unix://$sock" config.ru
}

serve_perl_fork() {
	exec perl -e '
		use strict; use HTTP::Daemon; use HTTP::Response;
		$SIG{CHLD} = "IGNORE";
		my $d = HTTP::Daemon->new(LocalAddr => "127.0.0.1", LocalPort => $ARGV[0], ReuseAddr => 1, Listen => 64) or die $!;
		while (my $c = $d->accept) {
			next if fork;
			while (my $r = $c->get_request) {
				my $path = $r->uri->path;
				select undef, undef, undef, 0.3 if $path =~ m{/slow/};
				$c->send_response(HTTP::Response->new($path =~ m{/fail/} ? 500 : 200, "x", ["Content-Length" => 3], "ok\n"));
			}
			exit;
		}' "$port"
}

serve_socat_exec() { # a process for each connection, as of inetd
	cat >"$dir/answer" <<-'END'
	#!/bin/bash
	read -r method path _ || exit
	length=0
	while IFS= read -r line && line=${line%$'\r'} && [ -n "$line" ]; do
		[[ ${line,,} != content-length:* ]] || length=${line#*: }
	done
	[ "$length" = 0 ] || read -r -N "$length" _
	status=200
	case $path in */fail/*) status=500 ;; */slow/*) sleep 0.3 ;; esac
	printf 'HTTP/1.1 %s x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n' "$status"
	END
	chmod 755 "$dir/answer"
	exec socat "TCP-LISTEN:$port,bind=127.0.0.1,reuseaddr,fork,backlog=64" "EXEC:$dir/answer"
}

serve_java() {
	cat >"$dir/Server.java" <<-'END'
	import com.sun.net.httpserver.HttpServer;
	import java.net.InetSocketAddress;
	import java.util.concurrent.Executors;

	public class Server {
		public static void main(String[] args) throws Exception {
			HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 64);
			server.setExecutor(Executors.newFixedThreadPool(4));
			server.createContext("/", exchange -> {
				String path = exchange.getRequestURI().getPath();
				exchange.getRequestBody().readAllBytes();
				if (path.contains("/slow/"))
					try { Thread.sleep(300); } catch (InterruptedException e) { }
				exchange.sendResponseHeaders(path.contains("/fail/") ? 500 : 200, 3);
				exchange.getResponseBody().write("ok\n".getBytes());
				exchange.close();
			});
			server.start();
		}
	}
	END
	javac -d "$dir" "$dir/Server.java" && exec java -Xmx64m -cp "$dir" Server "$port"
}
