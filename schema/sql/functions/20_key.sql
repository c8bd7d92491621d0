-- SPDX-License-Identifier: Apache-2.0
-- Keys of nodes and enrolment.

-- Makes a key the one key of its node; older keys are replaced.
create or replace function approve(the_key text, by_whom text) returns void language plpgsql as $$
declare
	k node_key;
begin
	update node_key set state = 1, relay = claims, decided = now(), decided_by = by_whom where key = the_key returning * into k;
	update node_key set state = 3, rotate = false, decided = now(), decided_by = by_whom
		where node_id = k.node_id and state = 1 and key <> the_key;
	notify seismo_keys;
end $$;

-- The next key of an approved node. Both keys are valid until the new one is first used.
create or replace function approve_next(the_key text, the_next text) returns boolean language plpgsql as $$
begin
	insert into node_key (key, node_id, name, state, replaces, machine, address, decided, decided_by, relay, claims)
		select the_next, node_id, name, 1, the_key, machine, address, now(), 'rotation', relay, relay
		from node_key where key = the_key and state = 1
			and (select count(*) from node_key o where o.node_id = node_key.node_id and o.state = 1) < 4
		on conflict (key) do nothing;
	if found then
		notify seismo_keys;
	end if;
	return exists (select from node_key a join node_key b using (node_id)
		where a.key = the_key and b.key = the_next and a.state = 1 and b.state = 1);
end $$;

-- The decision on a HELLO whose key is not approved: 0 approved now, else enum wire_why of lib/wire.h.
create or replace function enrol(the_key text, the_node bigint, the_name text, the_machine text, the_address text, the_token text)
	returns smallint language plpgsql as $$
declare
	waits_max constant int := 10000;
	k node_key;
	let_in enrol_token;
	taken boolean;
begin
	perform pg_advisory_xact_lock(hashtext('seismo.enrol'));
	select * into k from node_key where key = the_key;
	if not found then
		delete from node_key where state = 0 and last_seen < now() - interval '7 days';
		if (select count(*) from node_key where state = 0) >= waits_max then
			return 6;
		end if;
		insert into node_key (key, node_id, name, state, machine, address)
			values (the_key, the_node, the_name, 0, the_machine, the_address) returning * into k;
		notify seismo_keys;
	elsif k.state = 1 then
		return case when k.node_id = the_node then 0 else 3 end;
	elsif k.state > 1 then
		return 2;
	else
		update node_key set node_id = the_node, name = the_name, machine = the_machine, address = the_address,
			last_seen = now()
			where key = the_key and (last_seen < now() - interval '10 s' or node_id <> the_node); -- it asks every 2 s
	end if;
	taken := exists (select from node_key where node_id = the_node and state = 1);
	if the_token = '' then
		return case when taken then 4 else 1 end;
	end if;
	update enrol_token set uses_left = uses_left - 1
		where hash = sha256(convert_to(the_token, 'UTF8')) and expires > now() and uses_left > 0
			and (node = the_name or node = '' and not taken)
		returning * into let_in;
	if not found then
		return case when taken then 4 else 5 end;
	end if;
	perform approve(the_key, 'token');
	return 0;
end $$;

-- The same with the region that the key relays ('': none). A token admits a relay only if it was made for its name; a key that
-- was approved for something else is asked about again: 7.
create or replace function enrol(the_key text, the_node bigint, the_name text, the_machine text, the_address text, the_token text, the_relay text)
	returns smallint language plpgsql as $$
declare
	k node_key;
	said smallint;
begin
	perform pg_advisory_xact_lock(hashtext('seismo.enrol'));
	update node_key set claims = the_relay where key = the_key and claims <> the_relay;
	select * into k from node_key where key = the_key;
	if k.state = 1 and k.node_id = the_node and k.relay <> the_relay then
		return 7;
	end if;
	if k.key is null and the_relay <> '' then
		said := enrol(the_key, the_node, the_name, the_machine, the_address, '');
		update node_key set claims = the_relay where key = the_key;
	end if;
	return enrol(the_key, the_node, the_name, the_machine, the_address, case when the_relay = ''
		or exists (select from enrol_token where hash = sha256(convert_to(the_token, 'UTF8')) and node = the_name) then the_token else '' end);
end $$;

create or replace function first_use(the_key text) returns void language plpgsql as $$
begin
	update node_key set replaces = null where key = the_key and replaces is not null;
	if found then
		perform approve(the_key, 'rotation');
	end if;
end $$;
