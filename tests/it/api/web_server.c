// SPDX-License-Identifier: Apache-2.0
/*
 * web_server CONNINFO [LISTEN [KEEP_DAYS]] - the web server without a collector around it. Says its
 * port, then notifies at every line of its input, and stops at the end of it.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

#include "collector/web/web.h"
#include "collector/web/web_listen.h"
#include "lib/base/log.h"

static unsigned port_of(int fd)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		die("getsockname: %s", strerror(errno));
	return ntohs(a.sin_port); /* at the same place in IPv6 */
}

int main(int argc, char *argv[])
{
	struct web_config cfg = { .version = "test" };
	struct web *w;
	char line[16];

	log_init("web_server", LOG_INFO);
	if (argc < 2)
		die("usage: web_server CONNINFO [LISTEN [KEEP_DAYS]]");
	cfg.database = argv[1];
	cfg.keep_days = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	cfg.fd = web_listen(argc > 2 ? argv[2] : "127.0.0.1:0", 0660, "");
	if (cfg.fd < 0)
		return EXIT_FAILURE;
	printf("%u\n", port_of(cfg.fd));
	fflush(stdout);
	if (web_start(&w, &cfg) < 0)
		return EXIT_FAILURE;
	while (fgets(line, sizeof(line), stdin))
		web_notify(w);
	web_stop(w);
	return EXIT_SUCCESS;
}
