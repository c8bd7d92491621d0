// SPDX-License-Identifier: Apache-2.0
/*
 * service_manager.h - notifies systemd of this service's state (sd_notify(3)), without its library.
 * Without a service manager these functions do nothing.
 */
#pragma once

#include "lib/base/base.h"

/* Opens the socket of NOTIFY_SOCKET; before the file system is closed to this process. */
void service_manager_open(void);
void service_manager_close(void);

void service_manager_ready(void); /* READY=1: the start is complete */

/*
 * How often service_manager_alive is to be called: half of WatchdogSec; 0: no watchdog. systemd
 * kills and restarts a service that does not call in time.
 */
uint32_t service_manager_alive_ms(void);
void service_manager_alive(void);
