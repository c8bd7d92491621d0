-- SPDX-License-Identifier: Apache-2.0
-- 005_coverage.sql - what was not seen, by node and counter, and what was seen and not read, by app.
--
-- api.coverage gets its unit, and goes by the entity: the index of sample begins with it, and a range is then
-- read without the samples of every disk and interface.

create or replace view api.coverage as
select s.ts, s.node_id, n.name as node, coalesce(g.name, '') as region, m.name, case when abs(s.v[m.i]) < 1e18 then s.v[m.i] end as value,
	m.unit
from layout l
join entity e on e.kind = l.entity_kind
cross join lateral unnest(l.names, l.units) with ordinality m(name, unit, i)
join sample s on s.layout_id = l.layout_id and s.node_id = e.node_id and s.entity_id = e.entity_id
left join node n on n.node_id = s.node_id
left join region g using (region_id)
where l.entity_kind = 'coverage';

create view api.unread as
select u.ts, coalesce(n.name, '') as node, coalesce(g.name, '') as region, u.app, u.kind, u.n
from unread u left join node n using (node_id) left join region g using (region_id);

-- A view made by another hand than grant_web's has no grant yet.
do $$ begin perform grant_web(); end $$;
