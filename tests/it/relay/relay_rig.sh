# SPDX-License-Identifier: Apache-2.0
# relay_rig.sh - for tests of regions: collectors that relay to one another, each with a database and keys of its own.
# Needs ingest_rig.sh; the global one is that of start.

regions_make() { # NAME...: their databases and keys
	local r
	for r; do
		sql -d postgres -c "create database $r owner seismo"
		"$collector" --keys "$dir/keys.$r" key >/dev/null
	done
}

# A collector of a region: with its own database and keys, and whatever it relays to.
region() { # NAME PORT WEB FLAG...
	"$collector" --bind "tcp://127.0.0.1:$2" --web "127.0.0.1:$3" --keys "$dir/keys.$1" --region "$1" \
		--database "host=$dir/s dbname=$1 user=seismo" --web-database "host=$dir/s dbname=$1 user=seismo_web" "${@:4}" >>"$dir/$1.log" 2>&1 &
	running[$1]=$!
	await 100 is_listening "$2"
	await 300 grep -q "is ready" "$dir/$1.log"
}

relays() { # NAME PORT WEB TO FLAG...
	region "$1" "$2" "$3" --relay-to "$4" --relay-key "${RELAY_PUB:-$COLLECTOR_PUB}" --relay-console "http://127.0.0.1:$3" "${@:5}"
}

of() { # REGION SQL
	sql -d "$1" -c "$2"
}

pg_tool() { # NAME ARG...
	"$pgbin/$1" -h "$dir/s" -U postgres "${@:2}"
}

at_region() { # REGION WORD...: a command of its collector
	"$collector" --keys "$dir/keys.$1" --database "host=$dir/s dbname=$1 user=seismo" "${@:2}"
}

token_of() { # REGION
	at_region "$1" node token --for 1d --uses 1000 >"$dir/token.$1"
}

as_node() { # REGION PORT COMMAND...
	printf '%s\n' "${@:3}" | COLLECTOR_PUB=$dir/keys.$1/collector.pub TOKEN=$dir/token.$1 timeout 60 "$fake" "tcp://127.0.0.1:$2" script >/dev/null
}

deliver() { # REGION PORT NODE EPOCH BATCHES PER_S WHAT
	COLLECTOR_PUB=$dir/keys.$1/collector.pub TOKEN=$dir/token.$1 timeout 120 "$fake" "tcp://127.0.0.1:$2" deliver "$3" "$4" "$5" "$6" 64 "$7" >/dev/null
}

# A way to a collector, which can be cut.
wire_up() { # PORT TO
	python3 tests/it/relay/forward.py "$1" "$2" >/dev/null 2>&1 & running[way]=$!
	await 100 is_listening "$1"
}

sever() {
	halt way KILL
}

says() { # LOG WORDS
	await 150 grep -q "$2" "$dir/$1.log"
}
