#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# walk.sh - where the kernel refuses programs that walk a map of sockets (here a preloaded library reports that), the probe finds
# sockets by the open files of processes and reports the same: a request whose end only the sweep finds, and the counts of
# connections that stay open.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

server=
coproc opened { python3 tests/it/source/tcp_open.py "walk$$"; }
on_exit() { kill $server ${opened_PID:-}; } 2>/dev/null
read -r -t 20 line <&"${opened[0]}"
cc -shared -fPIC -o "$tmp/refused.so" -xc - <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

int btf__find_by_name_kind(const void *btf, const char *name, unsigned int kind)
{
	int (*found)(const void *, const char *, unsigned int) = dlsym(RTLD_NEXT, "btf__find_by_name_kind");

	return strncmp(name, "bpf_iter_bpf_", 13) ? found(btf, name, kind) : -2;
}
END
export LD_PRELOAD=$tmp/refused.so
stack_open --hooks sockets
read -r port < <(free_ports 1)
"$B/tools/server" "$port" & server=$!
listening "$port"
echo >&"${opened[1]}"

reported() { # APP METRIC
	ask "select coalesce(sum(value) filter (where counter), max(value), 0)::bigint from api.series where entity_kind = 'app' and entity = '$1' and metric = '$2'"
}

answered() { # N: a request on a connection that stays open; N rows by then
	exec 5<>"/dev/tcp/127.0.0.1/$port" && printf 'GET /?s=500 HTTP/1.1\r\nHost: x\r\n\r\n' >&5 || return
	await_value "$1" ask "select count(*) from request where local_port = $port and status = 500"
}

"$B/seismo-probe" doctor --collector "tcp://$BIND" >"$tmp/out" 2>&1
ok "the doctor says how sockets are found" grep -q 'iter/bpf_sk_storage_map .*the probe reads the open files of processes' "$tmp/out"
for i in 1 2 3; do
	ok "request $i on a connection that stays open has its row" answered "$i"
done
while read -r app metric n; do
	ok "connections that stay open: $metric is $n" await_value "$n" reported "$app" "$metric"
done < <(head -n 7 <&"${opened[0]}")
done_checking
