-- SPDX-License-Identifier: Apache-2.0
-- 049_red_time.sql - what an edge had is never looked up by time. In a partition whose statistics are minutes old, and know of one
-- slot or two, a range of time seems to hold one row, and an index of time as good as that of the key: then all rows of that time
-- were read for each edge, which took 11 to 23 s where there are 10,000 nodes. A slot is written as a whole, so what is read by time
-- alone, all edges, and a slot that is made anew, is found in blocks (BRIN), which is no way to one row. tidy() of red_roll.c has
-- them summarized.

drop index red_1m_by_time, red_10m_by_time;
create index red_1m_by_time on red_1m using brin (ts) with (pages_per_range = 16);
create index red_10m_by_time on red_10m using brin (ts) with (pages_per_range = 16);
