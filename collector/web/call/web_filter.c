// SPDX-License-Identifier: Apache-2.0
#include "collector/web/call/web_filter.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>

enum { VALUES_MAX = 10, NAMES_MAX = 64, PATTERN = 2 * WEB_VALUE + 8 };

static void put_text(struct buf *b, const char *text)
{
	buf_put(b, "\"", 1);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_put(b, "\\", 1);
		buf_put(b, text, 1);
	}
	buf_put(b, "\"", 1);
}

/* Parses "10.0.0.1", "::1" or "[::1]"; begin gets the start of such an address with a port. */
static bool parse_host(const char *text, size_t len, char begin[WEB_VALUE])
{
	char host[INET6_ADDRSTRLEN];
	struct in6_addr a;

	if (len > 2 && *text == '[' && text[len - 1] == ']')
		text++, len -= 2;
	if (len >= sizeof(host))
		return false;
	memcpy(host, text, len);
	host[len] = 0;
	if (inet_pton(AF_INET, host, &a) == 1)
		snprintf(begin, WEB_VALUE, "%s:", host);
	else if (inet_pton(AF_INET6, host, &a) == 1 && inet_ntop(AF_INET6, &a, host, sizeof(host)))
		snprintf(begin, WEB_VALUE, "[%s]:", host);
	else
		return false;
	return true;
}

/* Parses an address with a port; whole gets it in the form that the database writes. */
static bool parse_whole(const char *text, char whole[WEB_VALUE])
{
	const char *port = strrchr(text, ':');
	char begin[WEB_VALUE];

	if (!port || !port[1] || strspn(port + 1, "0123456789") != strlen(port + 1))
		return false;
	if (port[-1] != ']' && memchr(text, ':', (size_t)(port - text)))
		return false; /* the end of an IPv6 address, or of its prefix */
	if (!parse_host(text, (size_t)(port - text), begin))
		return false;
	return snprintf(whole, WEB_VALUE, "%s%s", begin, port + 1) < WEB_VALUE;
}

/* Makes a LIKE pattern: a whole address matches itself, with any port if it has none; any other
 * text is a prefix. */
static void make_pattern(const char *text, char out[PATTERN])
{
	bool v6 = strchr(text, ':') && strspn(text, "0123456789abcdefABCDEF:") == strlen(text);
	char known[WEB_VALUE];
	size_t n = 0;
	bool open = *text;

	if (parse_host(text, strlen(text), known))
		text = known;
	else if (v6)
		out[n++] = '[';
	else if (*text && parse_whole(text, known)) {
		text = known;
		open = false;
	}
	for (; *text; text++) {
		if (strchr("\\%_", *text))
			out[n++] = '\\';
		out[n++] = v6 ? (char)tolower(*text) : *text;
	}
	if (open)
		out[n++] = '%';
	out[n] = 0;
}

static void put_value(struct buf *b, enum web_type type, const char *value)
{
	char like[PATTERN];

	buf_put(b, b->len ? "," : "{", 1);
	if (type == WEB_STATUSES) {
		buf_put(b, value, strlen(value));
	} else if (type == WEB_ADDRS) {
		make_pattern(value, like);
		put_text(b, like);
	} else {
		put_text(b, value);
	}
}

/* Adds one name of "a,b,c". An empty name is refused like any empty text. */
static int add_name(struct web_filter *f, const struct web_param *p, const char *text, size_t len,
		    char why[WEB_WHY])
{
	char name[WEB_VALUE], value[WEB_VALUE];
	bool fits = len < sizeof(name) && f->n < NAMES_MAX;

	memcpy(name, text, fits ? len : 0);
	name[fits ? len : 0] = 0;
	if (web_param_read(p, name, fits ? len : 0, value, why) < 0)
		return -EINVAL;
	put_value(&f->side[WEB_WANTED], p->type, value);
	f->n++;
	return 0;
}

static int add_names(struct web_filter *f, const struct web_param *p, const char *text, size_t len,
		     char why[WEB_WHY])
{
	for (;;) {
		const char *comma = memchr(text, ',', len);
		size_t n = comma ? (size_t)(comma - text) : len;

		if (add_name(f, p, text, n, why) < 0)
			return -EINVAL;
		if (!comma)
			return 0;
		text += n + 1;
		len -= n + 1;
	}
}

int web_filter_add(struct web_filter *f, const struct web_param *p, const char *text, size_t len,
		   char why[WEB_WHY])
{
	enum web_side side = len && *text == '!' ? WEB_UNWANTED : WEB_WANTED;
	char value[WEB_VALUE];

	if (p->type == WEB_NAMES)
		return add_names(f, p, text, len, why);
	if (f->n == VALUES_MAX) {
		snprintf(why, WEB_WHY, "%s is given more than %d times.", p->name, VALUES_MAX);
		return -EINVAL;
	}
	text += side;
	if (web_param_read(p, text, len - side, value, why) < 0)
		return -EINVAL;
	if (p->type != WEB_STATUSES && strcmp(value, "-") == 0)
		*value = 0;
	put_value(&f->side[side], p->type, value);
	f->n++;
	return 0;
}

void web_filter_end(struct web_filter *f)
{
	for (int i = 0; i < WEB_SIDES; i++)
		if (f->side[i].len)
			buf_put(&f->side[i], "}", sizeof("}"));
}

const char *web_filter_text(const struct web_filter *f, enum web_side side)
{
	return f->side[side].len ? (const char *)f->side[side].data : NULL;
}

void web_filter_free(struct web_filter *f)
{
	for (int i = 0; i < WEB_SIDES; i++)
		buf_free(&f->side[i]);
}
