-- SPDX-License-Identifier: Apache-2.0
-- 018_tags.sql - what a node is, as its keepers say, and when: region, az, rack, role, and whatever else they call it by.
--
-- A tag holds from since until the moment before until, so what happened last week is shown with what its node was last
-- week. No metric and no request brings tags: they come by the collector's commands and from the inventory. node.tags
-- is what holds now, kept by set_tag.

create table tag (
	node_id     bigint not null,
	entity_id   bigint not null default 0,         -- 0: the node itself
	key         text not null check (key ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,62}$'),
	value       text not null check (value <> '' and length(value) <= 128),
	since       timestamptz not null,
	until       timestamptz not null default 'infinity',
	said_by     text not null,                     -- "command", "inventory"
	primary key (node_id, entity_id, key, since)
);
create index tag_by_value on tag (key, value);

insert into tag (node_id, key, value, since, said_by)
select node_id, key, left(value, 128), first_seen, 'command' from node, jsonb_each_text(tags)
where key ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,62}$' and value <> '';

-- From that moment on the tag is so ('': there is none), whatever was said of the time since then. False: it was already.
create function set_tag(the_node bigint, the_entity bigint, the_key text, the_value text, from_when timestamptz, by_whom text)
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

-- The whole inventory: what it said before and says no more is over; tags that were set by command stay, unless it says
-- otherwise. Answers a line for each thing done, and for each name it does not know.
create function apply_inventory(inventory jsonb) returns table (node text, said text) language plpgsql as $$
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

create view api.tag as
select t.node_id, n.name as node, t.entity_id, coalesce(y.kind, 'node') as kind, coalesce(y.name, '') as entity, t.key, t.value,
	t.key || '=' || t.value as tag, t.since, t.until
from tag t join node n using (node_id) left join entity y on y.node_id = t.node_id and y.entity_id = t.entity_id;

-- Of the node itself, at that moment.
create function api.tags_at(the_node bigint, at timestamptz) returns json language sql stable parallel safe as $$
	select coalesce(json_object_agg(t.key, t.value order by t.key), '{}') from api.tag t
	where t.node_id = the_node and t.entity_id = 0 and t.since <= at and t.until > at
$$;

-- Whether it had one of these tags then; '' is to have none.
create function api.tagged(the_node bigint, at timestamptz, wanted text[]) returns boolean language sql stable parallel safe as $$
	select exists (select from api.tag t where t.node_id = the_node and t.entity_id = 0 and t.tag = any(wanted) and t.since <= at and t.until > at)
		or '' = any(wanted) and not exists (select from api.tag t where t.node_id = the_node and t.entity_id = 0 and t.since <= at and t.until > at)
$$;

-- The same of a node by its name.
create function api.tagged(name text, at timestamptz, wanted text[]) returns boolean language sql stable parallel safe as $$
	select api.tagged((select min(k.node_id) from api.node_key k where k.node = name), at, wanted)
$$;

-- Whoever had one of these at any time. As those of 010 it claims to be immutable, and must never stand in a prepared
-- query, an index or a view.
create function api.nodes_tagged(wanted text[]) returns bigint[] language plpgsql immutable parallel safe as $$
begin
	return (select coalesce(array_agg(k.node_id), '{}') from api.node_key k
		where '' = any(wanted) or exists (select from api.tag t where t.node_id = k.node_id and t.entity_id = 0 and t.tag = any(wanted)));
end $$;

revoke execute on function set_tag(bigint, bigint, text, text, timestamptz, text), apply_inventory(jsonb) from public;
do $$ begin perform grant_web(); end $$;
