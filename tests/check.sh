# SPDX-License-Identifier: Apache-2.0
# check.sh - for tests in shell: ok "a sentence that is true" COMMAND..., and at the end done_checking.
checks_passed=0 checks_failed=0

ok() {
	if "${@:2}" >/dev/null 2>&1; then
		checks_passed=$((checks_passed + 1))
	else
		checks_failed=$((checks_failed + 1))
		echo "FAIL $1"
	fi
}

free_ports() { # N
	python3 - "$1" <<-END
	import socket, sys
	s = [socket.socket() for _ in range(int(sys.argv[1]))]
	for x in s: x.bind(("127.0.0.1", 0)); print(x.getsockname()[1])
	END
}

done_checking() {
	echo "$checks_passed passed, $checks_failed failed"
	[ "$checks_failed" -eq 0 ]
	exit
}
