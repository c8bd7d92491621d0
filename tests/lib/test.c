// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include <dirent.h>

struct test *test_list;
bool test_failed;

int main(int argc, char *argv[])
{
	int ran = 0, bad = 0;

	for (struct test *t = test_list; t; t = t->next) {
		if (argc > 1 && !strstr(t->name, argv[1]))
			continue;
		test_failed = false;
		t->fn();
		ran++;
		bad += test_failed;
		if (test_failed)
			printf("FAIL %s\n", t->name);
	}
	printf("%d passed, %d failed\n", ran - bad, bad);
	return bad || !ran;
}

int test_open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}
