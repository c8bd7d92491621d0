-- SPDX-License-Identifier: Apache-2.0
-- 003_explore.sql - what the console filters and counts by: three more columns of api.request.
--
-- The columns before stay as they are, as create or replace demands. What is filtered is never null: an
-- address that is not there is ''.

create or replace view api.request as
select r.ts, r.request_id, r.stored,
	api.id_text(r.ts, r.request_id) as id,
	api.id_text(r.stored, r.request_id) as event_id,
	coalesce(g.name, '') as region, coalesce(n.name, '') as node, r.app, r.route, r.status::int as status,
	coalesce(c.code, 'unknown') as reason,
	concat_ws(' ', r.method, r.path, r.app, n.name, api.addr(r.remote, r.remote_port),
		r.upstreams -> -1 ->> 'addr') as search,
	json_build_object(
		'id', api.id_text(r.ts, r.request_id),
		'time', api.rfc3339(r.ts),
		'end', api.rfc3339(r.ts + least(r.request_us, 31536000000000) * interval '1 microsecond'),
		'region', g.name, 'node', n.name, 'app', r.app, 'pid', r.pid, 'tid', r.tid, 'comm', r.comm,
		'remoteAddr', api.addr(r.remote, r.remote_port),
		'local', api.addr(r.local, r.local_port),
		'upstreamAddr', nullif(r.upstreams -> -1 ->> 'addr', ''),
		'upstreams', api.upstreams(r.upstreams),
		'method', r.method, 'path', r.path, 'request', r.method || ' ' || r.path, 'route', r.route,
		'status', nullif(r.status, 0),
		'requestTime', api.ms(r.request_us),
		'queueTime', api.ms(r.queue_us),
		'totalTime', api.ms(r.queue_us::numeric + r.request_us),
		'upstreamResponseTime', api.ms(r.upstream_us),
		'normalTime', api.ms(nullif(r.normal_us, 0)),
		'limitTime', api.ms(r.limit_us),
		'timesNormal', round((r.queue_us::numeric + r.request_us) / nullif(r.normal_us, 0), 1),
		'bytesIn', r.bytes_in, 'bytesOut', r.bytes_out,
		'flags', api.flags(r.flags),
		'socket', json_build_object('retransmits', r.retrans, 'rtt', api.ms(r.srtt_us), 'outOfOrder', r.rcv_ooo),
		'reason', json_build_object(
			'code', coalesce(c.code, 'unknown'),
			'params', r.params,
			'text', json_build_object(
				'en', coalesce(api.sentence(c.en, r.params), 'Reason ' || r.reason_id || ' (unknown to this version)'),
				'zh', coalesce(api.sentence(c.zh, r.params), '原因 ' || r.reason_id || '（此版本未知）'))),
		'shares', '[]'::json, 'checked', '[]'::json, 'unchecked', '[]'::json,
		'diagnosis', '/requests/' || api.id_text(r.ts, r.request_id)) as body,
	coalesce(api.addr(r.remote, r.remote_port), '') as remote,
	coalesce(r.upstreams -> -1 ->> 'addr', '') as upstream,
	r.queue_us::numeric + r.request_us as total_us
from request r
left join node n using (node_id)
left join region g using (region_id)
left join reason c using (reason_id);
