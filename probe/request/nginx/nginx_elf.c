// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx_elf.h"

#include <elf.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "probe/symbol/user/elf_file.h"

enum { CHUNK = 64 * 1024, SYMBOLS = CHUNK / sizeof(Elf64_Sym) };
#define TABLE_MAX (32ull << 20) /* bytes searched of each table: those of nginx are far smaller */

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

enum wanted { FUNCTION, CLOCK, WANTED };

static const char *const names[WANTED] = { "ngx_http_free_request", "ngx_cached_time" };
static const int types[WANTED] = { STT_FUNC, STT_OBJECT };

enum phase { PHASE_HEAD, PHASE_NAMES, PHASE_SYMBOLS };

struct nginx_search {
	int fd;
	enum phase phase;
	bool dynamic; /* the table being searched */
	struct elf_file elf;
	struct elf_table table;
	uint64_t at, end; /* of the string table */
	size_t kept; /* bytes at the start of the chunk, of the piece before */
	uint64_t name[WANTED]; /* offsets in the string table; 0: not found */
	uint64_t address[WANTED];
	_Alignas(Elf64_Sym) char chunk[CHUNK];
};

struct nginx_search *nginx_search_new(int fd)
{
	struct nginx_search *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->fd = fd;
	return s;
}

void nginx_search_free(struct nginx_search *s)
{
	free(s);
}

/* Begins with this symbol table, or else with the next kind. */
static int begin_table(struct nginx_search *s, bool dynamic)
{
	struct elf_table *t = &s->table;

	if (!elf_file_table(&s->elf, dynamic, t))
		return dynamic ? begin_table(s, false) : -ENOENT;
	s->phase = PHASE_NAMES;
	s->dynamic = dynamic;
	s->kept = 0;
	memset(s->name, 0, sizeof(s->name));
	s->at = t->name_at;
	s->end = t->name_at + (t->name_size < TABLE_MAX ? t->name_size : TABLE_MAX);
	if (t->symbol_end - t->symbol_at > TABLE_MAX)
		t->symbol_end = t->symbol_at + TABLE_MAX;
	return 0;
}

static int read_head(struct nginx_search *s)
{
	int r = elf_file_open(&s->elf, s->fd);

	if (r < 0)
		return r;
	return s->elf.machine == MACHINE ? begin_table(s, true) : -ENOEXEC;
}

static int read_all(const struct nginx_search *s, void *out, size_t len, uint64_t at)
{
	ssize_t n = foreign_read(s->fd, out, len, at);

	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -ENOEXEC;
}

/* Searches the next piece of the string table for whole names. */
static int read_names(struct nginx_search *s)
{
	size_t room = CHUNK - s->kept, longest = strlen(names[FUNCTION]);
	size_t n = s->end - s->at < room ? (size_t)(s->end - s->at) : room, len = s->kept + n;
	int r = n ? read_all(s, s->chunk + s->kept, n, s->at) : 0;

	if (r < 0)
		return r;
	for (int i = 0; i < WANTED; i++) {
		const char *hit = memmem(s->chunk, len, names[i], strlen(names[i]) + 1);

		if (hit && !s->name[i])
			s->name[i] =
				s->at - s->kept + (uint64_t)(hit - s->chunk) - s->table.name_at;
	}
	s->at += n;
	s->kept = len < longest ? len : longest;
	memmove(s->chunk, s->chunk + len - s->kept, s->kept);
	if (s->at < s->end && !(s->name[FUNCTION] && s->name[CLOCK]))
		return 0;
	s->phase = PHASE_SYMBOLS;
	if (s->name[FUNCTION])
		return 0;
	return s->dynamic ? begin_table(s, false) : -ENOENT;
}

/* Searches the next symbols. 1: complete, and the function was found. */
static int read_symbols(struct nginx_search *s)
{
	const Elf64_Sym *symbol = (const Elf64_Sym *)(void *)s->chunk;
	struct elf_table *t = &s->table;
	uint64_t left = (t->symbol_end - t->symbol_at) / sizeof(*symbol);
	size_t n = left < SYMBOLS ? (size_t)left : SYMBOLS;
	int r = n ? read_all(s, s->chunk, n * sizeof(*symbol), t->symbol_at) : 0;

	if (r < 0)
		return r;
	t->symbol_at += n * sizeof(*symbol);
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < WANTED; k++)
			if (s->name[k] && symbol[i].st_name == s->name[k] &&
			    symbol[i].st_shndx != SHN_UNDEF && !s->address[k] &&
			    ELF64_ST_TYPE(symbol[i].st_info) == types[k])
				s->address[k] = symbol[i].st_value;
	if (n && !(s->address[FUNCTION] && (s->address[CLOCK] || !s->name[CLOCK])))
		return 0;
	if (s->address[FUNCTION])
		return 1;
	return s->dynamic ? begin_table(s, false) : -ENOENT;
}

static void write_build_id(const struct elf_file *e, char text[static BUILD_ID_TEXT])
{
	static const uint8_t none[ELF_FILE_ID];

	text[0] = 0;
	for (size_t k = 0; k < ELF_FILE_ID && memcmp(e->build_id, none, ELF_FILE_ID) != 0; k++)
		snprintf(text + 2 * k, 3, "%02x", e->build_id[k]);
}

/*
 * On x86 the kernel emulates "push reg" and "nop". The probe is placed after endbr64, which it does
 * not emulate. The cost of a probe on arm64 has not been measured.
 */
static int read_first(const struct nginx_search *s, struct nginx_elf *out)
{
	static const uint8_t endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[8];
	const uint8_t *p = code;
	int r;

	out->probe_offset = elf_file_offset(&s->elf, out->probe_at);
	r = out->probe_offset ? read_all(s, code, sizeof(code), out->probe_offset) : -ENOEXEC;
	if (r < 0)
		return r;
	if (MACHINE == EM_AARCH64) {
		out->cheap = true;
		return 1;
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
	return 1;
}

int nginx_search_step(struct nginx_search *s, size_t *bytes, struct nginx_elf *out)
{
	struct nginx_elf e = { 0 };
	int r = 0;

	while (r == 0 && *bytes) {
		*bytes -= *bytes < CHUNK ? *bytes : CHUNK;
		r = s->phase == PHASE_HEAD    ? read_head(s)
		    : s->phase == PHASE_NAMES ? read_names(s)
					      : read_symbols(s);
	}
	if (r <= 0)
		return r;
	e.probe_at = s->address[FUNCTION];
	e.clock_at = s->address[CLOCK];
	write_build_id(&s->elf, e.build_id);
	r = read_first(s, &e);
	if (r > 0)
		*out = e;
	return r;
}
