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

/* The index of the path, or the index at which to insert it. */
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

static struct cgroup_node *find_path(const struct cgroup_tree *t, const char *path, size_t len)
{
	bool found;
	uint32_t at = place_of(t, path, len, &found);

	return found ? t->all[at] : NULL;
}

struct cgroup_node *cgroup_tree_parent(const struct cgroup_tree *t, const struct cgroup_node *c)
{
	const char *slash = strrchr(c->path, '/');

	if (c->depth == 0)
		return NULL;
	return find_path(t, c->path, slash == c->path ? 1 : (size_t)(slash - c->path));
}

static struct cgroup_node *new_cgroup(struct cgroup_tree *t, const char *path, uint32_t depth)
{
	struct cgroup_node *c = calloc(1, sizeof(*c));

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

/* The cgroup of this path, added if it is new; NULL: there are too many. */
static struct cgroup_node *get_cgroup(struct cgroup_tree *t, const char *path, uint32_t depth)
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
	t->all[at] = new_cgroup(t, path, depth);
	t->n++;
	return t->all[at];
}

struct tree_walk {
	struct cgroup_tree *tree;
	uint32_t mount;
	struct cgroup_node *
		*queue; /* the cgroups of this hierarchy, those nearest to the root first */
	uint32_t n, room;
};

static void enqueue(struct tree_walk *w, struct cgroup_node *c)
{
	if (w->n == w->room) {
		w->room = w->room ? w->room * 2 : 64;
		w->queue = reallocarray(w->queue, w->room, sizeof(struct cgroup_node *));
		if (!w->queue)
			die("out of memory");
	}
	w->queue[w->n++] = c;
}

static const char *below_root(const struct cgroup_node *c)
{
	return c->depth ? c->path + 1 : ".";
}

static void add_children(struct tree_walk *w, const struct cgroup_node *c, DIR *d)
{
	char path[PATH_MAX];
	struct dirent *e;

	while ((e = readdir(d))) {
		struct cgroup_node *child;

		if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0)
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", c->depth ? c->path : "",
				     e->d_name) >= sizeof(path))
			continue;
		child = get_cgroup(w->tree, path, c->depth + 1);
		if (child)
			enqueue(w, child);
	}
}

/* A directory without subdirectories has two links and is not read. */
static void visit_cgroup(struct tree_walk *w, int root, struct cgroup_node *c)
{
	struct stat st;
	DIR *d;
	int fd;

	if (fstatat(root, below_root(c), &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
		return; /* removed a moment ago */
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
	add_children(w, c, d);
	closedir(d);
}

static void free_cgroup(struct cgroup_tree *t, struct cgroup_node *c)
{
	if (c->listed)
		t->listed--;
	free(c->path);
	free(c);
}

static void remove_gone(struct cgroup_tree *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		if (t->all[i]->in)
			t->all[n++] = t->all[i];
		else
			free_cgroup(t, t->all[i]);
	}
	t->n = n;
}

/* Those nearest to the root first: their values include those of the cgroups below. */
static void list_new(struct cgroup_tree *t)
{
	uint32_t left = t->n - t->listed;

	for (uint32_t depth = 0; left && t->listed < CGROUP_LISTED; depth++)
		for (uint32_t i = 0; i < t->n && t->listed < CGROUP_LISTED; i++) {
			struct cgroup_node *c = t->all[i];

			if (c->listed || c->depth != depth)
				continue;
			c->listed = true;
			t->listed++;
			left--;
		}
}

/* A busy cgroup takes the place of one that has been idle for CGROUP_IDLE_TICKS. */
static void list_busy(struct cgroup_tree *t)
{
	uint32_t idle = 0;

	for (uint32_t i = 0; i < t->n && t->listed < t->n; i++) {
		struct cgroup_node *c = t->all[i];

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
		struct tree_walk w = { .tree = t, .mount = i };

		enqueue(&w, get_cgroup(t, "/", 0));
		for (uint32_t at = 0; at < w.n; at++)
			visit_cgroup(&w, m->mount[i].fd, w.queue[at]);
		free(w.queue);
	}
	remove_gone(t);
	list_new(t);
	list_busy(t);
	t->walked = true;
}

void cgroup_tree_free(struct cgroup_tree *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free_cgroup(t, t->all[i]);
	free(t->all);
	*t = (struct cgroup_tree){ 0 };
}
