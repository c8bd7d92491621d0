// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "probe/doctor/doctor.h"
#include "probe/doctor/doctor_line.h"
#include "probe/source/address/conntrack.h"

void doctor_nat(const char *procfs)
{
	struct nat *n = calloc(1, sizeof(*n));
	struct buf text = { 0 };
	uint32_t tracked = 0;
	int r = n ? conntrack_own(n, &text, procfs, &tracked) : -ENOMEM;

	if (r == 0)
		doctor_line(true, "NAT", "%u connection%s tracked here, %u way%s of translation",
			    tracked, tracked == 1 ? " is" : "s are", n->n, n->n == 1 ? "" : "s");
	else if (r == -EPERM)
		doctor_line(false, "NAT",
			    "needs CAP_NET_ADMIN; without it a service behind an address that this "
			    "node translates looks like one without a probe; start as root");
	else
		doctor_line(
			false, "NAT",
			"cannot read the kernel's translations (%s); needs CONFIG_NF_CT_NETLINK",
			strerror(-r));
	buf_free(&text);
	free(n);
}
