// SPDX-License-Identifier: Apache-2.0
/* machine_id.h - the machine id that systemd assigned. */
#pragma once

#include "lib/base/base.h"

enum { MACHINE_ID = 33 };

void machine_id_read(char id[static MACHINE_ID]); /* "": none */
