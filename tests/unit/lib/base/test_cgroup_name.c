// SPDX-License-Identifier: Apache-2.0
/* A path of each form that is in use, and the labels that it has: no other. */
#include "lib/base/cgroup_name.h"
#include "tests/lib/test.h"

#define HEX64 "4c01db0b339c4d2a8f7d6b5a1e0f9c8d7b6a5f4e3d2c1b0a9f8e7d6c5b4a3f2e"
#define UID "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
#define UID_ "0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9"

static const struct {
	const char *path, *labels; /* "key=value ..." in the order of enum cgroup_key */
} known[] = {
	{ "/", "" },
	{ "/init.scope", "unit=init.scope" },
	{ "/system.slice/nginx.service", "unit=nginx.service slice=system.slice" },
	{ "/system.slice/system-getty.slice/getty@tty1.service",
	  "unit=getty@tty1.service slice=system-getty.slice" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/firefox.service",
	  "unit=firefox.service slice=app.slice user=1000" },
	{ "/user.slice/user-1000.slice/session-3.scope",
	  "unit=session-3.scope slice=user-1000.slice user=1000" },
	/* docker, podman, nerdctl, LXC, nspawn, libvirt */
	{ "/docker/" HEX64, "container=" HEX64 " runtime=docker" },
	{ "/system.slice/docker-" HEX64 ".scope",
	  "container=" HEX64 " runtime=docker slice=system.slice" },
	{ "/docker/" HEX64 "/system.slice/ssh.service",
	  "container=" HEX64 " runtime=docker unit=ssh.service slice=system.slice" },
	{ "/actions_job/" HEX64, "container=" HEX64 " runtime=docker" },
	{ "/ecs/c3d6f0f1a8b24c6e9d5b7a8c9e0f1a2b/" HEX64, "container=" HEX64 },
	{ "/machine.slice/libpod-" HEX64 ".scope",
	  "container=" HEX64 " runtime=podman slice=machine.slice" },
	{ "/machine.slice/libpod-" HEX64 ".scope/container",
	  "container=" HEX64 " runtime=podman slice=machine.slice" },
	{ "/libpod_parent/libpod-" HEX64, "container=" HEX64 " runtime=podman" },
	{ "/machine.slice/libpod-conmon-" HEX64 ".scope",
	  "unit=libpod-conmon-" HEX64 ".scope slice=machine.slice" },
	{ "/system.slice/nerdctl-" HEX64 ".scope",
	  "container=" HEX64 " runtime=containerd slice=system.slice" },
	{ "/k8s.io/" HEX64, "container=" HEX64 " runtime=containerd" },
	{ "/lxc/web-1", "container=web-1 runtime=lxc" },
	{ "/lxc.payload.web-1/system.slice/a.service",
	  "container=web-1 runtime=lxc unit=a.service slice=system.slice" },
	{ "/lxc.payload/web-1", "container=web-1 runtime=lxc" },
	{ "/machine.slice/systemd-nspawn@deb.service",
	  "container=deb runtime=nspawn slice=machine.slice" },
	{ "/machine.slice/machine-qemu\\x2d7\\x2ddb.scope/libvirt/vcpu0",
	  "unit=machine-qemu\\x2d7\\x2ddb.scope slice=machine.slice vm=7-db" },
	{ "/machine/qemu-7-db.libvirt-qemu", "vm=7-db" },
	/* Kubernetes, systemd's driver and cgroupfs */
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	  ".slice/cri-containerd-" HEX64 ".scope",
	  "container=" HEX64 " runtime=containerd pod=" UID
	  " qos=burstable slice=kubepods-burstable-pod" UID_ ".slice" },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
	  ".slice/crio-" HEX64 ".scope",
	  "container=" HEX64 " runtime=crio pod=" UID
	  " qos=besteffort slice=kubepods-besteffort-pod" UID_ ".slice" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/docker-" HEX64 ".scope",
	  "container=" HEX64 " runtime=docker pod=" UID " qos=guaranteed slice=kubepods-pod" UID_
	  ".slice" },
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
	  "kubelet-kubepods-burstable-pod" UID_ ".slice/cri-containerd-" HEX64 ".scope",
	  "container=" HEX64 " runtime=containerd pod=" UID
	  " qos=burstable slice=kubelet-kubepods-burstable-pod" UID_ ".slice" },
	{ "/kubepods/burstable/pod" UID "/" HEX64,
	  "container=" HEX64 " pod=" UID " qos=burstable" },
	{ "/kubepods/besteffort/pod" UID "/crio-" HEX64,
	  "container=" HEX64 " runtime=crio pod=" UID " qos=besteffort" },
	{ "/kubepods/pod" UID, "pod=" UID " qos=guaranteed" },
	{ "/kubepods/burstable/pod0123456789abcdef0123456789abcdef",
	  "pod=0123456789abcdef0123456789abcdef qos=burstable" },
	{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_
	  ".slice:cri-containerd:" HEX64,
	  "container=" HEX64 " runtime=containerd pod=" UID
	  " qos=burstable unit=containerd.service slice=kubepods-burstable-pod" UID_ ".slice" },
	/* batch jobs */
	{ "/slurm/uid_1000/job_4711/step_0/task_1", "user=1000 batch=slurm job=4711 step=0" },
	{ "/slurm_node7/uid_1000/job_4711/step_batch",
	  "user=1000 batch=slurm job=4711 step=batch" },
	{ "/system.slice/slurmstepd.scope/job_4711/step_extern/user/task_special",
	  "unit=slurmstepd.scope slice=system.slice batch=slurm job=4711 step=extern" },
	{ "/system.slice/node7_slurmstepd.scope/job_4711",
	  "unit=node7_slurmstepd.scope slice=system.slice batch=slurm job=4711" },
	{ "/pbs_jobs.service/jobid/123.head", "unit=pbs_jobs.service batch=pbs job=123.head" },
	{ "/pbspro/123.head", "batch=pbs job=123.head" },
	{ "/lsf/cluster1/job.123.4.1700000000", "batch=lsf job=123.4.1700000000" },
	{ "/htcondor/condor_var_lib_condor_execute_slot1_2@n7",
	  "batch=htcondor job=var_lib_condor_execute_slot1_2@n7" },
	{ "/SGE/123.1", "batch=sge job=123.1" },
	/* none of them */
	{ "(others)", "" },
	{ "/docker", "" },
	{ "/docker/4c01db0b339c", "" },
	{ "/process/20446d75359ecceb3a9e4f139a8a1765", "" },
	{ "/kubepods.slice/kubepods-podx.slice", "slice=kubepods-podx.slice" },
	{ "/my/job_4711", "" },
	{ "~0123456789abcdefice/docker-" HEX64 ".scope", "container=" HEX64 " runtime=docker" },
};

TEST(every_form_of_a_path_has_its_labels_and_no_other)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct cgroup_name name;
		char text[1024] = "";

		cgroup_name_read(known[i].path, &name);
		for (int k = 0; k < LABEL_END; k++)
			if (name.value[k][0])
				snprintf(text + strlen(text), sizeof(text) - strlen(text),
					 "%s%s=%s", text[0] ? " " : "", cgroup_keys[k],
					 name.value[k]);
		CHECK_STR(text, known[i].labels);
	}
}

TEST(a_label_that_is_too_long_is_cut)
{
	struct cgroup_name name;
	char path[400] = "/", unit[300];

	memset(unit, 'a', sizeof(unit));
	snprintf(path, sizeof(path), "/system.slice/%.250s.service", unit);
	cgroup_name_read(path, &name);
	CHECK_EQ(strlen(name.value[LABEL_UNIT]), CGROUP_VALUE - 1);
	CHECK_STR(name.value[LABEL_SLICE], "system.slice");
}

TEST(a_path_of_nothing_but_slashes_has_no_labels)
{
	struct cgroup_name name;

	cgroup_name_read("//////", &name);
	for (int k = 0; k < LABEL_END; k++)
		CHECK_STR(name.value[k], "");
}
