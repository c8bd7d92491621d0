-- SPDX-License-Identifier: Apache-2.0
-- The api schema, and the functions that an index or a generated column uses.
--
-- Baseline of the schema. Ids are hashes of content (lib/hash.h), not sequences, so they are equal in every region.
-- node_id is in every key, facts are partitioned by time with no default partition, and nothing needs a trigger: the
-- same text runs on Citus and TimescaleDB. A file that is released is never edited; later changes are new files.
--
-- PostgreSQL stores the results of the functions below. A change to one of them is therefore a numbered migration,
-- which also rebuilds the indexes and columns that use it. All other functions are in schema/sql/api and
-- schema/sql/functions.

create schema api;

create function api.addr(ip inet, port int) returns text language sql immutable parallel safe as
	$$ select case family(ip) when 4 then host(ip) || ':' || port when 6 then '[' || host(ip) || ']:' || port end $$;

-- The text of a request that a search looks through, besides the node's name.
create function api.request_text(method text, path text, app text, remote inet, port int, upstreams jsonb) returns text
language sql immutable parallel safe as $$
	select method || ' ' || path || ' ' || app || ' ' || coalesce(api.addr(remote, port), '') || ' ' || coalesce(upstreams -> -1 ->> 'addr', '')
$$;

-- The format strings of a reason's sentences, and the names of their parameters in the order of their numbers.
create function api.reason_keys(en text, zh text) returns text[] language sql immutable parallel safe as $$
	select coalesce(array_agg(key order by first), '{}') from (
		select m[1] as key, min(i) as first from regexp_matches(en || zh, '\{([^{}]*)\}', 'g') with ordinality t(m, i) group by 1) k
$$;

create function api.reason_format(sentence text, keys text[]) returns text language plpgsql immutable parallel safe as $$
declare
	told text := replace(sentence, '%', '%%');
begin
	for i in 1 .. cardinality(keys) loop
		told := replace(told, '{' || replace(keys[i], '%', '%%') || '}', '%' || i || '$s');
	end loop;
	return told;
end $$;
