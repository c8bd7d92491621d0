-- SPDX-License-Identifier: Apache-2.0
-- Rows that an engine of the collector could not apply (collector/db/refused.h).

-- Keeps at most the last 1,000 items.
create or replace function refuse_item(the_engine text, the_item text, state text, why text, the_body text) returns void language plpgsql as $$
begin
	insert into engine_refused as r (engine, item, sqlstate, message, body) values (the_engine, the_item, state, why, the_body)
		on conflict (engine, item) do update set sqlstate = excluded.sqlstate, message = excluded.message, body = excluded.body,
			last = clock_timestamp(), times = r.times + 1;
	delete from engine_refused r using (select o.engine, o.item from engine_refused o order by o.last desc offset 1000) old
		where r.engine = old.engine and r.item = old.item;
end $$;
