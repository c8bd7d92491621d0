-- SPDX-License-Identifier: Apache-2.0
-- 016_unseal.sql - hours that are packed, for those who read.

-- One column of a chunk, as schema/CHUNK.md has it: its place is 0 for the times, then for each entity 1 for the numbers
-- of its times, which is null if it has all, and those of its metrics. Only the bytes of that column are read, and every one of them is accounted for.
create function api.chunk_column(chunk bytea, place int) returns float8[] language plpgsql immutable strict parallel safe as $$
declare
	width int := get_byte(substr(chunk, 2, 1), 0);
	dir bytea := substr(chunk, 11 + place * width, width);
	at int := 0;
	c bytea;
	len int := 0;
	head int; kind int; change int;
	scale float8 := 1;
	pos int := 0;
	n int := 0;
	x bigint; y bigint := 0; z bigint := 0;
	byte int; shift int;
	gone int[]; run int; runs int := 0; there int := 0;
	q bigint[]; i int; m int; first int;
	bits int; base bigint; mask bigint;
	left_ int := 0;
	v float8[];
	f float8; e int; fraction bigint;
begin
	if get_byte(substr(chunk, 1, 1), 0) <> 1 then
		raise exception 'a chunk of a version that is not known' using errcode = 'data_corrupted';
	end if;
	for i in 0 .. width - 1 loop
		at := at << 8 | get_byte(dir, i);
	end loop;
	if at = 0 then
		return null;
	end if;
	dir := substr(chunk, at + 1, 3);
	loop
		len := len | ((get_byte(dir, pos) & 127) << 7 * pos);
		pos := pos + 1;
		exit when get_byte(dir, pos - 1) < 128;
	end loop;
	c := substr(chunk, at + 1 + pos, len);
	if length(c) <> len then
		raise exception 'a column that is cut short' using errcode = 'data_corrupted';
	end if;
	c := c || '\x0000000000000000'; -- so that four bytes can be read wherever a value begins
	head := get_byte(c, 0);
	kind := head & 3;
	change := head >> 2 & 3;
	pos := 1;
	if kind < 2 then
		scale := ('1e' || get_byte(c, 1))::float8;
		pos := 2;
	end if;
	shift := 0;
	loop
		byte := get_byte(c, pos);
		pos := pos + 1;
		n := n | ((byte & 127) << shift);
		exit when byte < 128;
		shift := shift + 7;
	end loop;
	m := n;
	if head & 32 <> 0 then
		m := 0;
		i := -1;
		loop -- how many runs, then their lengths: there, missing, there ...
			x := 0; shift := 0;
			loop
				byte := get_byte(c, pos);
				pos := pos + 1;
				x := x | ((byte & 127)::bigint << shift);
				exit when byte < 128;
				shift := shift + 7;
			end loop;
			if i < 0 then
				runs := x;
			else
				gone[i] := x;
				m := m + case i & 1 when 0 then x else 0 end;
			end if;
			i := i + 1;
			exit when i = runs;
		end loop;
	end if;
	first := least(m, case change when 0 then 0 when 2 then 2 else 1 end);
	i := 1;
	if head & 16 <> 0 or first > 0 then
		while i <= m and (head & 16 <> 0 or i <= first) loop -- numbers one by one
			if left_ > 0 then
				left_ := left_ - 1;
				x := 0;
			else
				x := 0; shift := 0;
				loop
					byte := get_byte(c, pos);
					pos := pos + 1;
					x := x | ((byte & 127)::bigint << shift);
					exit when byte < 128;
					shift := shift + 7;
				end loop;
				if x = 0 and i > first then
					shift := 0;
					loop
						byte := get_byte(c, pos);
						pos := pos + 1;
						left_ := left_ | ((byte & 127) << shift);
						exit when byte < 128;
						shift := shift + 7;
					end loop;
				end if;
				x := (x >> 1 & 9223372036854775807) # -(x & 1);
			end if;
			q[i] := x;
			i := i + 1;
		end loop;
	end if;
	if i <= m then
		x := 0; shift := 0;
		loop
			byte := get_byte(c, pos);
			pos := pos + 1;
			x := x | ((byte & 127)::bigint << shift);
			exit when byte < 128;
			shift := shift + 7;
		end loop;
		base := (x >> 1 & 9223372036854775807) # -(x & 1);
		bits := get_byte(c, pos);
		pos := pos + 1;
		at := 0; -- in bits
		if bits = 0 then
			for i in i .. m loop
				q[i] := base;
			end loop;
		elsif bits = 8 then
			for i in i .. m loop
				q[i] := base + get_byte(c, pos + at);
				at := at + 1;
			end loop;
			at := at * 8;
		elsif bits <= 25 and change = 1 then -- as most times are: added up at once
			mask := (1 << bits) - 1;
			x := q[1];
			for i in 2 .. m loop
				first := pos + (at >> 3);
				x := x + base + ((get_byte(c, first) | (get_byte(c, first + 1) << 8) | (get_byte(c, first + 2) << 16)
					| (get_byte(c, first + 3)::bigint << 24)) >> (at & 7) & mask);
				q[i] := x;
				at := at + bits;
			end loop;
			change := 0;
		elsif bits <= 25 then
			mask := (1 << bits) - 1;
			for i in i .. m loop
				first := pos + (at >> 3);
				q[i] := base + ((get_byte(c, first) | (get_byte(c, first + 1) << 8) | (get_byte(c, first + 2) << 16)
					| (get_byte(c, first + 3)::bigint << 24)) >> (at & 7) & mask);
				at := at + bits;
			end loop;
		else
			for i in i .. m loop
				x := 0;
				for shift in 0 .. bits / 8 - 1 loop
					x := x | (get_byte(c, pos + (at >> 3) + shift)::bigint << shift * 8);
				end loop;
				q[i] := base + x;
				at := at + bits;
			end loop;
		end if;
		pos := pos + (at + 7) / 8;
	end if;
	if pos <> len then
		raise exception 'a column that does not end where it says' using errcode = 'data_corrupted';
	end if;
	if change = 1 then
		for i in 2 .. m loop
			q[i] := q[i] + q[i - 1];
		end loop;
	elsif change = 2 then
		for i in 3 .. m loop
			q[i] := q[i] + 2 * q[i - 1] - q[i - 2];
		end loop;
	elsif change = 3 then
		for i in 2 .. m loop
			q[i] := q[i] # q[i - 1];
		end loop;
	end if;
	if kind = 0 and scale = 1 then
		v := q::float8[];
	elsif kind = 0 then
		select array_agg(u / scale order by o) into v from unnest(q) with ordinality w(u, o);
	elsif kind = 1 then
		select array_agg((u / scale)::float4::float8 order by o) into v from unnest(q) with ordinality w(u, o);
	else
		for i in 1 .. m loop
			x := q[i];
			if kind = 2 then -- of a float the bits of the double that is the same
				y := x & 8388607; e := x >> 23 & 255; z := x >> 31 & 1;
				f := case when e = 0 then y * 2 ^ (-149::float8) when e < 255 then (y + 8388608) * 2 ^ (e - 150)::float8
					when y = 0 then 'Infinity' else 'NaN' end;
			else
				y := x & 4503599627370495; e := x >> 52 & 2047; z := x >> 63 & 1;
				f := case when e = 0 and y = 0 then 0 when e = 0 then y * 2 ^ (-537::float8) * 2 ^ (-537::float8)
					when e < 2047 then case when e > 1023 then (y + 4503599627370496) * 2 ^ (e - 1075)::float8
						else (y + 4503599627370496) * 2 ^ (-52::float8) * 2 ^ (e - 1023)::float8 end
					when y = 0 then 'Infinity' else 'NaN' end;
			end if;
			v[i] := case z when 0 then f else -f end;
		end loop;
	end if;
	if head & 32 = 0 then
		return coalesce(v, '{}');
	end if;
	select array_agg(case r & 1 when 0 then v[k + sum_] else 'NaN' end order by r, k) into v
	from (select r, coalesce(sum(case r & 1 when 0 then gone[r] else 0 end) over (order by r rows between unbounded preceding and 1 preceding), 0)::int sum_
		from generate_series(0, runs - 1) r) s, generate_series(1, gone[r]) k;
	return v;
end $$;

-- Of the entity in this place of the chunk (from 1) the samples of the metric in this place of its layout.
create function api.chunk_series(chunk bytea, hour timestamptz, entity bigint, metric bigint)
returns table (ts timestamptz, value float8) language plpgsql immutable parallel safe cost 10000 rows 1000 as $$
declare
	head bytea := substr(chunk, 9, 2);
	place int := 1 + (entity - 1) * (1 + ((get_byte(head, 0) << 8) | get_byte(head, 1)));
	ticks float8[] := api.chunk_column(chunk, 0);
	number float8[] := api.chunk_column(chunk, place);
	v float8[] := api.chunk_column(chunk, (place + metric)::int);
begin
	if cardinality(coalesce(number, ticks)) <> cardinality(v) then
		raise exception 'columns of one entity that differ in length' using errcode = 'data_corrupted';
	end if;
	if number is null then
		return query select hour + u.us * interval '1 microsecond', u.v from unnest(ticks, v) u(us, v);
		return;
	end if;
	return query select hour + ticks[number[j]::int + 1] * interval '1 microsecond', v[j] from generate_subscripts(v, 1) j;
end $$;

-- The same of a rollup.
create function api.chunk_rollup(chunk bytea, hour timestamptz, entity bigint, metric bigint)
returns table (ts timestamptz, n float8, min float8, max float8, sum float8) language plpgsql immutable parallel safe cost 10000 rows 60 as $$
declare
	flat bytea := chunk || ''::bytea; -- unpacked by PostgreSQL once
	head bytea := substr(flat, 9, 2);
	place int := 1 + (entity - 1) * (1 + ((get_byte(head, 0) << 8) | get_byte(head, 1)));
	first int := place + (metric - 1) * 4;
	ticks float8[] := api.chunk_column(flat, 0);
	number float8[] := api.chunk_column(flat, place);
	v1 float8[] := api.chunk_column(flat, first + 1);
	v2 float8[] := api.chunk_column(flat, first + 2);
	v3 float8[] := api.chunk_column(flat, first + 3);
	v4 float8[] := api.chunk_column(flat, first + 4);
begin
	return query select hour + ticks[coalesce(number[j]::int + 1, j)] * interval '1 microsecond', v1[j], nullif(v2[j], 'NaN'), nullif(v3[j], 'NaN'), nullif(v4[j], 'NaN')
		from generate_subscripts(v1, 1) j where v1[j] > 0;
end $$;

create view sample_sealed as -- a row for each entity and tick, with all its values
select t.ts, s.node_id, x.entity_id, s.layout_id, t.v
from sealed s
join layout l using (layout_id)
cross join lateral unnest(s.entities) with ordinality x(entity_id, k)
cross join lateral (select c.ts, array_agg(c.value order by m) as v
	from generate_series(1, cardinality(l.names)) m, api.chunk_series(s.chunk, s.hour, x.k, m) with ordinality c(ts, value, i) group by c.ts, c.i) t;

-- The views of samples look into all three. hour is when the hour of ts began: who asks for a range does well to say it of
-- hour, too, as sealed hours are found by it: ts >= since and ts < until and hour > since - interval '1 hour' and hour < until.
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
cross join lateral (select api.sample_value(r.a, r.b, k * cardinality(l.names) + m.i) as v) w
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

-- What is not sealed yet, and so in no rollup.
create view api.series_unsealed as
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
cross join lateral (select api.sample_value(r.a, r.b, (x.k - 1) * cardinality(l.names) + m.i) as v) w;

create view api.series_sealed as
select c.ts, n.name as node, coalesce(g.name, '') as region, e.kind as entity_kind, e.name as entity,
	m.name as metric, m.unit, m.kind = 1 as counter, case when abs(c.value) < 1e290 then c.value end as value, s.hour
from layout l
cross join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, kind, i)
join sealed s using (layout_id)
join node n using (node_id)
left join region g using (region_id)
cross join lateral unnest(s.entities) with ordinality x(entity_id, k)
join entity e on e.node_id = s.node_id and e.entity_id = x.entity_id
cross join lateral api.chunk_series(s.chunk, s.hour, x.k, m.i) c;

create or replace view api.series as
select * from api.series_unsealed union all select * from api.series_sealed;

-- What is sealed by the minute, ten minutes and hour; ts is when that began. Add to it what is in series_unsealed.
do $$
declare
	span text;
begin
	foreach span in array array['1m', '10m', '1h'] loop
		execute format($view$create view api.%I as
select c.ts, n.name as node, coalesce(g.name, '') as region, e.kind as entity_kind, e.name as entity,
	m.name as metric, m.unit, m.kind = 1 as counter, c.n, c.min, c.max, c.sum, s.hour
from layout l
cross join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, kind, i)
join %I s using (layout_id)
join node n using (node_id)
left join region g using (region_id)
cross join lateral unnest(s.entities) with ordinality x(entity_id, k)
join entity e on e.node_id = s.node_id and e.entity_id = x.entity_id
cross join lateral api.chunk_rollup(s.chunk, s.hour, x.k, m.i) c$view$, 'series_' || span, 'sample_' || span);
	end loop;
end $$;

-- As in 002, but that the coverage of the last hour is not looked for in all that is sealed.
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
left join region g using (region_id);

do $$ begin perform grant_web(); end $$;
