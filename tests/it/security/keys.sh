#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# keys.sh - who may send: nodes are let in, replaced, revoked and rotated under load, collectors change their keys and
# stand in for each other; nothing is lost and nobody else comes in. Nodes are the probe's own spool, keys and uplink.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web port2 web2 < <(free_ports 4 | tr '\n' ' ')
url=tcp://127.0.0.1:$port
declare -A node=()

node_start() { # NAME [KEYS [TOKEN [URLS [PUB]]]]
	"$B/chaos/node" "${4:-$url}" "$1" "$dir/spool.$1.${2:-$1}" 200 "$dir/acked.$1" "$dir/keys.${2:-$1}" "${5:-$COLLECTOR_PUB}" \
		"${3:-$dir/none}" 2>>"$dir/$1.${2:-$1}.log" &
	node[${2:-$1}]=$!
}

node_ends() { # NAME SIGNAL: with all that it has delivered, if it is asked to
	disown "${node[$1]}" # or the shell prints the killed job
	kill "-$2" "${node[$1]}" && await 300 eval "! kill -0 ${node[$1]}"
}

rows() { # NAME
	sql -c "select count(*) from request join node using (node_id) where node.name = '$1'"
}

flows() { # NAME: more is stored than before
	local n
	n=$(rows "$1")
	await 300 eval "[ \$(rows $1) -gt $((n + 20)) ]"
}

still() { # NAME: no more is stored than a second ago
	local n
	n=$(rows "$1")
	sleep 1 # time: more would be stored
	[ "$(rows "$1")" = "$n" ]
}

# Each epoch from 1 to its last, each once.
whole() { # NAME
	is 0 "select count(*) from (select split_part(path, '/', 2) e, count(*) n, max(split_part(path, '/', 3)::bigint) m,
		count(distinct path) d from request join node using (node_id) where node.name = '$1' group by 1) x where n <> m or n <> d"
}

says() { # LOG WORDS
	await 300 grep -q "$2" "$dir/$1.log"
}

key_of() { # KEYS
	sed -n 's/^# Its public key is //p' "$dir/keys.$1/node.key" 2>/dev/null
}

state() { # WANTED KEY
	[ -n "$2" ] && [ "$(seismo node list | awk -v k="$2" 'index($0, k) { print $1 }')" = "$1" ]
}

counts() { # CAUSE: of refused messages, more than before
	local n
	n=$(counter "$web" "seismo_refused_total{cause=\"$1\"}")
	[ "${n:-0}" -gt 0 ]
}

pg_make
seismo node token --for 1min >"$dir/early" & early=$!
sleep 0.5 # time: it has begun to wait
start one "$port" "$web"
await 300 grep -q "is ready" "$dir/one.log"
ok "a command waits for the tables that a collector is about to make" eval 'wait $early && [ -s "$dir/early" ]'

# Let in by a person.
node_start alone
ok "a key that is not approved is asked to wait, with the command that approves it" says alone.alone "has not approved node alone: run seismo-collector node approve '"
ok "so is the operator" says one "node alone (key .* waits for approval: seismo-collector node approve '"
ok "it is among those that wait" eval 'seismo node list --waiting | grep -q "^waits .*alone"'
ok "nothing of it is stored" is 0 "select count(*) from node where name = 'alone'"
ok "a batch of such a key is dropped and counted" eval 'printf "node stranger 1\nsend 1 1 1 request\nwant nothing 300\n" | "$fake" "$url" script | grep -q ^yes && counts key'
ok "who is approved by name comes in" eval 'seismo node approve alone | grep -qF -- "$(key_of alone)"'
ok "and delivers what had waited" flows alone
ok "from its first batch" await 300 whole alone

# By a token.
seismo node token --for 1min >"$dir/once"
node_start first first "$dir/once"
ok "a token lets a node in" flows first
node_start second second "$dir/once"
ok "and only as many as it is for" says second.second "its token is not valid"
seismo node token --for 1s >"$dir/late" && sleep 1.2 # time: it is over
node_start third third "$dir/late"
ok "and only as long" says third.third "its token is not valid"
ok "what is not a token is none" eval 'echo rubbish >"$dir/rubbish"; node_start fourth fourth "$dir/rubbish"; says fourth.fourth "its token is not valid"'
ok "no token can be read in the database" is 0 "select count(*) from enrol_token where hash = convert_to('$(cat "$dir/once")', 'UTF8')"
node_ends second KILL; node_ends third KILL; node_ends fourth KILL

# Another node's name.
seismo node token --for 1min >"$dir/any"
node_start first thief "$dir/any"
ok "a name that has another key is refused, whatever the token" says first.thief "knows node first by another key"
ok "and the collector logs it" says one "claims to be node first, which has another key"
ok "the node itself goes on" flows first
ok "a key may not speak for another node" eval 'printf "node n9 1\nhello\nwant welcome 0 0\n" | "$fake" "$url" script; let_in; probe "$port" "node n9 1" hello "want welcome 0 0"'
node_ends thief KILL
rm -rf "$dir/keys.other" && cp -r "$dir/keys.first" "$dir/keys.other"
node_start other other
ok "a node that takes another name with its key learns whose key it is" says other.other "knows this key as node first, not other"
node_ends other KILL
seismo node token --for 1min --node first >"$dir/for-first"
node_start first anew "$dir/for-first"
ok "a machine that was set up anew comes in by a token for its name" await 300 eval 'state approved "$(key_of anew)"'
ok "and the key before is over" state replaced "$(key_of first)"
ok "and its holder learns so" says first.first "has revoked the key of node first"
node_ends first KILL; node_ends anew TERM

# Revoked under load.
node_start gone gone "$TOKEN"
let_in
ok "a node delivers" flows gone
seismo node revoke gone >/dev/null
revoked=$(sql -c "select clock_timestamp()")
ok "what it sends then is refused and counted" await 300 counts revoked
await 300 still gone # what had been taken is stored yet
ok "of what it sends a second after it is revoked nothing is taken" is t "select max(stored) <= timestamptz '$revoked' + interval '1 s' from request join node using (node_id) where node.name = 'gone'"
node_ends gone KILL
node_start gone
ok "and its next connection is refused" await 300 counted "$web" 'seismo_handshakes_refused_total{cause="revoked"}' 1
ok "which it says" says gone.gone "has revoked the key of node gone"
seismo node approve gone >/dev/null 2>&1
ok "by its name alone it does not come back" state revoked "$(key_of gone)"
seismo node approve "$(key_of gone)" >/dev/null
ok "approved again by its key it goes on by itself" await 300 flows gone
node_ends gone KILL

# The key of a node, under load.
node_start turn turn "$TOKEN"
ok "a node delivers under its first key" flows turn
was=$(key_of turn)
seismo node rotate turn >/dev/null
ok "a rotated node has another key" await 300 eval '[ -n "$(key_of turn)" ] && [ "$(key_of turn)" != "$was" ]'
ok "which is approved" await 300 eval 'state approved "$(key_of turn)"'
ok "and the first one is over" await 300 state replaced "$was"
ok "it delivers under that" flows turn
ok "no key is left over" test ! -e "$dir/keys.turn/node.next"

# The key of the collector, under load.
next=$(seismo key next | cut -d' ' -f1)
ok "the nodes learn the next key of their collector" says turn.turn "will go on with key"
ok "both are what new nodes are given" [ "$(seismo key | wc -l)" = 2 ]
await 300 grep -qF -- "$next" "$dir/keys.alone/collectors.pub"
seismo key rotate >/dev/null
halt one TERM
start one "$port" "$web"
ok "the collector comes back with it" says one "by key ${next//[^a-zA-Z0-9]/.}"
ok "and nodes that heard of it go on" flows turn
ok "all of them" flows alone
node_ends turn TERM
ok "nothing was lost or doubled on the way" whole turn
printf '%s\n' "$nobodys_key" >"$dir/wrong.pub"
node_start wrong wrong "$TOKEN" "$url" "$dir/wrong.pub"
ok "who trusts another key than the collector's sends nothing and says so" says wrong.wrong "does not have a key that this node trusts"
ok "and the collector counts it" await 300 counted "$web" 'seismo_handshakes_refused_total{cause="wrong_key"}' 1
node_ends wrong KILL

# Of before version 0.2, which had no keys.
ok "an older probe gets no answer" eval '{ echo node old 1; for i in 1 2 3 4 5 6; do echo new; echo want nothing 200; done; } |
	COLLECTOR_PUB=- "$fake" "$url" script >"$dir/old" && [ "$(grep -c ^yes "$dir/old")" = 6 ]'
ok "and the collector says that it has to be updated" says one "maybe a probe of before version 0.2 (update it)"
read -r old < <(free_ports 1)
"$B/tools/fakecollector" "tcp://127.0.0.1:$old" - >"$dir/old.out" & running[old]=$!
node_start new new "$TOKEN" "tcp://127.0.0.1:$old"
ok "a probe says that an older collector has to be updated" says new.new "older than version 0.2"
ok "and sends it nothing" test ! -s "$dir/old.out"
node_ends new KILL
halt old KILL

# Two collectors of one database, each with its own key.
"$collector" --keys "$dir/keys2" key >/dev/null
start two "$port2" "$web2" --keys "$dir/keys2"
cat "$dir/keys2/collector.pub" "$COLLECTOR_PUB" >"$dir/both.pub"
await 300 grep -q "is ready" "$dir/two.log"
node_start pair pair "$TOKEN" "$url tcp://127.0.0.1:$port2" "$dir/both.pub"
ok "a node delivers to one of two collectors" flows pair
halt one KILL
ok "and goes to the other one when that is gone" flows pair
start one "$port" "$web"
halt two KILL
ok "and back" flows pair
node_ends pair TERM
ok "nothing was lost or doubled by it" whole pair
node_ends alone TERM
ok "nor of the node that had to wait" whole alone

# Commands.
ok "a node is tagged" eval 'seismo node tag alone rack=b7 role=web && seismo node tag alone role= && seismo node list | grep -q "alone .*rack=b7$"'
ok "and shown by another name, under which it stays" eval 'seismo node name alone lone && seismo node list | grep -q "lone .*rack=b7$"'
ok "an unknown node is reported" eval '! seismo node approve nobody 2>"$dir/err" && grep -q "no key of nobody waits" "$dir/err"'
ok "an unknown command is refused" eval '! seismo node frobnicate 2>"$dir/err" && grep -q "seismo-collector node are list, approve, revoke" "$dir/err"'
ok "an unreachable database is reported" eval '! "$collector" --database "host=$dir/nowhere dbname=x" node list 2>"$dir/err" && grep -q "cannot be reached" "$dir/err"'
ok "the web's role sees no key and changes nothing" eval '! sql -U seismo_web -c "select * from node_key" 2>/dev/null && ! sql -U seismo_web -c "insert into request select * from request limit 1" 2>/dev/null &&
	! sql -U seismo_web -c "select public.approve(key, 1::text) from (values (1::text)) k(key)" 2>/dev/null'
done_checking
