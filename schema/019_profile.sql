-- SPDX-License-Identifier: Apache-2.0
-- 019_profile.sql - what ran on the CPUs: of each app and minute the stacks that were seen, and how often.

create table profile (
	ts          timestamptz not null,              -- when the minute began; a minute may have several rows, which add up
	node_id     bigint not null,
	app         text not null,
	period_us   int not null,                      -- what one sample stands for
	kernel_ids  bigint[] not null,                 -- stack.stack_id, innermost part; 0: none, or not known
	user_ids    bigint[] not null,                 -- the same of user space
	n           int[] not null                     -- samples that found these two
) partition by range (ts);
create index profile_by_node on profile (node_id, ts);
create index profile_by_app on profile (app, ts);

create or replace function ensure_partitions(days_back int, days_ahead int) returns int language plpgsql as $$
declare
	fact text;
	made int := 0;
begin
	foreach fact in array array['sample', 'request', 'red', 'unread', 'event', 'evidence', 'profile'] loop
		for i in -days_back .. days_ahead loop
			made := made + ensure_partition(fact, 'day', now() + i * interval '1 day');
		end loop;
	end loop;
	return made;
end $$;

create view api.profile as
select p.ts, n.name as node, p.node_id, coalesce(g.name, '') as region, p.app, p.period_us, p.kernel_ids, p.user_ids, p.n
from profile p
join node n using (node_id)
left join region g using (region_id);

create view api.stack as
select stack_id, frames, flags & 1 <> 0 as cut from stack;

do $$ begin perform grant_web(); end $$;
