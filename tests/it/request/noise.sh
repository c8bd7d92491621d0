#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# noise.sh - what is flagged without a fault, and how many of the requests that are 60 ms late are rows: the short
# form of tests/bench/noise.sh, over a whole stack with its usual limits.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh
. tests/lib/noise_rig.sh

share() { # PER_1000 PHASE ROUTE|all SERVER COLUMN OF_COLUMN: is it at least so much; columns as figures has them
	awk -v p="$1" -v phase="$2" -v route="$3" -v server="$4" -v a="$5" -v of="$6" '
		$1 == phase && (route == "all" || $2 == route) && $3 == server { x += $a; n += $of }
		END { exit !(n > 0 && x * 1000 >= p * n) }' "$tmp/figures"
}

# Flagged, and not late by nginx's log as well: on a busy machine requests wait, and these are meant to be rows.
little_noise() { # PHASE SERVER
	awk -v phase="$1" -v server="$2" '$1 == phase && $3 == server { x += $8 - $9; n += $7 } END { exit !(n > 0 && x * 1000 <= 3 * n) }' "$tmp/figures"
}

most_are_rows() { # ROUTE
	share 950 2 "$1" nginx 6 5 && share 950 2 "$1" app 6 5
}

# A limit is the 99.8th percentile of what was learnt. Where the machine stood still for as long as the fault is to take,
# the limit is above the fault, and rightly so: more requests are learnt, until it cannot be.
quiet() {
	awk -F '[/|]' '{ n[$2]++; slow[$2] += $NF > 0.05 } END { for (r in n) if (slow[r] * 1000 > n[r]) exit 1 }' "$tmp/access.log"
}

SIGMA=0.3
rig_open
for turn in 1 2 3 4 5; do
	play 0 0 12 150
	! quiet || break
	echo "some requests took more than 50 ms without a fault: learning goes on ($turn)"
done
play 1 0 10 150
play 2 1 10 150
figures >"$tmp/figures"
cat "$tmp/figures"
sent=$(awk '{ n += $2 } END { print n }' "$tmp/load")
ok "every request is in nginx's log" test "$(wc -l <"$tmp/access.log")" = "$sent"
ok "without a fault at most 0.3 % are flagged of nginx that its log does not show late" little_noise 1 nginx
ok "nor of the application" little_noise 1 app
ok "of 1 % that are late, 95 % are rows" most_are_rows one
ok "of 5 %, too" most_are_rows five
ok "of 50 %, too" most_are_rows half
ok "and of the others at most 0.3 %" little_noise 2 nginx
ok "nothing was withheld" test "$(coverage rows_withheld)" = 0
done_checking
