#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# need.sh PKG... - says in one sentence which build tools and libraries are missing.
missing=
for tool in "$CC" "$CLANG" "$STRIP" "$BPFTOOL" pkg-config; do
	command -v "${tool%% *}" >/dev/null 2>&1 || missing="$missing ${tool%% *}"
done
for lib in "$@"; do
	pkg-config --exists "$lib" 2>/dev/null || missing="$missing $lib"
done
[ -z "$missing" ] && exit 0
echo "Seismo cannot be built, because this machine lacks:$missing; run 'make deps' as root, then make again." >&2
exit 1
