// SPDX-License-Identifier: Apache-2.0
/*
 * doctor.h - `seismo-probe doctor`: checks what works on this node, and how to fix the rest.
 *
 * Prints one line per check to stdout: "ok" or "off", its name, a sentence. It closes all that it
 * opens, and does not disturb a running probe.
 */
#pragma once

#include "probe/core/probe_config.h"

int doctor_run(const struct probe_config *c); /* 0: every source attaches; else 1 */

void doctor_kernel(void); /* the kernel's features, line by line */
void doctor_nginx(const char *procfs); /* a line per running nginx; takes at most 2 s */
void doctor_nat(const char *procfs); /* the translations of addresses (NAT) on this node */
