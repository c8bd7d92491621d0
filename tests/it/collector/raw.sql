-- SPDX-License-Identifier: Apache-2.0
-- raw.sql - raw_bytes(values), as docs/reference/chunk.md has them "Before an hour is packed": written from that page, and not from collector/codec/row_codec.c.

create function row_of_bits(bits text) returns bytea language sql immutable as $$
	select coalesce(string_agg(substr(int2send((select sum((substr(bits, 8 * k + i + 1, 1) = '1')::int << i) from generate_series(0, 7) i)::int2), 2), '' order by k), '')
	from generate_series(0, (length(bits) + 7) / 8 - 1) k
$$;

create function raw_bytes(v float8[]) returns bytea language plpgsql immutable as $$
declare
	x float8;
	narrow text := ''; wide text := ''; two text := ''; eight text := '';
	small bytea := ''; large bytea := '';
begin
	foreach x in array v loop
		if x = 'NaN' or x >= 1 and x < 65536 and x = floor(x) then
			narrow := narrow || '1';
			wide := wide || '0';
			two := two || (x <> 'NaN' and x > 255)::int;
			small := case when x = 'NaN' then '\x00' when x > 255 then substr(int4send(x::int), 3) else substr(int4send(x::int), 4) end || small;
		elsif float8send(x) = float8send(0) then
			narrow := narrow || '0';
			wide := wide || '0';
		else
			narrow := narrow || '0';
			wide := wide || '1';
			if x >= 65536 and x < 2147483648 and x = floor(x) then
				eight := eight || '0';
				large := large || int4send((x - 2147483648)::int);
			elsif x = 'Infinity' or x > 1.2e-38 and x < 3.4e38 and x::float4 = x then
				eight := eight || '0';
				large := large || float4send(x::float4);
			else
				eight := eight || '1';
				large := large || float8send(x);
			end if;
		end if;
	end loop;
	return '\x01' || int2send(cardinality(v)::int2) || row_of_bits(narrow) || row_of_bits(wide) || row_of_bits(two) || row_of_bits(eight) || large || small;
end $$;
