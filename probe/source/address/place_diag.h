// SPDX-License-Identifier: Apache-2.0
/*
 * place_diag.h - the listening sockets of the probe's own network namespace, as the kernel tells
 * them by netlink. /proc/net/tcp says the same, but finds out by a walk through a table of
 * connections, which takes a millisecond or two however few there are.
 */
#pragma once

#include "probe/source/address/place_list.h"

/* 0, or -errno: this kernel has no sock_diag. */
int place_diag_read(struct place_list *l) MUST_CHECK;
