// SPDX-License-Identifier: Apache-2.0
/*
 * app.h - the application name of a process that served a request: its systemd unit if it has one
 * ("nginx.service" is "nginx"), else the name of its main thread. Looked up once per process.
 */
#pragma once

#include "lib/base/base.h"

enum { APP_NAME = 64 };

struct apps;

struct apps *apps_new(const char *procfs);
void apps_free(struct apps *a);

/* Valid until the next call. comm comes from the kernel, so it is known even if the process is
 * gone. */
const char *apps_name(struct apps *a, uint32_t pid, const char *comm);

DEFINE_AUTO(struct apps *, apps_free)
