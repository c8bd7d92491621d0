-- SPDX-License-Identifier: Apache-2.0
-- Names that were refused (053_add_name_refused.sql). Days before the last thirty are dropped.
create or replace function add_refused_names(nodes bigint[], kinds text[], counts bigint[], times timestamptz[]) returns void language plpgsql as $$
begin
	insert into name_refused as r (node_id, day, kind, n, first, last)
		select node, (at at time zone 'utc')::date, kind, sum(n), min(at), max(at)
		from unnest(nodes, kinds, counts, times) u(node, kind, n, at) group by 1, 2, 3
		on conflict (node_id, day, kind) do update set n = r.n + excluded.n, first = least(r.first, excluded.first), last = greatest(r.last, excluded.last);
	delete from name_refused where day < (now() at time zone 'utc')::date - 30;
end $$;
