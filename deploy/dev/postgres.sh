# SPDX-License-Identifier: Apache-2.0
# postgres.sh - the private cluster in VAR/pg. PostgreSQL refuses root and its user may not reach VAR,
# so it runs as postgres in a mount namespace of its own, where VAR/pg is seen as RUN/pg.

pg_settings() {
	printf -- '-c\n%s\n' listen_addresses= unix_socket_directories="$RUN/s" unix_socket_permissions=0777 port=5432 \
		hba_file="$RUN/pg/seismo_hba.conf" ident_file="$RUN/pg/seismo_ident.conf" \
		max_connections=40 shared_buffers=64MB work_mem=8MB maintenance_work_mem=64MB wal_buffers=4MB \
		max_wal_size=512MB checkpoint_completion_target=0.9 max_parallel_workers_per_gather=0 \
		timezone=UTC log_timezone=UTC \
		logging_collector=on log_directory="$RUN/log" log_filename=postgresql-%a.log log_truncate_on_rotation=on \
		log_rotation_age=1d log_rotation_size=0 log_min_messages=warning log_min_error_statement=panic
}

pg_rules() {
	cat > "$VAR/$1/seismo_hba.conf" <<-END
	local all postgres peer map=seismo
	local seismo seismo,seismo_web peer map=seismo
	END
	cat > "$VAR/$1/seismo_ident.conf" <<-END
	seismo postgres postgres
	seismo seismo seismo
	seismo seismo seismo_web
	END
	chown postgres:postgres "$VAR/$1"/seismo_*.conf
}

as_postgres() {
	"${DROP[@]}" "$@"
}

DROP=(setpriv --reuid postgres --regid postgres --init-groups --inh-caps=-all --bounding-set=-all --no-new-privs)

# Sets UNSHARE. In a chroot, whose root is no mount, nothing can be made private: mounts may then be seen outside,
# and pg_unmount takes them away.
pg_unshare() {
	UNSHARE=(unshare -m)
	"${UNSHARE[@]}" true 2>/dev/null && return
	UNSHARE=(unshare -m --propagation unchanged)
	"${UNSHARE[@]}" true 2>/dev/null
}

pg_unmount() {
	while umount "$RUN/pg" 2>/dev/null || umount "$RUN/log" 2>/dev/null; do
		:
	done
}

# Sets NS to the words before a command that is to see DATA as RUN/pg. The namespace lives as long as the
# command; nothing is mounted anywhere else.
pg_namespace() { # DATA
	NS=("${UNSHARE[@]}" /bin/sh -c 'mount --bind "$1" "$3/pg" && mount --bind "$2" "$3/log" && cd "$3/pg" && shift 3 && exec "$@"'
		sh "$1" "$VAR/log/postgresql" "$RUN" "${DROP[@]}")
}

# Sets PGBIN to the programs for VAR/pg's own version, or the newest for a cluster yet to be made.
pg_find() {
	local version
	if [ -f "$VAR/pg/PG_VERSION" ]; then
		version=$(cat "$VAR/pg/PG_VERSION")
		PGBIN=/usr/lib/postgresql/$version/bin
		[ -x "$PGBIN/postgres" ] ||
			fail "the data in $VAR/pg is PostgreSQL $version's, which is not installed: install postgresql-$version, or begin anew with make run VAR=dir"
		return
	fi
	PGBIN=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
	[ -x "$PGBIN/initdb" ] || fail "PostgreSQL is not installed: run make deps"
}

pg_make() {
	step INIT "PostgreSQL cluster in $VAR/pg"
	if [ -e "$VAR/pg" ] && ! rmdir "$VAR/pg" 2>/dev/null; then
		mv "$VAR/pg" "$VAR/pg.broken-$(date +%s)" || fail "cannot set the broken $VAR/pg aside"
		echo "Seismo: $VAR/pg was no complete cluster; it is kept beside as pg.broken-*." >&2
	fi
	rm -rf "$VAR/pg.new"
	install -d -o postgres -g postgres -m 700 "$VAR/pg.new"
	pg_namespace "$VAR/pg.new"
	"${NS[@]}" "$PGBIN/initdb" -D "$RUN/pg" -U postgres -A peer -E UTF8 --locale=C.UTF-8 \
		--lc-collate=C >"$VAR/log/postgres.log" 2>&1 ||
		fail "initdb failed, it last said: $(tail -n 1 "$VAR/log/postgres.log"); see $VAR/log/postgres.log"
	mv "$VAR/pg.new" "$VAR/pg"
}

# Every process that works in VAR/pg, whoever started it: the lock in postmaster.pid may name a pid used anew.
pg_workers() {
	local p
	for p in $(pgrep -u postgres); do
		[ "/proc/$p/cwd" -ef "$VAR/pg" ] && echo "$p"
	done
}

pg_clear() {
	local i pids
	for ((i = 0; i < 100; i++)); do
		pids=$(pg_workers)
		[ -n "$pids" ] || break
		[ $i -eq 0 ] && kill -INT $pids 2>/dev/null
		[ $i -eq 50 ] && kill -QUIT $pids 2>/dev/null
		[ $i -eq 90 ] && kill -KILL $pids 2>/dev/null
		sleep 0.1
	done
	pg_unmount
	rm -f "$VAR/pg/postmaster.pid" "$RUN"/s/.s.PGSQL.*
}

pg_start() {
	local pid settings
	pg_find
	mapfile -t settings < <(pg_settings)
	pid=$(part_pid postgres)
	if [ -n "$pid" ]; then
		[ "$(head -n 1 "$VAR/pg/postmaster.pid" 2>/dev/null)" = "$pid" ] && pg_answers &&
			[ "/proc/$pid/exe" -ef "$PGBIN/postgres" ] && cmdline_is "$pid" "$PGBIN/postgres" -D "$RUN/pg" "${settings[@]}" && return
		pg_stop
	fi
	install -d -m 755 "$RUN/pg" "$RUN/log"
	install -d -o postgres -g seismo -m 750 "$RUN/s"
	install -d -o postgres -g postgres -m 700 "$VAR/log/postgresql"
	[ -f "$VAR/pg/PG_VERSION" ] && [ -f "$VAR/pg/global/pg_control" ] || pg_make
	[ "$(stat -c %U "$VAR/pg")" = postgres ] || chown -R postgres:postgres "$VAR/pg"
	chmod 700 "$VAR/pg"
	pg_clear
	pg_rules pg
	step START "PostgreSQL $(cat "$VAR/pg/PG_VERSION")"
	: >"$VAR/log/postgres.log"
	pg_namespace "$VAR/pg"
	launch postgres "$VAR/log/postgres.log" "${NS[@]}" "$PGBIN/postgres" -D "$RUN/pg" "${settings[@]}"
	await postgres 60 pg_answers
	pg_roles
}

pg_ask() { # SQL PSQL_ARG...
	as_postgres "$PGBIN/psql" -h "$RUN/s" -p 5432 -U postgres -X -q -A -t -d "${PGDATABASE:-seismo}" "${@:2}" <<<"$1" 2>/dev/null
}

pg_answers() {
	[ "$(PGDATABASE=postgres pg_ask 'select 1')" = 1 ]
}

pg_roles() {
	local sql="select format('create role %I login', r) from unnest(array['seismo', 'seismo_web']) r
		where not exists (select from pg_roles where rolname = r)
	union all select 'create database seismo owner seismo'
		where not exists (select from pg_database where datname = 'seismo')"
	PGDATABASE=postgres pg_ask "$sql \\gexec
		revoke all on database seismo from public;
		grant connect on database seismo to seismo_web;" -v ON_ERROR_STOP=1 ||
		fail "the roles and the database could not be made; see $VAR/log/postgresql"
	pg_ask 'revoke execute on function lo_create(oid), lo_creat(int), lo_from_bytea(oid, bytea) from public' ||
		fail "the right to make large objects could not be revoked; see $VAR/log/postgresql"
}

pg_stop() {
	part_stop postgres 30 INT
	pg_clear
}
