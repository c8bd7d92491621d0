-- SPDX-License-Identifier: Apache-2.0
-- Abnormal requests, events, and their evidence. Content that many rows share (checks, stack) is stored once, by the
-- hash of its content, and deleted when no row can use it any more.

-- schema/def/reasons.def; the collector refreshes this table when it starts.
create table reason (
	reason_id   smallint primary key,
	code        text not null unique,
	en          text not null,
	zh          text not null,
	keys        text[] generated always as (api.reason_keys(en, zh)) stored,
	en_format   text generated always as (api.reason_format(en, api.reason_keys(en, zh))) stored,
	zh_format   text generated always as (api.reason_format(zh, api.reason_keys(en, zh))) stored
);

-- schema/def/parts.def: the parts of a request's time; the collector refreshes this table when it starts.
create table part (
	part_id     smallint primary key,
	place       smallint not null,                 -- in the bar
	code        text not null unique,
	en          text not null,
	zh          text not null
);

-- Lists of causes that were checked, or could not be checked.
create table checks (
	checks_id   bigint primary key,                -- hash of the probe's report
	checked     json not null,                     -- ["net.loss", ...]: checked, and not the cause
	unchecked   json not null,                     -- [{"code":"lock","why":"..."}, ...]
	last_used   timestamptz not null               -- updated at most once a day, together with the codes
) with (fillfactor = 90);

create table stack (
	stack_id    bigint primary key,                -- hash of the frames
	frames      text[] not null,                   -- innermost first
	flags       smallint not null,                 -- 1: truncated, 2: user space
	last_used   timestamptz not null               -- updated at most once a day; probes resend a stack after an hour
) with (fillfactor = 90);

-- One row per abnormal request.
create table request (
	ts          timestamptz not null,              -- first byte read
	node_id     bigint not null,
	request_id  bigint not null,                   -- hash of node, epoch, seq and place in the batch
	stored      timestamptz not null,              -- strictly increasing with the commits of one collector
	app         text not null,
	comm        text not null,
	pid         int not null,
	tid         int not null,
	remote      inet,
	remote_port int not null,
	local       inet,
	local_port  int not null,
	method      text not null,
	path        text not null,
	route       text not null,
	flags       int not null,                      -- lib/item.h, enum request_flag
	status      smallint not null,                 -- 0: none
	request_us  bigint not null,
	queue_us    bigint not null,
	upstream_us bigint,                            -- sum over the tries; null: no upstream call
	bytes_in    bigint not null,
	bytes_out   bigint not null,
	normal_us   bigint not null,
	limit_us    bigint not null,
	retrans     int not null,
	srtt_us     int not null,
	rcv_ooo     int not null,
	reason_id   smallint not null,
	params      jsonb not null,                    -- {"addr":"10.0.0.1:80","ms":12.5}
	upstreams   jsonb not null,                    -- [{"addr","startUs","connectUs","responseUs","status","error","retrans","srttUs","flags"}]
	shares      bigint[],                          -- {part_id, us, normal us, ...}; the us add up to queue_us + request_us
	checks_id   bigint,
	losses      int[],                             -- {side, kind, segments, ...}: lib/item.h, struct loss_item
	trace       text,                              -- "TRACE-PARENT" of traceparent (W3C Trace Context); null: not known
	sent_id     text                               -- X-Request-Id; null: not known
) partition by range (ts);
create index request_by_time on request (ts, request_id);
create index request_by_stored on request (stored);

-- For the filters of the request page, which counts by minute.
create index request_by_app on request (app, date_bin('1 minute', ts, timestamptz 'epoch'), status, reason_id);
create index request_by_status on request (status, date_bin('1 minute', ts, timestamptz 'epoch'), reason_id);
create index request_by_reason on request (reason_id, date_bin('1 minute', ts, timestamptz 'epoch'));
-- The status is part of these two, for pages of a node or route and a status: 10 and 25 bytes a row.
create index request_by_node on request (node_id, date_bin('1 minute', ts, timestamptz 'epoch'), app, route, status);
create index request_by_route on request (route, date_bin('1 minute', ts, timestamptz 'epoch'), status);

-- Rows of one client or upstream. The trigrams of `10.0.0.1:` occur in every address, so request_by_text does not help:
-- PostgreSQL read the whole day. For two million rows a day these take 76 and 50 MB, beside 274 MB of trigrams.
create index request_by_remote on request ((coalesce(api.addr(remote, remote_port), '')) text_pattern_ops);
create index request_by_upstream on request ((coalesce(upstreams -> -1 ->> 'addr', '')) text_pattern_ops,
	date_bin('1 minute', ts, timestamptz 'epoch'));

-- A database owner may create pg_trgm where it is installed. Without it a text search reads each row.
do $$ begin
	create extension if not exists pg_trgm;
	create index request_by_text on request
		using gin (api.request_text(method, path, app, remote, remote_port, upstreams) gin_trgm_ops);
exception when insufficient_privilege or undefined_file or undefined_object or feature_not_supported then
	raise notice 'no index for texts: %', sqlerrm;
end $$;

-- Problems other than abnormal requests. An event that lasts is reported when it begins, again while it goes on, and
-- when it is over. Each report is a complete row with the same ts and event_id; the row with the highest `told` counts.
-- So a batch stays one COPY and no row is updated.
create table event (
	ts          timestamptz not null,
	node_id     bigint not null,
	event_id    bigint not null,                   -- hash of node, epoch, seq and place in the batch
	stored      timestamptz not null,              -- as in request
	kind        text not null,
	severity    smallint not null,                 -- 1 info, 2 warning, 3 critical
	pid         int not null,
	tid         int not null,
	comm        text not null,
	us          bigint not null,
	error_us    bigint not null,                   -- largest error of us
	reason_id   smallint not null,
	params      jsonb not null,
	told        int not null default 0,            -- number of the report, from 1; 0: reported once
	going_on    smallint not null default 0,       -- 1: not over at the time of the report
	epoch       bigint not null default 0,         -- of the probe's process; its events end with it
	evidence_id bigint                             -- owner_id of this report's evidence; null: event_id
) partition by range (ts);
create index event_by_time on event (ts, event_id);

-- Blocks of a request or an event: what it waited for.
create table evidence (
	ts          timestamptz not null,              -- the owner's, so that both are in the same day
	node_id     bigint not null,
	owner_id    bigint not null,                   -- request_id or event_id
	place       smallint not null,
	start_us    bigint not null,                   -- after ts
	us          bigint not null,
	part_id     smallint not null,
	pid         int not null,
	tid         int not null,
	comm        text not null,
	call        text not null,                     -- '': none, or not known; the same for what and who
	what        text not null,
	who         text not null,
	stack_id    bigint                             -- null: none
) partition by range (ts);
create index evidence_by_owner on evidence (ts, owner_id);

-- CPU profile: the stacks of each app and minute, and how often each was sampled.
create table profile (
	ts          timestamptz not null,              -- start of the minute; the rows of one minute add up
	node_id     bigint not null,
	app         text not null,
	period_us   int not null,                      -- CPU time that one sample represents
	kernel_ids  bigint[] not null,                 -- stack.stack_id, innermost part; 0: none, or not known
	user_ids    bigint[] not null,                 -- the same of user space
	n           int[] not null                     -- samples with these two stacks
) partition by range (ts);
create index profile_by_node on profile (node_id, ts);
create index profile_by_app on profile (app, ts);

-- Connections that were seen but could not be read.
create table unread (
	ts          timestamptz not null,
	node_id     bigint not null,
	app         text not null,
	kind        text not null,                     -- tls, http2, upgraded, pipelined
	n           bigint not null
) partition by range (ts);
create index unread_by_time on unread (ts);
