// SPDX-License-Identifier: Apache-2.0
#include "lib/uplink/keys.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zmq.h>

#include "lib/base/log.h"

enum { KEY_BYTES = 32, FILE_MAX = 4096 };

bool key_is_text(const char *s)
{
	uint8_t bytes[KEY_BYTES];

	return strlen(s) == KEY_TEXT - 1 && zmq_z85_decode(bytes, s);
}

int keys_make(struct key_pair *out, char *err, size_t errlen)
{
	if (zmq_curve_keypair(out->public, out->secret) == 0)
		return 0;
	snprintf(err, errlen,
		 "this libzmq has no CURVE, without which nothing is sent; install Debian's "
		 "libzmq5");
	return -ENOTSUP;
}

static int say(int r, const char *what, const char *path, char *err, size_t errlen)
{
	snprintf(err, errlen, "cannot %s %s: %s", what, path, strerror(-r));
	return r;
}

/* Reads a whole small file as text. */
static int read_file(const char *path, char text[static FILE_MAX], struct stat *st)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0 || fstat(fd, st) < 0)
		return -errno;
	n = read(fd, text, FILE_MAX - 1);
	if (n < 0)
		return -errno;
	text[n] = 0;
	return 0;
}

/* Root may create the file for another user's process: it gets the owner of its directory. */
static int give_to_owner(const char *path)
{
	char dir[KEYS_PATH];
	const char *slash = strrchr(path, '/');
	struct stat st, own;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	if (geteuid() != 0 || stat(*dir ? dir : "/", &st) < 0 || stat(path, &own) < 0 ||
	    (st.st_uid == own.st_uid && st.st_gid == own.st_gid))
		return 0;
	return chown(path, st.st_uid, st.st_gid) < 0 ? -errno : 0;
}

static int write_file(const char *path, const char *text, mode_t mode)
{
	char new[KEYS_PATH + 8];
	AUTO_CLOSE int fd = -1;
	size_t len = strlen(text);
	int r = 0;

	snprintf(new, sizeof(new), "%s.new", path);
	unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	errno = 0;
	if (fchmod(fd, mode) < 0 || write(fd, text, len) != (ssize_t)len || fsync(fd) < 0)
		r = errno ? -errno : -ENOSPC;
	if (r == 0)
		r = give_to_owner(new);
	if (r == 0 && rename(new, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(new);
	return r;
}

/* The next line that is neither empty nor a comment, without its newline; NULL at the end. */
static char *next_line(char **rest)
{
	char *line;

	while ((line = strsep(rest, "\n"))) {
		line[strcspn(line, "\r")] = 0;
		line += strspn(line, " \t");
		line[strcspn(line, " \t")] = 0;
		if (*line && *line != '#')
			return line;
	}
	return NULL;
}

int keys_load(const char *path, struct key_pair *out, char *err, size_t errlen)
{
	char text[FILE_MAX], *rest = text, *line;
	struct stat st;
	int r = read_file(path, text, &st);

	if (r < 0)
		return say(r, "read the key in", path, err, errlen);
	if (st.st_mode & (S_IRWXG | S_IRWXO)) {
		snprintf(err, errlen, "others may read the secret key in %s: chmod 600 it", path);
		return -EINVAL;
	}
	line = next_line(&rest);
	if (!line || !key_is_text(line) || next_line(&rest) ||
	    zmq_curve_public(out->public, line) < 0) {
		snprintf(err, errlen,
			 "%s holds no key of 40 characters: restore the file, or remove it to get "
			 "a new key, which must be approved again",
			 path);
		return -EINVAL;
	}
	memcpy(out->secret, line, KEY_TEXT);
	return 0;
}

int keys_save(const char *path, const struct key_pair *k, char *err, size_t errlen)
{
	char text[FILE_MAX];
	int r;

	snprintf(text, sizeof(text),
		 "# The secret key of this part of Seismo: it never leaves this machine.\n"
		 "# Its public key is %s\n%s\n",
		 k->public, k->secret);
	r = write_file(path, text, S_IRUSR | S_IWUSR);
	return r < 0 ? say(r, "write a key to", path, err, errlen) : 0;
}

/* Creates missing parents, too. */
static int make_dir(const char *dir)
{
	char path[KEYS_PATH];

	snprintf(path, sizeof(path), "%s", dir);
	for (char *c = path + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = 0;
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -errno;
		*c = '/';
	}
	if (mkdir(path, 0755) < 0)
		return errno == EEXIST ? 0 : -errno;
	if (chmod(path, 0755) < 0) /* whatever the umask; the secret files have mode 600 */
		return -errno;
	return give_to_owner(path);
}

int keys_open(const char *dir, const char *name, struct key_pair *out, bool *made, char *err,
	      size_t errlen)
{
	char path[KEYS_PATH];
	int r;

	*made = false;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return say(-ENAMETOOLONG, "use", dir, err, errlen);
	r = keys_load(path, out, err, errlen);
	if (r != -ENOENT)
		return r;
	r = make_dir(dir);
	if (r < 0)
		return say(r, "make the directory of keys", dir, err, errlen);
	r = keys_make(out, err, errlen);
	if (r == 0)
		r = keys_save(path, out, err, errlen);
	*made = r == 0;
	return r;
}

bool keys_has(const struct key_list *l, const char *key)
{
	for (unsigned i = 0; i < l->n; i++)
		if (strcmp(l->key[i], key) == 0)
			return true;
	return false;
}

void keys_add(struct key_list *l, const char *key)
{
	if (keys_has(l, key))
		return;
	if (l->n == KEYS_MAX)
		memmove(l->key[0], l->key[1], sizeof(l->key[0]) * --l->n);
	snprintf(l->key[l->n++], KEY_TEXT, "%s", key);
}

int keys_read(const char *path, struct key_list *l, char *err, size_t errlen)
{
	char text[FILE_MAX], *rest = text, *line;
	struct stat st;
	int r = read_file(path, text, &st);

	if (r == -ENOENT)
		return r;
	if (r < 0)
		return say(r, "read the keys in", path, err, errlen);
	while ((line = next_line(&rest))) {
		if (!key_is_text(line)) {
			snprintf(err, errlen,
				 "%s: \"%.40s\" is not a public key of 40 characters; "
				 "seismo-collector key prints it",
				 path, line);
			return -EINVAL;
		}
		keys_add(l, line);
	}
	return 0;
}

int keys_write(const char *path, const struct key_list *l, const char *comment, char *err,
	       size_t errlen)
{
	char text[FILE_MAX];
	int len = snprintf(text, sizeof(text), "# %s\n", comment), r;

	for (unsigned i = 0; i < l->n; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%s\n", l->key[i]);
	r = write_file(path, text, 0644);
	return r < 0 ? say(r, "write", path, err, errlen) : 0;
}
