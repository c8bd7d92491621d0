// SPDX-License-Identifier: Apache-2.0
#include "probe/cgroup/cgroup_path.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/base/hash.h"

enum { DEPTH_MAX = 32, LOOKED_MAX = 10000, LEAF = 2, TAIL = 200 };

struct search {
	uint64_t id;
	uint32_t looked;
	char *path;
	size_t room;
};

static bool search(struct search *s, int dir, size_t len, int depth);

/* A directory without subdirectories has two links. */
static bool search_in(struct search *s, int dir, const char *name, size_t len, int depth)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || st.st_nlink == LEAF || depth == DEPTH_MAX) {
		close(fd);
		return false;
	}
	return search(s, fd, len, depth + 1);
}

/* Closes dir. path[0..len] is the path of dir. */
static bool search(struct search *s, int dir, size_t len, int depth)
{
	DIR *d = fdopendir(dir);
	bool found = false;
	struct dirent *e;

	if (!d) {
		close(dir);
		return false;
	}
	while (!found && s->looked < LOOKED_MAX && (e = readdir(d))) {
		size_t n;

		if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0)
			continue;
		n = len + (size_t)snprintf(s->path + len, s->room - len, "/%s", e->d_name);
		if (n >= s->room)
			continue;
		s->looked++;
		found = e->d_ino == s->id || search_in(s, dirfd(d), e->d_name, n, depth);
	}
	closedir(d);
	return found;
}

bool cgroup_find(int root, uint64_t id, char *path, size_t room)
{
	struct search s = { .id = id, .path = path, .room = room };
	struct stat st;
	int dir;

	if (fstat(root, &st) < 0)
		return false;
	if (st.st_ino == id) {
		snprintf(path, room, "/");
		return true;
	}
	dir = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir >= 0 && search(&s, dir, 0, 0);
}

void cgroup_entity(const char *path, char entity[static ITEM_MAX_TEXT])
{
	size_t len = strlen(path);

	if (len < ITEM_MAX_TEXT)
		memcpy(entity, path, len + 1);
	else
		snprintf(entity, ITEM_MAX_TEXT, "~%016llx%s",
			 (unsigned long long)hash_end(hash_add_str(HASH_START, path)),
			 path + len - TAIL);
}
