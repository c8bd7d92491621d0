// SPDX-License-Identifier: Apache-2.0
/*
 * on_demand.h - sources that run only where the configuration enables them. The option is a list of
 * source names separated by commas or blanks, or "all".
 */
#pragma once

#include "lib/base/base.h"

bool on_demand_is(const char *source); /* whether the source needs to be enabled */
bool on_demand_enabled(const char *list, const char *source);
bool on_demand_known(const char *list); /* every word of the list is "all" or such a source */
void on_demand_names(char *text, size_t room); /* all such sources, as a list */
