// SPDX-License-Identifier: Apache-2.0
#include "probe/procfs/machine_id.h"

#include <stdio.h>

void machine_id_read(char id[static MACHINE_ID])
{
	FILE *f = fopen("/etc/machine-id", "re");

	if (!f || fscanf(f, "%32[0-9a-f]", id) != 1)
		id[0] = 0;
	if (f)
		fclose(f);
}
