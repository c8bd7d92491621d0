-- SPDX-License-Identifier: Apache-2.0
-- 012_keys.sql - who may send: the public keys of nodes, and the tokens that let one in without a person.
--
-- A node is known by its CURVE public key alone (Z85, 40 characters). Only the collector's owner role sees these tables.
-- Whoever changes them says `notify seismo_keys`, and every collector of this database follows at once.

create table node_key (
	key         text primary key check (length(key) = 40),
	node_id     bigint not null,                   -- the only node that it may speak for
	name        text not null,                     -- as its first HELLO said; node_id is its hash
	state       smallint not null,                 -- 0 waits, 1 approved, 2 revoked, 3 replaced by a later one
	rotate      boolean not null default false,    -- the node is to make itself another
	replaces    text,                              -- approved under this key, which ends when the new one is first used
	machine     text not null default '',
	address     text not null default '',          -- of the last HELLO that had to be decided on
	first_seen  timestamptz not null default now(),
	last_seen   timestamptz not null default now(), -- the same
	decided     timestamptz,
	decided_by  text not null default ''           -- "command", "token", "rotation"
);
create index node_key_by_node on node_key (node_id);

create table enrol_token (
	hash        bytea primary key,                 -- SHA-256: whoever reads this table cannot use it
	made        timestamptz not null default now(),
	expires     timestamptz not null,
	uses_left   int not null,
	node        text not null default ''           -- only a node of this name, and then also in place of its older key
);

-- What becomes of a HELLO whose key is not approved: 0 it is now, else enum wire_why of lib/wire.h.
create function enrol(the_key text, the_node bigint, the_name text, the_machine text, the_address text, the_token text)
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

-- The one key of its node from now on; what it had before is replaced.
create function approve(the_key text, by_whom text) returns void language plpgsql as $$
declare
	k node_key;
begin
	update node_key set state = 1, decided = now(), decided_by = by_whom where key = the_key returning * into k;
	update node_key set state = 3, rotate = false, decided = now(), decided_by = by_whom
		where node_id = k.node_id and state = 1 and key <> the_key;
	notify seismo_keys;
end $$;

-- A node that is approved goes on with another key: both hold until the new one is first used.
create function approve_next(the_key text, the_next text) returns boolean language plpgsql as $$
begin
	insert into node_key (key, node_id, name, state, replaces, machine, address, decided, decided_by)
		select the_next, node_id, name, 1, the_key, machine, address, now(), 'rotation'
		from node_key where key = the_key and state = 1
			and (select count(*) from node_key o where o.node_id = node_key.node_id and o.state = 1) < 4
		on conflict (key) do nothing;
	if found then
		notify seismo_keys;
	end if;
	return exists (select from node_key a join node_key b using (node_id)
		where a.key = the_key and b.key = the_next and a.state = 1 and b.state = 1);
end $$;

create function first_use(the_key text) returns void language plpgsql as $$
begin
	update node_key set replaces = null where key = the_key and replaces is not null;
	if found then
		perform approve(the_key, 'rotation');
	end if;
end $$;

revoke all on node_key, enrol_token from public;
revoke all on function enrol(text, bigint, text, text, text, text), approve(text, text), approve_next(text, text),
	first_use(text) from public;
