// SPDX-License-Identifier: Apache-2.0
#include "probe/cgroup/cgroup_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/base/log.h"
#include "probe/procfs/proc_delta.h"

enum { LINKS_OF_A_LEAF = 2 };

/* Where the path is, or would be. */
static uint32_t place_of(const struct cgroup_tree *t, const char *path, size_t len, bool *found)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;
		int c = strncmp(t->all[mid]->path, path, len);

		if (c == 0 && t->all[mid]->path[len])
			c = 1;
		if (c == 0) {
			*found = true;
			return mid;
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*found = false;
	return low;
}

static struct cgroup *find(const struct cgroup_tree *t, const char *path, size_t len)
{
	bool found;
	uint32_t at = place_of(t, path, len, &found);

	return found ? t->all[at] : NULL;
}

struct cgroup *cgroup_tree_parent(const struct cgroup_tree *t, const struct cgroup *c)
{
	const char *slash = strrchr(c->path, '/');

	if (c->depth == 0)
		return NULL;
	return find(t, c->path, slash == c->path ? 1 : (size_t)(slash - c->path));
}

static struct cgroup *make(struct cgroup_tree *t, const char *path, uint32_t depth)
{
	struct cgroup *c = calloc(1, sizeof(*c));

	if (!c)
		die("out of memory");
	c->path = strdup(path);
	if (!c->path)
		die("out of memory");
	c->depth = depth;
	c->born = t->walked;
	c->turn = t->made++;
	proc_clear(c->last, CGROUP_END);
	return c;
}

/* NULL: there are too many. */
static struct cgroup *take(struct cgroup_tree *t, const char *path, uint32_t depth)
{
	bool found;
	uint32_t at = place_of(t, path, strlen(path), &found);

	if (found)
		return t->all[at];
	if (t->n == CGROUP_MAX) {
		t->cut++;
		return NULL;
	}
	if (t->n == t->room) {
		t->room = t->room ? t->room * 2 : 64;
		t->all = reallocarray(t->all, t->room, sizeof(*t->all));
		if (!t->all)
			die("out of memory");
	}
	memmove(&t->all[at + 1], &t->all[at], (t->n - at) * sizeof(*t->all));
	t->all[at] = make(t, path, depth);
	t->n++;
	return t->all[at];
}

struct walk {
	struct cgroup_tree *tree;
	uint32_t mount;
	struct cgroup **queue; /* those of this hierarchy, the nearest to the root first */
	uint32_t n, room;
};

static void enqueue(struct walk *w, struct cgroup *c)
{
	if (w->n == w->room) {
		w->room = w->room ? w->room * 2 : 64;
		w->queue = reallocarray(w->queue, w->room, sizeof(struct cgroup *));
		if (!w->queue)
			die("out of memory");
	}
	w->queue[w->n++] = c;
}

static const char *below_root(const struct cgroup *c)
{
	return c->depth ? c->path + 1 : ".";
}

static void take_children(struct walk *w, const struct cgroup *c, DIR *d)
{
	char path[PATH_MAX];
	struct dirent *e;

	while ((e = readdir(d))) {
		struct cgroup *child;

		if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0)
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", c->depth ? c->path : "",
				     e->d_name) >= sizeof(path))
			continue;
		child = take(w->tree, path, c->depth + 1);
		if (child)
			enqueue(w, child);
	}
}

/* A directory without directories has two links, and need not be read. */
static void visit(struct walk *w, int root, struct cgroup *c)
{
	struct stat st;
	DIR *d;
	int fd;

	if (fstatat(root, below_root(c), &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
		return; /* it went a moment ago */
	c->in |= 1u << w->mount;
	c->id[w->mount] = st.st_ino;
	if (st.st_nlink == LINKS_OF_A_LEAF)
		return;
	fd = openat(root, below_root(c), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	take_children(w, c, d);
	closedir(d);
}

static void free_one(struct cgroup_tree *t, struct cgroup *c)
{
	if (c->listed)
		t->listed--;
	free(c->path);
	free(c);
}

static void forget_gone(struct cgroup_tree *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		if (t->all[i]->in)
			t->all[n++] = t->all[i];
		else
			free_one(t, t->all[i]);
	}
	t->n = n;
}

/* Those nearest to the root first: what is used below them is in theirs. */
static void list_new(struct cgroup_tree *t)
{
	uint32_t left = t->n - t->listed;

	for (uint32_t depth = 0; left && t->listed < CGROUP_LISTED; depth++)
		for (uint32_t i = 0; i < t->n && t->listed < CGROUP_LISTED; i++) {
			struct cgroup *c = t->all[i];

			if (c->listed || c->depth != depth)
				continue;
			c->listed = true;
			t->listed++;
			left--;
		}
}

/* A busy one takes the place of one that has long been idle. */
static void list_busy(struct cgroup_tree *t)
{
	uint32_t idle = 0;

	for (uint32_t i = 0; i < t->n && t->listed < t->n; i++) {
		struct cgroup *c = t->all[i];

		if (c->listed || c->idle)
			continue;
		while (idle < t->n && (!t->all[idle]->listed || !t->all[idle]->depth ||
				       t->all[idle]->idle < CGROUP_IDLE_TICKS))
			idle++;
		if (idle == t->n)
			return;
		t->all[idle]->listed = false;
		c->listed = true;
	}
}

void cgroup_tree_walk(struct cgroup_tree *t, const struct cgroup_mounts *m)
{
	t->cut = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		t->all[i]->was_in = t->all[i]->in;
		t->all[i]->in = 0;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		struct walk w = { .tree = t, .mount = i };

		enqueue(&w, take(t, "/", 0));
		for (uint32_t at = 0; at < w.n; at++)
			visit(&w, m->mount[i].fd, w.queue[at]);
		free(w.queue);
	}
	forget_gone(t);
	list_new(t);
	list_busy(t);
	t->walked = true;
}

void cgroup_tree_free(struct cgroup_tree *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free_one(t, t->all[i]);
	free(t->all);
	*t = (struct cgroup_tree){ 0 };
}
