/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bound.h - a bound on a value, as the verifier of each kernel sees it. */
#pragma once

/*
 * value, but at most top, a constant. Said to the verifier on the register that is then used:
 * before 6.3 it forgets a bound that was tested on another copy of the value.
 */
#define at_most(value, top)                                                                        \
	({                                                                                         \
		__u64 v_ = (value);                                                                \
		asm volatile("if %[v] <= %[t] goto +1\n\t%[v] = %[t]"                              \
			     : [v] "+r"(v_)                                                        \
			     : [t] "i"(top));                                                      \
		v_;                                                                                \
	})
