# SPDX-License-Identifier: Apache-2.0
# Embeds schema/NNN_*.sql: a table of struct migration, see collector/db/migrate.h.
MIGRATIONS := $(sort $(wildcard schema/[0-9][0-9][0-9]_*.sql))
COLL += $O/collector/db/migrations.o

$O/collector/db/migrations.S: $(MIGRATIONS) collector/db/migrations.mk
	@mkdir -p $(@D)
	$(Q)for f in $(MIGRATIONS); do n=$${f##*/}; i=$${n%%_*}; \
		printf '\t.section .rodata\nname%s:\t.asciz "%s"\ntext%s:\t.incbin "%s"\n\t.byte 0\n' $$i $$n $$i $$f; \
		printf '\t.section .data.rel.ro,"aw"\n\t.dc.a %s, name%s, text%s\n' $$(echo $$i | sed 's/^0*//') $$i $$i; \
	done > $@.new && \
	{ printf '\t.section .data.rel.ro,"aw"\n\t.balign 8\n\t.globl migration_table\nmigration_table:\n' && cat $@.new && \
	  printf '\t.section .data.rel.ro,"aw"\n\t.dc.a 0, 0, 0\n\t.section .note.GNU-stack,"",%%progbits\n'; } > $@ && rm $@.new
$O/collector/db/migrations.o: $(MIGRATIONS)
