#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# truth.sh - every metric of schema/def/metrics.def against its truth in /proc or /sys, and of what has none, who proves it.
# In a network namespace of its own, so that what its counters say is moved by nobody else, and a /sys that shows it.
set -u
cd "$(dirname "$0")/../../.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/sys"
unshare -n -m bash -c 'mount -t sysfs none "$2/sys" && PYTHONDONTWRITEBYTECODE=1 exec python3 tests/it/truth/truth.py "$1" "$2"' bash "${B:-build}/tools/reads" "$tmp"
