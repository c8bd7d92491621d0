-- SPDX-License-Identifier: Apache-2.0
-- When retention last dropped rows of a table: it drops at most one day of a table in an hour, also when collectors restart.
create table retention (
	fact        text primary key,                  -- the table
	dropped     timestamptz not null
);
