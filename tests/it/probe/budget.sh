#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# budget.sh - kernel programs that cost more than they may look at a part of what happens: an event says so, what they count
# is still right within the error that is stated, and they cost less. That they look at all again later is in virtual time, in
# tests/unit/probe/overhead/test_source_throttle.c, as here it goes by what else the machine does.
set -u
cd "$(dirname "$0")/../../.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unshare -m bash -c 'mount -t tmpfs none "$2" && PYTHONDONTWRITEBYTECODE=1 exec python3 tests/it/probe/budget.py "$@"' bash "${B:-build}/tools/reads" "$tmp"
