// SPDX-License-Identifier: Apache-2.0
#include "collector/web/live/web_hub.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "lib/base/log.h"

enum { RING = 2048, CLIENTS_MAX = 1024, BLOCK = 8 * 1024 };

struct web_blob {
	atomic_uint refs;
	size_t len;
	char data[];
};

struct client {
	struct web_hub *hub;
	struct MHD_Connection *conn;
	struct client *next, **prev;
	uint64_t at; /* number of the next event to send */
	struct web_blob *cur; /* being sent, from offset off */
	size_t off;
	uint64_t seen[WEB_SLOTS];
	bool suspended;
};

struct web_hub {
	pthread_mutex_t lock; /* taken before libmicrohttpd's own lock, never after */
	struct {
		struct web_mark mark;
		struct web_blob *blob;
	} ring[RING];
	uint64_t head, tail; /* events [tail, head) are in the ring */
	struct web_mark before, last; /* marks of the event at tail - 1 and of the newest */
	bool begun, closing;
	struct {
		struct web_blob *blob;
		uint64_t version;
	} slots[WEB_SLOTS];
	struct client *clients;
	struct web_hub_stats stats;
};

struct web_blob *web_blob_new(const void *data, size_t len)
{
	struct web_blob *b = malloc(sizeof(*b) + len);

	if (!b)
		die("out of memory");
	atomic_init(&b->refs, 1);
	b->len = len;
	memcpy(b->data, data, len);
	return b;
}

static struct web_blob *blob_ref(struct web_blob *b)
{
	atomic_fetch_add(&b->refs, 1);
	return b;
}

static void blob_unref(struct web_blob *b)
{
	if (b && atomic_fetch_sub(&b->refs, 1) == 1)
		free(b);
}

static bool is_after(struct web_mark a, struct web_mark b)
{
	return a.stored_us != b.stored_us ? a.stored_us > b.stored_us : a.number > b.number;
}

struct web_hub *web_hub_new(void)
{
	struct web_hub *h = calloc(1, sizeof(*h));

	if (h)
		pthread_mutex_init(&h->lock, NULL);
	return h;
}

void web_hub_free(struct web_hub *h)
{
	if (!h)
		return;
	for (; h->tail < h->head; h->tail++)
		blob_unref(h->ring[h->tail % RING].blob);
	for (int i = 0; i < WEB_SLOTS; i++)
		blob_unref(h->slots[i].blob);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

void web_hub_begin(struct web_hub *h, struct web_mark at)
{
	pthread_mutex_lock(&h->lock);
	h->before = h->last = at;
	h->begun = true;
	pthread_mutex_unlock(&h->lock);
}

void web_hub_publish(struct web_hub *h, struct web_mark at, struct web_blob *b)
{
	pthread_mutex_lock(&h->lock);
	if (h->head - h->tail == RING) {
		h->before = h->ring[h->tail % RING].mark;
		blob_unref(h->ring[h->tail++ % RING].blob);
	}
	h->ring[h->head % RING].mark = at;
	h->ring[h->head % RING].blob = b;
	h->head++;
	h->last = at;
	h->stats.published++;
	pthread_mutex_unlock(&h->lock);
}

void web_hub_set(struct web_hub *h, enum web_slot slot, struct web_blob *b)
{
	pthread_mutex_lock(&h->lock);
	blob_unref(h->slots[slot].blob);
	h->slots[slot].blob = b;
	h->slots[slot].version++;
	pthread_mutex_unlock(&h->lock);
}

static void resume_clients(struct web_hub *h)
{
	for (struct client *c = h->clients; c; c = c->next) {
		if (c->suspended)
			MHD_resume_connection(c->conn);
		c->suspended = false;
	}
}

void web_hub_wake(struct web_hub *h)
{
	pthread_mutex_lock(&h->lock);
	resume_clients(h);
	pthread_mutex_unlock(&h->lock);
}

void web_hub_close(struct web_hub *h)
{
	pthread_mutex_lock(&h->lock);
	h->closing = true;
	resume_clients(h);
	pthread_mutex_unlock(&h->lock);
}

struct web_hub_stats web_hub_stats(struct web_hub *h)
{
	struct web_hub_stats s;

	pthread_mutex_lock(&h->lock);
	s = h->stats;
	pthread_mutex_unlock(&h->lock);
	return s;
}

static int find_position(const struct web_hub *h, const struct web_mark *since, uint64_t *next,
			 struct web_mark *upto)
{
	uint64_t low = h->tail, high = h->head;

	*next = h->head;
	*upto = h->last;
	if (!since || (h->begun && !is_after(h->last, *since)))
		return 0;
	if (!h->begun)
		return -EAGAIN;
	if (is_after(h->before, *since))
		return -ENODATA;
	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (is_after(h->ring[mid % RING].mark, *since))
			high = mid;
		else
			low = mid + 1;
	}
	*next = low;
	return 0;
}

int web_hub_find(struct web_hub *h, const struct web_mark *since, uint64_t *next,
		 struct web_mark *upto)
{
	int r;

	pthread_mutex_lock(&h->lock);
	r = find_position(h, since, next, upto);
	pthread_mutex_unlock(&h->lock);
	return r;
}

static struct web_blob *make_skipped(struct client *c)
{
	struct web_hub *h = c->hub;
	uint64_t n = h->tail - c->at;
	char text[80];
	int len = snprintf(text, sizeof(text), "event: skipped\ndata: {\"count\":%llu}\n\n",
			   (unsigned long long)n);

	h->stats.skipped += n;
	c->at = h->tail;
	return web_blob_new(text, (size_t)len);
}

/* The next blob that this client has not seen, or NULL. */
static struct web_blob *next_blob(struct client *c)
{
	struct web_hub *h = c->hub;

	if (c->at < h->tail)
		return make_skipped(c);
	if (c->at < h->head)
		return blob_ref(h->ring[c->at++ % RING].blob);
	for (int i = 0; i < WEB_SLOTS; i++) {
		if (c->seen[i] == h->slots[i].version)
			continue;
		c->seen[i] = h->slots[i].version;
		if (h->slots[i].blob)
			return blob_ref(h->slots[i].blob);
	}
	return NULL;
}

static ssize_t read_some(struct client *c, char *buf, size_t max)
{
	size_t done = 0;

	while (done < max) {
		size_t n;

		if (!c->cur)
			c->cur = next_blob(c);
		if (!c->cur)
			break;
		n = c->cur->len - c->off < max - done ? c->cur->len - c->off : max - done;
		memcpy(buf + done, c->cur->data + c->off, n);
		done += n;
		c->off += n;
		if (c->off == c->cur->len) {
			blob_unref(TAKE(c->cur));
			c->off = 0;
		}
	}
	return (ssize_t)done;
}

static ssize_t on_read(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct client *c = arg;
	ssize_t n = MHD_CONTENT_READER_END_OF_STREAM;

	(void)pos;
	pthread_mutex_lock(&c->hub->lock);
	if (!c->hub->closing) {
		n = read_some(c, buf, max);
		if (n == 0) {
			c->suspended = true;
			MHD_suspend_connection(c->conn);
		}
	}
	pthread_mutex_unlock(&c->hub->lock);
	return n;
}

static void on_gone(void *arg)
{
	struct client *c = arg;

	pthread_mutex_lock(&c->hub->lock);
	*c->prev = c->next;
	if (c->next)
		c->next->prev = c->prev;
	c->hub->stats.clients--;
	pthread_mutex_unlock(&c->hub->lock);
	blob_unref(c->cur);
	free(c);
}

static bool add_client(struct client *c)
{
	struct web_hub *h = c->hub;
	bool room;

	pthread_mutex_lock(&h->lock);
	room = !h->closing && h->stats.clients < CLIENTS_MAX;
	if (room) {
		c->next = h->clients;
		if (c->next)
			c->next->prev = &c->next;
		c->prev = &h->clients;
		h->clients = c;
		h->stats.clients++;
	}
	pthread_mutex_unlock(&h->lock);
	return room;
}

struct MHD_Response *web_hub_join(struct web_hub *h, struct MHD_Connection *conn, uint64_t next,
				  struct web_blob *backlog)
{
	struct client *c = calloc(1, sizeof(*c));
	struct MHD_Response *r;

	if (!c)
		die("out of memory");
	*c = (struct client){ .hub = h, .conn = conn, .at = next, .cur = backlog };
	if (!add_client(c)) {
		blob_unref(backlog);
		free(c);
		return NULL;
	}
	r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, on_read, c, on_gone);
	if (!r)
		on_gone(c);
	return r;
}
