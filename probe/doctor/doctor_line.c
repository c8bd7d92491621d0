// SPDX-License-Identifier: Apache-2.0
#include "probe/doctor/doctor_line.h"

#include <stdarg.h>
#include <stdio.h>

bool doctor_line(bool good, const char *name, const char *fmt, ...)
{
	va_list ap;

	printf("%-3s  %-25s  ", good ? "ok" : "off", name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	return good;
}
