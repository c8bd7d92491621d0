// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/demangle.h"

#include <string.h>

#include "lib/base/base.h"

enum { RUST_HASH = 17, PARTS = 64 };

struct name_part {
	const char *at;
	size_t len;
};

struct text {
	char *out;
	size_t size, len;
};

static void put(struct text *t, const char *s, size_t len)
{
	size_t room = t->size - 1 - t->len;

	len = len < room ? len : room;
	memcpy(t->out + t->len, s, len);
	t->len += len;
}

static void put_str(struct text *t, const char *s)
{
	put(t, s, strlen(s));
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "4send": the name, and behind it. */
static bool read_part(const char **p, struct name_part *part)
{
	size_t n = 0;

	if (!is_digit(**p) || **p == '0')
		return false;
	for (; is_digit(**p) && n < 10000; (*p)++)
		n = n * 10 + (size_t)(**p - '0');
	if (strnlen(*p, n) < n)
		return false;
	*part = (struct name_part){ *p, n };
	*p += n;
	return true;
}

/* "S_", "S1A_", "St", "T_", "T0_", "Ts" */
static const char *skip_reference(const char *p)
{
	if (*p == 'S' && p[1] && strchr("tabsiod", p[1]))
		return p + 2;
	if (*p == 'T' && p[1] && strchr("sue", p[1]))
		return p + 2;
	for (p++; is_digit(*p) || (*p >= 'A' && *p <= 'Z'); p++)
		;
	return *p == '_' ? p + 1 : NULL;
}

/* "Li5E": a literal of a builtin type. */
static const char *skip_literal(const char *p)
{
	p++;
	if (*p < 'a' || *p > 'z')
		return NULL;
	for (p++; is_digit(*p) || (*p >= 'a' && *p <= 'f') || *p == 'n'; p++)
		;
	return *p == 'E' ? p + 1 : NULL;
}

static const char *skip_array(const char *p)
{
	for (p++; is_digit(*p); p++)
		;
	return *p == '_' ? p + 1 : NULL;
}

/* From behind the I to behind its E. NULL: not known. */
static const char *skip_arguments(const char *p)
{
	struct name_part part;

	for (int depth = 1; depth && p;) {
		if (is_digit(*p))
			p = read_part(&p, &part) ? p : NULL;
		else if (*p == 'S' || *p == 'T')
			p = skip_reference(p);
		else if (*p == 'L')
			p = skip_literal(p);
		else if (*p == 'A')
			p = skip_array(p);
		else if (*p == 'D')
			p = p[1] && strchr("pnisuacdefho", p[1]) ? p + 2 : NULL;
		else if (*p && strchr("INJFE", *p))
			depth += *p++ == 'E' ? -1 : 1;
		else if (*p && strchr("PROKVrMBvwbcahstijlmxynofdegz", *p))
			p++;
		else
			p = NULL;
	}
	return p;
}

static const char *operator_of(const char *p)
{
	static const char names[][2][12] = {
		{ "cl", "operator()" }, { "ix", "operator[]" }, { "aS", "operator=" },
		{ "eq", "operator==" }, { "ne", "operator!=" }, { "lt", "operator<" },
		{ "ls", "operator<<" }, { "rs", "operator>>" }, { "pt", "operator->" },
		{ "de", "operator*" },	{ "pp", "operator++" }, { "mm", "operator--" },
		{ "pL", "operator+=" }, { "pl", "operator+" },	{ "mi", "operator-" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (p[0] == names[i][0][0] && p[1] == names[i][0][1])
			return names[i][1];
	return NULL;
}

static void put_part(struct text *t, const struct name_part *part)
{
	static const char anonymous[] = "_GLOBAL__N_";

	if (part->len >= sizeof(anonymous) - 1 &&
	    memcmp(part->at, anonymous, sizeof(anonymous) - 1) == 0)
		put_str(t, "(anonymous namespace)");
	else
		put(t, part->at, part->len);
}

/* One piece of a name, other than its first "St". NULL: not known. */
static const char *put_piece(struct text *t, const char *p, struct name_part *last)
{
	const char *op = operator_of(p);
	struct name_part tag;

	if (*p == 'I' && t->len) {
		put_str(t, "<...>");
		return skip_arguments(p + 1);
	}
	if (*p == 'B' && t->len) {
		p++;
		if (!read_part(&p, &tag))
			return NULL;
		put_str(t, "[abi:");
		put(t, tag.at, tag.len);
		put_str(t, "]");
		return p;
	}
	if (t->len)
		put_str(t, "::");
	if (op) {
		put_str(t, op);
		return p + 2;
	}
	if ((*p == 'C' && p[1] >= '1' && p[1] <= '3') ||
	    (*p == 'D' && p[1] >= '0' && p[1] <= '2')) {
		put_str(t, *p == 'D' ? "~" : "");
		put_part(t, last);
		return last->len ? p + 2 : NULL;
	}
	p += *p == 'L';
	if (!read_part(&p, last))
		return NULL;
	put_part(t, last);
	return p;
}

/* ".cold", ".part.0": what the compiler has made of a function. */
static void put_clone(struct text *t, const char *rest)
{
	const char *dot = strchr(rest, '.');

	if (dot && strncmp(dot, ".llvm.", 6) != 0)
		put_str(t, dot);
}

static bool put_cpp(struct text *t, const char *p)
{
	struct name_part last = { "", 0 };
	bool nested = *p == 'N';

	for (p += nested; nested && *p && strchr("rVKRO", *p); p++)
		;
	if (p[0] == 'S' && p[1] == 't') {
		put_str(t, "std");
		p += 2;
	}
	do {
		p = put_piece(t, p, &last);
	} while (p && nested && *p != 'E');
	while (p && !nested && (*p == 'I' || *p == 'B'))
		p = put_piece(t, p, &last);
	if (p)
		put_clone(t, p);
	return p;
}

/* "$LT$": a character. 0: none. */
static char escaped(const struct name_part *name)
{
	static const char names[][2][5] = { { "SP", "@" }, { "BP", "*" }, { "RF", "&" },
					    { "LT", "<" }, { "GT", ">" }, { "LP", "(" },
					    { "RP", ")" }, { "C", "," } };
	unsigned c = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i][0]) == name->len &&
		    memcmp(names[i][0], name->at, name->len) == 0)
			return names[i][1][0];
	if (name->len != 3 || name->at[0] != 'u')
		return 0;
	for (size_t i = 1; i < 3; i++) {
		const char *hex = "0123456789abcdef", *digit = memchr(hex, name->at[i], 16);

		if (!digit)
			return 0;
		c = c * 16 + (unsigned)(digit - hex);
	}
	return c >= ' ' && c < 127 ? (char)c : 0;
}

static void put_rust_part(struct text *t, const struct name_part *part)
{
	const char *p = part->at, *end = part->at + part->len;

	p += part->len > 1 && p[0] == '_' && p[1] == '$';
	while (p < end) {
		const char *close = *p == '$' ? memchr(p + 1, '$', (size_t)(end - p - 1)) : NULL;
		struct name_part name = { p + 1, close ? (size_t)(close - p - 1) : 0 };
		char c = close ? escaped(&name) : 0;

		if (c) {
			put(t, &c, 1);
			p = close + 1;
		} else if (*p == '.' && p + 1 < end && p[1] == '.') {
			put_str(t, "::");
			p += 2;
		} else {
			put(t, p++, 1);
		}
	}
}

static bool is_rust_hash(const struct name_part *part)
{
	if (part->len != RUST_HASH || part->at[0] != 'h')
		return false;
	return strspn(part->at + 1, "0123456789abcdef") >= RUST_HASH - 1;
}

static bool put_rust(struct text *t, const char *p)
{
	struct name_part part[PARTS];
	size_t n = 0;

	while (n < PARTS && read_part(&p, &part[n]))
		n++;
	if (n < 2 || *p != 'E' || (p[1] && p[1] != '.') || !is_rust_hash(&part[n - 1]))
		return false;
	for (size_t i = 0; i < n - 1; i++) {
		put_str(t, i ? "::" : "");
		put_rust_part(t, &part[i]);
	}
	put_clone(t, p + 1);
	return true;
}

bool demangle(const char *name, char *out, size_t size)
{
	struct text t = { out, size, 0 };
	bool known;

	if (!size || name[0] != '_' || name[1] != 'Z')
		return false;
	known = name[2] == 'N' && put_rust(&t, name + 3);
	known = known || put_cpp(&t, name + 2);
	out[t.len] = 0;
	return known && t.len;
}
