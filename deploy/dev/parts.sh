# SPDX-License-Identifier: Apache-2.0
# parts.sh - processes of a stack. A part is found by a word in its environment, never by a pid file:
# there is nothing to go stale. Needs HASH, RUN, VAR; sets STARTED to when it last started one.

fail() {
	echo "Seismo: $*." >&2
	exit 1
}

step() {
	printf '  %-6s %s\n' "$1" "$2"
}

part_pids() { # oldest first
	local file pid stat
	for file in $(grep -lzxF "SEISMO_PART=$HASH:$1" /proc/[0-9]*/environ 2>/dev/null); do
		pid=${file#/proc/} pid=${pid%/*}
		read -r stat <"/proc/$pid/stat" || continue
		stat=(${stat##*) })
		[ "${stat[0]}" = Z ] || echo "${stat[19]} $pid"
	done 2>/dev/null | sort -n | cut -d' ' -f2
}

part_pid() {
	local pid=
	read -r pid < <(part_pids "$1")
	[ -z "$pid" ] || echo "$pid"
}

cmdline_is() { # PID ARG...
	local pid=$1
	shift
	printf '%s\0' "$@" | cmp -s - "/proc/$pid/cmdline"
}

# Detached from this shell's session, files and environment; its log begins again when it has grown.
launch() { # PART LOG COMMAND...
	local part=$1 log=$2
	shift 2
	[ "$(stat -c %s "$log" 2>/dev/null || echo 0)" -lt 8388608 ] || mv -f "$log" "$log.1"
	echo "--- $part started $(date -u +%FT%TZ)" >>"$log"
	setsid env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "SEISMO_PART=$HASH:$part" ${SEISMO_TEST:+SEISMO_TEST="$SEISMO_TEST"} "$@" \
		</dev/null >>"$log" 2>&1 9>&- &
	STARTED=$(date +%s.%N)
}

part_start() { # PART BINARY ARG...
	local part=$1 pid
	shift
	pid=$(part_pid "$part")
	if [ -n "$pid" ]; then
		[ "/proc/$pid/exe" -ef "$1" ] && cmdline_is "$pid" "$@" && return
		step RENEW "$part: its program or settings changed"
		part_stop "$part" 30 >/dev/null
	fi
	step START "$part"
	ulimit -Sn "$(ulimit -Hn)"
	launch "$part" "$VAR/log/$part.log" "$@"
}

part_stop() { # PART SECONDS [SIGNAL]
	local pid
	pid=$(part_pid "$1")
	[ -n "$pid" ] || return 0
	step STOP "$1"
	kill "-${3:-TERM}" "$pid" 2>/dev/null
	gone "$1" "$2" && return
	echo "Seismo: $1 (pid $pid) did not stop in $2 s and is killed." >&2
	part_pids "$1" | xargs -r kill -KILL 2>/dev/null
	gone "$1" 5
}

gone() { # PART SECONDS
	local i
	for ((i = 0; i < $2 * 10; i++)); do
		[ -z "$(part_pids "$1")" ] && return 0
		sleep 0.1
	done
	return 1
}

# Waits until CHECK holds; a part that dies meanwhile ends the wait with the last it said.
await() { # PART SECONDS CHECK
	local i last
	for ((i = 0; i < $2 * 10; i++)); do
		"$3" && return
		[ "$i" -lt 20 ] || [ -n "$(part_pid "$1")" ] || break
		[ $((i % 50)) -ne 49 ] || step WAIT "for $1"
		sleep 0.1
	done
	last=$(tail -n 1 "$VAR/log/$1.log" 2>/dev/null | sed -E 's/^([0-9TZ:-]+ )?(<[0-7]>)?//')
	fail "$1 is not well, it last said: ${last:-nothing}; see $VAR/log/$1.log, then make run again"
}

# Who else listens there: "nginx (pid 12)", or nothing.
listener() { # HOST:PORT OWN_PID
	ss -Hltnp "sport = :${1##*:}" 2>/dev/null | awk -v want="${1%:*}" -v own="pid=${2:-none}," '
		{ host = $4; sub(/:[0-9]+$/, "", host); sub(/%.*/, "", host)
		  if (want == "localhost") want = "127.0.0.1"
		  wild = "^(0\\.0\\.0\\.0|\\*|\\[::\\])$"
		  if (host != want && host !~ wild && want !~ wild || index($0, own)) next
		  if (match($0, /\(\("[^"]*",pid=[0-9]+/)) {
			split(substr($0, RSTART + 3, RLENGTH - 3), p, /",pid=/); print p[1] " (pid " p[2] ")"
		  } else print "another process"
		  exit }'
}
