#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# peers.sh - peers by another protocol than HTTP: PHP by FastCGI behind Apache and lighttpd, over TCP and Unix sockets, answers,
# fails, dies and is not there, and a threaded server asks something like a database. Each failure names the peer, and "by itself"
# is said of nobody who called somebody.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

started=
on_exit() {
	kill $started 2>/dev/null
	wait $started 2>/dev/null
}
stack_open --slow-ms 200
read -r tcp apache lighttpd app data nobody < <(free_ports 6 | tr '\n' ' ')
run() { # COMMAND...; Apache passes its SIGTERM on to the whole process group
	setsid "$@" >>"$tmp/out" 2>&1 &
	started+=" $!"
}

mkdir "$tmp/www"
cat >"$tmp/www/x.php" <<'END'
<?php
switch ($_GET["m"]) {
case "fail": http_response_code(500); echo "no"; break;
case "die": posix_kill(posix_getpid(), 9); break;
case "slow": usleep(600000); echo "late"; break;
default: echo "ok";
}
END
mkdir "$tmp/www/tcp" "$tmp/www/unix"
for by in tcp unix; do
	for m in ok fail die slow; do
		ln "$tmp/www/x.php" "$tmp/www/$by/sockets-$m.php"
		ln "$tmp/www/x.php" "$tmp/www/$by/syscalls-$m.php"
	done
done
fpm=$(ls /usr/sbin/php-fpm* | head -n 1)
cat >"$tmp/fpm.conf" <<END
[global]
error_log = $tmp/fpm.log
[one]
user = root
group = root
listen = 127.0.0.1:$tcp
pm = static
pm.max_children = 2
[two]
user = root
group = root
listen = $tmp/fpm.sock
listen.mode = 0666
pm = static
pm.max_children = 2
END
run "$fpm" -F -R -y "$tmp/fpm.conf"
cat >"$tmp/apache.conf" <<END
ServerRoot /usr/lib/apache2
LoadModule mpm_event_module modules/mod_mpm_event.so
LoadModule authz_core_module modules/mod_authz_core.so
LoadModule proxy_module modules/mod_proxy.so
LoadModule proxy_fcgi_module modules/mod_proxy_fcgi.so
User www-data
Group www-data
ServerName front
Mutex pthread
PidFile $tmp/apache.pid
ErrorLog $tmp/apache.log
DocumentRoot $tmp/www
Listen 127.0.0.1:$apache
ProxyFCGISetEnvIf "true" SCRIPT_FILENAME "$tmp/www/x.php"
ProxyPass /gone/ unix:$tmp/none.sock|fcgi://gone/
ProxyPass /down/ fcgi://127.0.0.1:$nobody/
ProxyPass /unix/ unix:$tmp/fpm.sock|fcgi://unix/
ProxyPass /tcp/ fcgi://127.0.0.1:$tcp/
END
run apache2 -D FOREGROUND -f "$tmp/apache.conf"
cat >"$tmp/lighttpd.conf" <<END
server.document-root = "$tmp/www"
server.bind = "127.0.0.1"
server.port = $lighttpd
server.modules = ( "mod_fastcgi" )
server.errorlog = "$tmp/lighttpd.log"
\$HTTP["url"] =~ "^/unix/" { fastcgi.server = ( ".php" => (( "socket" => "$tmp/fpm.sock", "check-local" => "disable" )) ) }
else \$HTTP["url"] =~ "^/tcp/" { fastcgi.server = ( ".php" => (( "host" => "127.0.0.1", "port" => $tcp, "check-local" => "disable" )) ) }
else \$HTTP["url"] =~ "^/gone/" { fastcgi.server = ( ".php" => (( "socket" => "$tmp/none.sock", "check-local" => "disable" )) ) }
else \$HTTP["url"] =~ "^/down/" { fastcgi.server = ( ".php" => (( "host" => "127.0.0.1", "port" => $nobody, "check-local" => "disable" )) ) }
END
run lighttpd -D -f "$tmp/lighttpd.conf"
# A server with a thread for each connection, which asks another one in lines.
run /usr/bin/python3 -c '
import http.server, socket, socketserver, sys, threading, time
port, data = map(int, sys.argv[1:])
class Lines(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            time.sleep(0.4 if line == b"slow\n" else 0)
            if line == b"drop\n":
                return
            self.wfile.write(b"done\n")
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
lines = Server(("127.0.0.1", data), Lines)
threading.Thread(target=lines.serve_forever, daemon=True).start()
class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        word = self.path.split("?m=")[1]
        if word == "itself":
            return self.send_error(500)
        with socket.create_connection(("127.0.0.1", data)) as s:
            s.sendall(word.encode() + b"\n")
            got = s.recv(100)
        self.send_response(200 if got and word == "slow" else 500)
        self.end_headers()
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", port), Web).serve_forever()' "$app" "$data"
listening "$tcp" "$apache" "$lighttpd" "$app" "$data" || { cat "$tmp/out"; echo "0 passed, 1 failed"; exit 1; }

ask_for() { # PORT PATH MODE
	curl -s -o /dev/null -m 10 "http://127.0.0.1:$1$2?m=$3"
}

reason() { # PORT PATH: code, peer, protocol, outcome of the newest row there
	ask "select code || '|' || coalesce(params ->> 'peer', params ->> 'addr', '') || '|' || coalesce(params ->> 'protocol', '') || '|' || coalesce(params ->> 'outcome', '')
		from request join reason using (reason_id) where local_port = $1 and path = '$2' order by ts desc limit 1"
}

is_reason() { # PORT PATH CODE|PEER|PROTOCOL|OUTCOME
	await_value "$3" reason "$1" "$2"
}

for rung in $(rungs); do
	probe_by "$rung" --slow-ms 200
	for front in apache lighttpd; do
		for m in ok fail die slow; do
			ask_for "${!front}" "/tcp/$rung-$m.php" "$m"
			ask_for "${!front}" "/unix/$rung-$m.php" "$m"
		done
		for where in "tcp 127.0.0.1:$tcp" "unix unix:$tmp/fpm.sock"; do
			read -r by peer <<<"$where"
			ok "$rung, $front: a failure of PHP by $by names PHP" is_reason "${!front}" "/$by/$rung-fail.php" "app.peer|$peer|FastCGI|answered"
			ok "$rung, $front: so does a PHP by $by that dies" \
				await_value "app.peer|$peer|FastCGI" eval "reason ${!front} /$by/$rung-die.php | cut -d'|' -f1-3"
		done
		ask_for "${!front}" "/down/$rung.php" ok
		ask_for "${!front}" "/gone/$rung.php" ok
		[ "$rung" = sockets ] || # no socket tracepoint shows a connect() that fails there
			ok "$rung, $front: a Unix socket that is missing is named" \
			await_value "app.peer|unix:$tmp/none.sock" eval "reason ${!front} /gone/$rung.php | cut -d'|' -f1-2"
	done
	ok "$rung, apache: a FastCGI server that does not listen is named" is_reason "$apache" "/down/$rung.php" "up.connect|127.0.0.1:$nobody||"
	for m in fail drop itself slow; do
		ask_for "$app" "/$rung-$m" "$m"
	done
	ok "$rung: an error after a peer's answer names the peer" is_reason "$app" "/$rung-fail" "app.peer|127.0.0.1:$data|no HTTP|answered"
	ok "$rung: so does one after it closed" is_reason "$app" "/$rung-drop" "app.peer|127.0.0.1:$data|no HTTP|closed the connection without an answer"
	ok "$rung: a wait for the peer names it" is_reason "$app" "/$rung-slow" "net.peer|127.0.0.1:$data|no HTTP|"
	ok "$rung: an error of its own is its own" is_reason "$app" "/$rung-itself" "app.error|||"
	ok "$rung: nobody who called failed by itself" test "$(ask "select count(*) from request join reason using (reason_id) where code = 'app.error' and local_port in ($apache, $lighttpd, $app) and path not like '%itself' and path <> '/gone/sockets.php'")" = 0
done
done_checking
