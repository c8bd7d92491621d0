#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nginx.sh - what it costs to read nginx's own records: CPU time of a worker per request, with the probe watching
# sockets alone and with nginx's records as well, in turn. Prints Markdown for RESULTS.md. ROUNDS=7 SECONDS_EACH=2.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/bench_rig.sh
nginx_rig

# Ready when the hooks are on, and, where it is to read nginx, when it has said that it does.
ready() { # auto|off
	local i
	for ((i = 0; i < 100; i++)); do
		sleep 0.2
		curl -s -o /dev/null -o /dev/null "http://127.0.0.1:$static/w" "http://127.0.0.1:$proxied/w"
		[ "$1" != auto ] || grep -q 'read exactly' "$tmp/probe.log" || continue
		[ "$(grep -l link_type "/proc/$probe"/fdinfo/* 2>/dev/null | wc -l)" -gt 3 ] && [ $i -gt 5 ] && return
	done
	echo "the probe is not ready: $(cat "$tmp/probe.log")" >&2
}

with() { # HOOKS auto|off PORT: ns of a request
	taskset -c 1 "$B/seismo-probe" --hooks "$1" --nginx "$2" --node bench --collector "tcp://127.0.0.1:$nobody" --collector-key "$nobodys_key" --keys "$tmp/keys" 2>"$tmp/probe.log" & probe=$!
	ready "$2"
	per_request "$3"
	kill $probe && wait $probe 2>/dev/null
	probe=
}

measure() { # NAME PORT HOOKS
	local i off on again
	: >"$tmp/off"; : >"$tmp/added"; : >"$tmp/ratio"
	for ((i = 0; i < rounds; i++)); do
		off=$(with "$3" off "$2")
		on=$(with "$3" auto "$2")
		again=$(with "$3" off "$2")
		printf '%s\n' "$off" "$again" >>"$tmp/off"
		echo $((on - (off + again) / 2)) >>"$tmp/added"
		echo $((on * 200 / (off + again))) >>"$tmp/ratio"
	done
	printf '| %s | %s | %s | %s | %s %% |\n' "$1" "$3" "$(median <"$tmp/off")" "$(median <"$tmp/added")" "$(median <"$tmp/ratio")"
}

cat <<END
### Cost of nginx's own records, $(date -u +%F)

$(machine), nginx $(nginx -v 2>&1 | sed 's|.*/||').
Command: \`make bench\` (\`tests/bench/nginx.sh\`, $rounds rounds of off, on, off, ${each} s each; nginx's one worker on one
processor, load, upstream and probe on the other). Nanoseconds of the worker's CPU time per request, median (min..max).

| nginx answers | hooks | probe, \`--nginx off\` | added by \`--nginx auto\` | ratio |
|---|---|---|---|---|
END
for hooks in ${HOOKS:-sockets syscalls}; do
	measure "by itself (return 200)" "$static" "$hooks"
	measure "through an upstream, kept alive" "$proxied" "$hooks"
done
