-- SPDX-License-Identifier: Apache-2.0
-- 006_first_byte.sql - a row that was judged by the first byte of its answer says so.

create or replace function api.flags(flags int) returns json language plpgsql immutable parallel safe as $$
begin
	return case when flags = 0 then '[]' else (select coalesce(json_agg(name order by bit), '[]')
		from (values (1, 'clientClosed'), (2, 'noAnswer'), (4, 'pipelined'), (8, 'upstreamUnknown'), (16, 'pathCut'), (32, 'upsCut'),
			(64, 'byFirstByte')) f(bit, name)
		where $1 & bit <> 0) end;
end $$;
