-- SPDX-License-Identifier: Apache-2.0
-- Grants. The last file: it covers the objects of all files before it.

-- Grants need an existing role: when seismo_web is created later, run select grant_web() as the owner.
create or replace function grant_web() returns bool language plpgsql as $$
begin
	if not exists (select from pg_roles where rolname = 'seismo_web') then
		return false;
	end if;
	grant usage on schema api to seismo_web;
	grant select on all tables in schema api to seismo_web;
	alter default privileges in schema api grant select on tables to seismo_web;
	return true;
end $$;

revoke execute on all functions in schema public from public;
do $$ begin perform grant_web(); end $$;
