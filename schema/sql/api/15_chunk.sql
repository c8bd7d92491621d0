-- SPDX-License-Identifier: Apache-2.0
-- Functions that read packed samples (docs/reference/chunk.md).

-- One column of a chunk (docs/reference/chunk.md). Place 0 is the times; then for each entity 1 for the numbers of its times, which
-- is null if it has all of them, and one place per metric. Only the bytes of that column are read, and all of them must be used.
create or replace function api.chunk_column(chunk bytea, place int) returns float8[] language plpgsql immutable strict parallel safe as $$
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

-- The samples of one metric (its place in the layout) of one entity (its place in the chunk); places count from 1.
create or replace function api.chunk_series(chunk bytea, hour timestamptz, entity bigint, metric bigint)
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
create or replace function api.chunk_rollup(chunk bytea, hour timestamptz, entity bigint, metric bigint)
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

-- The value at this place of sample_raw.v (from 1); NaN: unavailable, or no such place. Reads no other value; of the bitmap
-- before it only the number of set bits.
create or replace function api.raw_value(v bytea, place bigint) returns float8 language plpgsql immutable strict parallel safe as $$
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

-- The value at this place of a row of sample_raw without v.
create or replace function api.sample_value(a float4[], b float8[], place bigint) returns float8 language sql immutable parallel safe as
	$$ select coalesce(a[place], b[place], 0) $$;

-- The value at this place of a row of sample_raw, with or without v.
create or replace function api.sample_value(v bytea, a float4[], b float8[], place bigint) returns float8 language sql immutable parallel safe as
	$$ select coalesce(api.raw_value(v, place), a[place], b[place], 0) $$;
