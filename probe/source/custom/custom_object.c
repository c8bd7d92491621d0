// SPDX-License-Identifier: Apache-2.0
#include "probe/source/custom/custom_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/base/text.h"
#include "probe/kernel/kernel_load.h"
#include "probe/source/custom/custom_types.h"

enum {
	STORED = 4096, /* assumed number of tasks, sockets, ... for storage maps */
	ENTRY = 64, /* approximate overhead of an entry in the kernel */
	CALL = 0x85, /* BPF_JMP | BPF_CALL */
};

static const enum bpf_prog_type observing[] = {
	BPF_PROG_TYPE_TRACEPOINT, BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_PROG_TYPE_PERF_EVENT,
	BPF_PROG_TYPE_KPROBE, /* includes uprobes */
};

static const enum bpf_map_type counted[] = {
	BPF_MAP_TYPE_HASH,	  BPF_MAP_TYPE_ARRAY,	     BPF_MAP_TYPE_LRU_HASH,
	BPF_MAP_TYPE_PERCPU_HASH, BPF_MAP_TYPE_PERCPU_ARRAY, BPF_MAP_TYPE_LRU_PERCPU_HASH,
	BPF_MAP_TYPE_LPM_TRIE,	  BPF_MAP_TYPE_QUEUE,	     BPF_MAP_TYPE_STACK,
	BPF_MAP_TYPE_STACK_TRACE,
};

static const enum bpf_map_type stored[] = {
	BPF_MAP_TYPE_TASK_STORAGE,
	BPF_MAP_TYPE_SK_STORAGE,
	BPF_MAP_TYPE_INODE_STORAGE,
};

/* Helpers that change what they observe. */
static const struct helper {
	int id;
	const char *name;
} acting[] = {
	{ BPF_FUNC_probe_write_user, "bpf_probe_write_user" },
	{ BPF_FUNC_override_return, "bpf_override_return" },
	{ BPF_FUNC_send_signal, "bpf_send_signal" },
	{ BPF_FUNC_send_signal_thread, "bpf_send_signal_thread" },
};

static char said[CUSTOM_WHY]; /* by libbpf: the first warning, or the verifier's reason */
static bool refused; /* said is the verifier's reason */

static int refuse(char *why, int err, const char *fmt, ...) PRINTF(3, 4);

static int refuse(char *why, int err, const char *fmt, ...)
{
	char text[2 * CUSTOM_WHY];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_clean_into(why, CUSTOM_WHY, text, strlen(text));
	return err;
}

/* Parses "prog 'x': -- BEGIN PROG LOAD LOG --", lines, the verifier's complaint, statistics. */
static void take_verdict(char *log)
{
	char *rest = NULL, *last = NULL, *name = strchr(log, '\''), *end;

	end = name ? strchr(name + 1, '\'') : NULL;
	if (!end)
		return;
	*end = 0;
	for (char *l = strtok_r(end + 1, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
		if (!strstr(l, "PROG LOAD LOG --") && strncmp(l, "processed ", 10) != 0)
			last = l;
	if (last)
		snprintf(said, sizeof(said), "%s: %s", name + 1, last);
	refused = last != NULL;
}

__attribute__((format(printf, 2, 0))) static int on_print(enum libbpf_print_level level,
							  const char *fmt, va_list ap)
{
	char *line = NULL;
	int n = level == LIBBPF_WARN ? vasprintf(&line, fmt, ap) : 0;

	if (n <= 0)
		return 0;
	if (strstr(line, "BEGIN PROG LOAD LOG")) {
		take_verdict(line);
	} else if (!said[0]) {
		line[strcspn(line, "\n")] = 0;
		snprintf(said, sizeof(said), "%s",
			 strncmp(line, "libbpf: ", 8) == 0 ? line + 8 : line);
	}
	free(line);
	return n;
}

static int check_calls(const struct bpf_object *o, char *why)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, o)
	{
		const struct bpf_insn *insn = bpf_program__insns(p);

		for (size_t i = 0; i < bpf_program__insn_cnt(p); i++) {
			if (insn[i].code != CALL)
				continue;
			if (insn[i].src_reg == BPF_PSEUDO_KFUNC_CALL)
				return refuse(why, -EPERM,
					      "program %s calls a function of the kernel (kfunc): "
					      "only helpers are allowed",
					      bpf_program__name(p));
			for (size_t h = 0; h < ARRAY_SIZE(acting); h++)
				if (!insn[i].src_reg && insn[i].imm == acting[h].id)
					return refuse(why, -EPERM,
						      "program %s calls %s: a program may observe, "
						      "not change the system",
						      bpf_program__name(p), acting[h].name);
		}
	}
	return 0;
}

static bool may_run(const struct bpf_program *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(observing); i++)
		if (bpf_program__type(p) == observing[i])
			return true;
	return bpf_program__type(p) == BPF_PROG_TYPE_TRACING &&
	       bpf_program__expected_attach_type(p) == BPF_TRACE_RAW_TP;
}

static int check_programs(const struct bpf_object *o, char *why)
{
	struct bpf_program *p;
	size_t n = 0;

	bpf_object__for_each_program(p, o)
	{
		if (!may_run(p))
			return refuse(why, -EPERM,
				      "program %s in SEC(\"%s\") is not of a kind that is allowed: "
				      "tp_btf, raw_tp, tracepoint, kprobe and uprobe are",
				      bpf_program__name(p), bpf_program__section_name(p));
		n++;
	}
	if (n == 0 || n > CUSTOM_OBJECT_PROGRAMS)
		return refuse(why, -EINVAL, "it has %zu programs: 1 to %d are allowed", n,
			      CUSTOM_OBJECT_PROGRAMS);
	return check_calls(o, why);
}

static bool is_one_of(enum bpf_map_type type, const enum bpf_map_type *of, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (of[i] == type)
			return true;
	return false;
}

/* Approximate kernel memory of a map; 0: its type is not allowed. */
static uint64_t bytes_of(const struct bpf_map *m)
{
	enum bpf_map_type type = bpf_map__type(m);
	uint64_t key = (bpf_map__key_size(m) + 7ull) & ~7ull;
	uint64_t value = (bpf_map__value_size(m) + 7ull) & ~7ull;
	int cpus = libbpf_num_possible_cpus();

	if (is_one_of(type, stored, ARRAY_SIZE(stored)))
		return STORED * (value + ENTRY);
	if (!is_one_of(type, counted, ARRAY_SIZE(counted)))
		return 0;
	if (type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	    type == BPF_MAP_TYPE_LRU_PERCPU_HASH)
		value *= cpus > 0 ? (uint64_t)cpus : 1;
	return bpf_map__max_entries(m) * (key + value);
}

static int check_maps(const struct bpf_object *o, char *why)
{
	uint64_t sum = 0, bytes;
	struct bpf_map *m;
	size_t n = 0;

	bpf_object__for_each_map(m, o)
	{
		if (bpf_map__pin_path(m))
			return refuse(why, -EPERM,
				      "map %s is pinned: leave out LIBBPF_PIN_BY_NAME, as nothing "
				      "may stay behind",
				      bpf_map__name(m));
		bytes = bytes_of(m);
		if (!bytes)
			return refuse(
				why, -EPERM,
				"map %s is of a type, %d, that is not allowed, or empty: HASH, "
				"ARRAY, LRU_HASH, their PERCPU forms, LPM_TRIE, QUEUE, STACK, "
				"STACK_TRACE and TASK, SK, INODE_STORAGE are",
				bpf_map__name(m), (int)bpf_map__type(m));
		sum += bytes < CUSTOM_MAP_BYTES ? bytes : CUSTOM_MAP_BYTES + 1;
		if (sum > CUSTOM_MAP_BYTES)
			return refuse(why, -E2BIG,
				      "its maps take more than %d MiB: %s is %u entries of %u + %u "
				      "bytes%s; make max_entries smaller",
				      CUSTOM_MAP_BYTES >> 20, bpf_map__name(m),
				      bpf_map__max_entries(m), bpf_map__key_size(m),
				      bpf_map__value_size(m), "");
		n++;
	}
	if (n > CUSTOM_OBJECT_MAPS)
		return refuse(why, -E2BIG, "it has %zu maps: %d are allowed", n,
			      CUSTOM_OBJECT_MAPS);
	return 0;
}

static int load_object(struct bpf_object *o, char *why)
{
	int r = bpf_object__load(o);
	char release[KERNEL_RELEASE];

	if (r < 0 && kernel_is_old(release))
		return refuse(why, r, "it needs a newer kernel than this %s: %s%s", release,
			      refused ? "refused " : "", said[0] ? said : strerror(-r));
	if (r < 0 && refused)
		return refuse(why, r, "the kernel's verifier refused program %s", said);
	if (r < 0)
		return refuse(why, r, "the kernel rejected it: %s", said[0] ? said : strerror(-r));
	return check_calls(o, why); /* once more, as functions are linked in now */
}

static int attach_programs(const struct bpf_object *o, struct custom_fds *out, char *why)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, o)
	{
		struct bpf_link *link;
		int r;

		if (!bpf_program__autoload(p))
			continue;
		said[0] = 0;
		link = bpf_program__attach(p);
		r = link ? bpf_link__fd(link) : -errno;
		if (r == -EOPNOTSUPP)
			return refuse(why, r,
				      "program %s in SEC(\"%s\") cannot be attached by its section "
				      "alone: give the target, as in SEC(\"tp_btf/sched_switch\")",
				      bpf_program__name(p), bpf_program__section_name(p));
		if (r < 0)
			return refuse(why, r, "program %s in SEC(\"%s\") cannot be attached: %s",
				      bpf_program__name(p), bpf_program__section_name(p),
				      said[0] ? said : strerror(link ? EOPNOTSUPP : -r));
		out->fd[out->n++] = r;
		out->fd[out->n++] = bpf_program__fd(p);
	}
	return out->n ? 0 : refuse(why, -EINVAL, "none of its programs is loaded automatically");
}

static void take_maps(const struct bpf_object *o, const struct custom_manifest *m,
		      struct custom_fds *out)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, o)
	{
		for (uint32_t i = 0; i < m->nmaps; i++)
			if (bpf_object__find_map_by_name(o, m->map[i].name) == map)
				out->map[i] = out->n;
		out->fd[out->n++] = bpf_map__fd(map);
	}
}

_Static_assert(2 * CUSTOM_OBJECT_PROGRAMS + CUSTOM_OBJECT_MAPS <= CUSTOM_FDS, "room");

int custom_object(const struct custom_file *f, struct custom_manifest *m, struct custom_fds *out,
		  char why[static CUSTOM_WHY])
{
	const struct bpf_object_open_opts opts = { .sz = sizeof(opts), .object_name = f->name };
	struct bpf_object *o;
	int r;

	libbpf_set_print(on_print);
	o = bpf_object__open_mem(f->data, f->len, &opts);
	if (!o)
		return refuse(why, -errno,
			      "%s.bpf.o is no object that libbpf can read (%s): build it "
			      "by clang -g -target bpf",
			      f->name, said[0] ? said : strerror(errno));
	r = check_programs(o, why);
	if (r == 0)
		r = check_maps(o, why);
	if (r == 0)
		r = custom_types(o, f->conf, m, why, CUSTOM_WHY);
	if (r == 0)
		r = load_object(o, why);
	out->n = 0;
	if (r == 0)
		r = attach_programs(o, out, why);
	if (r == 0)
		take_maps(o, m, out);
	else
		bpf_object__close(o); /* attached links end with this process */
	return r;
}
