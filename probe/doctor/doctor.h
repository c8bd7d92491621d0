// SPDX-License-Identifier: Apache-2.0
/*
 * doctor.h - `seismo-probe doctor`: what this node can give a probe, and what to do about the rest.
 *
 * One line on stdout per thing: "ok" or "off", its name, a sentence. Nothing it opens outlives it,
 * and a probe that runs does not notice.
 */
#pragma once

#include "probe/core/probe_config.h"

int doctor_run(const struct probe_config *c); /* 0: every source attaches; else 1 */

void doctor_kernel(void); /* the kernel's features, line by line */
void doctor_nginx(const char *procfs); /* the lines about each nginx that runs; takes 2 s at most */
void doctor_nat(const char *procfs); /* how addresses are translated here, by which others call */
