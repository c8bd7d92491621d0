-- SPDX-License-Identifier: Apache-2.0
-- 010_plans.sql - what every page asks is planned once for a connection: of 4 to 8 ms that a page was planned, the
-- view of bodies took 3.8, and each name that becomes an id 0.18 (0.07 so), up to seven times in one query.

-- The bodies of these requests, which all lie within the range, so that no other day is looked at. Not any plan but
-- the one by key fits, as the statistics of a table that was empty when it was planned say something else.
create function api.bodies(times timestamptz[], numbers bigint[], since timestamptz, until timestamptz)
returns table (i bigint, id text, body json) language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return query select k.i, r.id, r.body from unnest(times, numbers) with ordinality k(ts, request_id, i)
		join api.request r on r.ts = k.ts and r.request_id = k.request_id where r.ts >= since and r.ts < until;
end $$;

-- As in 004: these claim to be immutable, and must never stand in a prepared query, an index or a view.
create or replace function api.nodes(regions text[], names text[]) returns bigint[] language plpgsql immutable parallel safe as $$
begin
	return (select coalesce(array_agg(node_id), '{}') from api.node_key
		where (regions is null or region = any(regions)) and (names is null or node = any(names)));
end $$;

create or replace function api.nodes_with(word text) returns bigint[] language plpgsql immutable parallel safe as $$
begin
	return (select coalesce(array_agg(node_id), '{}') from api.node_key where strpos(lower(node), lower(word)) > 0);
end $$;

create or replace function api.reasons(codes text[]) returns smallint[] language plpgsql immutable parallel safe as $$
begin
	return (select coalesce(array_agg(reason_id), '{}') from api.reason_key where codes is null or code = any(codes));
end $$;

do $$ begin perform grant_web(); end $$;
