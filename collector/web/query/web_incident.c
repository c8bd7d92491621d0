// SPDX-License-Identifier: Apache-2.0
/* web_incident.c - the list of incidents, newest first, and one incident with everything it is
 * based on. */
#include "collector/web/query/web_sql.h"

/* Keep each line of SQL on one line. */
/* clang-format off */

#define OF(list, yes, no) "(" yes " is null or " list " && " yes ") and (" no " is null or not " list " && " no ")"

/* $3 to $8: region, node, app; $9: state, $10: limit, $11: cursor. Merged incidents are shown
 * only on request. */
const char web_sql_incidents[] =
	"with page as materialized (select row_number() over (order by onset desc, incident_id desc) as i, id, body from ("
	"  select onset, incident_id, id, body from api.incident where last >= $1 and onset < $2 and " WEB_REGION
	"  and " OF("nodes", "$5", "$6") " and " OF("apps", "$7", "$8")
	"  and case when $9 is null then state <> 'merged' else state = $9 end"
	"  and ($11 is null or (onset, incident_id) < (api.id_time($11), api.id_number($11)))"
	"  order by onset desc, incident_id desc limit $10 + 1) r)"
	"select coalesce((select json_agg(body order by i) from page where i <= $10), '[]') as incidents,"
	" (select to_json(id) from page where i = $10 and exists (select from page where i > $10)) as next";

/* Looked up by its number alone: its onset may change a little once its region has
 * reported it. */
const char web_sql_incident[] =
	"select (select left(i.body::text, -1) || ', ' || left(substr(d.body::text, 2), -1) || ', \"parts\" : ' ||"
	"  (select coalesce(json_agg(p.body order by p.onset, p.told_id), '[]') from api.incident_part p where p.incident_id = i.incident_id)::text || '}' from api.incident i"
	"  join api.incident_detail d using (onset, incident_id) where incident_id = api.id_number($1)) as body,"
	" extract(epoch from api.id_time($1))::bigint as second, null as oldest";
