// SPDX-License-Identifier: Apache-2.0
#pragma once
#define at_most(v, t)                                                                              \
	({                                                                                         \
		__u64 v_ = (v);                                                                    \
		v_ <= (t) ? v_ : (t);                                                              \
	})
