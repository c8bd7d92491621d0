// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "probe/request/explain/verdict_rules.h"

/* By the first bytes sent to it; wins over the port. */
static const char *protocol_of_bytes(const uint8_t b[static 4])
{
	if (b[0] == 1 && b[1] == 1)
		return "FastCGI";
	if (b[0] == 0x12 && b[1] == 0x34)
		return "AJP";
	if (b[0] == 0x16 && b[1] == 3)
		return "TLS";
	if (b[0] == '*' && b[1] >= '1' && b[1] <= '9' && (b[2] == '\r' || b[3] == '\r'))
		return "Redis";
	if (memcmp(b, "AMQP", 4) == 0)
		return "AMQP";
	return NULL;
}

static const char *protocol_of_port(uint16_t port)
{
	static const struct {
		uint16_t port;
		const char *name;
	} known[] = { { 25, "SMTP" },	 { 53, "DNS" },		 { 389, "LDAP" },
		      { 443, "TLS" },	 { 1433, "SQL Server" }, { 1521, "Oracle" },
		      { 3306, "MySQL" }, { 5432, "PostgreSQL" }, { 5672, "AMQP" },
		      { 6379, "Redis" }, { 8009, "AJP" },	 { 9042, "Cassandra" },
		      { 9092, "Kafka" }, { 11211, "memcached" }, { 27017, "MongoDB" } };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].port == port)
			return known[i].name;
	return NULL;
}

static const char *protocol_of(const struct up_item *peer, const struct req_peer *p)
{
	uint8_t b[4];
	const char *name;

	memcpy(b, &p->first, sizeof(b));
	name = protocol_of_bytes(b);
	if (!name && peer->path)
		name = strstr(peer->path, "/.s.PGSQL.") ? "PostgreSQL" : NULL;
	else if (!name)
		name = protocol_of_port(peer->addr.port);
	return name ? name : "no HTTP";
}

void verdict_peer(struct request_item *r, const struct verdict_facts *f, struct verdict_text *t)
{
	verdict_put(r, "peer", up_addr_text(f->peer, t->addr));
	verdict_put(r, "protocol", protocol_of(f->peer, f->peer_did));
}

const char *verdict_peer_outcome(const struct req_peer *p, struct verdict_text *t)
{
	if (p->state & PEER_REFUSED)
		snprintf(t->outcome, sizeof(t->outcome), "could not be reached: %s",
			 strerror(p->error));
	else if (p->state & PEER_ENDED && p->error != EPIPE)
		snprintf(t->outcome, sizeof(t->outcome), "broke off: %s", strerror(p->error));
	else if (p->state & PEER_ENDED)
		snprintf(t->outcome, sizeof(t->outcome), "closed the connection without an answer");
	else if (p->state & PEER_READ)
		snprintf(t->outcome, sizeof(t->outcome), "answered");
	else
		snprintf(t->outcome, sizeof(t->outcome), "did not answer");
	return t->outcome;
}
