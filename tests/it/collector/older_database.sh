#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# older_database.sh - a database that a collector of commit 3182ec7 made and filled (schema version 49, the last of the old chain
# of migrations) opens under this collector: every row is still there, and the console answers from it. Databases of other
# versions are refused. older_database_make.bash made tests/data/schema_49.sql.gz.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
read -r port web port2 web2 < <(free_ports 4 | tr '\n' ' ')

# Tables whose rows the collector leaves alone. It moves samples between tables, so samples are compared through the views
# that read all of them, and a sample has the same value in each.
tables="region node entity source clock tag layout gap quarantine node_key enrol_token place place_told nat checks stack
	request event evidence profile unread red_key red incident_signal incident_candidate incident_graph incident_event"

sums() { # a line for each table: its rows, and their checksum
	local t sql=
	for t in $tables; do
		sql+="select '$t', count(*), coalesce(sum(hashtextextended(x::text, 0)), 0) from $t x;"
	done
	sql -c "$sql" -c "select 'samples', count(*), coalesce(sum(hashtextextended(x::text, 0)), 0) from (select ts, node_id, entity_id, layout_id, v from sample_unsealed
		union all select ts, node_id, entity_id, layout_id, v from sample_sealed) x"
}

rows() { # TABLE: of the sums before
	awk -F '|' -v t="$1" '$1 == t { print $2 }' "$dir/before"
}

api() { # PATH PYTHON: true of the answer a
	curl -s "http://127.0.0.1:$web/api/v1/$1" | python3 -c "import json, sys; t = sys.stdin.read(); a = json.loads(t); ($2) or sys.exit(t[:400])"
}

# The fixture has fixed times: without these its rows would soon be too old.
open_by() { # NAME PORT WEB
	start "$1" "$2" "$3" --keep-days 3650 --keep-evidence-days 3650 --keep-events-days 3650 --keep-profile-days 3650 \
		--keep-samples-days 3650 --keep-1m-days 3650 --keep-10m-days 3650 --keep-1h-days 3650
}

objects() { # views and functions with their texts and grants
	sql -c "select v.schemaname, v.viewname, v.definition, c.relacl from pg_views v join pg_class c on c.relname = v.viewname and c.relnamespace = v.schemaname::regnamespace
		where schemaname in ('api', 'public') order by 1, 2" \
		-c "select pronamespace::regnamespace, proname, oidvectortypes(proargtypes), pg_get_functiondef(oid), proacl from pg_proc
		where pronamespace in ('api'::regnamespace, 'public'::regnamespace) and prolang <> (select oid from pg_language where lanname = 'c') order by 1, 2, 3"
}

pg_make
gzip -dc tests/data/schema_49.sql.gz | sql >/dev/null
sums >"$dir/before"
objects >"$dir/objects"
for t in request event evidence stack samples red incident_signal place nat clock tag node_key; do
	ok "the database has rows of $t" test "$(rows $t)" -gt 0
done
ok "some samples are sealed, others are not" is "t|t" "select (select count(*) > 0 from sealed), (select count(*) > 0 from sample_unsealed)"

open_by one "$port" "$web"
ok "a database of schema version 49 opens" await 300 grep -q "is ready" "$dir/one.log"
ok "each of its rows is there" eval 'sums >"$dir/after" && diff "$dir/before" "$dir/after"'
ok "its version is that of the last migration" is "$(ls -d schema/sql/[0-9]* | tail -n 1 | sed 's|.*/0*\([0-9]*\)_.*|\1|')" "select max(number) from migration"
ok "the record of its migrations is kept" is 49 "select count(*) from migration where number <= 49"
ok "each file of views and functions has run" is "$(ls schema/sql/api/*.sql schema/sql/functions/*.sql | wc -l)" "select count(*) from schema_file"

range="from=2026-01-01T00:00:00Z"
ok "the console lists its requests" api "requests?$range&limit=1000" "len(a['requests']) > 0 and all(q['reason']['text']['en'] for q in a['requests'])"
id=$(sql -c "select api.id_text(ts, request_id) from request where shares is not null limit 1")
ok "one with all its evidence" api "requests/$id" "a['id'] == '$id' and a['shares'] and a['evidence']"
ok "its nodes" api "nodes" "{'web-1', 'front', 'app', 'db'} <= {n['name'] for n in a['nodes']}"
ok "with tags" is "{\"az\": \"a\", \"rack\": \"r7\"}" "select tags from node where name = 'web-1'"
ok "its incidents" api "incidents?$range" "len(a['incidents']) > 0 and a['incidents'][0]['text']['en']"
ok "its events" api "events?$range" "len(a['events']) > 0"
read -r since until < <(sql -F ' ' -c "select api.rfc3339(min(hour)), api.rfc3339(max(hour) + interval '1 hour') from sealed")
ok "its samples" api "series?metric=reads&node=web-1&from=$since&to=$until" "any(p[1] is not None for s in a['series'] for p in s['points'])"
read -r since until < <(sql -F ' ' -c "select api.rfc3339(min(ts)), api.rfc3339(max(ts) + interval '1 s') from red")
ok "who calls whom" api "topology?from=$since&to=$until" "{('front', 'app'), ('app', 'db')} <= {(e['from']['node'], e['to']['node']) for e in a['edges']}"

# The files run again over what is there, and change nothing.
halt one TERM
objects >"$dir/objects.open"
sql -c "update schema_file set hash = 'another'"
: >"$dir/one.log"
open_by one "$port" "$web"
ok "it opens again" await 300 grep -q "is ready" "$dir/one.log"
ok "with all files run anew" is 0 "select count(*) from schema_file where hash = 'another'"
ok "to the same views, functions and grants" eval 'objects | cmp - "$dir/objects.open"'
halt one TERM

refuses() { # VERSION SENTENCE
	sql -c "delete from migration where number > $1" -c "insert into migration values ($1, 'another') on conflict do nothing"
	sums >"$dir/before"
	: >"$dir/two.log"
	open_by two "$port2" "$web2"
	await 100 grep -q "$2" "$dir/two.log"
	local rc=$?
	halt two TERM
	[ $rc = 0 ] && ! grep -q "is ready" "$dir/two.log" && sums | cmp - "$dir/before"
}
ok "a database of a newer collector is refused, and not touched" refuses 999 "schema version 999, and this collector supports version"
ok "so is one before the baseline" refuses 48 "schema version 48, and this collector upgrades from version 49 on"
done_checking
