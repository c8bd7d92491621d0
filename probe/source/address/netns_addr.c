// SPDX-License-Identifier: Apache-2.0
#include "probe/source/address/netns_addr.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "probe/foreign/foreign.h"
#include "probe/source/address/sock_diag.h"
#include "probe/procfs/proc_text.h"

enum { CHUNK = 8192, LISTENS = 0x0a, WORD = 8 };
enum { LISTENERS_MAX = 512 * 1024 }; /* bytes: some 3,400 sockets; the rest is left out */

static bool parse_hex(struct words *line, uint64_t *v)
{
	struct words w;
	char text[17];
	size_t n;
	char *end;

	if (!proc_word(line, &w))
		return false;
	n = (size_t)(w.end - w.p);
	if (n >= sizeof(text))
		return false;
	memcpy(text, w.p, n);
	text[n] = 0;
	*v = strtoull(text, &end, 16);
	return !*end;
}

/* An address as the kernel prints it: 32-bit words in host byte order. */
static bool parse_ip(const struct words *w, uint8_t ip[static 16], size_t *len)
{
	size_t digits = (size_t)(w->end - w->p);

	if (digits != WORD && digits != 4 * WORD)
		return false;
	for (size_t i = 0; i < digits / WORD; i++) {
		char text[WORD + 1] = "";
		char *end;
		uint32_t v;

		memcpy(text, w->p + i * WORD, WORD);
		v = (uint32_t)strtoul(text, &end, 16);
		if (*end)
			return false;
		memcpy(ip + i * sizeof(v), &v, sizeof(v));
	}
	*len = digits / 2;
	return true;
}

/* "0: 0100007F:1F90 00000000:0000 0A ... inode"; false: neither it nor any later line listens. */
static bool add_listener(struct addr_list *l, struct words line, uint64_t netns)
{
	uint64_t port, state, inode = 0, skip;
	struct found_addr *f;
	struct words w;
	uint8_t ip[16];
	size_t len;

	if (!proc_word(&line, &w) || proc_is(&w, "sl"))
		return true;
	if (!proc_word(&line, &w) || !parse_ip(&w, ip, &len) || !parse_hex(&line, &port))
		return false;
	if (!proc_word(&line, &w) || !parse_hex(&line, &skip) || !parse_hex(&line, &state) ||
	    state != LISTENS)
		return false;
	for (int i = 0; i < 7; i++)
		if (!proc_word(&line, &w))
			return false;
	inode = (uint64_t)proc_number(&line);
	f = addr_list_add(l);
	if (!f)
		return true;
	f->kind = PLACE_LISTENER;
	f->addr = addr_make(ip, len, (uint16_t)port);
	f->netns = netns;
	f->inode = inode;
	return true;
}

static void read_listeners(struct addr_list *l, const char *path, uint64_t netns)
{
	AUTO_CLOSE int fd = foreign_open_text_at(AT_FDCWD, path);
	char chunk[CHUNK];
	size_t have = 0, all = 0;
	ssize_t n;

	while (fd >= 0 && all < LISTENERS_MAX &&
	       (n = read(fd, chunk + have, sizeof(chunk) - have)) > 0) {
		struct words file = { chunk, chunk }, line;
		const char *end = memrchr(chunk, '\n', have + (size_t)n);

		have += (size_t)n;
		all += (size_t)n;
		file.end = end ? end + 1 : chunk;
		while (proc_line(&file, &line))
			if (!add_listener(l, line, netns))
				return;
		have -= (size_t)(file.end - chunk);
		memmove(chunk, file.end, have);
	}
}

/* Addresses that every node or every link has are left out. */
static void add_address(struct addr_list *l, const uint8_t *ip, size_t len, uint64_t netns)
{
	static const uint8_t none[16];
	struct found_addr *f;

	if (len == 4 && (ip[0] == 127 || memcmp(ip, none, 4) == 0))
		return;
	f = addr_list_add(l);
	if (!f)
		return;
	f->kind = netns ? PLACE_CONTAINER : PLACE_ADDRESS;
	f->addr = addr_make(ip, len, 0);
	f->netns = netns;
}

/* "|-- 10.0.0.5", followed by "/32 host LOCAL". */
static void add_trie(struct addr_list *l, struct words file, uint64_t netns)
{
	struct words line, w;
	uint8_t ip[4] = { 0 };
	char text[INET_ADDRSTRLEN];

	while (proc_line(&file, &line)) {
		if (!proc_word(&line, &w))
			continue;
		if (proc_is(&w, "|--") && proc_word(&line, &w)) {
			snprintf(text, sizeof(text), "%.*s", (int)(w.end - w.p), w.p);
			if (inet_pton(AF_INET, text, ip) != 1)
				memset(ip, 0, sizeof(ip));
		} else if (proc_is(&w, "/32") && proc_word(&line, &w) && proc_word(&line, &w) &&
			   proc_is(&w, "LOCAL")) {
			add_address(l, ip, sizeof(ip), netns);
		}
	}
}

/* "20010db8000000000000000000000002 02 40 00 80 eth0": only global addresses, scope 0. */
static void add_inet6(struct addr_list *l, struct words file, uint64_t netns)
{
	struct words line, w;

	while (proc_line(&file, &line)) {
		uint64_t index, length, scope;
		uint8_t ip[16];

		if (!proc_word(&line, &w) || w.end - w.p != 2 * (ptrdiff_t)sizeof(ip))
			continue;
		for (size_t i = 0; i < sizeof(ip); i++) {
			const char two[] = { w.p[2 * i], w.p[2 * i + 1], 0 };

			ip[i] = (uint8_t)strtoul(two, NULL, 16);
		}
		if (parse_hex(&line, &index) && parse_hex(&line, &length) &&
		    parse_hex(&line, &scope) && scope == 0)
			add_address(l, ip, sizeof(ip), netns);
	}
}

void netns_addr_read(struct addr_list *l, struct buf *text, const char *procfs, const char *pid,
		     uint64_t netns)
{
	static const char *const tables[] = { "tcp", "tcp6" };
	bool own = strcmp(procfs, "/proc") == 0 && strcmp(pid, "self") == 0;
	bool known = own && sock_diag_read(l) == 0;
	char path[PATH_MAX];
	struct words file;

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !known; i++) {
		snprintf(path, sizeof(path), "%s/%s/net/%s", procfs, pid, tables[i]);
		read_listeners(l, path, netns);
	}
	snprintf(path, sizeof(path), "%.64s/net/fib_trie", pid);
	if (proc_read(text, procfs, path, &file) == 0)
		add_trie(l, file, netns);
	snprintf(path, sizeof(path), "%.64s/net/if_inet6", pid);
	if (proc_read(text, procfs, path, &file) == 0)
		add_inet6(l, file, netns);
}
