-- SPDX-License-Identifier: Apache-2.0
-- 036_again.sql - a region whose database is another than before, as after a restored backup, numbers what is left in its
-- outbox anew, and what the global collector has of that already is left out there, by whose batch it was.

-- Of each stream the last batch of the process that is stored here; those of before this version are not known.
alter table relayed add column seq bigint[] not null default '{0,0}';

-- Of each of these batches whether it is here already; the others are, from now on.
create function take_relayed(nodes bigint[], epochs bigint[], streams bigint[], seqs bigint[]) returns boolean[] language plpgsql as $$
declare
	again boolean[];
begin
	insert into relayed (node_id, epoch, heard) select distinct u.node, u.epoch, now() from unnest(nodes, epochs) u(node, epoch)
		on conflict (node_id, epoch) do nothing;
	select array_agg(w.seq <= greatest(r.seq[w.stream], w.before) order by w.i) into again
		from (select u.*, max(u.seq) over (partition by u.node, u.epoch, u.stream order by u.i rows between unbounded preceding and 1 preceding) as before
			from unnest(nodes, epochs, streams, seqs) with ordinality u(node, epoch, stream, seq, i)) w
		join relayed r on r.node_id = w.node and r.epoch = w.epoch;
	update relayed r set heard = now(), seq = array[greatest(r.seq[1], m.events), greatest(r.seq[2], m.metrics)]
		from (select u.node, u.epoch, max(u.seq) filter (where u.stream = 1) as events, max(u.seq) filter (where u.stream = 2) as metrics
			from unnest(nodes, epochs, streams, seqs) u(node, epoch, stream, seq) group by 1, 2) m
		where r.node_id = m.node and r.epoch = m.epoch;
	return again;
end $$;

-- Where the outbox is: of which cluster and database, and since when that goes its own way. '': not known yet.
alter table outbox_head add column home text not null default '';

create function outbox_home(new_epoch bigint) returns boolean language plpgsql as $$
declare
	here text := (select s.system_identifier || '/' || d.oid || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
		from pg_control_system() s, pg_database d where d.datname = current_database());
	moved boolean;
begin
	perform from outbox_head order by stream for update;
	moved := exists (select from outbox_head where home not in ('', here));
	if moved then
		perform outbox_renew(new_epoch);
	end if;
	update outbox_head set home = here where home <> here;
	return moved;
end $$;

revoke execute on function take_relayed(bigint[], bigint[], bigint[], bigint[]), outbox_home(bigint) from public;
do $$ begin perform grant_web(); end $$;
