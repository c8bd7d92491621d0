// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tests/lib/test.h"

enum { BASE = 0x401000, CODE_AT = 0x1000, CODE = 0x2000 };

/* A generated file that can contain any error. */
static struct small {
	Elf64_Ehdr h;
	Elf64_Phdr ph[2];
	Elf64_Shdr sh[5]; /* none, dynsym, dynstr, symtab, strtab */
	struct {
		Elf64_Nhdr h;
		char name[4];
		uint8_t id[20];
	} note;
	Elf64_Sym dynamic[1], all[4];
	char names[64];
	uint8_t rest[CODE_AT + CODE];
} s;

static const char names[] = "\0first\0second\0public\0bad\033name";

static Elf64_Sym function(uint32_t name, uint64_t at, uint64_t size)
{
	return (Elf64_Sym){ .st_name = name,
			    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			    .st_shndx = 1,
			    .st_value = at,
			    .st_size = size };
}

static Elf64_Shdr section(uint32_t type, uint32_t link, size_t at, size_t size, size_t one)
{
	return (Elf64_Shdr){ .sh_type = type,
			     .sh_link = link,
			     .sh_offset = at,
			     .sh_size = size,
			     .sh_entsize = one };
}

static void make(void)
{
	s = (struct small){
		.h = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
		       .e_phoff = offsetof(struct small, ph),
		       .e_phentsize = sizeof(Elf64_Phdr),
		       .e_phnum = 2,
		       .e_shoff = offsetof(struct small, sh),
		       .e_shentsize = sizeof(Elf64_Shdr),
		       .e_shnum = 5 },
		.ph = { { PT_LOAD, PF_R | PF_X, CODE_AT, BASE, BASE, CODE, CODE, 0x1000 },
			{ .p_type = PT_NOTE,
			  .p_offset = offsetof(struct small, note),
			  .p_filesz = sizeof(s.note) } },
		.sh = { { 0 },
			section(SHT_DYNSYM, 2, offsetof(struct small, dynamic), sizeof(s.dynamic),
				sizeof(Elf64_Sym)),
			section(SHT_STRTAB, 0, offsetof(struct small, names), sizeof(s.names), 0),
			section(SHT_SYMTAB, 4, offsetof(struct small, all), sizeof(s.all),
				sizeof(Elf64_Sym)),
			section(SHT_STRTAB, 0, offsetof(struct small, names), sizeof(s.names), 0) },
		.note = { { 4, 20, NT_GNU_BUILD_ID }, "GNU", { 0xeb, 0xea, 0x12 } },
		.dynamic = { function(14, BASE, 0x80) },
		.all = { function(7, BASE + 0x200, 0x100),
			 function(1, BASE + 0x100, 0x40),
			 { .st_name = 1, .st_value = BASE, .st_size = 0x1000 }, /* no function */
			 function(21, BASE + 0x400, 0x10) },
	};
	memcpy(s.names, names, sizeof(names));
}

static int file_of(const void *data, size_t len)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	CHECK_EQ(write(fd, data, len), len);
	return fd;
}

static const struct symbol_lookup *look_up(uint64_t offset, bool *code)
{
	AUTO_CLOSE int fd = file_of(&s, sizeof(s));
	static struct symbol_lookup a;
	struct elf_file e;

	a = (struct symbol_lookup){ 0 };
	*code = false;
	if (elf_file_open(&e, fd) < 0)
		return &a;
	*code = elf_file_lookup(&e, offset, &a);
	while (*code && !elf_file_step(&e, &a, 1, 1))
		;
	return &a;
}

static const char *name_at(uint64_t offset)
{
	bool code;
	const struct symbol_lookup *a = look_up(offset, &code);

	return a->found ? a->name : code ? "nothing" : "no code";
}

TEST(an_address_has_the_name_of_the_function_that_it_lies_in)
{
	make();
	CHECK_STR(name_at(CODE_AT + 0x100), "first");
	CHECK_STR(name_at(CODE_AT + 0x13f), "first");
	CHECK_STR(name_at(CODE_AT + 0x200), "second");
	CHECK_STR(name_at(CODE_AT + 0x2ff), "second");
}

TEST(between_two_functions_there_is_no_name_but_their_bounds)
{
	const struct symbol_lookup *a;
	bool code;

	make();
	a = look_up(CODE_AT + 0x150, &code);
	CHECK(code && !a->found);
	CHECK_EQ(a->start, BASE + 0x140);
	CHECK_EQ(a->end, BASE + 0x200);
	a = look_up(CODE_AT + 0x1fff, &code);
	CHECK_EQ(a->start, BASE + 0x410);
	CHECK_EQ(a->end, BASE + CODE);
	CHECK_STR(name_at(CODE_AT - 1), "no code");
	CHECK_STR(name_at(CODE_AT + CODE), "no code");
}

TEST(a_file_without_a_symbol_table_has_those_of_its_dynamic_linker)
{
	make();
	CHECK_STR(name_at(CODE_AT + 0x10), "nothing");
	s.sh[3].sh_type = SHT_NULL;
	CHECK_STR(name_at(CODE_AT + 0x10), "public");
	CHECK_STR(name_at(CODE_AT + 0x100), "nothing");
	s.h.e_shnum = 0;
	CHECK_STR(name_at(CODE_AT + 0x10), "nothing");
}

TEST(of_functions_in_one_another_the_inner_one_is_named)
{
	make();
	s.all[2] = function(7, BASE + 0x80, 0x800);
	CHECK_STR(name_at(CODE_AT + 0x110), "first");
	s.all[2] = s.all[1];
	s.all[1] = function(7, BASE + 0x80, 0x800);
	CHECK_STR(name_at(CODE_AT + 0x110), "first");
	CHECK_STR(name_at(CODE_AT + 0x150), "second");
}

TEST(a_name_that_is_no_text_is_made_one_and_one_that_is_nowhere_is_none)
{
	make();
	CHECK_STR(name_at(CODE_AT + 0x400), "bad\\x1bname");
	s.all[3].st_name = UINT32_MAX;
	CHECK_STR(name_at(CODE_AT + 0x400), "nothing");
	s.all[3].st_name = 0;
	CHECK_STR(name_at(CODE_AT + 0x400), "nothing");
	s.all[3].st_name = 1;
	s.sh[4].sh_offset = UINT64_MAX - 1;
	CHECK_STR(name_at(CODE_AT + 0x400), "nothing");
}

static bool has_id(uint8_t first)
{
	AUTO_CLOSE int fd = file_of(&s, sizeof(s));
	struct elf_file e;

	return elf_file_open(&e, fd) == 0 && e.build_id[0] == first;
}

TEST(the_build_id_is_read_from_a_note_and_from_nothing_else)
{
	make();
	CHECK(has_id(0xeb));
	s.note.h.n_type = 1;
	CHECK(has_id(0));
	make();
	s.note.h.n_descsz = UINT32_MAX;
	CHECK(has_id(0));
	make();
	s.note.h.n_namesz = UINT32_MAX;
	CHECK(has_id(0));
	make();
	s.ph[1].p_offset = UINT64_MAX - 8;
	CHECK(has_id(0));
	make();
	s.ph[1].p_filesz = 24;
	CHECK(has_id(0));
}

static int open_it(size_t len)
{
	AUTO_CLOSE int fd = file_of(&s, len);
	struct elf_file e;

	return elf_file_open(&e, fd);
}

TEST(other_files_than_64_bit_elf_are_refused)
{
	make();
	CHECK_EQ(open_it(sizeof(s)), 0);
	CHECK_EQ(open_it(sizeof(s.h) - 1), -ENOEXEC);
	CHECK_EQ(open_it(0), -ENOEXEC);
	s.h.e_ident[EI_CLASS] = ELFCLASS32;
	CHECK_EQ(open_it(sizeof(s)), -ENOEXEC);
	make();
	s.h.e_phoff = UINT64_MAX - 3;
	CHECK_EQ(open_it(sizeof(s)), -ENOEXEC);
	make();
	s.h.e_ident[0] = 'X';
	CHECK_EQ(open_it(sizeof(s)), -ENOEXEC);
}

TEST(tables_that_lie_name_nothing_and_break_nothing)
{
	make();
	s.sh[3].sh_size = UINT64_MAX;
	s.sh[1].sh_offset = UINT64_MAX - 5;
	CHECK_STR(name_at(CODE_AT + 0x100), "nothing");
	make();
	s.sh[3].sh_link = UINT32_MAX;
	s.sh[1].sh_entsize = 1;
	CHECK_STR(name_at(CODE_AT + 0x100), "nothing");
	make();
	s.h.e_shoff = UINT64_MAX - 8;
	CHECK_STR(name_at(CODE_AT + 0x100), "nothing");
	make();
	s.all[0] = function(7, BASE + 0x120, UINT64_MAX);
	CHECK_STR(name_at(CODE_AT + 0x130), "second");
	CHECK_STR(name_at(CODE_AT + 0x119), "first");
	s.ph[0].p_filesz = UINT64_MAX;
	CHECK_STR(name_at(CODE_AT + 0x100), "no code");
}

TEST(a_file_that_is_cut_while_it_is_read_ends_there)
{
	AUTO_CLOSE int fd = -1;
	struct symbol_lookup a;
	struct elf_file e;

	make();
	fd = file_of(&s, sizeof(s));
	CHECK_EQ(elf_file_open(&e, fd), 0);
	CHECK(elf_file_lookup(&e, CODE_AT + 0x100, &a));
	CHECK_EQ(ftruncate(fd, 100), 0);
	CHECK_EQ(elf_file_step(&e, &a, 1, 1 << 20), -ENODATA);
	CHECK(!a.found);
}

TEST(a_file_made_by_a_linker_names_its_own_functions)
{
	AUTO_CLOSE int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	static const uint8_t none[ELF_FILE_ID];
	uint64_t at = (uint64_t)(uintptr_t)make, start, end, from;
	struct symbol_lookup a = { 0 };
	FILE *maps = fopen("/proc/self/maps", "re");
	struct elf_file e;
	char line[512], mode[5];

	CHECK_EQ(elf_file_open(&e, fd), 0);
	CHECK(memcmp(e.build_id, none, sizeof(none)) != 0);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %4s %lx", &start, &end, mode, &from) == 4 &&
		    start <= at && at < end)
			CHECK(elf_file_lookup(&e, at - start + from + 4, &a));
	fclose(maps);
	while (!elf_file_step(&e, &a, 1, 4096))
		;
	CHECK(a.found);
	CHECK_STR(a.name, "make");
	CHECK_EQ(a.addr - a.start, 4);
}
