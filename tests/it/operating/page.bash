# SPDX-License-Identifier: Apache-2.0
# page.bash - runs commands of docs/operating.md as they stand there. Needs ingest_rig.sh.
export BACKUP=$dir/backup DATA=$dir/d2 DAY=
install -d -o postgres -g postgres -m 700 "$BACKUP" "$DATA"

commands() { # NAME: of the block below <!-- run: NAME -->
	awk -v mark="<!-- run: $1 -->" '$0 == mark { found = 1; next } found && /^```sh$/ { inside = 1; next } inside && /^```$/ { exit } inside' docs/operating.md
}

run_page() { # NAME
	local text
	text=$(commands "$1")
	[ -n "$text" ] || { echo "docs/operating.md has no commands named $1" >&2; return 1; }
	(cd / && exec "${as_postgres[@]}" env PATH="$pgbin:$PATH" PGHOST="$dir/s" PGUSER=postgres bash -euo pipefail -c "$text")
}

sums() { # a line for each table that holds data: its rows, and their checksum
	local t sql=
	for t in region node source request event evidence stack red_key red incident incident_signal incident_step node_key; do
		sql+="select '$t', count(*), coalesce(sum(hashtextextended(x::text, 0)), 0) from $t x;"
	done
	sql -c "$sql"
}
