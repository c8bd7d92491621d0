// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/elf_file.h"

#include <elf.h>
#include <sys/stat.h>

#include "lib/base/text.h"
#include "probe/symbol/user/demangle.h"

enum {
	SYMBOLS = 512, /* per read */
	PHDRS = 64,
	SECTIONS = 64, /* per read */
	NOTES = 4096, /* bytes read of a segment of notes */
	MANGLED_NAME = 1023, /* bytes read of a symbol's name */
};

/* Reads all bytes, or returns false. */
static bool read_at(const struct elf_file *e, void *out, size_t len, uint64_t at)
{
	if (at > e->size || len > e->size - at)
		return false;
	return foreign_read(e->fd, out, len, at) == (ssize_t)len;
}

static size_t padded(uint32_t len)
{
	return ((size_t)len + 3) & ~(size_t)3;
}

static bool find_id(struct elf_file *e, const uint8_t *p, size_t len)
{
	while (len >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr h;
		const uint8_t *name = p + sizeof(h), *desc;
		size_t all;

		memcpy(&h, p, sizeof(h));
		all = sizeof(h) + padded(h.n_namesz) + padded(h.n_descsz);
		if (all > len)
			return false;
		desc = name + padded(h.n_namesz);
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && !memcmp(name, "GNU", 4) &&
		    h.n_descsz && h.n_descsz <= ELF_FILE_ID) {
			memcpy(e->build_id, desc, h.n_descsz);
			return true;
		}
		p += all;
		len -= all;
	}
	return false;
}

static bool read_notes(struct elf_file *e, const Elf64_Phdr *ph)
{
	uint8_t notes[NOTES];
	size_t len = ph->p_filesz < NOTES ? (size_t)ph->p_filesz : NOTES;

	return read_at(e, notes, len, ph->p_offset) && find_id(e, notes, len);
}

static bool is_code(const Elf64_Phdr *ph)
{
	return ph->p_type == PT_LOAD && ph->p_flags & PF_X &&
	       ph->p_filesz <= UINT64_MAX - ph->p_vaddr &&
	       ph->p_filesz <= UINT64_MAX - ph->p_offset;
}

static int read_segments(struct elf_file *e, const Elf64_Ehdr *h)
{
	Elf64_Phdr ph[PHDRS];
	size_t n = h->e_phnum < PHDRS ? h->e_phnum : PHDRS;
	bool has_id = false;

	if (h->e_phentsize != sizeof(*ph) || !read_at(e, ph, n * sizeof(*ph), h->e_phoff))
		return -ENOEXEC;
	for (size_t i = 0; i < n; i++) {
		if (ph[i].p_type == PT_NOTE && !has_id)
			has_id = read_notes(e, &ph[i]);
		if (is_code(&ph[i]) && e->nloads < ELF_FILE_LOADS)
			e->load[e->nloads++] =
				(struct elf_load){ ph[i].p_offset, ph[i].p_vaddr, ph[i].p_filesz };
	}
	return 0;
}

/* Reads sections from number i on; the number read. */
static uint32_t read_sections(const struct elf_file *e, uint32_t i, Elf64_Shdr *out, uint32_t room)
{
	uint32_t n = i < e->nsections ? e->nsections - i : 0;

	n = n < room ? n : room;
	if (!n || e->section_at > e->size ||
	    !read_at(e, out, n * sizeof(*out), e->section_at + (uint64_t)i * sizeof(*out)))
		return 0;
	return n;
}

/* Takes a symbol table with its string table; false: it is not usable. */
static bool take_table(struct elf_file *e, const Elf64_Shdr *s, struct elf_table *out)
{
	uint64_t max = foreign_limits[FOREIGN_CODE].bytes;
	Elf64_Shdr names;

	if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_offset > e->size ||
	    s->sh_size > e->size - s->sh_offset)
		return false;
	if (s->sh_size > max) {
		e->too_large = true;
		return false;
	}
	if (read_sections(e, s->sh_link, &names, 1) != 1 || names.sh_type != SHT_STRTAB ||
	    names.sh_offset > e->size)
		return false;
	*out = (struct elf_table){ s->sh_offset, s->sh_offset + s->sh_size, names.sh_offset,
				   names.sh_size };
	return true;
}

bool elf_file_table(struct elf_file *e, bool dynamic, struct elf_table *out)
{
	Elf64_Shdr s[SECTIONS];
	uint32_t n;

	for (uint32_t i = 0; (n = read_sections(e, i, s, SECTIONS)); i += n)
		for (uint32_t k = 0; k < n; k++)
			if (s[k].sh_type == (dynamic ? SHT_DYNSYM : SHT_SYMTAB) &&
			    take_table(e, &s[k], out))
				return true;
	return false;
}

int elf_file_open(struct elf_file *e, int fd)
{
	uint8_t order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	struct stat st;
	Elf64_Ehdr h;
	int r;

	*e = (struct elf_file){ .fd = fd };
	if (fstat(fd, &st) < 0)
		return -errno;
	e->size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	if (!read_at(e, &h, sizeof(h), 0) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != order)
		return -ENOEXEC;
	r = read_segments(e, &h);
	if (r < 0 || h.e_shentsize != sizeof(Elf64_Shdr))
		return r;
	e->machine = h.e_machine;
	e->section_at = h.e_shoff;
	e->nsections = h.e_shnum < foreign_limits[FOREIGN_CODE].entries
			       ? h.e_shnum
			       : foreign_limits[FOREIGN_CODE].entries;
	if (!elf_file_table(e, false, &e->table))
		elf_file_table(e, true, &e->table);
	return 0;
}

uint64_t elf_file_offset(const struct elf_file *e, uint64_t address)
{
	for (uint32_t i = 0; i < e->nloads; i++) {
		const struct elf_load *l = &e->load[i];

		if (address >= l->vaddr && address - l->vaddr < l->size)
			return address - l->vaddr + l->offset;
	}
	return 0;
}

bool elf_file_lookup(const struct elf_file *e, uint64_t offset, struct symbol_lookup *a)
{
	for (uint32_t i = 0; i < e->nloads; i++) {
		const struct elf_load *l = &e->load[i];

		if (offset < l->offset || offset - l->offset >= l->size)
			continue;
		*a = (struct symbol_lookup){ .addr = offset - l->offset + l->vaddr,
					     .start = l->vaddr,
					     .end = l->vaddr + l->size };
		return true;
	}
	return false;
}

/* Compares a symbol with a lookup: its function, or a nearer bound of its gap. */
static void compare_symbol(struct symbol_lookup *a, const Elf64_Sym *s)
{
	uint64_t end =
		s->st_size > UINT64_MAX - s->st_value ? UINT64_MAX : s->st_value + s->st_size;

	if (s->st_value <= a->addr && a->addr < end) {
		if (a->found && s->st_value <= a->start)
			return;
		a->found = true;
		a->start = s->st_value;
		a->end = end;
		a->name_at = s->st_name;
	} else if (a->found) {
		return;
	} else if (s->st_value > a->addr) {
		a->end = s->st_value < a->end ? s->st_value : a->end;
	} else {
		a->start = end > a->start ? end : a->start;
	}
}

static bool is_function(const Elf64_Sym *s)
{
	int type = ELF64_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_shndx != SHN_UNDEF &&
	       s->st_size;
}

static void read_name(const struct elf_file *e, struct symbol_lookup *a)
{
	const struct elf_table *t = &e->table;
	uint64_t left = a->name_at < t->name_size ? t->name_size - a->name_at : 0;
	char raw[MANGLED_NAME + 1], plain[SYMBOL_NAME];
	size_t len = left < MANGLED_NAME ? (size_t)left : MANGLED_NAME;
	ssize_t n = foreign_read(e->fd, raw, len, t->name_at + a->name_at);
	const char *name = raw;

	raw[n > 0 ? n : 0] = 0;
	if (demangle(raw, plain, sizeof(plain)))
		name = plain;
	text_clean_into(a->name, sizeof(a->name), name, strlen(name));
	a->found = a->name[0] != 0;
}

int elf_file_step(struct elf_file *e, struct symbol_lookup *a, size_t n, size_t bytes)
{
	struct elf_table *t = &e->table;
	Elf64_Sym s[SYMBOLS];

	for (size_t done = 0; done < bytes; done += sizeof(s)) {
		uint64_t left = (t->symbol_end - t->symbol_at) / sizeof(*s);
		size_t take = left < SYMBOLS ? (size_t)left : SYMBOLS;

		if (!take || !read_at(e, s, take * sizeof(*s), t->symbol_at)) {
			for (size_t i = 0; i < n; i++)
				if (a[i].found)
					read_name(e, &a[i]);
			return take ? -ENODATA : 1;
		}
		t->symbol_at += take * sizeof(*s);
		for (size_t j = 0; j < take; j++)
			for (size_t i = 0; i < n && is_function(&s[j]); i++)
				compare_symbol(&a[i], &s[j]);
	}
	return 0;
}
