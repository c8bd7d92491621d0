#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# visible.sh - from the end of a request to its row in an open page, in a real browser over a whole stack;
# and that what strangers put into a request does no harm on the way, in the page or in a log.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

[ -d web/node_modules/playwright-core ] || (cd web && npm ci --silent >/dev/null) || { echo "npm ci failed in web/"; echo "0 passed, 1 failed"; exit 1; }
stack_open
read -r port < <(free_ports 1)
"$B/tools/server" "$port" & server=$! # after the probe, which finds it by itself
on_exit() { kill $server 2>/dev/null; }
listening "$port"
node tests/it/console/visible.mjs "http://$WEB" "$port" "${N:-120}" | tee "$tmp/visible"
value() { awk -v k="$1" '$1 == k { print $2 }' "$tmp/visible"; }

ok "every failed request became a row in the open page" test "$(value seen)" -gt 0 -a "$(value seen)" = "$(value sent)"
ok "a server started after the probe has its first row within 1 s" test "$(value first_ms)" -le 1000
ok "request end to visible row is at most 1 s at p99" test "$(value p99_ms)" -le 1000
ok "the page broke no rule of its content security policy" test "$(value violations)" = 0
ok "the page reported no error" test "$(value errors)" = 0
ok "a path with markup is shown as text and runs nothing" test "$(value markup)" = shown
ok "a path with escape and right-to-left bytes is shown with these spelt out" test "$(value control)" = spelt
ok "no escape byte reached a log" eval '! grep -q $'"'\\x1b'"' "$VAR"/log/*.log'
ok "Seismo's own pages made no row" test "$(ask "select count(*) from request where app like 'seismo%'")" = 0
done_checking
