// SPDX-License-Identifier: Apache-2.0
/*
 * demangle.h - the readable form of the mangled names of C++ and Rust functions, without their
 * parameters: "_ZN3net6Socket4sendEPKcm" is "net::Socket::send".
 *
 * C++ (Itanium ABI): nested names, constructors, destructors and a few operators; template
 * arguments are "<...>". Rust: the names of its legacy mangling, without the hash. Local names,
 * substitutions, expressions and Rust's v0 mangling are not known: the caller keeps the mangled
 * name.
 *
 * No recursion and no memory: the time is linear in the length of the name, which is not trusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* False: name is not mangled, or in a form that is not known; out is undefined. A longer text is
 * cut. */
bool demangle(const char *name, char *out, size_t size);
