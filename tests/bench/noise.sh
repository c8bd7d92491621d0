#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# noise.sh - noise and recall: 10 minutes without a fault, then 10 with 1, 5 and 50 % of a route 60 ms later, then
# one more. Prints Markdown for RESULTS.md. MINUTES=10 RATE=50 (requests a second on each of four routes).
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh
. tests/lib/noise_rig.sh
minutes=${MINUTES:-10} rate=${RATE:-50}

ticks() { # of all processors since boot: busy, stolen, all
	awk '/^cpu / { print $2 + $3 + $4 + $7 + $8, $9, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 }' /proc/stat
}

how=${priority:+at real-time priority}

table() { # of figures: without a fault all routes together, else each by itself
	awk -v m="$minutes" 'BEGIN { phase[1] = m " min without a fault"; phase[2] = m " min of it"; phase[3] = "the minute after"
			split("one five half none", order); share["none"] = "none"; share["one"] = "1 %"; share["five"] = "5 %"; share["half"] = "50 %" }
		function percent(a, b) { return b ? sprintf("%d (%.2f %%)", a, 100 * a / b) : "" }
		function line(k, s) { printf "| %s | %s | %s | %d | %s | %d | %s | %d |\n", phase[substr(k, 1, 1)], s, server[k], delayed[k],
			percent(caught[k], delayed[k]), others[k], percent(flagged[k], others[k]), held[k] }
		$1 in phase { k = $1 ($1 == 1 ? "" : $2) $3; server[k] = $3; delayed[k] += $5; caught[k] += $6; others[k] += $7; flagged[k] += $8; held[k] += $9 }
		END { line("1nginx", "none"); line("1app", "none")
			for (p = 2; p <= 3; p++) for (i = 1; i <= 4; i++) { line(p order[i] "nginx", share[order[i]]); line(p order[i] "app", share[order[i]]) } }'
}

rig_open
play 0 0 60 "$rate"
read -r busy stolen all < <(ticks)
play 1 0 $((minutes * 60)) "$rate"
play 2 1 $((minutes * 60)) "$rate"
play 3 1 60 "$rate"
read -r busy2 stolen2 all2 < <(ticks)
figures >"$tmp/figures"
cat <<END
### Noise and recall, $(date -u +%F)

$(uname -sr), $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), nginx $(nginx -v 2>&1 | sed 's|.*/||'). Command: \`tests/bench/noise.sh\`: nginx before an
application with lognormal times (median 8 ms, sigma 0.5), four routes of $rate requests a second each, known for a minute
before; then a share of each is 60 ms later. What is measured runs ${how:-like all else}; the processors were $(((busy2 - busy) * 100 / (all2 - all))) % busy,
$(((stolen2 - stolen) * 100 / (all2 - all))) % was stolen by other guests. "Held up": flagged without a fault of ours, and slower than the limit by nginx's own log, too, with the wait before it was read.

| | delayed | server | of them delayed | rows of these | other requests | flagged | held up |
|---|---|---|---|---|---|---|---|
END
table <"$tmp/figures"
