// SPDX-License-Identifier: Apache-2.0
#include "lib/uplink/handshake.h"

#include <stdio.h>
#include <zmq.h>

void *handshake_watch(void *zmq, void *sock, const char *name, bool ends)
{
	const int kinds = ZMQ_EVENT_ACCEPT_FAILED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
			  ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
			  (ends ? ZMQ_EVENT_DISCONNECTED : 0);
	char where[64];
	void *watch;

	snprintf(where, sizeof(where), "inproc://%s", name);
	if (zmq_socket_monitor(sock, where, kinds) < 0)
		return NULL;
	watch = zmq_socket(zmq, ZMQ_PAIR);
	if (watch && zmq_connect(watch, where) == 0)
		return watch;
	if (watch)
		zmq_close(watch);
	return NULL;
}

static enum handshake kind_of(uint16_t event, uint32_t value)
{
	if (event == ZMQ_EVENT_ACCEPT_FAILED)
		return HANDSHAKE_NO_ACCEPT;
	if (event == ZMQ_EVENT_DISCONNECTED)
		return HANDSHAKE_ENDED;
	if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
		return HANDSHAKE_REFUSED;
	if (event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL)
		return HANDSHAKE_BROKEN;
	if (value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
		return HANDSHAKE_PLAIN;
	if (value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC)
		return HANDSHAKE_WRONG_KEY;
	return HANDSHAKE_PROTOCOL;
}

/* Two frames: a 16-bit event with its 32-bit value, then the address. */
bool handshake_next(void *watch, enum handshake *out)
{
	uint8_t head[6], address[256];
	uint32_t value;
	uint16_t event;

	if (zmq_recv(watch, head, sizeof(head), ZMQ_DONTWAIT) != (int)sizeof(head))
		return false;
	(void)!zmq_recv(watch, address, sizeof(address), 0);
	memcpy(&event, head, sizeof(event));
	memcpy(&value, head + sizeof(event), sizeof(value));
	*out = kind_of(event, value);
	return true;
}
