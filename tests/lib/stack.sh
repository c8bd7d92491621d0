# SPDX-License-Identifier: Apache-2.0
# stack.sh - a whole stack for one test, on ports of its own: stack_open [PROBE_FLAG...]. It is gone when the
# test ends. Define on_exit for what the test itself started. Needs check.sh; B is the build directory.
B=${B:-build}
export KEEPER=off # a test ends parts and expects that they stay away
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"

# What make run and make stop end in; in a run of all tests what they do before that is done, and takes seconds of a processor.
stack() { # start|stop
	if [ -n "${SEISMO_TEST:-}" ]; then
		B=$B deploy/dev/stack.sh "$1"
	else
		make -s "${1/start/run}"
	fi
}

stack_start() {
	stack start >"$tmp/stack.out" 2>&1 || { cat "$tmp/stack.out"; return 1; }
}

# initdb takes a second of a processor: of a run of all tests it is done once, and copied. house.sh has its own.
stack_cluster() (
	[ -n "${SEISMO_TEST:-}" ] || return 0
	to=$VAR VAR=$SEISMO_TEST.pg RUN=$SEISMO_TEST.pg/run
	install -d -m 755 "$VAR" "$RUN/pg" "$RUN/log" "$VAR/log" "$to"
	exec 8>"$VAR/lock"
	flock 8
	. deploy/dev/parts.sh
	. deploy/dev/postgres.sh
	install -d -o postgres -g postgres -m 700 "$VAR/log/postgresql"
	[ -f "$VAR/pg/PG_VERSION" ] || { pg_find && pg_unshare && pg_make; } >/dev/null 8>&- || return
	cp -a --reflink=auto "$VAR/pg" "$to/pg"
)

stack_open() {
	read -r web bind < <(free_ports 2 | tr '\n' ' ')
	export VAR=$tmp/var WEB=127.0.0.1:$web BIND=tcp://127.0.0.1:$bind NODE=test PROBE_FLAGS="$*"
	trap 'on_exit; stack stop >/dev/null 2>&1; ask_close; rm -rf "$tmp"' EXIT
	stack_cluster && stack_start || { echo "0 passed, 1 failed"; exit 1; }
	socket=/run/seismo-$(part_place)/s # as long as VAR is the same
}

on_exit() {
	:
}

# The ways to see requests: HOOKS, or all that there are.
rungs() {
	echo "${HOOKS:-sockets syscalls}"
}

probe_by() { # RUNG PROBE_FLAG...: another probe in the same stack
	PROBE_FLAGS="${*:2} --hooks $1"
	stack_start
}

part_pid_of() { # postgres|collector|probe
	deploy/dev/stack.sh status | sed -n "s/^$1 runs, pid //p" # what make status calls, without reading what it builds
}

# The delay of its reports is the probe's promise, which cannot hold while other programs have the processors.
probe_first() {
	chrt --all-tasks --rr -p 10 "$(part_pid_of probe)" >/dev/null 2>&1 || echo "the probe cannot go before all else here"
}

end_part() { # PART SIGNAL: gone within 10 s
	local pid i
	pid=$(part_pid_of "$1")
	kill "-$2" "$pid"
	for ((i = 0; i < 100; i++)); do
		[ -d "/proc/$pid" ] || return 0
		sleep 0.1
	done
	return 1
}

# As the collector asks: to compile a question takes longer, by seconds, than what it is to speed up. Not by Debian's psql,
# which is a script that looks for this one.
ask_by() { # PSQL_ARG...: takes the place of the shell
	local bin
	for bin in /usr/lib/postgresql/*/bin/psql; do :; done
	export PGOPTIONS="-c jit=off"
	exec setpriv --reuid postgres --regid postgres --init-groups "$bin" -h "$socket" -U postgres -d seismo -XqAt -F ' ' "$@"
}

ask_all() ( # PSQL_ARG..., script on standard input
	ask_by -v ON_ERROR_STOP=1 "$@"
)

# One session has the questions of all: to begin one for each takes more of a processor than to answer it. A turn is a line in
# ask.turn; what is written is there as long as the session has the files open.
ask_open() {
	[ -p "$tmp/ask.turn" ] || { mkfifo "$tmp/ask.turn" "$tmp/ask.to" "$tmp/ask.from" && install -m 666 /dev/null "$tmp/ask.out"; }
	(ask_by 0<>"$tmp/ask.to" 1<>"$tmp/ask.from" 2>&1 7<>"$tmp/ask.turn" & echo $! >"$tmp/ask.pid")
	echo >"$tmp/ask.turn"
}

ask_close() {
	local pid
	read -r pid 2>/dev/null <"$tmp/ask.pid" && kill "$pid" 2>/dev/null
}

ask_is_open() {
	local pid
	read -r pid 2>/dev/null <"$tmp/ask.pid" && kill -0 "$pid" 2>/dev/null
}

ask_once() { # SQL; 2: there is no session any more
	local line said= mark="-- $BASHPID.$RANDOM"
	printf '\\o %s\n%s\n;\n\\o\n\\echo %s :ERROR\n' "$tmp/ask.out" "$1" "$mark" >&8
	while ask_is_open || IFS= read -r -t 0 -u 9; do
		IFS= read -r -t 2 -u 9 line || continue
		case $line in
		"$mark false") IFS= read -r -d '' said <"$tmp/ask.out"; printf %s "$said" && return 0 ;;
		"$mark true") printf %s "$said" >&2 && return 1 ;;
		esac
		said+=$line$'\n' # an error; a pipe is read byte by byte
	done
	return 2
}

ask() { # SQL
	local rc=2
	ask_is_open || ask_open
	{
		read -r -t 60 -u 7
		ask_once "$1"
		rc=$?
		echo >&7
	} 7<>"$tmp/ask.turn" 8<>"$tmp/ask.to" 9<>"$tmp/ask.from"
	[ $rc = 2 ] || return $rc
	ask_all <<<"$1" # PostgreSQL was stopped, or begins
}

in_last_report() { # EXPRESSION: SQL for its value in the last report of an event
	echo "(array_agg($1 order by told desc))[1]"
}

part_place() {
	tr '\0' '\n' <"/proc/$(part_pid_of postgres)/cmdline" | sed -n 's|^/run/seismo-\([0-9a-f]*\)/pg$|\1|p'
}

# How long is no promise: a busy machine takes longer.
await_value() { # VALUE COMMAND...: until it prints that, for 40 s
	local until=$((SECONDS + ${AWAIT_S:-40})) pause=1
	while [ $SECONDS -le $until ]; do
		[ "$("${@:2}")" = "$1" ] && return
		sleep 0.$pause
		pause=$((pause < 7 ? pause + 1 : 8)) # what does not come soon comes with a tick of some seconds
	done
	echo "not $1 but $("${@:2}"): ${*:2}"
	return 1
}

coverage() { # NAME: its sum over all ticks
	ask "select coalesce(sum(value), -1) from api.coverage where name = '$1'"
}
