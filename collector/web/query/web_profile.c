// SPDX-License-Identifier: Apache-2.0
#include "collector/web/query/web_sql.h"

/* Keep each line of SQL on one line. */
/* clang-format off */

/* $3 node, $4 app; $5 and $6 the range to compare with, null without one */
#define BASE "(ts >= $5 and ts < $6)"
#define STACKS "5000"

/*
 * Makes seen(kernel, userland, n, us, base_n, base_us) of the rows of both ranges, largest
 * first; the rest have an i beyond those shown. A minute belongs to a range if it began in it.
 */
#define SEEN \
	"part as (select x.k, x.u, x.n, x.n::bigint * p.period_us as us, (ts >= $1 and ts < $2) as is_now, coalesce(" BASE ", false) as is_base" \
	"  from api.profile p cross join lateral unnest(p.kernel_ids, p.user_ids, p.n) x(k, u, n)" \
	"  where ((ts >= $1 and ts < $2) or " BASE ") and ($3::text is null or node = $3) and ($4::text is null or app = $4))," \
	"sum as (select k, u, coalesce(sum(n) filter (where is_now), 0) as n, coalesce(sum(us) filter (where is_now), 0) as us," \
	"  coalesce(sum(n) filter (where is_base), 0) as base_n, coalesce(sum(us) filter (where is_base), 0) as base_us from part group by 1, 2)," \
	"seen as materialized (select *, row_number() over (order by us + base_us desc, k, u) as i from sum)"

#define TOTAL(column) "(select coalesce(sum(" column "), 0) from seen)"
#define OTHER(column) "(select coalesce(sum(" column "), 0) from seen where i > " STACKS ")"
#define OF_BASE(value) "case when $5 is not null and $6 is not null then " value " end"

const char web_sql_profile[] =
	"with " SEEN
	"select " TOTAL("n") " as samples, api.ms(" TOTAL("us") ") as ms,"
	" " OF_BASE(TOTAL("base_n")) " as \"baseSamples\", " OF_BASE("api.ms(" TOTAL("base_us") ")") " as \"baseMs\","
	" " OTHER("n") " as \"otherSamples\", api.ms(" OTHER("us") ") as \"otherMs\","
	" " OF_BASE("api.ms(" OTHER("base_us") ")") " as \"otherBaseMs\","
	" (select coalesce(json_agg(json_build_object("
	"   'user', case when u = 0 then '{}' else su.frames end, 'kernel', case when k = 0 then '{}' else sk.frames end,"
	"   'cut', coalesce(su.cut, false) or coalesce(sk.cut, false), 'samples', n, 'ms', api.ms(us),"
	"   'baseSamples', " OF_BASE("base_n") ", 'baseMs', " OF_BASE("api.ms(base_us)") ") order by i), '[]')"
	"  from seen left join api.stack su on su.stack_id = u left join api.stack sk on sk.stack_id = k where i <= " STACKS ") as stacks";

/* The format of flamegraph.pl: frames from the outermost in, separated by semicolons, then the
 * sample count. */
#define FRAMES(of, mark) \
	"array(select replace(f, ';', ':') || '" mark "' from unnest(" of ".frames) with ordinality x(f, o) order by o desc)"

const char web_sql_folded[] =
	"with " SEEN ","
	"line as (select case when i > " STACKS " then '(other)' when k = 0 and u = 0 then '(unknown)' else array_to_string("
	"   case when u <> 0 and su.frames is null then '{(unknown)}' else " FRAMES("su", "") " end"
	"   || case when k <> 0 and sk.frames is null then '{(unknown)}' else " FRAMES("sk", "_[k]") " end, ';') end as frames, n"
	"  from seen left join api.stack su on su.stack_id = u left join api.stack sk on sk.stack_id = k where n > 0)"
	"select frames || ' ' || sum(n) from line group by frames order by sum(n) desc, frames";
