#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ingest.sh - the collector between scripted probes and a real PostgreSQL: what it takes, refuses and stores.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web port2 web2 < <(free_ports 4 | tr '\n' ' ')
db="host=$dir/s dbname=seismo user=seismo"

says() { # SENTENCE ARG...: it ends with an error, and says one line with these words
	local out
	out=$(timeout 60 "$collector" --keys "$dir/keys" "${@:2}" 2>&1) && return 1
	[ "$(wc -l <<<"$out")" = 1 ] && grep -q "$1" <<<"$out"
}

# What it says before it starts.
printf '[collector]\nregion = north\nretention = 5\n' >"$dir/bad.conf"
printf '[collector]\nregion = north\nkeep_days = 5\n' >"$dir/good.conf"
ok "a bind that is no address is refused" says "is not tcp://address:port" --bind ipc://x
ok "an unknown key is refused with file and line" says "bad.conf:3: .*retention" --config "$dir/bad.conf" --check-config
ok "a good configuration is found good" "$collector" --config "$dir/good.conf" --check-config
ok "an unknown flag is refused" says "bogus is not a flag" --bogus
ok "a user that does not exist is refused" says "no user nobody-here" --bind "tcp://127.0.0.1:$port" --web "127.0.0.1:$web" --user nobody-here

read_long() { # a transaction that has looked into each of these and goes on
	sql -c "begin; select 1 from request limit 1; select 1 from event limit 1; select pg_sleep(600)" >/dev/null 2>&1 &
	reader=$!
	await 300 is 1 "select count(*) from pg_stat_activity where wait_event = 'PgSleep'"
}

end_reading() {
	sql -c "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'" >/dev/null
	wait "$reader"
}

# It starts without a database, and two may migrate one.
start one "$port" "$web" --region north --user seismo
ok "it runs while there is no database" await 300 grep -q "does not store" "$dir/one.log"
ok "a port in use is reported" says "Address already in use; .*--bind" --bind "tcp://127.0.0.1:$port" --web "127.0.0.1:$web2"
pg_make
start two "$port2" "$web2"
ok "the database is found when it comes" await 300 grep -q "stores again" "$dir/one.log"
ok "two collectors may start at once" await 300 grep -q "is ready" "$dir/two.log"
ok "every migration is applied once" is "$(ls -d schema/sql/[0-9]* | wc -l)" "select count(*) from migration"
ok "and every file of views and functions" is "$(ls schema/sql/api/*.sql schema/sql/functions/*.sql | wc -l)" "select count(*) from schema_file"
ok "the reasons are those of the table" is "$(grep -c '^REASON' schema/def/reasons.def)" "select count(*) from reason"
ok "days are made back and ahead" is 6 "select count(*) from pg_class where relname ~ '^request_[0-9]{8}$'"
privileges() {
	local t
	for t in /proc/"${running[one]}"/task/*/status; do
		grep -q "^NoNewPrivs:.1" "$t" && grep -q "^CapEff:.0000000000000000" "$t" &&
			grep -qE "^Uid:.($(id -u seismo).?){4}$" "$t" || return 1
	done
}
ok "no thread keeps a privilege" privileges

# The protocol.
n="node n1 11"
ok "a batch of a node that never said HELLO has no answer" probe "$port" "$n" "send 1 1 1 request" "want nothing 600"
ok "HELLO is answered by the marks" probe "$port" "$n" hello "want welcome 0 0"
ok "the next batch is acked" probe "$port" "$n" "send 1 1 1 request" "want ack 1 1"
ok "and stored" is "1|fake|GET|/r/1|500|north" "select count(*), min(app), min(method), min(path), min(r.status), min(g.name) from request r join node n using (node_id) join region g using (region_id)"
ok "a gap is refused, and filled" probe "$port" "$n" "send 1 3 1 request" "want nack 1 1" "send 1 2 1 request" "send 1 3 1 request" "want ack 1 3"
ok "what came twice is acked again" probe "$port" "$n" "send 1 1 1 request" "send 1 2 1 request" "want ack 1 3"
ok "and not stored twice" is 3 "select count(*) from request"
ok "a jump of base_seq is followed" probe "$port" "$n" "send 1 7 7 request" "want ack 1 7"
ok "and recorded" is "4|6|3" "select seq_from, seq_to, lost from gap join ingest_mark using (node_id, epoch, stream)"
ok "an unknown layout is asked for" probe "$port" "$n" "send 2 1 1 sample" "want dict" dict "send 2 1 1 sample" "want ack 2 1"
ok "and then stored with what it means" is "fake|{speed,falls_total}|{1.5,2}|x0" "select l.entity_kind, names, v, e.name from sample_unsealed join layout l using (layout_id) join entity e using (node_id, entity_id)"
ok "streams have marks of their own" probe "$port" "$n" hello "want welcome 7 1"
ok "the counts of requests are stored" probe "$port" "$n" "send 2 2 1 red" "want ack 2 2"
ok "under their key" is "3|900|4|{1,2}|:80" "select n, sum_us, lo, b, peer from red join red_key using (node_id, key_id)"
ok "and of what is over the usual nothing is known" is "t|0" "select excess_us is null, judged from red"
ok "who asked, and by how much it was over the usual, is stored" probe "$port" "$n" "send 2 3 1 served" "want ack 2 3"
ok "with the values that were sent" is "3|10.0.0.9||1000|2" "select role, peer, route, excess_us, judged from red join red_key using (node_id, key_id) where role > 1"
ok "and counted once" is "3|server" "select sum(n), min(role) from api.red"
ok "a source's state is kept" probe "$port" "$n" "send 1 8 1 source" "want ack 1 8"
ok "with its reason" is "request|0|no BTF" "select name, state, why from source"
ok "a new epoch of a known node starts at 1" probe "$port" "node n1 12" "send 1 1 1 request" "want nack 1 0" "send 1 1 1 request" "want ack 1 1"
ok "more new names than a node may bring in a day are taken" probe "$port" "node n9 11" hello "want welcome 0 0" "send 2 1 1 keys@0" "send 2 2 1 keys@6000" "send 2 3 1 keys@12000" "want ack 2 3"
ok "but only so many are stored" is 16384 "select count(*) from red_key join node using (node_id) where name = 'n9'"
ok "and what was refused is noted for the console" is "n9|routes and peers|1616" "select node, kind, n from api.name_refused"

# What must not be able to stop a node.
ok "a body that cannot be read is acked" probe "$port" "$n" "send 1 9 1 broken" "want ack 1 9"
ok "and kept aside" is "9|the body cannot be read|\xc1c1c1" "select seq, message, body from quarantine"
ok "so is a sample that does not fit its layout" probe "$port" "$n" "send 2 4 1 short" "want ack 2 4"
sql -c "alter table request add constraint poison check (path <> '/poison')"
ok "what PostgreSQL refuses is found among the others" probe "$port" "$n" "send 1 10 1 request" "send 1 11 1 a=/good" "send 1 12 1 b=/poison" "send 1 13 1 c=/good" "want ack 1 13"
ok "the rest is stored" is 2 "select count(*) from request where path = '/good'"
ok "and the culprit kept aside" is "12|23514" "select seq, sqlstate from quarantine where sqlstate <> ''"
ok "the quarantine is logged once" [ "$(grep -c "of node n1 cannot be stored and is in table quarantine" "$dir/one.log")" = 1 ]
ok "a clock that is far off still gets its rows" probe "$port" "$n" "send 1 14 1 future" "want ack 1 14"
ok "at the time of their arrival" is t "select ts between now() - interval '1 min' and now() from request where app = 'future'"
ok "bytes that are no text are shown as such" probe "$port" "$n" "send 1 15 1 dirty" "want ack 1 15"
ok "and nothing in them acts" is '/\xff\x01"\<script>\u{202E}' "select path from request where path like '%script%'"
ok "parameters and tries are JSON" is '12.5|Connection refused' "select params ->> 'ms', upstreams -> 0 ->> 'error' from request where path = '/r/1' limit 1"
ok "the commit times rise" is t "select count(distinct stored) > 5 and max(stored) <= now() from request"

# What no probe sends.
for i in 1 2 3 4 5; do
	ok "random bytes harm nothing" probe "$port" "raw 1 100" "raw 2 5000" "raw 3 100" "raw 40 10" "raw 1 0" "want nothing 50"
done
ok "too large a frame harms nothing" probe "$port" "raw 1 1100000" "want nothing 100"
ok "a batch without a body harms nothing" probe "$port" "$n" head-only "want nothing 100"
# A client that leaves on a busy machine before its handshake is over has sent none of its frames: more are sent until they count.
frames_counted() {
	counted "$web" 'seismo_refused_total{cause="frames"}' 10 || { probe "$port" "raw 2 5000" "want nothing 300"; return 1; }
}
ok "they are counted" await 300 frames_counted
ok "by cause" await 300 counted "$web" 'seismo_refused_total{cause="format"}' 6
ok "and probes go on" probe "$port" "$n" "send 1 16 1 request" "want ack 1 16"

# Two collectors, one database: a probe that moves there and back.
ok "the other collector knows the marks" probe "$port2" "$n" hello "want welcome 16 4" "send 1 17 1 d=/two" "want ack 1 17"
ok "the first one finds that a mark has moved" probe "$port" "$n" "send 1 17 1 d=/two" "want ack 1 17" "send 1 18 1 d=/two" "want ack 1 18"
ok "and stores nothing twice" is 2 "select count(*) from request where path = '/two'"
halt two TERM
ok "SIGTERM ends it cleanly" [ $? = 0 ]

# Retention.
sql -c "set role seismo; create table request_20200101 partition of request for values from ('2020-01-01') to ('2020-01-02')"
halt one TERM
ok "it ends cleanly with work done" [ $? = 0 ]
tomorrow=request_$(date -u -d tomorrow +%Y%m%d)
sql -c "set role seismo; drop table $tomorrow"
read_long
start one "$port" "$web" --region north --node-rows-per-s 2
ok "days are made while somebody reads for long" await 300 is 1 "select count(*) from pg_class where relname = '$tomorrow'"
ok "with the indices of their table" is t "select min(n) = max(n) and min(n) > 2 from (select count(*) n from pg_index
	where indrelid in ('request'::regclass, '$tomorrow'::regclass) group by indrelid) i"
ok "and rows are stored" probe "$port" "$n" "send 1 19 1 request" "want nack 1 18" "send 1 19 1 request" "want ack 1 19"
ok "only what is old stays for a while" is 1 "select count(*) from pg_class where relname = 'request_20200101'"
end_reading
halt one TERM
start one "$port" "$web" --region north --node-rows-per-s 2
ok "a day older than is kept is dropped" await 300 is 0 "select count(*) from pg_class where relname = 'request_20200101'"
ok "after a restart it asks for what came in between" probe "$port" "$n" "send 1 20 1 request" "want nack 1 19" "send 1 20 1 request" "want ack 1 20"

# A reader may hold one view that is replaced, and wait for another: a deadlock.
read_across() { # the reader's side, which is not the one that is cancelled
	"$pgbin/psql" -h "$dir/s" -U postgres -X -q -d late -v ON_ERROR_STOP=1 -f - <<-'END'
	set deadlock_timeout = '600s';
	do $$
	begin
		lock table api.incident in access share mode;
		while not exists (select from pg_locks where relation = 'api.incident'::regclass and not granted) loop
			perform pg_sleep(0.01);
		end loop;
		lock table api.reason_key in access share mode;
	end $$;
	END
}
sql -c "create database late owner seismo"
db_flag=--database="host=$dir/s dbname=late user=seismo"
read -r port3 web3 < <(free_ports 2 | tr '\n' ' ')
start late "$port3" "$web3"
await 600 grep -q "is ready" "$dir/late.log"
halt late TERM
late() { # SQL
	"$pgbin/psql" -h "$dir/s" -U postgres -XqAt -d late -v ON_ERROR_STOP=1 -c "$1"
}
late "update schema_file set hash = 'of another version' where name = 'api/10_text.sql'"
read_across >"$dir/across" 2>&1 & across=$!
await 300 is 1 "select count(*) from pg_stat_activity where datname = 'late' and state = 'active'"
: >"$dir/late.log"
start late "$port3" "$web3"
ok "views that meet a deadlock are replaced in another try" await 600 grep -q "is ready" "$dir/late.log"
wait $across
ok "and the reader goes on" [ $? = 0 ]
ok "the hash of each file is recorded" test "$(late "select count(*) from schema_file where length(hash) <> 64")" = 0
halt late TERM
db_flag=--database=$db

# A node that sends more rows than it may.
timeout 60 "$fake" "tcp://127.0.0.1:$port" deliver noisy 1 200 2000 >"$dir/noisy"
ok "every batch of a node that sends too many rows is acked" grep -q '^sent' "$dir/noisy"
ok "of each second so many rows are kept, and the rest is counted" await 300 is "200|t" "select (select count(*) from request join node using (node_id) where name = 'noisy')
	+ (select sum(value) from api.coverage where node = 'noisy' and name = 'rows_withheld'), (select count(*) from request join node using (node_id) where name = 'noisy') < 20"
ok "which shows in the coverage of its page" eval 'curl -s "http://127.0.0.1:$web/api/v1/coverage?node=noisy" | grep -qE "withheld\" ?: ?1[89][0-9]"'
done_checking
