#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# request.sh - what the request source costs, by each way to see requests: CPU time of an nginx worker per request,
# with the probe and without it in turn, and what the probe itself takes. Prints Markdown for RESULTS.md. ROUNDS=7 SECONDS_EACH=2.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/bench_rig.sh
nginx_rig

probe_on() { # HOOKS, or HOOKS alone: without the hooks on the scheduler
	local split=yes
	[ "${1% alone}" = "$1" ] || split=no
	taskset -c 1 "$B/seismo-probe" --hooks "${1% alone}" --split="$split" --nginx off --node bench --collector "tcp://127.0.0.1:$nobody" --collector-key "$nobodys_key" --keys "$tmp/keys" 2>"$tmp/probe.log" & probe=$!
	sleep 1.5
}

probe_off() {
	{
		grep VmHWM "/proc/$probe/status"
		awk '/^[0-9a-f]+-[0-9a-f]+ / { ring = /bpf-map/ } /^Rss:/ && !ring { n += $2 } END { print "VmRSS:", n }' "/proc/$probe/smaps"
	} >"$tmp/memory"
	kill $probe && wait $probe 2>/dev/null
	probe=
}

measure() { # NAME PORT HOOKS
	local i off on again
	: >"$tmp/off"; : >"$tmp/added"
	for ((i = 0; i < rounds; i++)); do
		off=$(per_request "$2")
		probe_on "$3"
		on=$(per_request "$2")
		probe_off
		again=$(per_request "$2")
		printf '%s\n' "$off" "$again" >>"$tmp/off"
		echo $((on - (off + again) / 2)) >>"$tmp/added"
	done
	printf '| %s | %s | %s | %s |\n' "$1" "$3" "$(median <"$tmp/off")" "$(median <"$tmp/added")"
}

cat <<END
### Cost of the request source, and of the breakdown of its time, $(date -u +%F)

$(machine), nginx $(nginx -v 2>&1 | sed 's|.*/||').
Command: \`make bench\` (\`tests/bench/request.sh\`, $rounds rounds of off, on, off, ${each} s each; nginx's one worker on one
processor, load, upstream and probe on the other; "alone" is \`--split=no\`: no hooks on the scheduler). Nanoseconds of the worker's CPU time per request, median (min..max).

| nginx answers | hooks | without the probe | added by the probe |
|---|---|---|---|
END
memory=
for hooks in ${MODES:-sockets "sockets alone" syscalls "syscalls alone"}; do
	measure "by itself (return 200)" "$static" "$hooks"
	measure "through an upstream, kept alive" "$proxied" "$hooks"
	memory+="$hooks: $(awk '{ v[$1] = $2 } END { printf "peak %d kB, resident %d kB without the ring, ", v["VmHWM:"], v["VmRSS:"] }' "$tmp/memory")"
done
echo
printf 'Probe, %s' "$memory"
cp "$B/seismo-probe" "$tmp/stripped" && strip "$tmp/stripped" && echo "binary $(($(stat -c %s "$tmp/stripped") / 1024)) kB stripped."
