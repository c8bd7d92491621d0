// SPDX-License-Identifier: Apache-2.0
/* fake_registry.h - a registry that never changes, in the place of the one that follows a database.
 */
#pragma once

#include "collector/access/key_registry.h"
#include "lib/base/hash.h"
#include "tests/fuzz/check.h"

/* Of n1, of n2, one that waits, a revoked one, and one that nobody knows. */
static const struct key_registry_entry registry[] = {
	{ .key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", .state = KEY_APPROVED, .name = "n1" },
	{ .key = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID",
	  .state = KEY_APPROVED,
	  .rotate = true,
	  .unused = true,
	  .name = "n2" },
	{ .key = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6", .state = KEY_PENDING, .name = "n1" },
	{ .key = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs", .state = KEY_REVOKED, .name = "n1" },
};

bool key_registry_find(struct key_registry *r UNUSED, const char *key,
		       struct key_registry_entry *out, bool *loaded)
{
	*loaded = true;
	for (size_t i = 0; i < ARRAY_SIZE(registry); i++)
		if (strcmp(registry[i].key, key) == 0) {
			*out = registry[i];
			out->node = hash_node_id(out->name);
			return true;
		}
	return false;
}

void key_registry_ask(struct key_registry *r UNUSED, const struct ask *a)
{
	must(is_text(a->name, strlen(a->name)) && is_text(a->machine, strlen(a->machine)));
	must(is_text(a->token, strlen(a->token)) && strlen(a->key) == KEY_TEXT - 1);
}

bool key_registry_take_answer(struct key_registry *r UNUSED, struct ask *out UNUSED)
{
	return false;
}
