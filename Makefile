# SPDX-License-Identifier: Apache-2.0
# The whole build: `make help` lists what it can do. Paths are relative, so the checkout may lie anywhere.

CC      ?= gcc
CLANG   ?= clang
STRIP   ?= llvm-strip
BPFTOOL ?= $(or $(shell command -v bpftool 2>/dev/null),/usr/sbin/bpftool)
ifeq ($(origin CC),default)
CC      := gcc
endif

comma := ,
SAN   ?=
B     := build$(if $(SAN),-san-$(subst $(comma),-,$(SAN)))
O     := $B/obj
# The kernel programs are the same in every build.
K     := build/obj/bpf
ARCH  := $(shell uname -m)

# Where `make run` keeps its data and listens; deploy/dev/stack.sh has the defaults.
export VAR WEB BIND NODE T PROBE_FLAGS KEEPER DATA MIN

MSGPACK := $(shell pkg-config --exists msgpack 2>/dev/null && echo msgpack || echo msgpack-c)
PKGS    := libbpf libelf zlib libzmq libseccomp libmnl $(MSGPACK) libpq libmicrohttpd inih
pkg      = $(shell pkg-config $(1) 2>/dev/null)
CFLAGS_PKGS := $(call pkg,--cflags $(PKGS))
LIBS_PROBE := $(call pkg,--libs libbpf libelf zlib libzmq libseccomp libmnl $(MSGPACK) inih) -lm
LIBS_COLL  := $(call pkg,--libs libzmq $(MSGPACK) libpq libmicrohttpd inih) -lm

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual \
	-Wwrite-strings -Wvla -Wformat=2 -Wundef -Wconversion -Wno-sign-conversion $(if $(WERROR),-Werror)
HARD := -fno-common -fstack-protector-strong -fPIE
OPT  ?= $(if $(filter thread%,$(SAN)),-O0,$(if $(filter address%,$(SAN)),-O1,-O2))
CFLAGS  += $(OPT) -g -std=gnu17 $(WARN) $(HARD)
CPPFLAGS += -iquote . -D_GNU_SOURCE -isystem build/obj -isystem $K $(CFLAGS_PKGS)
LDFLAGS += -pie -Wl,-z,relro,-z,now -Wl,--as-needed -pthread
ifneq ($(SAN),)
CFLAGS  += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
# A sanitized program is linked for one run, some eighty of them: lld takes a third of the time of ld.
LDFLAGS += -fsanitize=$(subst fuzzer-no-link$(comma),,$(SAN)) $(if $(shell command -v ld.lld 2>/dev/null),-fuse-ld=lld)
else
CPPFLAGS += -D_FORTIFY_SOURCE=2
endif

ifneq ($(V),1)
Q := @
say = @printf '  %-6s %s\n' $(1) $(2);
endif

LIB   := $(patsubst %.c,$O/%.o,$(sort $(shell find lib -name '*.c')))
PROBE := $(patsubst %.c,$O/%.o,$(sort $(shell find probe -name '*.c')))
COLL  := $(patsubst %.c,$O/%.o,$(sort $(shell find collector -name '*.c')))
REPLAY := $(patsubst %.c,$O/%.o,$(wildcard replay/*.c))
SKEL  := $(patsubst bpf/%.bpf.c,$K/%.skel.h,$(filter-out bpf/examples/%,$(sort $(shell find bpf -name '*.bpf.c'))))
EXAMPLES := $(patsubst bpf/examples/%.bpf.c,$B/programs/%.bpf.o,$(wildcard bpf/examples/*.bpf.c))
FAKE  := $(patsubst %.c,$O/%.o,$(wildcard tests/fake/*.c))
UNIT_C := $(sort $(shell find tests/unit -name 'test_*.c'))
UNIT  := $(patsubst %.c,$B/test/%,$(notdir $(UNIT_C)))
TOOLS := $(patsubst tests/tools/%.c,$B/tools/%,$(wildcard tests/tools/*.c))
FUZZ  := $(patsubst tests/fuzz/%.c,$B/fuzz/%,$(wildcard tests/fuzz/*.c))
FLEET := $(patsubst %.c,$O/%.o,$(wildcard tests/fleet/*.c))
FAULT := $(patsubst %.c,$O/%.o,$(filter-out %.bpf.c,$(wildcard tests/fault/tools/*.c)))

all: $B/seismo-probe $B/seismo-collector $B/seismo-replay $(EXAMPLES)

# What the collector embeds: each .mk makes $O/collector/X.S with .incbin and adds X.o to COLL.
-include $(wildcard collector/*/*.mk)

$B/seismo-probe: $(PROBE) $O/lib.a
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_PROBE)
$B/seismo-collector: $(COLL) $O/lib.a
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_COLL)

# Its clock.o comes before that of lib.
$B/seismo-replay: $(REPLAY) $O/probe.a $O/lib.a
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_PROBE)

# Under ThreadSanitizer only what its tests take is made, which is a fifth of all; the maps of their plain links say what that is.
ifeq ($(SAN),thread)
TAKEN := $(shell sed -nE 's|^build/obj/([a-z]+)\.a\(([^()]+\.o)\).*|\1/\2|p' build/test/*.map 2>/dev/null | sort -u)
taken  = $(if $(TAKEN),$(foreach o,$2,$(if $(filter $1/$(notdir $o),$(TAKEN)),$o)),$2)
LIB   := $(call taken,lib,$(LIB))
PROBE := $(call taken,probe,$(PROBE))
COLL  := $(call taken,collector,$(COLL))
endif

# Archives, so that a test takes only what it names, and a fake before them stands in for the real one.
$O/lib.a: $(LIB)
$O/probe.a: $(filter-out %/main.o,$(PROBE))
$O/collector.a: $(filter-out %/main.o,$(COLL))
$O/%.a:
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(foreach c,$(UNIT_C),$(eval $B/test/$(basename $(notdir $c)): $O/$(c:.c=.o)))
$(UNIT): $O/tests/lib/test.o $(FAKE) $O/probe.a $O/collector.a $O/lib.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) $(if $(MAP),-Wl$(comma)-Map=$@.map) -o $@ $(filter $O/tests/unit/%,$^) $(filter-out $O/tests/unit/%,$^) $(LIBS_PROBE) $(LIBS_COLL)
$B/tools/%: $O/tests/tools/%.o $O/lib.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_PROBE) $(LIBS_COLL)
$B/tools/reads $B/tools/alone $B/tools/byhand: $B/tools/%: $O/tests/tools/%.o $O/probe.a $O/lib.a
$B/chaos/node: $O/tests/chaos/node.o $O/probe.a $O/lib.a
$B/tools/reads $B/tools/alone $B/tools/byhand $B/chaos/node:
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_PROBE)
$B/fuzz/%: $O/tests/fuzz/%.o $O/probe.a $O/collector.a $O/lib.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS_PROBE) $(LIBS_COLL)

# The message reader of the kernel programs, natively, without libbpf's headers.
$O/tests/messages/follow.o: private CPPFLAGS := -iquote tests/messages/shim -Itests/messages/shim $(CPPFLAGS)
$O/tests/messages/follow.o: private WARN := -w
$B/test/test_messages: $O/tests/messages/follow.o $O/tests/messages/generate.o

# What `make faults` injects with.
$B/fault/server: $(addprefix $O/tests/fault/tools/,server.o act.o account.o)
$B/fault/faulthog: $O/tests/fault/tools/faulthog.o
$B/fault/drop: $O/tests/fault/tools/drop.o
$B/fault/server $B/fault/faulthog $B/fault/drop:
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_PROBE)
$B/fault/drop.bpf.o: tests/fault/tools/drop.bpf.c $O/flags
	@mkdir -p $(@D) $O/tests/fault/tools
	$(call say,BPF,$<)$(CLANG) -O2 -g -target bpf -mcpu=v3 -iquote . -Wall -Wextra -I/usr/include/$(ARCH)-linux-gnu -MD -MP -MF $O/tests/fault/tools/drop.bpf.d -MT $@ -c -o $@ $<

# What `make fleet` runs in its hosts.
$B/fleet/%: $O/tests/fleet/%.o
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_COLL)

# The names of system calls, by number.
$K/call_names.h: $K/flags
	$(Q)echo '#include <asm/unistd.h>' | $(CC) -E -dM - | sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/[__NR_\1] = "\1",/p' | \
		grep -v '__NR_\(syscalls\|arch_specific_syscall\)\]' | sort > $@

# -MD and not -MMD: the skeletons are found by -isystem and must count.
$O/%.o: %.c $O/flags | $(SKEL) $K/call_names.h
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) -MD -MP -c -o $@ $<
$O/%.o: $O/%.S $O/flags
	$(call say,AS,$<)$(CC) -MD -MP -c -o $@ $<
$O/tests/%.o: private WARN += -Wno-conversion
# What only asks need not be fast, and to make it so takes two thirds of what compiling it does.
$(if $(SAN),$O/tests/%.o: private OPT = -O0)
$(if $(SAN),,$O/tests/unit/%.o $O/tests/fuzz/%.o: private OPT = -O1)

# The names of the sources are changed on the way, so that clang does not find the text of each line: in the objects it is a
# third of all bytes, of which the probe, libbpf and the kernel keep copies. Nobody reads the relocations of debug information.
# Only of the sources there are: the .d of an object that is no more names a source that is no more.
$(SKEL:.skel.h=.bpf.o): $K/%.bpf.o: bpf/%.bpf.c $K/flags
	@mkdir -p $(@D)
	$(call say,BPF,$<)$(CLANG) -O2 -g -target bpf -mcpu=v3 -iquote . -D__TARGET_ARCH_$(if $(filter aarch64,$(ARCH)),arm64,x86) \
		-I/usr/include/$(ARCH)-linux-gnu -MD -MP -MF $(@:.o=.d) -MT $@ -E $< | sed 's|^\(# [0-9]* "\)|\1:|' > $(@:.o=.i)
	$(Q)$(CLANG) -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Wno-unused-parameter -x cpp-output -c -o $@ $(@:.o=.i)
	$(Q)$(STRIP) -g -R .rel.BTF -R .rel.BTF.ext $@
# Example programs for operators, built by the command in docs/custom-programs.md.
$(EXAMPLES): $B/programs/%.bpf.o: bpf/examples/%.bpf.c bpf/examples/%.conf $O/flags
	@mkdir -p $(@D) $O/bpf/examples
	$(call say,BPF,$<)$(CLANG) -O2 -g -target bpf -mcpu=v3 -iquote . -Wall -Wextra -Wno-unused-parameter -D__TARGET_ARCH_$(if $(filter aarch64,$(ARCH)),arm64,x86) \
		-I/usr/include/$(ARCH)-linux-gnu -MD -MP -MF $O/bpf/examples/$*.d -MT $@ -c -o $@ $<
	$(Q)$(STRIP) -g $@ && install -m 644 bpf/examples/$*.conf $(@D)/
$(SKEL): $K/%.skel.h: $K/%.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< > $@

# Everything is made again when the compiler or a flag changes (but -Werror, which changes nothing that is made); a
# missing tool is told once, in a sentence.
FLAGS := $(CC) $(CPPFLAGS) $(filter-out -Werror,$(CFLAGS)) $(LDFLAGS)
$O/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || { CC='$(CC)' CLANG='$(CLANG)' STRIP='$(STRIP)' BPFTOOL='$(BPFTOOL)' \
		deploy/dev/need.sh $(PKGS) && echo '$(FLAGS)' > $@; }
KFLAGS := $(CLANG) $(STRIP) $(BPFTOOL) $(ARCH) without-line-texts
$K/flags: FORCE | $O/flags
	@mkdir -p $(@D)
	@echo '$(KFLAGS)' | cmp -s - $@ || echo '$(KFLAGS)' > $@

deps:
	@deploy/dev/deps.sh build
run:
	@deploy/dev/deps.sh build
	@deploy/dev/stack.sh check
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@B=$B deploy/dev/stack.sh start
stop status:
	@B=$B deploy/dev/stack.sh $@
collector:
	@B=$B deploy/dev/stack.sh collector $(ARGS)

row: $B/tools/server $B/tools/load
	@B=$B deploy/dev/row.sh
demo: $B/tools/server $B/tools/load
	@B=$B deploy/dev/demo.sh
unit: $(UNIT)
tools: $(TOOLS) $B/chaos/node $B/fault/server $B/fault/faulthog $B/fault/drop $B/fault/drop.bpf.o
fuzzers: $(FUZZ)
objects: $(LIB) $(PROBE) $(COLL) $(REPLAY) $(UNIT_C:%.c=$O/%.o) $(FUZZ:$B/fuzz/%=$O/tests/fuzz/%.o) $(TOOLS:$B/%=$O/tests/%.o) \
	$O/tests/lib/test.o $O/tests/chaos/node.o $(FAKE) $(FAULT) $(FLEET)
test:
	@tests/run.sh $(ONLY)
check:
	@tests/run.sh unit lint
test-kernels:
	@tests/kernels/run.sh $(ONLY)
lint:
	@tests/lint/all.sh
zoo: all tools
	@B=$B LONG=1 bash tests/it/zoo/zoo.sh $(ONLY)
messages: $B/test/test_messages
	@MESSAGES_COUNT=$(or $(COUNT),1000000) MESSAGES_SEED=$(or $(SEED),1) $<
# What runs under ASan, UBSan and the fuzzers is made once, by clang; `objects` is all that there is to warn of.
clang-%:
	@$(MAKE) --no-print-directory CC=$(CLANG) SAN=fuzzer-no-link$(comma)address$(comma)undefined B=build-clang $*
fuzz: clang-fuzzers
	@tests/fuzz.sh build-clang/fuzz $(or $(T),60)
bench: all tools
	@for b in tests/bench/*.sh; do B=$B "$$b" || exit 1; done
bench-io: all tools
	@B=$B tests/bench/io/run.sh
chaos: all tools
	@B=$B tests/chaos/run.sh
bench-incidents: all
	@B=$B tests/incidents/run.sh
fault-tools: $B/fault/server $B/fault/faulthog $B/fault/drop $B/fault/drop.bpf.o
faults: all fault-tools
	@B=$B tests/fault/run.sh
fleet: all tools fault-tools $(FLEET:$O/tests/%.o=$B/%)
	@B=$B tests/fleet/run.sh
# Everything that is generated and committed.
docs: all
	@B=$B docs/gen/options.sh
	@docs/gen/diagnoses.py
	@docs/gen/rooms.py
	@tests/lint/strings.py
fmt:
	clang-format -i $$(find lib probe collector replay bpf tests -name '*.[ch]')

PREFIX ?= /usr
install: all
	install -D -m 755 $B/seismo-probe "$(DESTDIR)$(PREFIX)/sbin/seismo-probe"
	install -D -m 755 $B/seismo-collector "$(DESTDIR)$(PREFIX)/sbin/seismo-collector"
	install -D -m 755 $B/seismo-replay "$(DESTDIR)$(PREFIX)/bin/seismo-replay"
	for m in $(wildcard docs/man/*); do \
		install -D -m 644 $$m "$(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/}" || exit 1; \
	done
	for u in probe collector; do \
		install -D -m 644 deploy/conf/$$u.conf "$(DESTDIR)/etc/seismo/$$u.conf" && \
		install -d "$(DESTDIR)$(PREFIX)/lib/systemd/system" && \
		sed 's|@PREFIX@|$(PREFIX)|' deploy/systemd/seismo-$$u.service > "$(DESTDIR)$(PREFIX)/lib/systemd/system/seismo-$$u.service" || exit 1; \
	done
	install -D -m 644 deploy/firewall/seismo-collector.nft "$(DESTDIR)/etc/seismo/seismo-collector.nft"
	install -d "$(DESTDIR)$(PREFIX)/lib/seismo/programs"
	install -m 644 $(EXAMPLES) $(wildcard bpf/examples/*) "$(DESTDIR)$(PREFIX)/lib/seismo/programs/"
	install -m 644 docs/custom-programs.md "$(DESTDIR)$(PREFIX)/lib/seismo/programs/README.md"
	install -D -m 644 docs/reference/wire.md "$(DESTDIR)$(PREFIX)/share/doc/seismo/wire.md"

clean:
	rm -rf build build-*

help:
	@deploy/dev/help.sh

.PHONY: all messages zoo deps run stop status collector row demo unit tools fuzzers objects test check test-kernels lint fuzz bench bench-io bench-incidents chaos faults fault-tools fleet docs fmt install clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $O -name '*.d' 2>/dev/null)
