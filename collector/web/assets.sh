#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# assets.sh OUT.S - writes the files of web/dist and their table as data. Leaves OUT.S alone if nothing changed.
set -eu
out=$1 new=$1.$$ # unique, for parallel builds
packed=${out%/*}/packed
table= n=0
mkdir -p "$packed"

pack() { # FILE: its name has the hash of its content, so what is packed stays so
	gz=$packed/${1##*/}.gz
	[ -f "$gz" ] || { gzip -9nc "$1" >"$gz.$$" && mv "$gz.$$" "$gz"; }
	[ $(($(stat -c %s "$gz") * 10)) -lt $(($(stat -c %s "$1") * 9)) ] # else it is not worth it
}

{
	echo '.section .rodata'
	for f in web/dist/index.html web/dist/*.* web/dist/assets/*; do
		[ -f "$f" ] || continue
		case $f in web/dist/index.html) [ $n -eq 0 ] || continue ;; esac
		case ${f##*/} in *[!A-Za-z0-9._-]*) echo "assets.sh: $f has a name with other characters than A-Z a-z 0-9 . _ -" >&2; exit 1 ;; esac
		case $f in
		*.html) type='text/html; charset=utf-8' ;;
		*.js) type='text/javascript; charset=utf-8' ;;
		*.css) type='text/css; charset=utf-8' ;;
		*.json | *.map) type=application/json ;;
		*.txt) type='text/plain; charset=utf-8' ;;
		*.svg) type=image/svg+xml ;;
		*.png) type=image/png ;;
		*.ico) type=image/x-icon ;;
		*.woff2) type=font/woff2 ;;
		*) echo "assets.sh: $f has an unknown type" >&2; exit 1 ;;
		esac
		echo "path$n: .asciz \"${f#web/dist}\""
		echo "type$n: .asciz \"$type\""
		echo "etag$n: .asciz \"\\\"$(sha256sum "$f" | cut -c1-32)\\\"\""
		echo "data$n: .incbin \"$f\""
		echo "end$n:"
		echo "packed$n:"
		case $f in web/dist/assets/*) ! pack "$f" || echo ".incbin \"$gz\"" ;; esac
		echo "packed_end$n:"
		table="$table.8byte path$n, type$n, etag$n, data$n, end$n - data$n, packed$n, packed_end$n - packed$n
"
		n=$((n + 1))
	done
	echo '.section .data.rel.ro, "aw"'
	echo '.balign 8'
	echo '.globl web_assets'
	echo 'web_assets:'
	printf '%s' "$table"
	echo '.8byte 0, 0, 0, 0, 0, 0, 0'
	echo '.section .note.GNU-stack, "", %progbits'
} > "$new"
if cmp -s "$new" "$out"; then rm "$new"; else mv "$new" "$out"; fi
