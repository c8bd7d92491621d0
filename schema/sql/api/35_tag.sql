-- SPDX-License-Identifier: Apache-2.0
-- Tags of nodes and entities.

create or replace view api.tag as
select t.node_id, n.name as node, t.entity_id, coalesce(y.kind, 'node') as kind, coalesce(y.name, '') as entity, t.key, t.value,
	t.key || '=' || t.value as tag, t.since, t.until
from tag t join node n using (node_id) left join entity y on y.node_id = t.node_id and y.entity_id = t.entity_id;

-- The tags of the node itself at that moment.
create or replace function api.tags_at(the_node bigint, at timestamptz) returns json language sql stable parallel safe as $$
	select coalesce(json_object_agg(t.key, t.value order by t.key), '{}') from api.tag t
	where t.node_id = the_node and t.entity_id = 0 and t.since <= at and t.until > at
$$;

-- Whether the node had one of these tags then; '' matches a node without tags.
create or replace function api.tagged(the_node bigint, at timestamptz, wanted text[]) returns boolean language sql stable parallel safe as $$
	select exists (select from api.tag t where t.node_id = the_node and t.entity_id = 0 and t.tag = any(wanted) and t.since <= at and t.until > at)
		or '' = any(wanted) and not exists (select from api.tag t where t.node_id = the_node and t.entity_id = 0 and t.since <= at and t.until > at)
$$;

-- The same, by the node's name.
create or replace function api.tagged(name text, at timestamptz, wanted text[]) returns boolean language sql stable parallel safe as $$
	select api.tagged((select min(k.node_id) from api.node_key k where k.node = name), at, wanted)
$$;

-- Nodes that had one of these tags at any time. Like api.nodes this is declared immutable and must never stand in a prepared
-- query, an index or a view.
create or replace function api.nodes_tagged(wanted text[]) returns bigint[] language plpgsql immutable parallel safe as $$
begin
	return (select coalesce(array_agg(k.node_id), '{}') from api.node_key k
		where '' = any(wanted) or exists (select from api.tag t where t.node_id = k.node_id and t.entity_id = 0 and t.tag = any(wanted)));
end $$;
