-- SPDX-License-Identifier: Apache-2.0
-- 036_caller.sql - the caller of a row is looked for among the calls that fit it, and one is asked for its callee: asked each,
-- the many calls of a connection that is used again took seconds.

-- Whose call a row was, and which of its tries; else why that is not known. Nearly every call is of a request that began within
-- the last seconds: only if there is none, all are looked at that may still have gone on.
create or replace function api.caller_of(at timestamptz, number bigint)
returns table (ts timestamptz, request_id bigint, i bigint, node_id bigint, app text, how text, silence text)
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
	r record;
	w record;
	k record;
	back interval;
begin
	select q.* into r from api.request_call q where q.ts = at and q.request_id = number limit 1;
	select p.node_id, p.app, coalesce(p.how, 'external') as how into w from (values (1)) v left join api.resolve_all(array[r.remote], array[r.remote_port], array[at], array[r.node_id]) p on true;
	select c.at, c.within into k from (select at + x.ahead as at, x.within from api.clocks_apart(r.node_id, w.node_id, at) x) c;
	foreach back in array array[interval '10 s', interval '10 minutes'] loop
		exit when w.node_id is null;
		return query with c as materialized (select q.ts, q.request_id, q.node_id, q.path, q.upstreams, e.i, (q.path = r.path)::int as same from api.request_call q
			cross join lateral api.tries_of(q.ts, q.upstreams) e
			where q.node_id = w.node_id and q.ts between k.at - back and k.at + k.within
				and q.minute between date_bin('1 minute', k.at - back, timestamptz 'epoch') and date_bin('1 minute', k.at + k.within, timestamptz 'epoch')
				and q.ts + api.trace_us(q.request_us) * interval '1 microsecond' >= k.at - k.within
				and q.upstreams @> jsonb_build_array(jsonb_build_object('addr', api.addr(r.local, r.local_port), 'localPort', r.remote_port))
				and e.addr = api.addr(r.local, r.local_port) and e.from_port = r.remote_port
				and api.call_fits(k.at, r.request_us, r.status, q.path = r.path, e.began, e.ended, e.us, e.status, k.within)),
		d as materialized (select m.*, count(*) over () as n from (select c.*, max(c.same) over () as most from c) m where m.same = m.most),
		s as materialized (select d.*, d.n = 1 and exists (select from api.callees_of(d.ts, d.node_id, d.request_id, d.path, d.upstreams) e
			where e.i = d.i and e.ts = at and e.request_id = number) as sure from d limit 1)
		select case when s.sure then s.ts end, case when s.sure then s.request_id end, case when s.sure then s.i end, s.node_id, w.app, w.how,
			case when not s.sure then 'several' end from s;
		if found then
			return;
		end if;
	end loop;
	return query select null::timestamptz, null::bigint, null::bigint, w.node_id, w.app, w.how, api.trace_silence(w.node_id, case when r.remote is null then 'unix' else w.how end, at);
end $$;
