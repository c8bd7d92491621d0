// SPDX-License-Identifier: Apache-2.0
/*
 * as_pid.c - runs a command as a process with a given number, and waits for it: for tests of what
 * happens when a number is used again.
 *
 * as_pid PID COMMAND [ARG...]
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	pid_t pid = argc > 2 ? atoi(argv[1]) : 0;
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uintptr_t)&pid,
				   .set_tid_size = 1 };
	int status;
	long r;

	if (pid < 2) {
		fprintf(stderr, "usage: as_pid PID COMMAND [ARG...]\n");
		return 2;
	}
	r = syscall(SYS_clone3, &args, sizeof(args));
	if (r == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (r < 0 || waitpid((pid_t)r, &status, 0) < 0) {
		fprintf(stderr, "as_pid: %d: %s\n", pid, strerror(errno));
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
