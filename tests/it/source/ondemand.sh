#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ondemand.sh - the sources that are measured only on demand: calls on files are those that strace counts, by mount and
# cgroup. And of a source that always runs: reads from the page cache are counted apart from reads from the disk.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
tmp=$(mktemp -d) || exit 1
cgroup_make
trap 'cgroup_gone; rm -rf "$tmp"' EXIT
mkdir "$tmp/mnt"
unshare -m bash -c 'mount -t tmpfs none "$2/mnt" && PYTHONDONTWRITEBYTECODE=1 exec python3 tests/it/source/ondemand.py "$@"' bash "${B:-build}/tools/reads" "$tmp" "$cgroup"
