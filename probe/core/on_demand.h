// SPDX-License-Identifier: Apache-2.0
/*
 * on_demand.h - the sources that are measured only where somebody asks for them, and who does. A
 * list is their names with commas, or "all".
 */
#pragma once

#include "lib/base/base.h"

bool on_demand_is(const char *source); /* it is one of them */
bool on_demand_asked(const char *list, const char *source);
bool on_demand_known(const char *list); /* it names nothing else */
void on_demand_names(char *text, size_t room); /* all of them, as a list */
