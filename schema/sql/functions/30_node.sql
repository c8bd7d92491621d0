-- SPDX-License-Identifier: Apache-2.0
-- Tags, clocks, places and translations of nodes.

-- From that moment on the tag has this value ('': no tag), whatever was set for later. False: nothing changed.
create or replace function set_tag(the_node bigint, the_entity bigint, the_key text, the_value text, from_when timestamptz, by_whom text)
	returns boolean language plpgsql as $$
begin
	if from_when > now() then
		raise exception 'a tag cannot begin in the future (%)', from_when using errcode = '22023';
	end if;
	if (case the_value when '' then not exists (select from tag where node_id = the_node and entity_id = the_entity and key = the_key and until > from_when)
		else exists (select from tag where node_id = the_node and entity_id = the_entity and key = the_key and value = the_value
			and since <= from_when and until = 'infinity') end) then
		return false;
	end if;
	delete from tag where node_id = the_node and entity_id = the_entity and key = the_key and since >= from_when;
	update tag set until = from_when where node_id = the_node and entity_id = the_entity and key = the_key and until > from_when;
	if the_value <> '' then
		insert into tag (node_id, entity_id, key, value, since, said_by)
			values (the_node, the_entity, the_key, the_value, from_when, by_whom);
	end if;
	if the_entity = 0 then
		update node set tags = case the_value when '' then tags - the_key else tags || jsonb_build_object(the_key, the_value) end
			where node_id = the_node;
	end if;
	return true;
end $$;

-- Applies a whole inventory. Tags of the last inventory that are missing now end; tags set by command stay unless the inventory
-- sets them. Returns one line per change, and per name that is not known.
create or replace function apply_inventory(inventory jsonb) returns table (node text, said text) language plpgsql as $$
declare
	at constant timestamptz := now();
	bad text;
begin
	if jsonb_typeof(inventory -> 'nodes') is distinct from 'object' then
		raise exception 'it has no object "nodes"' using errcode = '22023';
	end if;
	perform pg_advisory_xact_lock(hashtext('seismo.inventory'));
	create temp table wanted on commit drop as
		with named as (
			select e.key as name, e.value as body from jsonb_each(inventory -> 'nodes') e
		), pieces as (
			select name, '' as entity, body -> 'tags' as tags from named where body ? 'tags'
			union all
			select name, x.key, x.value from named, jsonb_each(case jsonb_typeof(body -> 'entities') when 'object' then body -> 'entities' else '{}' end) x
		)
		select p.name, p.entity, n.node_id, case when p.entity = '' and n.node_id is not null then 0 else y.entity_id end as entity_id,
			t.key, t.value, jsonb_typeof(p.tags) as form
		from pieces p
		left join node n on n.name = p.name
		left join entity y on y.node_id = n.node_id and p.entity <> '' and y.kind || '/' || y.name = p.entity
		left join lateral jsonb_each_text(case jsonb_typeof(p.tags) when 'object' then p.tags else '{}' end) t on true;
	select w.name || case when w.entity = '' then '' else ' ' || w.entity end into bad from wanted w where form is distinct from 'object' limit 1;
	if bad is not null then
		raise exception 'the tags of % are no object of names and values', bad using errcode = '22023';
	end if;
	return query select distinct w.name, 'is not known, and its tags are not kept: give the inventory again when it has connected'
		from wanted w where w.node_id is null;
	return query select distinct w.name, 'has no ' || w.entity || ': it is kind/name, as in /api/v1/series'
		from wanted w where w.node_id is not null and w.entity_id is null;
	-- What is to be done is known before any of it is.
	return query with over as materialized (
			select t.*, coalesce(y.kind || '/' || y.name || ' ', '') as what from tag t
			left join entity y on y.node_id = t.node_id and y.entity_id = t.entity_id
			where t.until = 'infinity' and t.said_by = 'inventory'
				and not exists (select from wanted w where w.node_id = t.node_id and w.entity_id = t.entity_id and w.key = t.key and w.value <> '')
		), done as materialized (
			select *, set_tag(node_id, entity_id, key, '', at, 'inventory') as changed from over
		)
		select o.name, d.what || 'is no more ' || d.key || '=' || d.value from done d join node o using (node_id) where changed;
	return query with so as materialized (
			select * from wanted where entity_id is not null and value <> ''
		), done as materialized (
			select *, set_tag(node_id, entity_id, key, value, at, 'inventory') as changed from so
		)
		select name, case when entity = '' then '' else entity || ' ' end || 'is ' || key || '=' || value from done where changed;
end $$;

-- Stores what a region reports about a node, and replaces what was stored here.
create or replace function take_node(the_node bigint, the_name text, the_machine text, the_version text, first timestamptz,
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

create or replace function take_clocks(nodes bigint[], sinces timestamptz[], offsets bigint[], uncertainties bigint[]) returns void language sql as $$
	insert into clock (node_id, told, since, collector_since, offset_us, uncertainty_us)
		select u.node, now() + u.i * interval '1 microsecond', u.since, u.since + u.off * interval '1 microsecond', u.off, u.unc
		from unnest(nodes, sinces, offsets, uncertainties) with ordinality u(node, since, off, unc, i)
		on conflict do nothing
$$;

-- The last report of each place in a batch.
create or replace function place_rows(kinds smallint[], addrs inet[], ports bigint[], apps text[], nets bigint[], gone smallint[])
returns table (kind smallint, addr inet, port int, app text, netns bigint, gone bool) language sql immutable as $$
	select distinct on (u.kind, u.netns, u.addr, u.port) u.kind, u.addr, u.port::int, u.app, u.netns, u.gone = 1
	from unnest(kinds, addrs, ports, apps, nets, gone) with ordinality u(kind, addr, port, app, netns, gone, i)
	order by u.kind, u.netns, u.addr, u.port, u.i desc
$$;

-- Stores a probe's report at a time: all its places, or those that changed. Keeps at most 4,096 current places of a node, and
-- the last 16,384 that ended.
create or replace function take_places(node bigint, at timestamptz, whole bool, more int, kinds smallint[], addrs inet[], ports bigint[],
	apps text[], nets bigint[], gone smallint[]) returns void language plpgsql as $$
declare
	had int;
begin
	update place p set until = greatest(at, p.since) where p.node_id = node and p.until is null
		and (whole or (p.kind, p.netns, p.addr, p.port) in (select t.kind, t.netns, t.addr, t.port from place_rows(kinds, addrs, ports, apps, nets, gone) t))
		and (p.kind, p.netns, p.addr, p.port, p.app) not in (
			select t.kind, t.netns, t.addr, t.port, t.app from place_rows(kinds, addrs, ports, apps, nets, gone) t where not t.gone);
	select count(*) into had from place p where p.node_id = node and p.until is null;
	insert into place select node, t.addr, t.port, t.kind, t.netns, t.app, at from place_rows(kinds, addrs, ports, apps, nets, gone) t
		where not t.gone and (t.kind, t.netns, t.addr, t.port) not in (
			select p.kind, p.netns, p.addr, p.port from place p where p.node_id = node and p.until is null)
		limit greatest(0, 4096 - had);
	if whole then
		insert into place_told values (node, at, cardinality(kinds), more)
			on conflict (node_id) do update set ts = excluded.ts, places = excluded.places, left_out = excluded.left_out;
		delete from place p where p.node_id = node and p.until < (select o.until from place o
			where o.node_id = node and o.until is not null order by o.until desc offset 16384 limit 1);
	end if;
end $$;

-- Stores all translations that a probe knows at a time. Keeps the last 4,096 that ended.
create or replace function take_nat(node bigint, at timestamptz, kinds smallint[], seens inet[], seen_ports bigint[], behinds inet[], behind_ports bigint[], nets bigint[])
returns void language plpgsql as $$
begin
	update nat n set until = greatest(at, n.since) where n.node_id = node and n.until is null and (n.kind, n.seen, n.seen_port, n.behind, n.behind_port, n.netns)
		not in (select u.* from unnest(kinds, seens, seen_ports, behinds, behind_ports, nets) u);
	insert into nat select distinct node, u.kind, u.seen, u.seen_port::int, u.behind, u.behind_port::int, u.netns, at
		from unnest(kinds, seens, seen_ports, behinds, behind_ports, nets) u(kind, seen, seen_port, behind, behind_port, netns)
		where not exists (select from nat n where n.node_id = node and n.until is null and (n.kind, n.seen, n.seen_port, n.behind, n.behind_port, n.netns)
			= (u.kind, u.seen, u.seen_port, u.behind, u.behind_port, u.netns));
	delete from nat n where n.node_id = node and n.until < (select o.until from nat o
		where o.node_id = node and o.until is not null order by o.until desc offset 4096 limit 1);
end $$;
