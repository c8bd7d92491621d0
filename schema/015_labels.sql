-- SPDX-License-Identifier: Apache-2.0
-- 015_labels.sql - who an entity is: of a cgroup its path, container, pod, unit, batch job (lib/cgroup_name.h).
--
-- Labels are read from the name by the collector, so they are never identity, and a later version may read more.

alter table entity add column labels jsonb not null default '{}';

create view api.entity_labels as
select n.name as node, coalesce(g.name, '') as region, e.kind as entity_kind, e.name as entity, e.labels
from entity e
join node n using (node_id)
left join region g using (region_id);

-- "container=ab*" of the labels: the value of one, or how it begins; "pod": that there is one.
create function api.label_is(labels jsonb, wanted text) returns bool language sql immutable parallel safe as $$
	select coalesce(case
		when strpos(wanted, '=') = 0 then labels ? wanted
		when right(wanted, 1) = '*' then starts_with(labels ->> split_part(wanted, '=', 1), substr(left(wanted, -1), strpos(wanted, '=') + 1))
		else labels ->> split_part(wanted, '=', 1) = substr(wanted, strpos(wanted, '=') + 1) end, false)
$$;

do $$ begin perform grant_web(); end $$;
