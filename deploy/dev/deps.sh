#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deps.sh build|test|kernels|bench - installs the Debian packages that are missing, asks nothing, starts nothing.
# A|B means either will do (names differ between releases).
set -u
log=$(mktemp /tmp/seismo-deps.XXXXXX) || exit 1
policy=/usr/sbin/policy-rc.d clusters=/etc/postgresql-common/createcluster.conf

# To build and to run.
build=(gcc libc6-dev make "pkg-config|pkgconf" clang llvm bpftool libbpf-dev libelf-dev zlib1g-dev
	libzmq3-dev "libmsgpack-dev|libmsgpack-c-dev" libpq-dev libmicrohttpd-dev libinih-dev libseccomp-dev libmnl-dev
	util-linux procps iproute2 passwd)
# To test, besides.
test=(nginx-light wrk curl python3 cppcheck clang-format "chromium-headless-shell|chromium" nftables python3-zmq python3-msgpack faketime strace xz-utils groff-base "libclang-rt-dev|libclang-rt-14-dev" lld
	apache2 haproxy lighttpd php-fpm python3-aiohttp)
# To boot other kernels, besides what building takes.
kernels=(nginx-light python3 qemu-system-x86 busybox-static cpio)
# To put figures of I/O beside those of others (make bench-io), besides what building takes.
bench=(python3 fio libbpf-tools)

fail() {
	echo "Seismo: $*." >&2
	exit 1
}

# Both files as they were before, also after an earlier run that was killed.
restore() {
	! grep -qs 'for the time of make deps' "$policy" || rm -f "$policy"
	[ ! -e "$policy.seismo" ] || mv "$policy.seismo" "$policy"
	[ ! -e "$clusters.seismo" ] || mv "$clusters.seismo" "$clusters"
}
trap 'restore; rm -f "$log"' EXIT
trap 'exit 130' INT TERM HUP

wanted() {
	printf '%s\n' "${build[@]}"
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || echo postgresql
	[ "$1" != kernels ] || printf '%s\n' "${kernels[@]}"
	[ "$1" != bench ] || printf '%s\n' "${bench[@]}"
	[ "$1" = test ] || return 0
	printf '%s\n' "${test[@]}"
	major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
	[ "${major:-0}" -ge 18 ] && command -v npm >/dev/null || printf '%s\n' nodejs npm
}

missing() { # the first name of each line of which no name is installed
	local have line
	have=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p' | tr '\n' ' ') "
	wanted "$1" | while read -r line; do
		IFS='|' read -ra names <<<"$line"
		for name in "${names[@]}"; do
			[[ $have != *" $name "* ]] || continue 2
		done
		echo "$line"
	done
}

choose() { # of each line the first name that can be installed
	while read -r line; do
		for name in ${line//|/ }; do
			apt-cache policy "$name" 2>/dev/null | grep -q 'Candidate: [0-9]' && break
		done
		echo "$name"
	done
}

apt() { # progress on the screen, the whole story in the log
	DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
		-o Dpkg::Options::=--force-confold -o APT::Status-Fd=3 "$@" 3>&1 >>"$log" 2>&1 </dev/null |
		awk -F: '{ p = int($3 / 20) * 20 } ($1 == "dlstatus" || $1 == "pmstatus") && $1 p != last {
			last = $1 p; printf "  APT    %s %d %%\n", $1 == "dlstatus" ? "download" : "install", p; fflush() }'
	return "${PIPESTATUS[0]}"
}

# No service starts while this installs, and none of the new ones at the next boot.
quiet_services() {
	[ ! -e "$policy" ] || mv "$policy" "$policy.seismo"
	printf '#!/bin/sh\n# for the time of make deps\nexit 101\n' >"$policy"
	chmod 755 "$policy"
}

no_cluster() { # PostgreSQL's package makes and later starts a cluster on 5432 unless told not to
	[ -e "$clusters" ] || apt install postgresql-common || return
	cp -p "$clusters" "$clusters.seismo" && echo 'create_main_cluster = false' >>"$clusters"
}

install() {
	local packages nginx=
	[ -x /usr/sbin/nginx ] && nginx=there
	ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 || apt update
	mapfile -t packages < <(choose)
	echo "  APT    ${#packages[@]} packages: ${packages[*]}"
	restore
	quiet_services
	[[ " ${packages[*]} " != *" postgresql "* ]] || no_cluster || { apt update; no_cluster; }
	apt install "${packages[@]}" || { apt update; apt install "${packages[@]}"; } ||
		fail "apt-get could not install ${packages[*]}: $(grep -m1 '^E:' "$log"); mend that and run make deps again"
	[ -n "$nginx" ] || ! command -v systemctl >/dev/null || systemctl disable nginx >/dev/null 2>&1 || true
}

main() {
	local lines user=
	lines=$(missing "$1")
	getent passwd seismo >/dev/null || user=missing
	[ -n "$lines$user" ] || return 0
	[ "$(id -u)" = 0 ] || fail "this machine lacks ${lines//$'\n'/, }${user:+ the user seismo}: run sudo make deps"
	[ -z "$lines" ] || command -v apt-get >/dev/null || fail "there is no apt-get here; install the equivalents of ${lines//$'\n'/, }"
	[ -z "$lines" ] || install <<<"$lines"
	[ -z "$user" ] || useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin seismo ||
		fail "the user seismo could not be made"
}

case ${1:-} in
build | test | kernels | bench) main "$1" ;;
*) fail "usage: deps.sh build|test|kernels|bench" ;;
esac
