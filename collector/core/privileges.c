// SPDX-License-Identifier: Apache-2.0
#include "collector/core/privileges.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static int become(const struct passwd *pw)
{
	uid_t uid[3];
	gid_t gid[3];

	if (initgroups(pw->pw_name, pw->pw_gid) < 0 || setgid(pw->pw_gid) < 0 ||
	    setuid(pw->pw_uid) < 0)
		return -errno;
	if (getresuid(&uid[0], &uid[1], &uid[2]) < 0 || getresgid(&gid[0], &gid[1], &gid[2]) < 0)
		return -errno;
	for (int i = 0; i < 3; i++)
		if (uid[i] != pw->pw_uid || gid[i] != pw->pw_gid)
			return -EPERM;
	return pw->pw_uid == 0 || setuid(0) < 0 ? 0 : -EPERM; /* there must be no way back */
}

int privileges_drop(const char *user, char *err, size_t errlen)
{
	const struct passwd *pw;
	int r = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	if (r == 0 && *user) {
		errno = 0;
		pw = getpwnam(user);
		if (!pw) {
			snprintf(err, errlen,
				 "there is no user %s on this machine; create it, or "
				 "name another with --user",
				 user);
			return -ENOENT;
		}
		r = geteuid() == pw->pw_uid && pw->pw_uid != 0 ? 0 : become(pw);
	}
	if (r < 0)
		snprintf(err, errlen, "cannot become user %s: %s; start as root, or as that user",
			 *user ? user : "without privileges", strerror(-r));
	return r;
}

/* Each node needs four; without descriptors no connection is accepted. */
void privileges_descriptors(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur == l.rlim_max)
		return;
	l.rlim_cur = l.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &l);
}
