# SPDX-License-Identifier: Apache-2.0
# Embeds schema/sql: tables of struct migration and of struct schema_file, see collector/db/migrate.h.
MIGRATIONS := $(sort $(wildcard schema/sql/[0-9][0-9][0-9]_*)) # each is a file, or a folder of files that run together
SCHEMA_FILES := $(sort $(wildcard schema/sql/api/*.sql)) $(sort $(wildcard schema/sql/functions/*.sql))
COLL += $O/collector/db/migrations.o

# The folders are prerequisites because a file that is removed changes nothing else.
$O/collector/db/migrations.S: $(MIGRATIONS) $(wildcard schema/sql/*/*.sql) schema/sql schema/sql/api schema/sql/functions collector/db/migrations.mk
	@mkdir -p $(@D)
	$(Q){ printf '\t.section .data.rel.ro,"aw"\n\t.balign 8\n\t.globl migration_table, schema_file_table\nmigration_table:\n'; \
	for m in $(MIGRATIONS); do n=$${m##*/}; n=$${n%.sql}; i=$${n%%_*}; files=$$m; [ -f $$m ] || files=$$(ls $$m/*.sql); \
		printf '\t.section .rodata\nname%s:\t.asciz "%s"\ntext%s:\n' $$i $$n $$i; \
		printf '\t.incbin "%s"\n' $$files; \
		printf '\t.byte 0\n\t.section .data.rel.ro,"aw"\n\t.dc.a %s, name%s, text%s\n' $$(echo $$i | sed 's/^0*//') $$i $$i; \
	done; \
	printf '\t.dc.a 0, 0, 0\nschema_file_table:\n'; i=0; \
	for f in $(SCHEMA_FILES); do i=$$((i + 1)); hash=$$(sha256sum <$$f) || exit; \
		printf '\t.section .rodata\nfile%s:\t.asciz "%s"\nhash%s:\t.asciz "%s"\nbody%s:\t.incbin "%s"\n\t.byte 0\n' \
			$$i $${f#schema/sql/} $$i $${hash%% *} $$i $$f; \
		printf '\t.section .data.rel.ro,"aw"\n\t.dc.a file%s, hash%s, body%s\n' $$i $$i $$i; \
	done; \
	printf '\t.dc.a 0, 0, 0\n\t.section .note.GNU-stack,"",%%progbits\n'; } >$@.new && mv $@.new $@
$O/collector/db/migrations.o: $(wildcard schema/sql/*.sql schema/sql/*/*.sql)
