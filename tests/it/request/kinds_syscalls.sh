#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kinds_syscalls.sh - what kinds.sh checks, by the hooks on system calls.
exec "${0%_syscalls.sh}.sh" syscalls
