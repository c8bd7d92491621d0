-- SPDX-License-Identifier: Apache-2.0
-- Incidents: what the correlating thread asks for.

-- The address of the other end, as red names it; clients have no port.
create or replace function incident_ip(role smallint, peer text) returns inet language plpgsql immutable as $$
begin
	return case when role in (1, 4) then api.peer_ip(peer) when peer ~ '^[0-9a-f:.]+$' then peer::inet end;
exception when invalid_text_representation then
	return null;
end $$;

-- The node at the other end, for all keys of these nodes that counted calls in that time, also behind a translated address. No
-- row: external, or not known.
create or replace function incident_others(keys bigint[], nodes bigint[], until timestamptz) returns table (host bigint, key_id bigint, other bigint)
language plpgsql stable as $$
begin
	return query with k as materialized (select k.node_id, k.key_id, k.role, k.peer from red_key k
			where k.node_id = any(nodes) and k.key_id = any(keys) and k.role in (1, 3, 4)),
		p as materialized (select row_number() over () as i, d.* from (select distinct k.node_id, k.role, k.peer from k) d),
		a as materialized (select p.role = 3 as asks, array_agg(p.i order by p.i) as i, array_agg(incident_ip(p.role, p.peer) order by p.i) as ips,
				array_agg(coalesce(case when p.role in (1, 4) then api.peer_port(p.peer) end, 0) order by p.i) as ports,
				array_agg(until order by p.i) as ats, array_agg(p.node_id order by p.i) as asking from p group by 1),
		r as materialized (select a.i[x.i] as i, x.node_id from a, api.resolve_all(a.ips, a.ports, a.ats, a.asking) x where not a.asks
			union all select a.i[x.i], x.node_id from a, api.resolve_from(a.ips, a.ports, a.ats, a.asking) x where a.asks)
		select k.node_id, k.key_id, r.node_id from k join p using (node_id, role, peer) join r using (i);
end $$;

-- How red names the other end of a call: every peer that begins so, up to the character after the colon.
create or replace function incident_called(ip inet) returns text language sql immutable parallel safe as $$
	select case family(ip) when 4 then host(ip) || ':' else '[' || host(ip) || ']:' end
$$;

-- The nodes that these nodes called in that time, and the nodes that called them, by their own reports. Where an address belongs
-- to no known node, the nodes that call it and are called from it are near each other; not where many do: a bastion, the world.
create or replace function incident_says(nodes bigint[], since timestamptz, until timestamptz) returns table (other bigint)
language plpgsql stable as $$
begin
	return query with used as materialized (select distinct r.node_id, r.key_id from red r
			where r.node_id = any(nodes) and r.ts > since and r.ts <= until),
		known as materialized (select o.* from incident_others(array(select distinct u.key_id from used u), nodes, until) o where o.other is not null),
		address as materialized (select distinct k.role, incident_ip(k.role, k.peer) as ip from used u join red_key k using (node_id, key_id)
			where k.role in (1, 3) and not exists (select from known n where n.host = k.node_id and n.key_id = k.key_id)),
		beyond as materialized (
			select a.ip, b.node_id, b.key_id from address a join red_key b on b.role = 3 and b.peer collate "C" = host(a.ip) where a.role = 1
			union all select a.ip, b.node_id, b.key_id from address a join red_key b on b.role = 1
				and b.peer collate "C" >= incident_called(a.ip) and b.peer collate "C" < left(incident_called(a.ip), -1) || ';' where a.role = 3),
		alive as materialized (select distinct b.ip, b.node_id from beyond b where exists (select from red r
			where r.node_id = b.node_id and r.key_id = b.key_id and r.ts > since and r.ts <= until))
	select distinct n.other from known n
	union select v.node_id from alive v where (select count(*) from alive w where w.ip = v.ip) <= 16;
end $$;

-- The nodes that call these nodes at an address of theirs (of an interface or a container: lib/item.h), or are called from one,
-- even if these nodes know them by another address or not at all. At most the first 1,000 such calls.
create or replace function incident_claimed(nodes bigint[], since timestamptz, until timestamptz) returns table (other bigint)
language plpgsql stable as $$
begin
	return query with address as materialized (select distinct p.addr from place p where p.node_id = any(nodes) and p.kind in (1, 3)
			and p.since <= incident_claimed.until and (p.until is null or p.until > incident_claimed.since) and not (p.addr << inet '127.0.0.0/8' or p.addr = inet '::1')),
		beyond as materialized (
			select b.node_id, b.key_id from address a join red_key b on b.role = 3 and b.peer collate "C" = host(a.addr)
			union select b.node_id, b.key_id from address a join red_key b on b.role = 1
				and b.peer collate "C" >= incident_called(a.addr) and b.peer collate "C" < left(incident_called(a.addr), -1) || ';'),
		alive as materialized (select b.node_id, b.key_id from beyond b where b.node_id <> all(nodes) and exists (select from red r
			where r.node_id = b.node_id and r.key_id = b.key_id and r.ts > incident_claimed.since and r.ts <= incident_claimed.until) limit 1000)
	select distinct o.host from incident_others(array(select distinct v.key_id from alive v), array(select distinct v.node_id from alive v), incident_claimed.until) o
		join alive v on v.node_id = o.host and v.key_id = o.key_id where o.other = any(nodes);
end $$;

-- What these nodes report themselves, and what others report about them. Behind a NAT only one of two nodes that call each
-- other knows the other's address, and the result must not depend on which node is asked.
create or replace function incident_near(nodes bigint[], since timestamptz, until timestamptz) returns table (other bigint) language sql stable as $$
	select s.other from incident_says(nodes, since, until) s union select c.other from incident_claimed(nodes, since, until) c
$$;

-- For many signals how often their route was requested since a time, and up to which time that is counted.
create or replace function incident_asked(nodes bigint[], apps text[], routes text[], sinces timestamptz[])
returns table (i int, n float8, counted timestamptz) language plpgsql stable as $$
begin
	return query select q.i::int, sum(r.n)::float8, max(r.ts)
		from unnest(nodes, apps, routes, sinces) with ordinality q(node, app, route, since, i)
		join red_key k on k.node_id = q.node and k.app = q.app and k.route = q.route and k.role = 0
		join red r on r.node_id = k.node_id and r.key_id = k.key_id and r.ts > q.since
		group by q.i;
end $$;

-- The offset of a node's clock in us; 0 if it is not known.
create or replace function incident_clock(node bigint, at timestamptz) returns bigint language sql stable as
	$$ select coalesce((select k.offset_us from api.clock_here(node, at, true) k), 0) $$;

-- The offsets of these nodes' clocks, in their order, at a time of this collector; 0 where not known.
create or replace function incident_clocks(nodes bigint[], at timestamptz) returns interval[] language sql stable as $$
	select array_agg(coalesce((select k.offset_us from api.clock_here(n.node, at, false) k), 0) * interval '1 microsecond' order by n.i)
	from unnest(nodes) with ordinality n(node, i)
$$;

-- The half hour before an incident in which none of these nodes had an incident, in pieces: the normal state. In a large fleet
-- some node always has one.
create or replace function incident_free_of(nodes bigint[], at timestamptz) returns table (since timestamptz, until timestamptz) language plpgsql stable as $$
declare
	left_over interval := '30 minutes';
	piece tstzrange;
begin
	for piece in select p from unnest(tstzmultirange(tstzrange(at - interval '6 hours', at - interval '20 seconds'))
			- (select coalesce(range_agg(tstzrange(i.onset - interval '1 minute', greatest(i.onset, i.last) + interval '2 minutes')), '{}')
				from incident i where i.last > at - interval '6 hours' and i.onset < at
					and exists (select from incident_signal g where g.incident_id = i.incident_id and g.host_id = any(nodes)))) p
		order by lower(p) desc loop
		since := greatest(lower(piece), upper(piece) - left_over);
		until := upper(piece);
		return next;
		left_over := left_over - (until - since);
		exit when left_over <= interval '0';
	end loop;
end $$;

-- For each key of requests (role 0) and calls (role 1) with a count in (since, until] that was over its usual by least_us and more
-- on average: its counts, also of the 20 minutes before since, in order. wrong: its node had an incident then, 1 that goes on,
-- 2 that is over. A route is compared with the times when its node had no incident, so the second of two faults is not hidden.
create or replace function incident_slow(least_us bigint, since timestamptz, until timestamptz)
returns table (node bigint, key bigint, role smallint, app text, route text, peer text, ts timestamptz, judged bigint, excess bigint, wrong int)
language plpgsql stable as $$
begin
	return query with slow as materialized (select distinct r.node_id, r.key_id from red r
			where r.ts > since and r.ts <= until and r.judged > 0 and r.excess_us >= 10000 * r.judged and r.excess_us >= least_us::numeric * r.judged),
		bad as materialized (select g.host_id, i.onset - o.off as first, greatest(i.onset, i.last) - o.off as last, case when i.closed is null then 1 else 2 end as wrong
			from incident i join (select distinct s.incident_id, s.host_id from incident_signal s where s.host_id in (select w.node_id from slow w)) g using (incident_id)
			cross join lateral (select (incident_clocks(array[g.host_id], i.onset))[1] as off) o where i.last > since - interval '1 hour'),
		c as materialized (select k.node_id, k.key_id, k.role, k.app, k.route, k.peer, r.ts, least(sum(r.judged), 9223372036854775807)::bigint as judged,
				least(sum(r.excess_us), 9223372036854775807)::bigint as excess
			from slow s join red_key k using (node_id, key_id) join red r using (node_id, key_id)
			where k.role in (0, 1) and r.ts > since - interval '20 minutes' and r.ts <= until and r.judged > 0
			group by k.node_id, k.key_id, r.ts)
		select c.*, coalesce((select min(b.wrong) from bad b where b.host_id = c.node_id and c.ts > b.first and c.ts <= b.last + interval '10 s'), 0)
		from c order by c.node_id, c.key_id, c.ts;
end $$;

-- From the first and ninth tenth of so many means, of n requests in all. A fault that was seen late does not move them, and they
-- are 2.563 standard deviations apart.
create or replace function incident_noise(tenths float8[], n float8, means bigint) returns float8 language sql immutable as $$
	select case when means >= 10 then (tenths[2] - tenths[1]) / 2.563 * sqrt(n / means) else 0 end
$$;

-- What red counted for these nodes during an incident, and before it when there was none, by each node's clock. Keys that
-- counted only before are included: what a callee served then is of all calls. noise, in us: how much one request varies, from the
-- means of half minutes, the shortest time of an incident; the mean of n varies by the root of n less. For a call it is the noise
-- of the way: its time less the callee's time in the same half minute. 0: not known, for fewer than ten means, or where the
-- callee does not report its clients.
create or replace function incident_sums(nodes bigint[], since timestamptz, until timestamptz)
returns table (host bigint, role smallint, peer text, other bigint, n float8, errors float8, judged float8, excess float8,
	n_before float8, errors_before float8, judged_before float8, excess_before float8, us float8, us_before float8, noise float8) language plpgsql stable as $$
declare
	offs interval[] := incident_clocks(nodes, since);
	least_off interval := (select min(o) from unnest(offs) o);
	most_off interval := (select max(o) from unnest(offs) o);
begin
	return query with c as materialized (select u.node_id, u.off from unnest(nodes, offs) u(node_id, off)),
		now as materialized (select r.node_id, r.key_id, sum(r.n)::float8 as n,
			coalesce(sum(r.n) filter (where r.status_class in (0, 5)), 0)::float8 as errors,
			coalesce(sum(r.judged), 0)::float8 as judged, coalesce(sum(r.excess_us), 0)::float8 as excess, sum(r.sum_us)::float8 as us
			from red r join c on c.node_id = r.node_id where r.node_id = any(nodes) and r.ts > since - most_off and r.ts <= until - least_off
				and r.ts > since - c.off and r.ts <= until - c.off group by 1, 2),
		half as materialized (select r.node_id, r.key_id, date_bin('30 seconds', r.ts + c.off, timestamptz 'epoch') as at, sum(r.n)::float8 as n,
			coalesce(sum(r.n) filter (where r.status_class in (0, 5)), 0)::float8 as errors,
			coalesce(sum(r.judged), 0)::float8 as judged, coalesce(sum(r.excess_us), 0)::float8 as excess, sum(r.sum_us)::float8 as us
			from incident_free_of(nodes, since) f join red r on r.node_id = any(nodes) and r.ts > f.since - most_off and r.ts <= f.until - least_off
				join c on c.node_id = r.node_id and r.ts > f.since - c.off and r.ts <= f.until - c.off group by 1, 2, 3),
		before as materialized (select m.node_id, m.key_id, sum(m.n) as n, sum(m.errors) as errors, sum(m.judged) as judged, sum(m.excess) as excess, sum(m.us) as us
			from half m group by 1, 2),
		k as materialized (select k.node_id, k.key_id, case when k.role <> 4 then k.role when o.other = k.node_id then 2::smallint else 1::smallint end as role, k.peer, o.other
			from now w full join before b using (node_id, key_id) join red_key k using (node_id, key_id)
			left join incident_others(array(select u.key_id from now u union select u.key_id from before u), nodes, until) o on o.host = k.node_id and o.key_id = k.key_id),
		own as (select m.node_id, m.key_id, incident_noise(percentile_cont(array[0.1, 0.9]) within group (order by m.excess / m.judged), sum(m.judged), count(*)) as noise
			from half m join k using (node_id, key_id) where k.role = 2 and m.judged > 0 group by 1, 2),
		call as materialized (select k.node_id as caller, k.other as callee, case when k.other is null then k.peer end as address, m.at, sum(m.n) as n, sum(m.us) as us
			from half m join k using (node_id, key_id) where k.role = 1 and m.n > 0 group by 1, 2, 3, 4),
		served as materialized (select k.other as caller, k.node_id as callee, m.at, sum(m.n) as n, sum(m.us) as us
			from half m join k using (node_id, key_id) where k.role = 3 and k.other is not null and m.n > 0 group by 1, 2, 3),
		way as (select l.caller, l.callee, l.address, l.n, l.us / l.n - coalesce(s.us / s.n, 0) as mean
			from call l left join served s on s.caller = l.caller and s.callee = l.callee and s.at = l.at where l.callee is null or s.n > 0),
		ways as (select w.caller, w.callee, w.address, incident_noise(percentile_cont(array[0.1, 0.9]) within group (order by w.mean), sum(w.n), count(*)) as noise from way w group by 1, 2, 3)
		select k.node_id, k.role, k.peer, k.other,
			coalesce(w.n, 0), coalesce(w.errors, 0), coalesce(w.judged, 0), coalesce(w.excess, 0),
			coalesce(b.n, 0), coalesce(b.errors, 0), coalesce(b.judged, 0), coalesce(b.excess, 0), coalesce(w.us, 0), coalesce(b.us, 0),
			coalesce(case k.role when 2 then o.noise when 1 then y.noise end, 0)
		from k left join now w using (node_id, key_id) left join before b using (node_id, key_id)
		left join own o using (node_id, key_id)
		left join ways y on k.role = 1 and y.caller = k.node_id and y.callee is not distinct from k.other and y.address is not distinct from case when k.other is null then k.peer end;
end $$;

-- Stores the events of these nodes, from a minute before the incident, as its evidence; returns their number per node.
create or replace function incident_events(of bigint, nodes bigint[], since timestamptz, until timestamptz) returns table (host bigint, n bigint)
language plpgsql as $$
declare
	offs interval[] := incident_clocks(nodes, since);
	least_off interval := (select min(o) from unnest(offs) o);
	most_off interval := (select max(o) from unnest(offs) o);
begin
	delete from incident_event e where e.incident_id = of;
	insert into incident_event select of, w.node_id, w.kind, w.reason_id, w.n, w.first, w.last, w.ts, w.event_id from (
			select v.node_id, v.kind, v.reason_id, v.ts, v.event_id, row_number() over worst as i, count(*) over same as n,
				min(v.ts) over same as first, max(v.ts + least(v.us, 86400000000) * interval '1 microsecond') over same as last
			from (select distinct on (e.ts, e.event_id) e.* from event e join unnest(nodes, offs) c(node_id, off) on c.node_id = e.node_id
				where e.ts > since - interval '1 minute' - most_off and e.ts <= until - least_off
				and e.ts > since - interval '1 minute' - c.off and e.ts <= until - c.off
				and e.node_id = any(nodes) and e.severity > 1 and e.kind <> 'probe.budget' order by e.ts, e.event_id, e.told desc) v
			window same as (partition by v.node_id, v.kind), worst as (partition by v.node_id, v.kind order by v.severity desc, v.us desc, v.event_id)) w
		where w.i = 1;
	return query select e.host_id, sum(e.n)::bigint from incident_event e where e.incident_id = of group by 1;
end $$;

-- The number of events of these nodes that report a problem, as incident_events lists them.
create or replace function incident_wrong(nodes bigint[], since timestamptz, until timestamptz) returns table (host bigint, n bigint) language plpgsql stable as $$
declare
	offs interval[] := incident_clocks(nodes, since);
begin
	return query select e.node_id, count(distinct (e.ts, e.event_id)) from event e join unnest(nodes, offs) c(node_id, off) on c.node_id = e.node_id
		where e.ts > since - interval '1 minute' - (select max(o) from unnest(offs) o) and e.ts <= until - (select min(o) from unnest(offs) o)
		and e.ts > since - interval '1 minute' - c.off and e.ts <= until - c.off and e.severity > 1 and e.kind <> 'probe.budget' group by 1;
end $$;

-- The nodes to compare: one node and those near it; else all of a region, or of the fleet; of more than 256 those with the most
-- abnormal time, and those near them.
create or replace function incident_scene(since timestamptz, until timestamptz, of_region text, of_node text) returns bigint[] language plpgsql stable as $$
declare
	most constant int := 256;
	reach constant int := 2;
	nodes bigint[];
	more bigint[];
begin
	if of_node is null then
		nodes := array(select n.node_id from node n left join region g using (region_id)
			where n.last_seen >= since and (of_region is null or g.name = of_region) limit most + 1);
		if cardinality(nodes) <= most then
			return nodes;
		end if;
		nodes := array(select q.node_id from request q join node n using (node_id) left join region g using (region_id)
			where q.ts >= since and q.ts < until and (of_region is null or g.name = of_region)
			group by q.node_id order by sum(q.queue_us + q.request_us - q.normal_us) desc, q.node_id limit most / 4);
	else
		nodes := array(select n.node_id from node n left join region g using (region_id) where n.name = of_node and (of_region is null or g.name = of_region));
	end if;
	for step in 1..reach loop
		more := array(select o.other from incident_near(nodes, since, until) o where o.other <> all(nodes) order by o.other limit most - cardinality(nodes));
		exit when cardinality(more) = 0;
		nodes := nodes || more;
	end loop;
	return nodes;
end $$;

-- The calls of each of these nodes to each node or external address: made, and expected for as many requests of the same routes
-- by the calls before, as in incident_sums. variance: of the difference, if both are Poisson counts.
create or replace function incident_calls(nodes bigint[], since timestamptz, until timestamptz)
returns table (host bigint, other bigint, peer text, made float8, expected float8, variance float8) language plpgsql stable as $$
declare
	offs interval[] := incident_clocks(nodes, since);
	least_off interval := (select min(o) from unnest(offs) o);
	most_off interval := (select max(o) from unnest(offs) o);
begin
	return query with c as materialized (select u.node_id, u.off from unnest(nodes, offs) u(node_id, off)),
		now as materialized (select r.node_id, r.key_id, sum(r.n)::float8 as n from red r join c on c.node_id = r.node_id
			where r.node_id = any(nodes) and r.ts > since - most_off and r.ts <= until - least_off and r.ts > since - c.off and r.ts <= until - c.off group by 1, 2),
		before as materialized (select r.node_id, r.key_id, sum(r.n)::float8 as n
			from incident_free_of(nodes, since) f join red r on r.node_id = any(nodes) and r.ts > f.since - most_off and r.ts <= f.until - least_off
				join c on c.node_id = r.node_id and r.ts > f.since - c.off and r.ts <= f.until - c.off group by 1, 2),
		k as materialized (select k.node_id, k.key_id, k.role, k.app, k.route, k.peer, coalesce(w.n, 0) as n, coalesce(b.n, 0) as n_before
			from now w full join before b using (node_id, key_id) join red_key k using (node_id, key_id) where k.role in (0, 1)),
		served as (select k.node_id, k.app, k.route, sum(k.n) as n, sum(k.n_before) as n_before from k where k.role = 0 group by 1, 2, 3),
		call as materialized (select k.node_id, k.key_id, k.peer, k.n, k.n_before * s.n / s.n_before as expected, s.n / s.n_before as ratio
			from k join served s using (node_id, app, route) where k.role = 1 and s.n > 0 and s.n_before > 0)
		select l.node_id, o.other, case when o.other is null then l.peer end, sum(l.n), sum(l.expected), sum(l.expected * (1 + l.ratio))
		from call l left join incident_others(array(select a.key_id from call a), nodes, until) o on o.host = l.node_id and o.key_id = l.key_id group by 1, 2, 3;
end $$;
