-- SPDX-License-Identifier: Apache-2.0
-- 009_remote.sql - the client's address itself: clients are counted without a text for each of 100,000 rows.

create or replace view api.request_key as
select r.ts, date_bin('1 minute', r.ts, timestamptz 'epoch') as minute, r.request_id, r.node_id, r.app, r.route, r.status, r.reason_id,
	api.request_text(r.method, r.path, r.app, r.remote, r.remote_port, r.upstreams) as text,
	coalesce(api.addr(r.remote, r.remote_port), '') as remote,
	coalesce(r.upstreams -> -1 ->> 'addr', '') as upstream,
	r.queue_us::numeric + r.request_us as total_us,
	r.remote as client
from request r;
