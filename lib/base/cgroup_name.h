// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_name.h - who runs in a cgroup, as far as its path tells: container, pod, unit, batch job.
 *
 * The forms are those of systemd, docker, containerd, CRI-O, podman, LXC, libvirt, Kubernetes (with
 * both cgroup drivers), Slurm, PBS, LSF, HTCondor and Grid Engine. Nothing is guessed: what has no
 * known form has no label. The innermost counts where there are several.
 */
#pragma once

#include "lib/base/base.h"

enum cgroup_key {
	LABEL_CONTAINER,
	LABEL_RUNTIME, /* docker, containerd, crio, podman, lxc, nspawn */
	LABEL_POD, /* its uid, with '-' */
	LABEL_QOS, /* guaranteed, burstable, besteffort */
	LABEL_UNIT, /* of systemd, slices aside */
	LABEL_SLICE,
	LABEL_USER, /* its uid */
	LABEL_VM,
	LABEL_BATCH, /* slurm, pbs, lsf, htcondor, sge */
	LABEL_JOB,
	LABEL_STEP,
	LABEL_END,
};

enum { CGROUP_VALUE = 128 };

struct cgroup_name {
	char value[LABEL_END][CGROUP_VALUE]; /* "": not known; a longer one is cut */
};

extern const char *const cgroup_keys[LABEL_END]; /* "container", ... */

void cgroup_name_read(const char *path, struct cgroup_name *out);
