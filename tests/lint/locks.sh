#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# locks.sh FILE... - an advisory lock of the database, by number, is of one kind of work, and that stands in one file. Of
# two kinds that take the same one a collector does only the first, and says nothing.
sql=0
for f; do [ "${f%.sql}" = "$f" ] || sql=$((sql + 1)); done
echo "locks.sh: $# files read, $sql of them .sql"
[ $sql -gt 0 ] || { echo "locks.sh: no .sql file was read: are these the right files?" >&2; exit 1; }
bad=$(grep -oHE 'pg_(try_)?advisory_(xact_)?lock(_shared)?\([0-9]+' "$@" | sed 's/:.*(/ /' | sort -u |
	awk '{ where[$2] = where[$2] " " $1; n[$2]++ } END { for (l in n) if (n[l] > 1) print l ":" where[l] }' | sort)
[ -z "$bad" ] || { echo "$bad"; echo "locks.sh: give each of these files a number of its own" >&2; exit 1; }
