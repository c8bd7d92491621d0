#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# image.sh OUT FILE[=PLACE]... - an initramfs of busybox, tests/kernels/init, and each FILE at its own path (or at
# PLACE) with the libraries that it needs.
set -eu
here=$(dirname "$0")
out=$1
shift
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

put() { # FILE PLACE
	install -D "$1" "$root$2"
	ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r lib; do
		[ -e "$root$lib" ] || install -D "$lib" "$root$lib"
	done
}

mkdir -p "$root"/{bin,dev,etc,proc,run,sys,tmp,var}
put "$(command -v busybox)" /bin/busybox
put "$here/init" /init
for f in "$@"; do
	put "${f%%=*}" "$(case $f in *=*) echo "${f#*=}" ;; *) realpath -s "$f" ;; esac)"
done
(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) | gzip -1 >"$out"
