// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_name.h - the owner of a cgroup, read from its path: container, pod, unit, batch job.
 *
 * Known path forms are those of systemd, docker, containerd, CRI-O, podman, LXC, libvirt,
 * Kubernetes (with both cgroup drivers), Slurm, PBS, LSF, HTCondor and Grid Engine. Nothing is
 * guessed: an unknown form gives no label. Of several matches the innermost counts.
 */
#pragma once

#include "lib/base/base.h"

enum cgroup_key {
	LABEL_CONTAINER,
	LABEL_RUNTIME, /* docker, containerd, crio, podman, lxc, nspawn */
	LABEL_POD, /* its uid, with '-' */
	LABEL_QOS, /* guaranteed, burstable, besteffort */
	LABEL_UNIT, /* systemd unit, except slices */
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
	char value[LABEL_END][CGROUP_VALUE]; /* "": unknown; longer values are cut */
};

extern const char *const cgroup_keys[LABEL_END]; /* "container", ... */

void cgroup_name_read(const char *path, struct cgroup_name *out);
