#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# drops.sh - packets that the kernel throws away are told by its reason: as many as were sent and did not arrive.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/check.sh
. tests/stack.sh

told() { # REASON: all ticks together
	ask "select coalesce(sum(value), 0)::int from api.series where entity = '$1' and metric = 'skb_drops_total'"
}

told_at_least() { # REASON N: others may send to nobody, too
	[ "$(told "$1")" -ge "$2" ] && echo so
}

# 2,000 datagrams to a socket with no room for them, and to one that is not there. Prints how many did not arrive.
send() {
	python3 - <<-END
	import socket
	full, gone, out = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3))
	full.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
	full.bind(("127.0.0.1", 0))
	gone.bind(("127.0.0.1", 0))
	nobody = gone.getsockname()
	gone.close()
	for _ in range(2000):
	    out.sendto(bytes(500), full.getsockname())
	full.setblocking(False)
	arrived = 0
	try:
	    while full.recv(1000):
	        arrived += 1
	except BlockingIOError:
	    pass
	lost = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	for _ in range(2000):
	    lost.sendto(bytes(500), nobody)
	print(2000 - arrived)
	END
}

stack_open
full=$(told SOCKET_RCVBUFF) gone=$(told NO_SOCKET)
dropped=$(send)
ok "a datagram that finds no room ($dropped) is told, each" await_value $((full + dropped)) told SOCKET_RCVBUFF
ok "and there were some" test "$dropped" -gt 1000
ok "so is one that nobody listens for" await_value so told_at_least NO_SOCKET $((gone + 2000))
ok "the API names them" eval 'curl -sf "http://$WEB/api/v1/series?metric=skb_drops_total&entity=SOCKET_RCVBUFF" | grep -q SOCKET_RCVBUFF'
done_checking
