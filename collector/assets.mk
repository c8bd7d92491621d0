# SPDX-License-Identifier: Apache-2.0
# The console's built files become part of the collector, and with them the programs of tests/it.

COLL += $O/collector/assets.o

$O/collector/assets.S: FORCE
	@collector/assets.sh $@
$O/collector/assets.o: $O/collector/assets.S $(wildcard web/dist/*.* web/dist/assets/*)

$B/test/it/%: $O/tests/it/%.o $O/collector.a $O/lib.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_COLL)
