// SPDX-License-Identifier: Apache-2.0
#include "pressure.h"

#include <fcntl.h>
#include <math.h>

#include "proc_text.h"

enum { TEXT = 512 };

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds. */
static int total(int fd, double *us)
{
	char text[TEXT];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	struct words file = { text, text + (n > 0 ? n : 0) }, line, word;

	if (n < 0)
		return -errno;
	while (proc_line(&file, &line)) {
		if (!proc_word(&line, &word) || !proc_is(&word, "some"))
			continue;
		while (proc_word(&line, &word))
			if (proc_is(&word, "total")) {
				*us = proc_number(&line);
				return isnan(*us) ? -EBADMSG : 0;
			}
	}
	return -EBADMSG;
}

int pressure_open(struct pressure *p, const char *path)
{
	double us;
	int r;

	*p = (struct pressure){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (p->fd < 0)
		return -errno;
	r = total(p->fd, &us); /* a kernel that has them and does not count refuses to read */
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
	double us, ms = (double)(now_ns - p->read_ns) / 1e6;
	int r = total(p->fd, &us);

	if (r < 0)
		return r;
	*share = NAN;
	if (p->read_ns && ms > 0)
		*share = fmax(0, fmin(1, (us - p->total_us) / 1e3 / ms));
	p->total_us = us;
	p->read_ns = now_ns;
	return 0;
}
