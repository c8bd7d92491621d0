#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# upgrade.sh - a database of the collector of commit 3182ec7 is upgraded, and the commands of docs/operating.md bring it back.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
. tests/it/operating/page.bash
read -r port web < <(free_ports 2 | tr '\n' ' ')

open_by_new() { # the fixture has fixed times: without these its rows would soon be too old
	: >"$dir/one.log"
	start one "$port" "$web" --keep-days 3650 --keep-evidence-days 3650 --keep-events-days 3650 --keep-profile-days 3650 \
		--keep-samples-days 3650 --keep-1m-days 3650 --keep-10m-days 3650 --keep-1h-days 3650
	await 300 grep -q "is ready" "$dir/one.log"
}

upgraded() {
	is "$(ls -d schema/sql/[0-9]* | tail -n 1 | sed 's|.*/0*\([0-9]*\)_.*|\1|')" "select max(number) from migration"
}

objects() {
	sql -c "select table_schema, table_name, column_name, data_type from information_schema.columns where table_schema in ('public', 'api') and table_name !~ '_[0-9]{8,}$' order by 1, 2, 3"
}

pg_make
gzip -dc tests/data/schema_49.sql.gz | sql >/dev/null
sums >"$dir/before"
objects >"$dir/objects"
ok "the dump before the upgrade" run_page dump
ok "the new version opens the database" open_by_new
ok "and upgrades it" upgraded
ok "no row is lost" eval 'sums >"$dir/after" && diff <(grep -v "^incident" "$dir/before") <(grep -v "^incident" "$dir/after")'
halt one TERM
ok "the way back" run_page rollback
ok "ends at the older version" is 49 "select max(number) from migration"
ok "with its tables and views" eval 'objects | cmp - "$dir/objects"'
ok "and every row" eval 'sums | cmp - "$dir/before"'
ok "which can be upgraded again" eval 'open_by_new && upgraded'
done_checking
