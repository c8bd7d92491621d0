# SPDX-License-Identifier: Apache-2.0
# hosts_rig.sh - for tests of several hosts: network namespaces $ns-NAME and cgroups $top/hN, which are gone when the test
# ends, with what is in pids and an nginx of $dir/nginx.pid. Needs ingest_rig.sh, $ns, $top, and $hosts: the names.

pids=()

on_exit() {
	local i n
	kill "${pids[@]}"
	[ ! -f "$dir/nginx.pid" ] || kill "$(cat "$dir/nginx.pid")"
	wait "${pids[@]}"
	for n in $hosts; do
		ip netns delete "$ns-$n"
	done
	for ((i = 0; i < 100; i++)); do # a cgroup that had tasks just now is busy for a moment
		rmdir "$top"/h* "$top"
		[ -d "$top" ] || break
		sleep 0.1
	done
	clear_away
} 2>/dev/null
trap on_exit EXIT

there() { # N COMMAND...: becomes that
	echo "$BASHPID" >"$top/h$1/cgroup.procs" && exec ip netns exec "$ns-h$1" "${@:2}"
}
