# SPDX-License-Identifier: Apache-2.0
# Embeds the console's built files in the collector and in the programs of tests/it.

COLL += $O/collector/web/assets.o

$O/collector/web/assets.S: FORCE
	@collector/web/assets.sh $@
$O/collector/web/assets.o: $O/collector/web/assets.S $(wildcard web/dist/*.* web/dist/assets/*)

$B/test/it/%: $O/tests/it/%.o $O/collector.a $O/lib.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_COLL)
