// SPDX-License-Identifier: Apache-2.0
/* faulthog.c - computes for ever, under a name that a diagnosis should find. */
int main(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}
