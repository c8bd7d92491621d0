-- SPDX-License-Identifier: Apache-2.0
-- 038_call_fit.sql - of calls that follow each other on one connection each has its own row, whatever their paths are.
--
-- In 031 a row fitted each call in which it began, as far as clocks were known, however late it ended: so it fitted the call
-- before its own, too, and where a proxy changes paths nothing told which it was.

-- By which ids its client said that a request goes: "TRACE-PARENT" of a traceparent (W3C Trace Context), and X-Request-Id. Null: none
-- that is known, as they were not among its first bytes, or its probe is older than this.
alter table request add column trace text, add column sent_id text;

-- As in 024, with these.
create or replace view api.request_call as
select r.ts, r.request_id, r.node_id, date_bin('1 minute', r.ts, timestamptz 'epoch') as minute, r.app, r.method, r.path, r.status, r.remote, r.remote_port,
	r.local, r.local_port, r.upstreams, r.queue_us, r.request_us, r.reason_id, r.shares, r.trace, r.sent_id
from request r;

create function api.ids_of(at timestamptz, number bigint) returns json language sql stable parallel safe as $$
	select json_build_object('trace', split_part(q.trace, '-', 1), 'parent', split_part(q.trace, '-', 2), 'request', q.sent_id)
	from api.request_call q where q.ts = at and q.request_id = number and (q.trace is not null or q.sent_id is not null) limit 1
$$;

-- What two rows of one request have in common: an id (2), or the path (1), which a proxy may change.
create function api.alike(path text, other_path text, trace text, other_trace text, sent_id text, other_sent_id text) returns int language sql immutable parallel safe as
	$$ select case when left(trace, 32) = left(other_trace, 32) or sent_id = other_sent_id then 2 when path = other_path then 1 else 0 end $$;

-- How well a row fits a call, null: not at all. On a connection of HTTP/1.1 one call is over before the next one begins, and what
-- is asked is read before its call is over. So a row is that of the call within which it lies, as well as clocks are known and
-- hosts note such a thing as a rule (2); or with 5 ms more, which is in within for what they note late, and during which it began
-- even if its host had no time, and noted its end up to a second late, or however late if the caller had given it up (1). More if
-- it is alike. If by these clocks it may have begun after the call was over as well, it is believed if it is alike, and else it
-- may only be (0). What reckons with times is not immutable, and only so it becomes a part of the query that asks.
create function api.call_fit(came timestamptz, took bigint, answered int, alike int, began timestamptz, ended timestamptz, us float8, status int, within interval)
returns int language sql stable parallel safe as $$
	select case when came < began - within or came > ended + within - interval '5 ms' or took > us + 1000000 and status <> 0 or not (answered = status or answered in (0, 499) or status = 0) then null
		when came >= began - within + interval '4.5 ms' and came + api.trace_us(took) * interval '1 microsecond' <= ended + within - interval '4.5 ms' then 2 + 2 * alike
		when came <= ended - within + interval '5 ms' or took <= us + 5000 and came + api.trace_us(took) * interval '1 microsecond' <= ended + within then 1 + 2 * alike
		when alike = 2 or within <= interval '100 ms' then greatest(0, 2 * alike - 1) else 0 end
$$;

do $$ begin perform grant_web(); end $$;
