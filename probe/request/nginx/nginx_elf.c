// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx_elf.h"

#include <elf.h>
#include <stdio.h>

enum {
	CHUNK = 64 * 1024,
	SECTIONS = 1024,
	NOTES = 4096,
};
#define NAMES_MAX (64ull << 20) /* limit for a dynamic string table */

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

struct elf {
	int fd;
	Elf64_Ehdr head;
	Elf64_Shdr *section;
	Elf64_Phdr *segment;
	char chunk[CHUNK];
};

/* Reads exactly len bytes, or returns -errno. */
static int read_at(int fd, void *p, size_t len, uint64_t at)
{
	ssize_t n;

	if (at > INT64_MAX - len)
		return -ENOEXEC;
	n = pread(fd, p, len, (off_t)at);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -ENOEXEC;
}

static int read_table(struct elf *f, void **out, uint64_t at, size_t n, size_t each)
{
	int r;

	*out = calloc(n ? n : 1, each);
	r = *out ? read_at(f->fd, *out, n * each, at) : -ENOMEM;
	return r;
}

static int read_head(struct elf *f)
{
	const Elf64_Ehdr *h = &f->head;
	int r = read_at(f->fd, &f->head, sizeof(f->head), 0);

	if (r < 0)
		return r;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != MACHINE ||
	    h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum > SECTIONS ||
	    h->e_phentsize != sizeof(Elf64_Phdr))
		return -ENOEXEC;
	r = read_table(f, (void **)&f->section, h->e_shoff, h->e_shnum, sizeof(Elf64_Shdr));
	if (r == 0)
		r = read_table(f, (void **)&f->segment, h->e_phoff, h->e_phnum, sizeof(Elf64_Phdr));
	return r;
}

/* The offset of a whole name in a string table; 0: not found. */
static uint64_t find_name(struct elf *f, const Elf64_Shdr *names, const char *name)
{
	size_t len = strlen(name) + 1, keep = 0;
	uint64_t end = names->sh_size < NAMES_MAX ? names->sh_size : NAMES_MAX, at = 0;

	while (at < end) {
		size_t n = end - at < CHUNK - keep ? (size_t)(end - at) : CHUNK - keep;
		const char *hit;

		if (read_at(f->fd, f->chunk + keep, n, names->sh_offset + at) < 0)
			return 0;
		hit = memmem(f->chunk, keep + n, name, len);
		if (hit)
			return at - keep + (uint64_t)(hit - f->chunk);
		at += n;
		n += keep;
		keep = n < len - 1 ? n : len - 1;
		memmove(f->chunk, f->chunk + n - keep, keep);
	}
	return 0;
}

static uint64_t find_symbol(struct elf *f, const Elf64_Shdr *symbols, uint64_t name, int type)
{
	enum { AT_ONCE = CHUNK / sizeof(Elf64_Sym) };
	const Elf64_Sym *s = (const Elf64_Sym *)(void *)f->chunk;
	uint64_t left = symbols->sh_size / sizeof(*s), at = symbols->sh_offset;

	while (name && left) {
		size_t n = left < AT_ONCE ? (size_t)left : AT_ONCE;

		if (read_at(f->fd, f->chunk, n * sizeof(*s), at) < 0)
			return 0;
		for (size_t i = 0; i < n; i++)
			if (s[i].st_name == name && s[i].st_shndx != SHN_UNDEF &&
			    ELF64_ST_TYPE(s[i].st_info) == type)
				return s[i].st_value;
		at += n * sizeof(*s);
		left -= n;
	}
	return 0;
}

/* Searches the first symbol table of this type. */
static uint64_t symbol_address(struct elf *f, uint32_t table, const char *name, int type)
{
	for (size_t i = 0; i < f->head.e_shnum; i++) {
		const Elf64_Shdr *s = &f->section[i];

		if (s->sh_type == table && s->sh_link < f->head.e_shnum)
			return find_symbol(f, s, find_name(f, &f->section[s->sh_link], name), type);
	}
	return 0;
}

static uint64_t offset_of(const struct elf *f, uint64_t address)
{
	for (size_t i = 0; i < f->head.e_phnum; i++) {
		const Elf64_Phdr *p = &f->segment[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && address >= p->p_vaddr &&
		    address - p->p_vaddr < p->p_filesz)
			return address - p->p_vaddr + p->p_offset;
	}
	return 0;
}

static void read_build_id(struct elf *f, char text[static BUILD_ID_TEXT])
{
	text[0] = 0;
	for (size_t i = 0; i < f->head.e_shnum && !text[0]; i++) {
		const Elf64_Shdr *s = &f->section[i];
		const Elf64_Nhdr *n = (const Elf64_Nhdr *)(void *)f->chunk;
		const unsigned char *id = (const unsigned char *)f->chunk + sizeof(*n) + 4;

		if (s->sh_type != SHT_NOTE || s->sh_size < sizeof(*n) + 4 || s->sh_size > NOTES ||
		    read_at(f->fd, f->chunk, s->sh_size, s->sh_offset) < 0 ||
		    n->n_type != NT_GNU_BUILD_ID || n->n_namesz != 4 || n->n_descsz > 20 ||
		    sizeof(*n) + 4 + n->n_descsz > s->sh_size)
			continue;
		for (size_t k = 0; k < n->n_descsz; k++)
			snprintf(text + 2 * k, 3, "%02x", id[k]);
	}
}

/*
 * On x86 the kernel emulates "push reg" and "nop". The probe is placed after endbr64, which it does
 * not emulate. The cost of a probe on arm64 has not been measured.
 */
static int read_first(struct elf *f, struct nginx_elf *out)
{
	static const uint8_t endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[8];
	const uint8_t *p = code;
	int r;

	out->probe_offset = offset_of(f, out->probe_at);
	r = out->probe_offset ? read_at(f->fd, code, sizeof(code), out->probe_offset) : -ENOEXEC;
	if (r < 0)
		return r;
	if (MACHINE == EM_AARCH64) {
		out->cheap = true;
		return 0;
	}
	if (memcmp(code, endbr64, sizeof(endbr64)) == 0) {
		p += sizeof(endbr64);
		out->probe_at += sizeof(endbr64);
		out->probe_offset += sizeof(endbr64);
	}
	out->cheap = *p == 0x90;
	if (*p == 0x41) /* r8 to r15 */
		p++;
	out->cheap |= *p >= 0x50 && *p <= 0x57;
	return 0;
}

static int read_all(struct elf *f, struct nginx_elf *e)
{
	static const uint32_t tables[] = { SHT_DYNSYM, SHT_SYMTAB };
	int r = read_head(f);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(tables) && !e->probe_at; i++) {
		e->probe_at = symbol_address(f, tables[i], "ngx_http_free_request", STT_FUNC);
		if (e->probe_at)
			e->clock_at = symbol_address(f, tables[i], "ngx_cached_time", STT_OBJECT);
	}
	if (!e->probe_at)
		return -ENOENT;
	read_build_id(f, e->build_id);
	return read_first(f, e);
}

int nginx_elf_read(int fd, struct nginx_elf *out)
{
	struct elf *f = calloc(1, sizeof(*f));
	struct nginx_elf e = { 0 };
	int r = -ENOMEM;

	if (f) {
		f->fd = fd;
		r = read_all(f, &e);
		free(f->section);
		free(f->segment);
	}
	free(f);
	if (r == 0)
		*out = e;
	return r;
}
