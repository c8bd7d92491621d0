// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/base.h"
#include "tests/lib/test.h"

/* As c++filt has them, but for parameters, which are left out, and arguments of templates. */
static const char *const names[][2] = {
	{ "_Z3foov", "foo" },
	{ "_ZL5localPKc", "local" },
	{ "_ZN3net6Socket4sendEPKcm", "net::Socket::send" },
	{ "_ZNK3net6Socket2idEv", "net::Socket::id" },
	{ "_ZNKR1A3getEv", "A::get" },
	{ "_ZN3net6SocketC2Ei", "net::Socket::Socket" },
	{ "_ZN3net6SocketD0Ev", "net::Socket::~Socket" },
	{ "_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run" },
	{ "_ZSt9terminatev", "std::terminate" },
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<...>::push_back" },
	{ "_ZNSt6vectorIiSaIiEEC2Ev", "std::vector<...>::vector" },
	{ "_ZNSt5arrayIcLm16EEixEm", "std::array<...>::operator[]" },
	{ "_ZN1AclEv", "A::operator()" },
	{ "_ZN5boost6spiritIFvN1A1BEPKcEJidEE5parseEv", "boost::spirit<...>::parse" },
	{ "_Z3maxIiET_S0_S0_", "max<...>" },
	{ "_Z4nameB5cxx11v", "name[abi:cxx11]" },
	{ "_ZN3net4sendEv.cold", "net::send.cold" },
	{ "_ZN3net4sendEv.part.0.constprop.1", "net::send.part.0.constprop.1" },
	{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
	{ "_ZN4core3fmt5write17h0123456789abcdefE.llvm.123", "core::fmt::write" },
	{ "_ZN36_$LT$T$u20$as$u20$core..any..Any$GT$7type_id17h6dd4f5f6b2a3b8ccE",
	  "<T as core::any::Any>::type_id" },
	{ "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
	  "std::rt::lang_start::{{closure}}" },
	{ "_ZN51_$LT$$RF$$LP$f64$C$$u20$f64$RP$$u20$as$u20$Area$GT$4area17h0123456789abcdefE",
	  "<&(f64, f64) as Area>::area" },
};

TEST(names_of_cpp_and_rust_are_readable)
{
	char out[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CHECK(demangle(names[i][0], out, sizeof(out)));
		CHECK_STR(out, names[i][1]);
	}
}

TEST(what_is_not_known_is_left_to_the_caller)
{
	static const char *const others[] = {
		"",
		"_",
		"_Z",
		"_ZN",
		"_ZNE",
		"main",
		"Z3foov",
		"_Z0",
		"_Z9foo",
		"_ZN3fooE3", /* no names */
		"_ZZ4mainENKUlvE_clEv",
		"_ZThn16_N1A1fEv",
		"_ZTV1A",
		"_ZNS0_3fooEv",
		"_ZN1AcvbEv",
		"_ZN1AIXsr1B1cEE1fEv",
		"_ZN1AIDTcl1fEEE1gEv",
		"_ZN1AI",
		"_ZN1AILi5",
		"_ZN1AIS",
		"_ZN1AIA3",
		"_ZN99999999999999999999a",
		"_RNvC6_123foo3bar",
	};
	char out[128];

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CHECK(!demangle(others[i], out, sizeof(out)) ||
		      strcmp(others[i], "_ZN3fooE3") == 0);
}

/* On the heap, so that a byte too many is found. */
TEST(a_name_that_ends_anywhere_is_read_within_its_bounds)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (size_t len = 0; len <= strlen(names[i][0]); len++) {
			char *cut = strndup(names[i][0], len), *out = malloc(len + 1);

			CHECK(cut && out);
			demangle(cut, out, len + 1);
			free(cut);
			free(out);
		}
}

TEST(a_name_that_does_not_fit_is_cut)
{
	char out[10];

	CHECK(demangle("_ZN3net6Socket4sendEPKcm", out, sizeof(out)));
	CHECK_STR(out, "net::Sock");
	CHECK(demangle("_ZN4core3fmt5write17h0123456789abcdefE", out, sizeof(out)));
	CHECK_STR(out, "core::fmt");
}

TEST(many_parts_and_deep_arguments_take_no_stack)
{
	static char deep[20000] = "_ZN1A";
	char out[128];
	size_t n = 5;

	while (n < sizeof(deep) / 2)
		deep[n++] = 'I';
	deep[n++] = 'i';
	while (n < sizeof(deep) - 3)
		deep[n++] = 'E';
	memcpy(deep + n - 1, "E", 2);
	demangle(deep, out, sizeof(out));
	for (n = 3; n < sizeof(deep) - 2; n += 2)
		memcpy(deep + n, "1a", 2);
	deep[n] = 0;
	CHECK(!demangle(deep, out, sizeof(out)));
}
