#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stack.sh check|start|stop|status|collector ARG... - PostgreSQL, collector and probe of one VAR. Idempotent: what runs as it
# should is left alone, what is dead, stale or changed is mended. Settings: VAR WEB BIND NODE PROBE_FLAGS, and B. A keeper
# (stack.sh keep) starts again what ends by itself; KEEPER=off leaves it out.
set -u
umask 027
cd "$(dirname "$0")/../.." || exit 1
. deploy/dev/parts.sh
. deploy/dev/postgres.sh

B=${B:-build} VAR=${VAR:-var} WEB=${WEB:-127.0.0.1:8080} BIND=${BIND:-tcp://127.0.0.1:7470} NODE=${NODE:-}
addr='(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}'

# One stack is one VAR. The root directory and the pid namespace distinguish containers and chroots.
place() {
	VAR=$(cd "$VAR" && pwd -P) || exit 1
	HASH=$(printf '%s' "$(readlink /proc/self/ns/pid)$(stat -c %d:%i /)$VAR" | sha256sum | cut -c1-8)
	RUN=/run/seismo-$HASH
	COLLECTOR=("$B/seismo-collector" --user seismo --keys "$VAR/keys/collector" --database "host=$RUN/s dbname=seismo user=seismo")
	[ "$(id -u)" = 0 ] || fail "this needs root (BPF, another user for PostgreSQL): use sudo make ${1/start/run}"
}

lock() {
	exec 9>"$VAR/lock"
	flock -w 120 9 || fail "another make run or make stop works on $VAR: wait for it and try again"
}

# What would make a start fail is said before anything is built or changed.
check() {
	mkdir -p "$VAR" || fail "cannot make $VAR: choose another place with make run VAR=dir"
	place start
	lock
	[[ $WEB =~ ^$addr$ ]] || fail "WEB=$WEB is not host:port, for example WEB=127.0.0.1:8080"
	[[ $BIND =~ ^tcp://$addr$ ]] || fail "BIND=$BIND is not tcp://host:port, for example BIND=tcp://127.0.0.1:7470"
	[ -r /sys/kernel/btf/vmlinux ] ||
		fail "this kernel has no type information (/sys/kernel/btf/vmlinux), so the probe cannot read requests: boot one built with CONFIG_DEBUG_INFO_BTF=y, such as Debian's"
	pg_unshare ||
		fail "this root may not make a mount namespace, which PostgreSQL runs in: a container needs CAP_SYS_ADMIN for it, and the probe does, too"
	getent passwd seismo >/dev/null || fail "there is no user seismo: run make deps"
	port_is_free WEB "$WEB"
	port_is_free BIND "${BIND#tcp://}"
}

port_is_free() { # VARIABLE HOST:PORT
	local who
	who=$(listener "$2" "$(part_pid collector)")
	[ -z "$who" ] || fail "$2 is taken by $who: stop that, or choose another address with make run $1=..."
}

start() {
	check
	STARTED=$(($(date +%s) - 10))
	mkdir -p "$VAR/log" "$VAR/keys"
	install -d -m 755 "$RUN"
	pg_start
	collector_start
	is_let_in || let_in
	probe_start
	await probe 30 node_is_seen
	keeper_start
	print_address
}

collector_start() {
	part_start collector "${COLLECTOR[@]}" --bind "$BIND" --web "$WEB" \
		--web-database "host=$RUN/s dbname=seismo user=seismo_web"
	await collector 30 web_is_well
}

probe_start() {
	part_start probe "$B/seismo-probe" --state "$VAR/probe.state" --spool "$VAR/spool" --collector "$BIND" \
		--collector-key "$VAR/keys/collector/collector.pub" --keys "$VAR/keys/probe" --token "$VAR/keys/token" ${NODE:+--node "$NODE"} ${PROBE_FLAGS:-}
}

# Its arguments are the settings, so that another make run with others renews it.
keeper_start() {
	if [ "${KEEPER:-}" = off ]; then
		part_stop keeper 10 >/dev/null
	else
		part_start keeper "$BASH" deploy/dev/stack.sh keep "$B" "$VAR" "$WEB" "$BIND" "$NODE" "${PROBE_FLAGS:-}"
	fi
}

keep() { # B VAR WEB BIND NODE PROBE_FLAGS
	local part
	local -A pid wait
	B=$1 VAR=$2 WEB=$3 BIND=$4 NODE=$5 PROBE_FLAGS=$6
	place keep
	pg_unshare
	while sleep 1 && [ -d "$VAR" ]; do
		for part in postgres collector probe; do
			if [ ! -d "/proc/${pid[$part]:-none}" ]; then
				mend "$part"
			elif [ $SECONDS -ge $((${wait[$part]:-0} + 120)) ]; then
				wait[$part]=0 # it has run for a while: the next restart is at once
			fi
		done
	done
}

# Sets pid[PART], and wait[PART]: not before this second. While make run or make stop holds the lock, nothing ended by itself.
mend() { # PART
	[ $SECONDS -ge "${wait[$1]:-0}" ] && exec 9>"$VAR/lock" || return
	if flock -n 9; then
		pid[$1]=$(part_pid "$1")
		if [ -z "${pid[$1]}" ]; then
			echo "$(date -u +%FT%TZ) $1 has ended and is started again; see $VAR/log/$1.log"
			(mend_"$1")
			pid[$1]=$(part_pid "$1")
			wait[$1]=$((SECONDS + (${wait[$1]:-0} ? 60 : 5)))
		fi
	fi
	exec 9>&-
}

mend_postgres() { pg_start; }
mend_collector() { collector_start; }
mend_probe() { probe_start; }

# The probe's key, as the comment in its file says it.
is_let_in() {
	local key
	key=$(sed -n 's/^# Its public key is //p' "$VAR/keys/probe/node.key" 2>/dev/null)
	[ -n "$key" ] && [ "$(pg_ask "select state from node_key where key = :'k'" -v k="$key")" = 1 ]
}

# As a fleet tool does it: a token for this node, once, for a few minutes.
let_in() {
	(umask 077 && "${COLLECTOR[@]}" node token --for 10min --node "$(node_name)" >"$VAR/keys/token") ||
		fail "the collector made no token for the probe; see $VAR/log/collector.log"
}

# Any command of the collector: make collector ARGS="node list"
collector() {
	[ -d "$VAR" ] || fail "nothing runs: there is no $VAR"
	place collector
	"${COLLECTOR[@]}" "$@"
}

# In a subshell: a server that hangs up while we ask would end this script by SIGPIPE.
web_gives() ( # PATH
	host=${WEB%:*} host=${host#[}
	exec 3<>"/dev/tcp/${host%]}/${WEB##*:}" || exit 1
	printf 'GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$1" "$WEB" >&3
	read -r -t 5 line <&3
	[[ $line == *" 200 "* ]]
) 2>/dev/null

web_is_well() {
	web_gives /healthz && web_gives /api/v1/nodes
}

node_name() {
	printf '%s' "${NODE:-$(cat /proc/sys/kernel/hostname)}"
}

# What the probe found after the last thing started here is stored: all arrows carry again.
node_is_seen() {
	[ "$(pg_ask "select count(*) from node where name = :'n' and last_seen > to_timestamp($STARTED)" \
		-v n="$(node_name)")" = 1 ]
}

print_address() {
	pg_ask "select 'Note: source ' || s.name || ' is off: ' || s.why from source s
		join node n using (node_id) where n.name = :'n' and s.state = 0 and s.why not like 'not asked for: %' order by s.name" \
		-v n="$(node_name)" | sed '/^$/d'
	cat <<-END

	Seismo runs. Console:  http://$WEB/
	Every HTTP/1.x request that a server on this machine fails or answers slowly is a row there within a second.
	To see one: make row
	Data and logs are in $VAR; make stop ends it, make run mends it.
	END
}

stop() {
	[ -d "$VAR" ] || { echo "Nothing runs: there is no $VAR."; return; }
	place stop
	part_stop keeper 10
	lock
	part_stop probe 10
	part_stop collector 30
	pg_stop
	rm -rf --one-file-system "$RUN"
	echo "Seismo is stopped; the data stays in $VAR."
}

status() {
	local part pid bad=0
	[ -d "$VAR" ] || { echo "Nothing runs: there is no $VAR."; return 1; }
	place status
	for part in postgres collector probe; do
		pid=$(part_pid $part)
		if [ -n "$pid" ]; then
			echo "$part runs, pid $pid"
		else
			echo "$part does not run: make run mends it"
			bad=1
		fi
	done
	pid=$(part_pid keeper)
	[ -z "$pid" ] || echo "keeper runs, pid $pid: it starts again what ends by itself"
	grep -h " has ended and is started again" "$VAR/log/keeper.log" 2>/dev/null | tail -n 3
	return $bad
}

case ${1:-} in
check | start | stop | status) "$1" ;;
collector | keep) "$@" ;;
*) fail "usage: stack.sh check|start|stop|status|collector" ;;
esac
