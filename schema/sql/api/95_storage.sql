-- SPDX-License-Identifier: Apache-2.0
-- The size of the database: its limit, its tables, and the data that was dropped for the limit.

-- One row, none before the first measurement. Sizes are bytes; fullSeconds: null if it is later than ten years, or not known.
create or replace view api.storage as
select json_build_object('at', api.rfc3339(d.at), 'state', d.state, 'hint', nullif(d.hint, ''), 'used', d.used, 'allowed', d.allowed, 'total', d.total, 'free', d.avail,
	'fullSeconds', d.full_s,
	'tables', (select coalesce(json_agg(json_build_object('name', t.key, 'bytes', t.value::bigint) order by t.value::bigint desc, t.key), '[]')
		from jsonb_each_text(d.tables) t where t.value::bigint > 0),
	'drops', (select coalesce(json_agg(json_build_object('at', api.rfc3339(x.at), 'step', x.step, 'table', x.fact, 'from', api.rfc3339(x.since), 'to', api.rfc3339(x.until),
			'rows', x.rows, 'exact', x.exact, 'bytes', x.bytes, 'group', nullif(x.what, '')) order by x.at desc), '[]')
		from (select * from disk_drop order by at desc limit 100) x)) as body
from disk_now d;
