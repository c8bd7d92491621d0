-- SPDX-License-Identifier: Apache-2.0
-- Nodes and regions.

create or replace view api.node_key as
select n.node_id, n.name as node, coalesce(g.name, '') as region from node n left join region g using (region_id);

create or replace view api.node_name as select node_id, name from node;
create or replace view api.node_heard as select node_id, last_seen from node;

-- Nodes that never sent anything here directly.
create or replace view api.node_relayed as
select n.name as node from node n where not exists (select from ingest_mark m where m.node_id = n.node_id);

-- The processes of probes. A probe behind a relay is heard only when it has something to send.
create or replace view api.process as
select node_id, epoch, updated as heard, updated > now() - interval '1 minute' as alive from ingest_mark
union all
select node_id, epoch, heard, heard > now() - interval '15 minutes' from relayed;

-- Each region that has nodes, or whose relay was heard.
create or replace view api.region as
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

-- Batches of requests that a probe had to drop before the collector received them.
create or replace view api.gap as
select p.ts, coalesce(n.name, '') as node, coalesce(g.name, '') as region, p.stream, p.seq_to - p.seq_from + 1 as batches
from gap p left join node n using (node_id) left join region g using (region_id);

create or replace view api.unread as
select u.ts, coalesce(n.name, '') as node, coalesce(g.name, '') as region, u.app, u.kind, u.n
from unread u left join node n using (node_id) left join region g using (region_id);

-- first to last is when names of that kind were refused on that day.
create or replace view api.name_refused as
select r.first, r.last, coalesce(n.name, '') as node, coalesce(g.name, '') as region, r.kind, r.n
from name_refused r left join node n using (node_id) left join region g using (region_id);

-- Nodes for the fleet's pages: state, clock, sources, lost batches, coverage and unread connections of the last hour.
create or replace view api.node as
select n.name, coalesce(g.name, '') as region, n.last_seen,
	json_build_object(
		'id', lpad(to_hex(n.node_id), 16, '0'),
		'name', n.name, 'region', g.name, 'tags', n.tags, 'version', n.version,
		'firstSeen', api.rfc3339(n.first_seen),
		'lastSeen', api.rfc3339(n.last_seen),
		'lag', greatest(0, round(extract(epoch from now() - n.last_seen) * 1000)),
		'clock', (select json_build_object('ahead', api.ms(-c.offset_us), 'uncertainty', api.ms(c.uncertainty_us), 'told', api.rfc3339(c.told))
			from clock c where c.node_id = n.node_id order by c.told desc limit 1),
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
