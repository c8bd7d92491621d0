#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fetch.sh DIR MIRROR SUITE PACKAGE - the newest kernel that PACKAGE of a distribution depends on, unpacked under DIR
# and not installed; prints the path of its image. What is there already is kept for a week.
set -eu
dir=$(realpath -m "$1") mirror=$2 suite=$3 package=$4
keys=/usr/share/keyrings/debian-archive-keyring.gpg

image() { # FIND_ARG...
	find "$dir" -name 'vmlinuz*' -size +1M "$@" -print -quit 2>/dev/null || true
}

apt() { # MIRROR SUITE COMMAND...: with lists of its own, so that this machine's stay as they are; signed-by= takes no path with a space
	local state=$dir/apt/$2
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	echo "deb [arch=amd64] $1 $2 main" >"$state/sources.list"
	shift 2
	"$@" -q -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=- -o Dir::Etc::Trusted="$keys" \
		-o Dir::Etc::TrustedParts=- -o Dir::State::Lists="$state/lists" \
		-o Dir::State::Status=/dev/null -o Dir::Cache="$state/cache" -o APT::Sandbox::User=root -o Acquire::Retries=1 \
		-o Acquire::http::Timeout=20
}

unpack() { # MIRROR SUITE PACKAGE INTO
	mkdir "$dir/deb"
	(cd "$dir/deb" && apt "$1" "$2" apt-get download "$3") >&2
	dpkg -x "$dir"/deb/*.deb "$dir/$4"
	rm -r "$dir/deb"
}

found=$(image -mtime -7)
if [ -z "$found" ]; then
	rm -rf "$dir"
	case $mirror in
	*ubuntu*) # Debian vouches for Ubuntu's keys
		apt http://deb.debian.org/debian bookworm-backports apt-get update >&2
		unpack http://deb.debian.org/debian bookworm-backports ubuntu-keyring keys
		keys=$dir/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg
		;;
	esac
	apt "$mirror" "$suite" apt-get update >&2
	name=$(apt "$mirror" "$suite" apt-cache show "$package" | sed -n 's/^Depends:.*\(linux-image-[0-9][^ ,]*\).*/\1/p' | head -n 1)
	[ -n "$name" ] || { echo "E: $mirror $suite has no $package" >&2; exit 1; }
	unpack "$mirror" "$suite" "$name" kernel
	[ -n "$(image)" ] || unpack "$mirror" "$suite" "${name/-image-/-binary-}" kernel # where Debian has it from 7.3 on
	found=$(image)
	[ -n "$found" ] || { echo "E: there is no kernel in $name" >&2; exit 1; }
	touch "$found"
	rm -r "$dir/apt"
fi
echo "$found"
