# SPDX-License-Identifier: Apache-2.0
# check.sh - for tests in shell: ok "a sentence that is true" COMMAND..., and at the end done_checking.
checks_passed=0 checks_failed=0

# For a probe whose collector nobody is: --collector-key "$nobodys_key"
nobodys_key='rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7'

checks_said=$(mktemp) && exec {checks_fd}<>"$checks_said" && rm "$checks_said"

ok() { # what a command says is worth reading only if it fails
	if "${@:2}" >"/dev/fd/$checks_fd" 2>&1; then
		checks_passed=$((checks_passed + 1))
	else
		checks_failed=$((checks_failed + 1))
		echo "FAIL $1"
		tail -n 2 "/dev/fd/$checks_fd" | cut -c1-500
	fi
}

# Below the ports that the kernel gives to outgoing connections, and of a run of all tests each port once: nobody takes
# one between here and its use.
free_ports() { # N
	python3 - "$1" "${SEISMO_TEST:-}" <<-END
	import random, socket, sys
	low = int(open("/proc/sys/net/ipv4/ip_local_port_range").read().split()[0])
	held = []
	while len(held) < int(sys.argv[1]):
	    s = socket.socket()
	    port = random.randrange(min(20000, low - 2000), low)
	    try:
	        s.bind(("127.0.0.1", port))
	        if sys.argv[2]: open(f"{sys.argv[2]}.port{port}", "x").close()
	    except OSError:
	        continue
	    held.append(s)
	ports = [s.getsockname()[1] for s in held]
	for s in held: s.close() # before they are printed: the reader binds them at once
	print(*ports, sep="\n")
	END
}

# How long is no promise, as a busy machine takes longer: four times that, if need be, and asked less often as time goes on. What
# it says the last time is worth reading.
await() { # TENTHS COMMAND...: until it is true
	local i pause
	for ((i = 0; i < 4 * $1; i += pause)); do
		"${@:2}" >/dev/null 2>&1 && return
		pause=$((i < 10 ? 1 : i < 40 ? 2 : 5))
		sleep 0.$pause
	done
	"${@:2}"
}

# Whoever was just started there may take its time on a busy machine.
listening() { # PORT...: until each has somebody who listens, for 40 s
	local port until=$((SECONDS + 40))
	for port; do
		until ss -Hltn "sport = :$port" | grep -q .; do
			[ $SECONDS -le $until ] || return 1
			sleep 0.05
		done
	done
}

# A cgroup of the test's own, to be all that the probe watches (--scope "cgroup=$cgroup").
cgroup_make() {
	cgroup=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)/seismo-test.$$
	mkdir "$cgroup" || { echo "0 passed, 1 failed"; exit 1; }
}

cgroup_join() { # the shell that says so
	echo "$BASHPID" >"$cgroup/cgroup.procs"
}

cgroup_gone() {
	local i
	for ((i = 0; i < 50; i++)); do # one that had tasks just now is busy for a moment
		rmdir "$cgroup" 2>/dev/null
		[ -d "$cgroup" ] || return
		sleep 0.1
	done
}

done_checking() {
	echo "$checks_passed passed, $checks_failed failed"
	[ "$checks_failed" -eq 0 ]
	exit
}
