# SPDX-License-Identifier: Apache-2.0
# ingest_rig.sh - for tests of ingest: a PostgreSQL of their own, collectors on it, scripted probes.
# Needs check.sh. Everything is in $dir and gone when the test ends.

B=${B:-build}
collector=$B/seismo-collector
fake=$B/tools/fakeprobe
pgbin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
dir=$(mktemp -d "${TMPDIR:-/tmp}/in.XXXXXX") # short: a socket's path has 107 bytes
chmod 755 "$dir"
install -d -o postgres -g postgres -m 755 "$dir/s"
as_postgres=(setpriv --reuid postgres --regid postgres --init-groups)
[ "$(id -u)" = 0 ] || as_postgres=()
declare -A running=()
pg_flags=() # -c NAME=VALUE...
db_flag=--database="host=$dir/s dbname=seismo user=seismo"
export COLLECTOR_PUB=$dir/keys/collector.pub TOKEN=$dir/token # for $fake
"$collector" --keys "$dir/keys" key >/dev/null

pg_init() { # DIR: what initdb makes
	install -d -o postgres -g postgres -m 700 "$1"
	(cd / && "${as_postgres[@]}" "$pgbin/initdb" -D "$1" -U postgres -A trust -N -E UTF8 --locale=C.UTF-8) >/dev/null
}

# initdb takes most of a second of a processor: of a run of all tests it is done once, and copied.
pg_files() (
	[ -n "${SEISMO_TEST:-}" ] && [ "$(id -u)" = 0 ] || { pg_init "$dir/d"; return; }
	exec 8>"$SEISMO_TEST.init.lock"
	flock 8
	[ -f "$SEISMO_TEST.init/PG_VERSION" ] || { rm -rf "$SEISMO_TEST.making"; pg_init "$SEISMO_TEST.making" 8>&- && mv "$SEISMO_TEST.making" "$SEISMO_TEST.init"; } || return
	mkdir -p "$dir/d" && cp -a --reflink=auto "$SEISMO_TEST.init/." "$dir/d" # which may be a file system of its own
)

pg_make() {
	pg_files
	pg_start
	sql -d postgres -c 'create role seismo login' -c 'create role seismo_web login' -c 'create database seismo owner seismo'
}

pg_start() {
	(cd / && exec "${as_postgres[@]}" "$pgbin/postgres" -D "$dir/d" -c listen_addresses= -c unix_socket_directories="$dir/s" \
		-c shared_buffers=32MB "${pg_flags[@]}") >>"$dir/pg.log" 2>&1 &
	pg=$!
	await 300 sql -d postgres -c 'select 1'
}

pg_kill() { # SIGNAL
	kill "-$1" "$pg" && wait "$pg" 2>/dev/null
	pg=
}

# As the collector asks: to compile a question takes longer, by seconds, than what it is to speed up.
sql() {
	PGOPTIONS="-c jit=off" "$pgbin/psql" -h "$dir/s" -U postgres -X -q -A -t -d seismo -v ON_ERROR_STOP=1 "$@"
}

is() { # EXPECTED SQL
	[ "$(sql -c "$2" 2>&1)" = "$1" ] || { echo "$2: $(sql -c "$2" 2>&1), not $1" >&2; return 1; }
}

start() { # NAME PORT WEB FLAG...
	"$collector" --bind "tcp://127.0.0.1:$2" --web "127.0.0.1:$3" --keys "$dir/keys" "$db_flag" \
		--web-database "host=$dir/s dbname=seismo user=seismo_web" "${@:4}" >>"$dir/$1.log" 2>&1 &
	running[$1]=$!
	await 300 is_listening "$2"
}

is_listening() {
	(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

halt() { # NAME SIGNAL: its exit status
	local pid=${running[$1]} rc
	unset "running[$1]"
	kill "-$2" "$pid"
	wait "$pid" 2>/dev/null
	rc=$?
	return $rc
}

counter() { # WEB NAME
	curl -s "http://127.0.0.1:$1/metrics" | awk -v n="$2" '$1 == n { print $2 }'
}

counted() { # WEB NAME LEAST
	[ "$(counter "$1" "$2")" -ge "$3" ]
}

seismo() { # WORD...
	"$collector" --keys "$dir/keys" "$db_flag" "$@"
}

# Whoever is $fake may come in, once a collector has made the tables.
let_in() {
	[ -s "$TOKEN" ] || await 300 eval 'seismo node token --for 1d --uses 1000000 >"$TOKEN.new" && mv "$TOKEN.new" "$TOKEN"'
}

# Every "want" of the script must be met; what was not is shown.
probe() { # PORT COMMAND...
	local out
	let_in
	out=$(printf '%s\n' "${@:2}" | timeout 60 "$fake" "tcp://127.0.0.1:$1" script)
	! grep '^NO' <<<"$out" >&2 && [ "$(grep -c '^yes' <<<"$out")" = "$(printf '%s\n' "${@:2}" | grep -c '^want')" ]
}

clear_away() {
	local p i
	for p in "${running[@]}" ${pg:-} $(jobs -p); do
		kill -KILL "$p" 2>/dev/null
	done
	wait
	for ((i = 0; i < 50; i++)); do # what PostgreSQL had begun writes a moment longer than its first process lives
		rm -rf "$dir" && break
		sleep 0.1
	done
} 2>/dev/null # or the shell prints which process was killed, after the last line

trap clear_away EXIT
trap 'exit 130' INT TERM HUP
