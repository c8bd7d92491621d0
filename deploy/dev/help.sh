#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
cat <<'END'
make              probe and collector, into build/
make run          install what is needed, build, start PostgreSQL, collector and probe, print the console's address
                  VAR=dir (var)  WEB=host:port (127.0.0.1:8080)  BIND=tcp://host:port (tcp://127.0.0.1:7470)  NODE=name
                  a keeper starts again what ends by itself; KEEPER=off leaves it out
make stop         stop what `make run` with the same VAR started; the data stays
make status       what runs, and where
make collector    a command of the collector that runs: ARGS="node list", ARGS="key", ...
make row          one request that fails, so that the console has a row
make demo         nginx before two servers in namespaces, one fault after the other: every kind of row in a minute
make deps         only install what building and running need (Debian packages, as root)
make check        build, unit tests and lint: before every commit
make test         everything that can be checked here, in about twenty minutes; the last line counts. ONLY="unit it/nginx
                  request" runs only these: unit, it, web, lint, fuzz, a folder of tests/it or one of its suites
make test-kernels the probe on other distributions' kernels, under QEMU: 5.10 to the newest, about three minutes each
make chaos        everything is killed at random: is anything lost or doubled? SEED=1 KILLS=200 BATCHES=500000 COLLECTORS=1
make faults       sixteen causes of slowness into four servers: is each found, named and measured? CELLS="node/*" only these
make fleet        ten hosts in three regions, one fault after the other: one incident, whose, how soon? KIND="app cpu edge disk
                  shared pg region" RUNS=2 QUIET=20 HOLD=45 (seconds) HOURS=0.1 without a fault before; 40 minutes
make bench-incidents  recorded faults through seismo-replay: is the right host named first? DATA=dir MIN=first,three
make bench-io     the figures of I/O beside fio, the disk and libbpf-tools, and what each source costs; 30 minutes, SHORT=1 tries it
make lint         layering, dead exports, sizes, warnings of both compilers
make fuzz T=60    T seconds of each fuzzer          make bench   figures, see tests/bench
make docs         configuration.md, manual pages, sample configuration and diagnoses.md, from their tables
make fmt          clang-format, in place            make clean   remove build*/
make install      DESTDIR= PREFIX=/usr: programs, manual pages, systemd units, sample configuration
Variables         V=1 show commands   CC=clang   SAN=address,undefined or SAN=thread (own build directory)
END
