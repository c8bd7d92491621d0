-- SPDX-License-Identifier: Apache-2.0
-- Texts, numbers and ids of the API. PostgreSQL makes the JSON; the web server passes its bytes on. A value of a request is
-- untrusted text: it enters JSON through a JSON function, a sentence in one pass, and never SQL. The web server's role reads
-- the views of schema api only; views read tables with their owner's rights.

-- Milliseconds. Probes send any number that fits its type, and no view may fail because of one row: sums are numeric.
create or replace function api.ms(us numeric) returns numeric language sql immutable parallel safe as
	$$ select trim_scale(round(us / 1000, 3)) $$;

create or replace function api.rfc3339(t timestamptz) returns text language sql stable parallel safe as
	$$ select to_char(t at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- A public id is a time in microseconds and the row's number, in hex, so a permalink finds its partition. Exact until the
-- year 2106: a float then resolves 0.5 us of a second, and this rounds.
create or replace function api.id_text(t timestamptz, number bigint) returns text language sql immutable parallel safe as
	$$ select to_hex(round(date_part('epoch', t) * 1000000)::bigint) || '-' || lpad(to_hex(number), 16, '0') $$;

create or replace function api.id_time(id text) returns timestamptz language sql immutable parallel safe as
	$$ select timestamptz 'epoch' + ('x' || lpad(split_part(id, '-', 1), 16, '0'))::bit(64)::bigint * interval '1 microsecond' $$;

create or replace function api.id_number(id text) returns bigint language sql immutable parallel safe as
	$$ select ('x' || split_part(id, '-', 2))::bit(64)::bigint $$;

create or replace function api.number_text(n numeric) returns text language sql immutable parallel safe as
	$$ select trim_scale(round(n, case when abs(n) < 10 then 2 when abs(n) < 100 then 1 else 0 end))::text $$;

create or replace function api.like_text(word text) returns text language sql immutable parallel safe as $$
	select '%' || replace(replace(replace(word, '\', '\\'), '%', '\%'), '_', '\_') || '%'
$$;

-- {x} in a sentence becomes the parameter x, in one pass: a parameter that contains {y} stays as it is. A page calls this
-- a hundred times, so there is no regular expression and no query inside.
create or replace function api.sentence(template text, params jsonb) returns text language plpgsql immutable parallel safe as $$
declare
	part text;
	name text;
	parts text[] := string_to_array(template, '{');
	said text := parts[1];
begin
	foreach part in array coalesce(parts[2:], '{}') loop
		name := split_part(part, '}', 1);
		said := said || case
			when length(name) = length(part) then '{' || part
			when jsonb_typeof(params -> name) = 'number' then api.number_text((params ->> name)::numeric) || substr(part, length(name) + 2)
			else coalesce(params ->> name, '{' || name || '}') || substr(part, length(name) + 2) end;
	end loop;
	return said;
end $$;

-- JSON texts; request bodies are concatenated from them.
create or replace function api.json_text(t text) returns text language sql stable parallel safe as
	$$ select coalesce(to_json(t)::text, 'null') $$;

create or replace function api.json_ms(us bigint) returns text language sql immutable parallel safe as $$
	select case when us between 0 and 1000000000000 then (us / float8 '1000')::text
		else coalesce(trim_scale(round(us::numeric / 1000, 3))::text, 'null') end
$$;

create or replace function api.json_addr(ip inet, port int) returns text language sql stable parallel safe as $$
	select case family(ip) when 4 then concat('"', host(ip), ':', port, '"') when 6 then concat('"[', host(ip), ']:', port, '"') else 'null' end
$$;

create or replace function api.json_list(numbers float8[]) returns text language sql stable parallel safe as
	$$ select concat('[', array_to_string(numbers, ',', 'null'), ']') $$;

create or replace function api.span_text(us float8) returns text language sql immutable parallel safe as $$
	select case when us >= 9999500 then round(us / 1e6)::text || ' s' when us >= 999500 then round((us / 1e6)::numeric, 1)::text || ' s'
		when us >= 9950 then round(us / 1000)::text || ' ms' else round((us / 1000)::numeric, 1)::text || ' ms' end
$$;

create or replace view api.reason_key as
select reason_id, code from reason;

create or replace function api.reason_text(keys text[], en text, zh text, params jsonb) returns text language plpgsql stable parallel safe as $$
declare
	key text;
	texts text[] := '{}';
begin
	foreach key in array keys loop
		texts := texts || case when jsonb_typeof(params -> key) = 'number' then api.number_text((params -> key)::numeric)
			else coalesce(params ->> key, '{' || key || '}') end;
	end loop;
	return concat('{"en":', to_json(format(en, variadic texts)), ',"zh":', to_json(format(zh, variadic texts)), '}');
end $$;

create or replace function api.reason_body(id int, code text, en text, zh text, params jsonb) returns json language sql stable parallel safe as $$
	select json_build_object('code', coalesce(code, 'unknown'), 'params', params, 'text', json_build_object(
		'en', coalesce(api.sentence(en, params), 'Reason ' || id || ' (unknown to this version)'),
		'zh', coalesce(api.sentence(zh, params), '原因 ' || id || '（此版本未知）')))
$$;

create or replace view api.part as
select place, json_build_object('code', code, 'en', en, 'zh', zh) as body from part;

create or replace view api.part_codes as
select array_agg(p.code order by i) as codes
from generate_series(0, (select max(part_id) from part)) i left join part p on p.part_id = i;

create or replace function api.part_code(part bigint, codes text[]) returns text language sql immutable parallel safe as
	$$ select coalesce(codes[part + 1], 'part' || part) $$;
