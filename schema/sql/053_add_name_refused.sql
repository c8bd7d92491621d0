-- SPDX-License-Identifier: Apache-2.0
-- New names beyond a node's budget of the day (collector/store/row/name_budget.h): their data is stored without a name.
create table name_refused (
	node_id     bigint not null,
	day         date not null,
	kind        text not null,                     -- as the log says it, in the plural
	n           bigint not null,                   -- how often such a name was refused; one name may be refused often
	first       timestamptz not null,
	last        timestamptz not null,
	primary key (node_id, day, kind)
);
