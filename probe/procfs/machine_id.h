// SPDX-License-Identifier: Apache-2.0
/* machine_id.h - what systemd knows this machine by. */
#pragma once

#include "lib/base/base.h"

enum { MACHINE_ID = 33 };

void machine_id_read(char id[static MACHINE_ID]); /* "": it has none */
