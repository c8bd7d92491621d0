// SPDX-License-Identifier: Apache-2.0
#include "probe/request/kernel/request_sweep.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/base/clock.h"
#include "probe/kernel/kernel_load.h"
#include "probe/kernel/map_walk.h"

#define SWEEP_NS (100 * 1000000ull)

enum { SWEEP_PART = 100 };

static struct map_walk walk_of(const struct bpf_object *obj)
{
	return (struct map_walk){ bpf_object__find_program_by_name(obj, "sweep"),
				  bpf_object__find_program_by_name(obj, "sweep_otherwise") };
}

void request_sweep_choose(const struct bpf_object *obj)
{
	const struct map_walk w = walk_of(obj);

	map_walk_choose(&w);
}

int request_sweep_open(struct request_sweep *s, const struct bpf_object *obj)
{
	const struct map_walk w = walk_of(obj);

	*s = (struct request_sweep){ 0 };
	if (bpf_program__autoload(w.otherwise) &&
	    bpf_program__type(w.otherwise) != BPF_PROG_TYPE_TRACING) {
		s->program_fd = bpf_program__fd(w.otherwise);
		return 0;
	}
	s->walk = map_walk_attach(&w, bpf_object__find_map_fd_by_name(obj, "conns"));
	return s->walk ? 0 : -errno;
}

void request_sweep_close(struct request_sweep *s)
{
	bpf_link__destroy(s->walk);
	s->walk = NULL;
}

int request_sweep_run(struct request_sweep *s, uint64_t now_ns)
{
	const uint64_t begin_ns = clock_cpu_ns();
	uint64_t took_ns;
	int r;

	if (s->walk) {
		r = kernel_iterate(s->walk);
	} else {
		LIBBPF_OPTS(bpf_test_run_opts, opts);

		r = bpf_prog_test_run_opts(s->program_fd, &opts);
	}
	took_ns = clock_cpu_ns() - begin_ns;
	s->next_ns = now_ns + (took_ns * SWEEP_PART > SWEEP_NS ? took_ns * SWEEP_PART : SWEEP_NS);
	return r;
}
