-- SPDX-License-Identifier: Apache-2.0
-- whole_us is the excess of the headline's host from now on, and this is the part of it that arose nowhere, so far as was measured.
alter table incident add column unexplained_us float8 not null default 0;
