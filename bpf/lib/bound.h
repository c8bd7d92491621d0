/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bound.h - bounds a value so that every kernel's verifier accepts it. */
#pragma once

/*
 * value, limited to top, a constant. The test is made on the register that is then used: before 6.3
 * the verifier forgets a bound that was tested on another copy of the value.
 */
#define at_most(value, top)                                                                        \
	({                                                                                         \
		__u64 v_ = (value);                                                                \
		asm volatile("if %[v] <= %[t] goto +1\n\t%[v] = %[t]"                              \
			     : [v] "+r"(v_)                                                        \
			     : [t] "i"(top));                                                      \
		v_;                                                                                \
	})
