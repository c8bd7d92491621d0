// SPDX-License-Identifier: Apache-2.0
#include "lib/base/cgroup_name.h"

#include <ctype.h>

enum { ID = 64 };

const char *const cgroup_keys[LABEL_END] = {
	[LABEL_CONTAINER] = "container",
	[LABEL_RUNTIME] = "runtime",
	[LABEL_POD] = "pod",
	[LABEL_QOS] = "qos",
	[LABEL_UNIT] = "unit",
	[LABEL_SLICE] = "slice",
	[LABEL_USER] = "user",
	[LABEL_VM] = "vm",
	[LABEL_BATCH] = "batch",
	[LABEL_JOB] = "job",
	[LABEL_STEP] = "step",
};

/* One path component and a link to the component above it. */
struct part {
	const char *path, *p;
	size_t len;
	const struct part *up; /* NULL: the root */
};

/* What the variable part of a form may be. */
enum kind {
	HEX, /* 64 hex digits */
	NUMBER,
	UUID, /* with '-' or '_', or 32 hex digits */
	ANY,
};

/* A component with this prefix and suffix. below: text required in a component above it. */
static const struct form {
	const char *below; /* NULL: anywhere */
	const char *begin, *end;
	enum kind kind;
	enum cgroup_key key;
	enum cgroup_key also; /* a second label, set to text; LABEL_END: none */
	const char *text;
} forms[] = {
	/* containers: scopes of systemd, then directories */
	{ NULL, "docker-", ".scope", HEX, LABEL_CONTAINER, LABEL_RUNTIME, "docker" },
	{ NULL, "cri-containerd-", ".scope", HEX, LABEL_CONTAINER, LABEL_RUNTIME, "containerd" },
	{ NULL, "nerdctl-", ".scope", HEX, LABEL_CONTAINER, LABEL_RUNTIME, "containerd" },
	{ NULL, "containerd-", ".scope", HEX, LABEL_CONTAINER, LABEL_RUNTIME, "containerd" },
	{ NULL, "crio-", ".scope", HEX, LABEL_CONTAINER, LABEL_RUNTIME, "crio" },
	{ NULL, "crio-", "", HEX, LABEL_CONTAINER, LABEL_RUNTIME, "crio" },
	{ NULL, "libpod-", ".scope", HEX, LABEL_CONTAINER, LABEL_RUNTIME, "podman" },
	{ NULL, "libpod-", "", HEX, LABEL_CONTAINER, LABEL_RUNTIME, "podman" },
	{ "/docker", "", "", HEX, LABEL_CONTAINER, LABEL_RUNTIME, "docker" },
	{ "/actions_job", "", "", HEX, LABEL_CONTAINER, LABEL_RUNTIME, "docker" },
	{ "/k8s.io", "", "", HEX, LABEL_CONTAINER, LABEL_RUNTIME, "containerd" },
	{ NULL, "", "", HEX, LABEL_CONTAINER, LABEL_END, NULL },
	{ NULL, "lxc.payload.", "", ANY, LABEL_CONTAINER, LABEL_RUNTIME, "lxc" },
	{ "/lxc.payload", "", "", ANY, LABEL_CONTAINER, LABEL_RUNTIME, "lxc" },
	{ "/lxc", "", "", ANY, LABEL_CONTAINER, LABEL_RUNTIME, "lxc" },
	{ NULL, "systemd-nspawn@", ".service", ANY, LABEL_CONTAINER, LABEL_RUNTIME, "nspawn" },
	/* Kubernetes: with systemd's driver, then with cgroupfs */
	{ NULL, "kubepods-pod", ".slice", UUID, LABEL_POD, LABEL_QOS, "guaranteed" },
	{ NULL, "kubepods-burstable-pod", ".slice", UUID, LABEL_POD, LABEL_QOS, "burstable" },
	{ NULL, "kubepods-besteffort-pod", ".slice", UUID, LABEL_POD, LABEL_QOS, "besteffort" },
	{ "/kubepods/burstable", "pod", "", UUID, LABEL_POD, LABEL_QOS, "burstable" },
	{ "/kubepods/besteffort", "pod", "", UUID, LABEL_POD, LABEL_QOS, "besteffort" },
	{ "/kubepods", "pod", "", UUID, LABEL_POD, LABEL_QOS, "guaranteed" },
	/* batch jobs */
	{ "slurm", "job_", "", NUMBER, LABEL_JOB, LABEL_BATCH, "slurm" },
	{ "slurm", "step_", "", ANY, LABEL_STEP, LABEL_END, NULL },
	{ "slurm", "uid_", "", NUMBER, LABEL_USER, LABEL_END, NULL },
	{ "/jobid", "", "", ANY, LABEL_JOB, LABEL_BATCH, "pbs" },
	{ "/pbspro", "", "", ANY, LABEL_JOB, LABEL_BATCH, "pbs" },
	{ "lsf", "job.", "", ANY, LABEL_JOB, LABEL_BATCH, "lsf" },
	{ "/htcondor", "condor_", "", ANY, LABEL_JOB, LABEL_BATCH, "htcondor" },
	{ NULL, "condor_", ".scope", ANY, LABEL_JOB, LABEL_BATCH, "htcondor" },
	{ "/SGE", "", "", ANY, LABEL_JOB, LABEL_BATCH, "sge" },
	{ "/UGE", "", "", ANY, LABEL_JOB, LABEL_BATCH, "sge" },
	/* machines and users */
	{ NULL, "machine-qemu\\x2d", ".scope", ANY, LABEL_VM, LABEL_END, NULL },
	{ NULL, "qemu-", ".libvirt-qemu", ANY, LABEL_VM, LABEL_END, NULL },
	{ "/user.slice", "user-", ".slice", NUMBER, LABEL_USER, LABEL_END, NULL },
};

static bool is_hex(const char *p, size_t len, size_t digits)
{
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)p[i]))
			return false;
	return len == digits;
}

static bool is_uuid(const char *p, size_t len)
{
	if (len != 36)
		return is_hex(p, len, 32);
	for (size_t i = 0; i < len; i++) {
		bool gap = i == 8 || i == 13 || i == 18 || i == 23;

		if (gap ? p[i] != '-' && p[i] != '_' : !isxdigit((unsigned char)p[i]))
			return false;
	}
	return true;
}

static bool is_number(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)p[i]))
			return false;
	return len > 0;
}

static bool is_kind(enum kind kind, const char *p, size_t len)
{
	switch (kind) {
	case HEX:
		return is_hex(p, len, ID);
	case NUMBER:
		return is_number(p, len);
	case UUID:
		return is_uuid(p, len);
	case ANY:
		return len > 0;
	}
	return false;
}

static bool begins(const char *p, size_t len, const char *text)
{
	return len >= strlen(text) && memcmp(p, text, strlen(text)) == 0;
}

static bool ends(const char *p, size_t len, const char *text)
{
	size_t n = strlen(text);

	return len >= n && memcmp(p + len - n, text, n) == 0;
}

/* "/a/b": the components directly above; "a": part of any component above. */
static bool is_below(const struct part *part, const char *text)
{
	const struct part *up = part->up;
	size_t len;

	if (*text != '/') {
		while (up && !memmem(up->p, up->len, text, strlen(text)))
			up = up->up;
		return up;
	}
	if (!up)
		return false;
	len = (size_t)(up->p + up->len - part->path);
	return ends(part->path, len, text);
}

static void put(struct cgroup_name *out, enum cgroup_key key, const char *p, size_t len)
{
	char *to = out->value[key];

	if (len >= CGROUP_VALUE)
		len = CGROUP_VALUE - 1;
	memcpy(to, p, len);
	to[len] = 0;
}

/* systemd escapes a '-' in a name as "\x2d"; a pod's uid has '_' instead. */
static void put_value(struct cgroup_name *out, enum cgroup_key key, const char *p, size_t len)
{
	char *from = out->value[key], *to = from;

	put(out, key, p, len);
	for (; *from; from++) {
		bool escaped = key == LABEL_VM && strncmp(from, "\\x2d", 4) == 0;

		*to++ = escaped || (key == LABEL_POD && *from == '_') ? '-' : *from;
		from += escaped ? 3 : 0;
	}
	*to = 0;
}

static bool take_form(const struct form *f, const struct part *part, struct cgroup_name *out)
{
	size_t begin = strlen(f->begin), end = strlen(f->end);

	if (part->len < begin + end || !begins(part->p, part->len, f->begin) ||
	    !ends(part->p, part->len, f->end) || (f->below && !is_below(part, f->below)) ||
	    !is_kind(f->kind, part->p + begin, part->len - begin - end))
		return false;
	put_value(out, f->key, part->p + begin, part->len - begin - end);
	if (f->also != LABEL_END)
		put(out, f->also, f->text, strlen(f->text));
	return true;
}

/* "kubelet-kubepods-burstable-pod...": a nested slice starts with its parent's name. */
static struct part without_outer(const struct part *part)
{
	const char *pods = memmem(part->p, part->len, "kubepods-", strlen("kubepods-"));
	struct part inner = *part;

	if (pods && ends(part->p, part->len, ".slice")) {
		inner.len -= (size_t)(pods - part->p);
		inner.p = pods;
	}
	return inner;
}

/* "kubepods-pod1.slice:cri-containerd:ID": containerd in a slice without the systemd driver. */
static bool take_colons(const struct part *part, struct cgroup_name *out)
{
	static const struct {
		const char *prefix, *runtime;
	} known[] = { { "cri-containerd", "containerd" },
		      { "crio", "crio" },
		      { "docker", "docker" },
		      { "nerdctl", "containerd" } };
	const char *first = memchr(part->p, ':', part->len);
	const char *last = first ? memrchr(part->p, ':', part->len) : NULL;
	size_t id = last ? (size_t)(part->p + part->len - last - 1) : 0;

	if (!first || first == last || !is_hex(last + 1, id, ID))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if ((size_t)(last - first - 1) == strlen(known[i].prefix) &&
		    begins(first + 1, (size_t)(last - first), known[i].prefix))
			put(out, LABEL_RUNTIME, known[i].runtime, strlen(known[i].runtime));
	put(out, LABEL_CONTAINER, last + 1, id);
	return true;
}

static bool is_unit(const struct part *part)
{
	static const char *const kinds[] = { ".service", ".scope", ".socket", ".mount", ".swap" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (part->len > strlen(kinds[i]) && ends(part->p, part->len, kinds[i]))
			return true;
	return false;
}

static void take_part(const struct part *whole, struct cgroup_name *out)
{
	struct part slice = *whole, inner;
	bool container = take_colons(whole, out);

	if (container)
		slice.len = (size_t)((const char *)memchr(whole->p, ':', whole->len) - whole->p);
	inner = without_outer(&slice);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (take_form(&forms[i], &inner, out)) {
			container |= forms[i].key == LABEL_CONTAINER;
			break;
		}
	if (ends(slice.p, slice.len, ".slice"))
		put(out, LABEL_SLICE, slice.p, slice.len);
	else if (!container && is_unit(whole))
		put(out, LABEL_UNIT, whole->p, whole->len);
}

static void take_rest(const char *path, const char *rest, const struct part *up,
		      struct cgroup_name *out)
{
	struct part part = { path, rest, strcspn(rest, "/"), up };

	if (part.len)
		take_part(&part, out);
	if (rest[part.len])
		take_rest(path, rest + part.len + 1, part.len ? &part : up, out);
}

void cgroup_name_read(const char *path, struct cgroup_name *out)
{
	const char *first = strchr(path, '/'); /* text before it was cut off */

	memset(out, 0, sizeof(*out));
	if (first)
		take_rest(first, first, NULL, out);
}
