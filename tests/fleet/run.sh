#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the fleet bench (`make fleet`): ten hosts in three regions, two with a collector of their own, a global one; a fault at
# one host, on one edge, in a disk, in one that two hosts share, in PostgreSQL, in a region: what do the consoles say?
#
# KIND="app cpu edge disk shared pg region", RUNS= of each (2), AT_ONCE= so many, each in another region (1), HOLD= seconds that
# a fault lasts (45), QUIET= seconds without a signal, and an incident is over (20; 600 is shipped), HOURS= without any fault before (0.1); KEEP= a directory for the logs.
# Needs root. Hosts, clients and collectors go before all else on the machine: what else runs there is no fault of theirs.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh

[ "$(id -u)" = 0 ] || { echo "Seismo: the fleet bench makes network namespaces and cgroups: use sudo make fleet." >&2; exit 1; }
export KIND=${KIND-app cpu edge disk shared pg region} RUNS=${RUNS:-2} AT_ONCE=${AT_ONCE:-1} HOLD=${HOLD:-45} QUIET=${QUIET:-20} HOURS=${HOURS:-0.1}
for k in $KIND; do
	case " app cpu edge disk shared pg region " in *" $k "*) ;; *) echo "Seismo: there is no fault $k; there are app cpu edge disk shared pg region." >&2; exit 1 ;; esac
done
deploy/dev/deps.sh test || exit 1
. tests/lib/ingest_rig.sh
export PGBIN=$pgbin
bench=

on_exit() {
	if [ -n "$bench" ]; then
		kill -TERM "$bench"
		wait "$bench"
	fi
	python3 -B tests/fleet/fleethosts.py remove
	[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && cp -r "$dir"/*.log "$dir"/hosts/*.log "$KEEP"; for p in "$dir"/hosts/probe-*; do cp "$p/log" "$KEEP/${p##*/}.log"; done; }
	clear_away
} 2>/dev/null
trap on_exit EXIT
python3 -B tests/fleet/fleethosts.py make || exit 1

collect() { # NAME REGION FLAG...: its own database and keys; passes its address to the bench
	local name=$1 port web
	read -r port web < <(free_ports 2 | tr '\n' ' ')
	"$collector" --keys "$dir/keys.$name" key >/dev/null
	sql -d postgres -c "create database $name owner seismo"
	nice -n -10 "$collector" --bind "tcp://127.0.0.1:$port" --web "127.0.0.1:$web" --keys "$dir/keys.$name" --region "$2" \
		--database "host=$dir/s dbname=$name user=seismo" --web-database "host=$dir/s dbname=$name user=seismo_web" \
		--incidents-quiet-s "$QUIET" --incidents-join-s $((QUIET < 300 ? QUIET : 300)) --incidents-reopen-s 0 "${@:3}" >>"$dir/$name.log" 2>&1 &
	running[$name]=$!
	await 600 counted "$web" seismo_database_up 1 || { cat "$dir/$name.log" >&2; exit 1; }
	export "PORT_$name=$port" "WEB_$name=$web" "KEY_$name=$dir/keys.$name/collector.pub" "TOKEN_$name=$dir/token.$name"
	"$collector" --keys "$dir/keys.$name" --database "host=$dir/s dbname=$name user=seismo" node token --for 7d --uses 100 >"$dir/token.$name"
}

pg_make
renice -n -10 -p "$pg" >/dev/null # and with it whoever it starts from here on
collect global ap
for r in eu us; do
	"$collector" --keys "$dir/keys.global" --database "host=$dir/s dbname=global user=seismo" node token --for 1d --node "relay-$r" >"$dir/lets.$r"
	collect "$r" "$r" --relay-to "tcp://127.0.0.1:$PORT_global" --relay-key "$KEY_global" --relay-token "$dir/lets.$r" --relay-console "http://127.0.0.1:0"
done
mkdir -m 755 "$dir/hosts"
python3 -B tests/fleet/bench.py "$B" "$dir/hosts" & bench=$!
wait "$bench"
rc=$?
bench=
exit $rc
