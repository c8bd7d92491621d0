#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# red_stale.sh - who calls one application is read by its keys also where the statistics of PostgreSQL are minutes old: those of a
# partition that held one slot when it was looked at know of no other, so that a look-up by time seems to be as cheap.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')
NODES=20 KEYS=200

slots() { # FACT FIRST LAST SECONDS: a row of each key for each
	sql -c "insert into $1 (ts, node_id, key_id, status_class, n, sum_us, slots, counts) select to_timestamp(t), node_id, key_id, 2, 1, 1000, array[10], array[1] from red_key, generate_series($2, $3, $4) t" >/dev/null
}

stale() { # FACT SPAN NAME BEGIN SLOTS SECONDS: statistics are of the first slot
	local part
	part=$1_$(date -ud "@$4" "+$3")
	sql -c "select ensure_partition('$1', '$2', to_timestamp($4))" -c "alter table $part set (autovacuum_enabled = off)" >/dev/null
	slots "$1" "$4" "$4" "$6"
	sql -c "analyze $part"
	slots "$1" $(($4 + $6)) $(($4 + ($5 - 1) * $6)) "$6"
	sql -c "vacuum $part"
}

few() { # MOST FROM UNTIL [APP]: the most rows that the topology of an application, or of all, reads
	local n
	n=$(sql <<-END
	begin;
	select api.topology(to_timestamp($2), to_timestamp($3), null, null, ${4:-null}, 200) \g /dev/null
	select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) from pg_stat_xact_user_tables where relname ~ '^red_1(m|0m)_[0-9]+\$';
	commit;
	END
	)
	[ "$n" -gt 0 ] && [ "$n" -le "$1" ] || { echo "$n rows are read, not 1 to $1" >&2; return 1; }
}

pg_make
start one "$port" "$web"
await 100 counted "$web" seismo_database_up 1
halt one TERM
sql >/dev/null <<END
insert into node (node_id, region_id, name) select n, (select min(region_id) from region), 'n' || n from generate_series(1, $NODES) n;
insert into red_key select n, n * 1000, 'app', '/', '192.0.2.7:443', 1 from generate_series(1, $NODES) n;
insert into red_key select n, n * 1000 + k, 'other', '/', '192.0.2.8:' || k, 1 from generate_series(1, $NODES) n, generate_series(1, $KEYS) k;
vacuum analyze red_key;
END
hour=$(($(date +%s) / 3600 * 3600 - 3600))
stale red_1m hour %Y%m%d%H "$hour" 30 60
sql -c "update red_closed set since_1m = to_timestamp($hour), until_1m = to_timestamp($hour + 1800), since = to_timestamp($hour + 3600), until = to_timestamp($hour + 3600)"
ok "of minutes" few $((2 * NODES * 25)) $((hour + 300)) $((hour + 1800)) "'app'"
day=$(($(date +%s) / 86400 * 86400 - 86400))
stale red_10m day %Y%m%d "$day" 30 600
sql -c "update red_closed set since = to_timestamp($day), until = to_timestamp($day + 18000)"
ok "of ten minutes" few $((2 * NODES * 25)) $((day + 3000)) $((day + 18000)) "'app'"
ok "and of all edges still what lies in the range alone" few $((2 * NODES * (KEYS + 1) * 3)) $((day + 16200)) $((day + 18000))
done_checking
