// SPDX-License-Identifier: Apache-2.0
#include "probe/procfs/pressure.h"

#include <fcntl.h>
#include <math.h>

#include "probe/procfs/proc_text.h"

enum { TEXT = 512 };

static int total(int fd, double *seconds)
{
	double raw[] = { NAN, NAN };
	char text[TEXT];
	ssize_t n = pread(fd, text, sizeof(text), 0);

	if (n < 0)
		return -errno;
	proc_pressure((struct words){ text, text + n }, 0, 1, raw);
	*seconds = raw[0];
	return isnan(*seconds) ? -EBADMSG : 0;
}

int pressure_open(struct pressure *p, const char *path)
{
	double seconds;
	int r;

	*p = (struct pressure){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (p->fd < 0)
		return -errno;
	r = total(p->fd, &seconds); /* fails if the kernel has PSI but it is switched off */
	if (r < 0)
		pressure_close(p);
	return r;
}

void pressure_close(struct pressure *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

int pressure_read(struct pressure *p, uint64_t now_ns, double *share)
{
	double seconds, since = (double)(now_ns - p->read_ns) / 1e9;
	int r = total(p->fd, &seconds);

	if (r < 0)
		return r;
	*share = NAN;
	if (p->read_ns && since > 0)
		*share = fmax(0, fmin(1, (seconds - p->total_s) / since));
	p->total_s = seconds;
	p->read_ns = now_ns;
	return 0;
}
