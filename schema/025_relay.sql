-- SPDX-License-Identifier: Apache-2.0
-- 025_relay.sql - regions: what a regional collector keeps for the global one until that has it, and who may relay.
--
-- The outbox is written in the transaction that stores what it holds, and only if a relay is configured. Its rows are
-- batches as they travel, numbered without a hole in each stream; an acknowledged one is deleted. These tables are small
-- or short-lived and stay where the collector writes.

create table outbox_head (                         -- of each stream the last number given; the epoch is born with the outbox
	stream      smallint primary key,
	epoch       bigint not null,
	seq         bigint not null
);

create table outbox (
	stream      smallint not null,
	seq         bigint not null,
	wall_ns     bigint not null,                   -- the tick of the batch
	items       int not null,
	body        bytea not null,
	made        timestamptz not null default now(),
	primary key (stream, seq)
);

create table relay_told (                          -- what the global collector was told of each node here, as a hash
	node_id     bigint primary key,
	said        bigint not null
);

-- Batches into the outbox, in this order; whoever else writes into it waits until this transaction ends. The last number
-- in the stream of events.
create function outbox_put(new_epoch bigint, streams smallint[], walls bigint[], counts bigint[], bodies bytea[]) returns bigint language plpgsql as $$
begin
	insert into outbox_head values (1, new_epoch, 0), (2, new_epoch, 0) on conflict do nothing;
	perform from outbox_head where stream = 1 for update;
	with took as (
		update outbox_head h set seq = h.seq + (select count(*) from unnest(streams) s where s = h.stream) returning h.stream, h.seq),
	n as (
		select u.stream, u.wall, u.items, u.body, row_number() over (partition by u.stream order by u.i desc) - 1 as back
		from unnest(streams, walls, counts, bodies) with ordinality u(stream, wall, items, body, i))
	insert into outbox (stream, seq, wall_ns, items, body)
		select n.stream, t.seq - n.back, n.wall, n.items::int, n.body from n join took t using (stream);
	return (select seq from outbox_head where stream = 1);
end $$;

-- Another epoch, in which what is left is numbered from 1 on: the global collector has numbers of the old one that were
-- never given here, as after a backup was restored.
create function outbox_renew(new_epoch bigint) returns void language plpgsql as $$
begin
	perform from outbox_head order by stream for update;
	update outbox_head h set epoch = new_epoch,
		seq = (select count(*) from outbox o where o.stream = h.stream);
	update outbox o set seq = -n.i from (select stream, seq, row_number() over (partition by stream order by seq) as i from outbox) n
		where o.stream = n.stream and o.seq = n.seq;
	update outbox set seq = -seq where seq < 0;
end $$;

-- The other side. A key may bring what is of region relay, if it is one's; claims is what its last HELLO asked for.
alter table node_key add column relay text not null default '', add column claims text not null default '';

create or replace function approve(the_key text, by_whom text) returns void language plpgsql as $$
declare
	k node_key;
begin
	update node_key set state = 1, relay = claims, decided = now(), decided_by = by_whom where key = the_key returning * into k;
	update node_key set state = 3, rotate = false, decided = now(), decided_by = by_whom
		where node_id = k.node_id and state = 1 and key <> the_key;
	notify seismo_keys;
end $$;

create or replace function approve_next(the_key text, the_next text) returns boolean language plpgsql as $$
begin
	insert into node_key (key, node_id, name, state, replaces, machine, address, decided, decided_by, relay, claims)
		select the_next, node_id, name, 1, the_key, machine, address, now(), 'rotation', relay, relay
		from node_key where key = the_key and state = 1
			and (select count(*) from node_key o where o.node_id = node_key.node_id and o.state = 1) < 4
		on conflict (key) do nothing;
	if found then
		notify seismo_keys;
	end if;
	return exists (select from node_key a join node_key b using (node_id)
		where a.key = the_key and b.key = the_next and a.state = 1 and b.state = 1);
end $$;

-- As in 012, of one that says whose relay it is ('': nobody's). A token lets it in only if it was made for its name, and
-- a key that was approved for something else is asked about again: 7.
create function enrol(the_key text, the_node bigint, the_name text, the_machine text, the_address text, the_token text, the_relay text)
	returns smallint language plpgsql as $$
declare
	k node_key;
	said smallint;
begin
	perform pg_advisory_xact_lock(hashtext('seismo.enrol'));
	update node_key set claims = the_relay where key = the_key and claims <> the_relay;
	select * into k from node_key where key = the_key;
	if k.state = 1 and k.node_id = the_node and k.relay <> the_relay then
		return 7;
	end if;
	if k.key is null and the_relay <> '' then
		said := enrol(the_key, the_node, the_name, the_machine, the_address, '');
		update node_key set claims = the_relay where key = the_key;
	end if;
	return enrol(the_key, the_node, the_name, the_machine, the_address, case when the_relay = ''
		or exists (select from enrol_token where hash = sha256(convert_to(the_token, 'UTF8')) and node = the_name) then the_token else '' end);
end $$;
revoke all on function enrol(text, bigint, text, text, text, text, text) from public;

create table region_relay (                        -- what relays said of themselves last
	region_id   bigint primary key,
	relay_id    bigint not null,                   -- as who it came in
	console     text not null,
	told        timestamptz not null,              -- all that the region had stored up to then is here
	heard       timestamptz not null
);

create table relayed (                             -- processes of probes whose batches came by a relay
	node_id     bigint not null,
	epoch       bigint not null,
	heard       timestamptz not null,
	primary key (node_id, epoch)
);

-- What a region knows of a node, as a whole: in the place of what was known here.
create function take_node(the_node bigint, the_name text, the_machine text, the_version text, first timestamptz,
	entities bigint[], keys text[], vals text[], sinces bigint[], untils bigint[], sayers text[]) returns void language plpgsql as $$
begin
	delete from tag where node_id = the_node;
	insert into tag (node_id, entity_id, key, value, since, until, said_by)
		select the_node, u.entity, u.key, u.value, timestamptz 'epoch' + u.since * interval '1 microsecond',
			case u.until when 0 then 'infinity' else timestamptz 'epoch' + u.until * interval '1 microsecond' end, u.said
		from unnest(entities, keys, vals, sinces, untils, sayers) u(entity, key, value, since, until, said)
		on conflict do nothing;
	update node set name = the_name, machine = the_machine, version = the_version, first_seen = first,
		tags = coalesce((select jsonb_object_agg(t.key, t.value) from tag t
			where t.node_id = the_node and t.entity_id = 0 and t.until = 'infinity'), '{}')
		where node_id = the_node;
end $$;

-- A probe behind a relay is heard only when it has something to tell.
create or replace view api.process as
select node_id, epoch, updated as heard, updated > now() - interval '1 minute' as alive from ingest_mark
union all
select node_id, epoch, heard, heard > now() - interval '15 minutes' from relayed;

-- As in 016, without relays: they are no nodes.
create or replace view api.node as
select n.name, coalesce(g.name, '') as region, n.last_seen,
	json_build_object(
		'id', lpad(to_hex(n.node_id), 16, '0'),
		'name', n.name, 'region', g.name, 'tags', n.tags, 'version', n.version,
		'firstSeen', api.rfc3339(n.first_seen),
		'lastSeen', api.rfc3339(n.last_seen),
		'lag', greatest(0, round(extract(epoch from now() - n.last_seen) * 1000)),
		'lostBatches', (select coalesce(sum(m.lost), 0) from ingest_mark m where m.node_id = n.node_id),
		'sources', (select coalesce(json_agg(json_build_object(
				'name', s.name,
				'state', case s.state when 0 then 'off' when 1 then 'attached' else 'throttled' end,
				'why', s.why, 'since', api.rfc3339(s.since)) order by s.name), '[]')
			from source s where s.node_id = n.node_id),
		'coverage', (select coalesce(json_object_agg(c.name, c.total order by c.name), '{}')
			from (select name, coalesce(sum(value), 0) as total from api.coverage
				where node_id = n.node_id and ts > now() - interval '1 hour' and hour > now() - interval '2 hours' group by name) c),
		'unread', (select coalesce(json_agg(json_build_object('app', u.app, 'kind', u.kind, 'count', u.total)
				order by u.total desc, u.app, u.kind), '[]')
			from (select app, kind, sum(n) as total from unread
				where node_id = n.node_id and ts > now() - interval '1 hour' group by app, kind) u)) as body
from node n
left join region g using (region_id)
where not exists (select from node_key k where k.node_id = n.node_id and k.relay <> '');

-- Each region that has nodes, or a relay that was heard of.
create view api.region as
select g.name, json_build_object(
		'name', g.name,
		'relay', r.region_id is not null,
		'console', nullif(r.console, ''),
		'lag', case when r.region_id is not null then greatest(0, round(extract(epoch from now() - r.told) * 1000)) end,
		'told', api.rfc3339(r.told),
		'lastSeen', api.rfc3339(greatest(r.heard, n.last_seen)),
		'nodes', coalesce(n.nodes, 0)) as body
from region g
left join region_relay r using (region_id)
left join (select o.region_id, count(*) as nodes, max(o.last_seen) as last_seen from node o
	where not exists (select from node_key k where k.node_id = o.node_id and k.relay <> '') group by o.region_id) n using (region_id)
where r.region_id is not null or n.nodes > 0;

do $$ begin perform grant_web(); end $$;
