-- SPDX-License-Identifier: Apache-2.0
-- 029_raw_values.sql - the values of samples as they come are bytes: PostgreSQL takes in each value of an array by calls of its own.

-- Since this version v has the values (schema/CHUNK.md, "Before that"), and a and b are null; where v is null it is as it was.
alter table sample_raw add column v bytea;

-- A collector of before goes on to store, as it did, and would take all values of a row that has v for 0, were it to pack it.
-- It says nothing of who made a chunk, so that it cannot put one.
do $$
declare
	t text;
begin
	foreach t in array array['sealed', 'sample_1m', 'sample_10m', 'sample_1h'] loop
		execute format('alter table %I add column made_by smallint not null default 2', t); -- those that there are may stay
		execute format('alter table %I alter column made_by set default 1', t);
		execute format('alter table %I add constraint packed_by_a_collector_since_029 check (made_by >= 2) not valid', t);
	end loop;
end $$;

-- The value in this place of a row (from 1); NaN: unavailable, or no such place. No other value is read, and of the bits
-- before it only how many are set.
create function api.raw_value(v bytea, place bigint) returns float8 language plpgsql immutable strict parallel safe as $$
declare
	n int := get_byte(v, 1) << 8 | get_byte(v, 2);
	plane int := (n + 7) / 8;
	two int := 3 + 2 * plane;
	eight int;
	i int := place - 1;
	k int;
	p int;
	x bigint; y bigint; e int;
	f float8;
begin
	if i >= n or i < 0 then
		return 'NaN';
	elsif get_byte(v, 0) <> 1 then
		raise exception 'values of a version that is not known' using errcode = 'data_corrupted';
	elsif get_bit(v, 24 + i) = 1 then -- in one byte or two, the first one at the end
		k := bit_count(substr(v, 4, i / 8)) + bit_count((get_byte(v, 3 + i / 8) & ((1 << i % 8) - 1))::bit(8));
		p := length(v) - 1 - k - bit_count(substr(v, two + 1, k / 8)) - bit_count((get_byte(v, two + k / 8) & ((1 << k % 8) - 1))::bit(8));
		e := get_byte(v, p);
		return case when get_bit(v, 8 * two + k) = 1 then get_byte(v, p - 1) << 8 | e when e = 0 then float8 'NaN' else e end;
	elsif get_bit(v, 24 + 8 * plane + i) = 0 then
		return 0;
	end if;
	eight := two + (bit_count(substr(v, 4, plane)) + 7) / 8;
	k := bit_count(substr(v, 4 + plane, i / 8)) + bit_count((get_byte(v, 3 + plane + i / 8) & ((1 << i % 8) - 1))::bit(8));
	p := eight + (bit_count(substr(v, 4 + plane, plane)) + 7) / 8
		+ 4 * (k + bit_count(substr(v, eight + 1, k / 8)) + bit_count((get_byte(v, eight + k / 8) & ((1 << k % 8) - 1))::bit(8)));
	-- << and | are of one rank: from the left, byte by byte
	x := get_byte(v, p)::bigint << 8 | get_byte(v, p + 1) << 8 | get_byte(v, p + 2) << 8 | get_byte(v, p + 3);
	if get_bit(v, 8 * eight + k) = 0 then
		if x >= 2147483648 then
			return x - 2147483648;
		end if;
		y := x & 8388607; e := x >> 23; -- a float that is not negative
		return case when e = 0 then y * 2 ^ (-149::float8) when e < 255 then (y + 8388608) * 2 ^ (e - 150)::float8
			when y = 0 then 'Infinity' else 'NaN' end;
	end if;
	e := x >> 20 & 2047;
	y := (x & 1048575) << 8 | get_byte(v, p + 4) << 8 | get_byte(v, p + 5) << 8 | get_byte(v, p + 6) << 8 | get_byte(v, p + 7);
	f := case when e = 0 and y = 0 then 0 when e = 0 then y * 2 ^ (-537::float8) * 2 ^ (-537::float8)
		when e < 2047 then case when e > 1023 then (y + 4503599627370496) * 2 ^ (e - 1075)::float8
			else (y + 4503599627370496) * 2 ^ (-52::float8) * 2 ^ (e - 1023)::float8 end
		when y = 0 then 'Infinity' else 'NaN' end;
	return case when x >= 2147483648 then -f else f end;
end $$;

-- Of a row, as the version has it that stored it.
create function api.sample_value(v bytea, a float4[], b float8[], place bigint) returns float8 language sql immutable parallel safe as
	$$ select coalesce(api.raw_value(v, place), a[place], b[place], 0) $$;

-- What follows is as it was, with that.
create or replace view sample_unsealed as
select s.ts, s.node_id, s.entity_id, s.layout_id, s.v from sample s
union all
select r.ts, r.node_id, x.entity_id, r.layout_id,
	(select array_agg(api.sample_value(r.v, r.a, r.b, (x.k - 1) * cardinality(l.names) + i) order by i) from generate_series(1, cardinality(l.names)) i)
from sample_raw r
join layout l using (layout_id)
cross join lateral unnest(r.entities) with ordinality x(entity_id, k);

create or replace view api.coverage as
select s.ts, s.node_id, n.name as node, coalesce(g.name, '') as region, m.name, case when abs(s.v[m.i]) < 1e18 then s.v[m.i] end as value,
	m.unit, date_bin('1 hour', s.ts, timestamptz 'epoch') as hour
from layout l
join entity e on e.kind = l.entity_kind
cross join lateral unnest(l.names, l.units) with ordinality m(name, unit, i)
join sample s on s.layout_id = l.layout_id and s.node_id = e.node_id and s.entity_id = e.entity_id
left join node n on n.node_id = s.node_id
left join region g using (region_id)
where l.entity_kind = 'coverage'
union all
select r.ts, r.node_id, n.name, coalesce(g.name, ''), m.name, case when abs(w.v) < 1e18 then w.v end, m.unit,
	date_bin('1 hour', r.ts, timestamptz 'epoch')
from layout l
join sample_raw r using (layout_id)
left join node n on n.node_id = r.node_id
left join region g using (region_id)
cross join lateral generate_series(0, cardinality(r.entities) - 1) k
cross join lateral unnest(l.names, l.units) with ordinality m(name, unit, i)
cross join lateral (select api.sample_value(r.v, r.a, r.b, k * cardinality(l.names) + m.i) as v) w
where l.entity_kind = 'coverage'
union all
select c.ts, s.node_id, n.name, coalesce(g.name, ''), m.name, case when abs(c.value) < 1e18 then c.value end, m.unit, s.hour
from layout l
join sealed s using (layout_id)
left join node n on n.node_id = s.node_id
left join region g using (region_id)
cross join lateral generate_series(1, cardinality(s.entities)) k
cross join lateral unnest(l.names, l.units) with ordinality m(name, unit, i)
cross join lateral api.chunk_series(s.chunk, s.hour, k, m.i) c
where l.entity_kind = 'coverage';

create or replace view api.series_unsealed as
select s.ts, n.name as node, coalesce(g.name, '') as region, e.kind as entity_kind, e.name as entity,
	m.name as metric, m.unit, m.kind = 1 as counter,
	case when abs(s.v[m.i]) < 1e290 then s.v[m.i] end as value, -- no NaN: it is above all
	date_bin('1 hour', s.ts, timestamptz 'epoch') as hour
from layout l
cross join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, kind, i)
join sample s using (layout_id)
join entity e using (node_id, entity_id)
join node n using (node_id)
left join region g using (region_id)
union all
select r.ts, n.name, coalesce(g.name, ''), e.kind, e.name, m.name, m.unit, m.kind = 1,
	case when abs(w.v) < 1e290 then w.v end, date_bin('1 hour', r.ts, timestamptz 'epoch')
from layout l
cross join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, kind, i)
join sample_raw r using (layout_id)
join node n using (node_id)
left join region g using (region_id)
cross join lateral unnest(r.entities) with ordinality x(entity_id, k)
join entity e on e.node_id = r.node_id and e.entity_id = x.entity_id
cross join lateral (select api.sample_value(r.v, r.a, r.b, (x.k - 1) * cardinality(l.names) + m.i) as v) w;

create or replace view api.sample_raw_row as select ts, node_id, layout_id, entities, a, b, v from sample_raw;

create or replace function api.unsealed_steps(metrics text[], kinds text[], the_node text, the_entity text, since timestamptz, until timestamptz,
	step interval)
returns table (entity_kind text, entity text, metric text, t timestamptz, ticks bigint, n bigint, total float8, low float8, high float8,
	first_tick timestamptz, last_tick timestamptz)
language plpgsql stable parallel safe set plan_cache_mode = force_custom_plan set enable_sort = off as $$
#variable_conflict use_column
declare
	nodes bigint[] := array(select distinct k.node_id from api.entity_key k where k.node = the_node);
	layouts bigint[] := array(select distinct p.layout_id from api.layout_place p where p.metric = any(metrics) and p.entity_kind = any(kinds));
begin
	return query
	with who as materialized (select entity_id, entity_kind, entity from api.entity_key
		where node_id = any(nodes) and entity_kind = any(kinds) and (the_entity is null or entity = the_entity)),
	place as materialized (select layout_id, metric, i, width from api.layout_place where layout_id = any(layouts) and metric = any(metrics)),
	told as (
		select s.entity_id, s.layout_id, s.ts, s.v, null::bytea as raw, null::float4[] as a, null::float8[] as b, 0 as k from api.sample_row s
		where s.node_id = any(nodes) and s.layout_id = any(layouts) and s.ts >= since and s.ts < until
			and s.entity_id = any(array(select entity_id from who))
		union all
		select x.entity_id, r.layout_id, r.ts, null, r.v, r.a, r.b, x.k::int - 1 from api.sample_raw_row r
		cross join lateral unnest(r.entities) with ordinality x(entity_id, k)
		where r.node_id = any(nodes) and r.layout_id = any(layouts) and r.ts >= since and r.ts < until),
	value as (select who.entity_kind, who.entity, p.metric, d.ts, -- no NaN: it is above all
			nullif(case when d.v is not null then d.v[p.i] else api.sample_value(d.raw, d.a, d.b, d.k * p.width + p.i) end, 'NaN') as value
		from told d join who using (entity_id) join place p using (layout_id))
	select entity_kind, entity, metric, date_bin(step, ts, timestamptz 'epoch'), count(*), count(value) filter (where abs(value) < 1e290),
		sum(value) filter (where abs(value) < 1e290), min(value) filter (where abs(value) < 1e290), max(value) filter (where abs(value) < 1e290), min(ts), max(ts)
	from value group by 1, 2, 3, 4;
end $$;

do $$ begin perform grant_web(); end $$;
