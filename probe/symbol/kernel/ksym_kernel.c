// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/kernel/ksym_kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdio.h>

#include "bpf/symbol/ksym_record.h"
#include "probe/kernel/kernel_load.h"
#include "bpf/symbol/ksym.skel.h"
#include "probe/core/source.h"

struct ksym_kernel {
	struct ksym_bpf *bpf;
	uint32_t users;
};

static struct ksym_kernel shared;

static int load_program(struct ksym_kernel *k)
{
	char why[WHY_LEN];
	int r = kernel_can_load(why);

	if (r < 0)
		return r;
	k->bpf = ksym_bpf__open();
	if (!k->bpf)
		return -errno;
	r = ksym_bpf__load(k->bpf);
	kernel_loaded(k->bpf->skeleton->data, k->bpf->skeleton->data_sz);
	return r;
}

struct ksym_kernel *ksym_kernel_take(void)
{
	if (!shared.users && load_program(&shared) < 0) {
		ksym_bpf__destroy(shared.bpf);
		shared.bpf = NULL;
		return NULL;
	}
	shared.users++;
	return &shared;
}

void ksym_kernel_put(struct ksym_kernel *k)
{
	if (!k || --k->users)
		return;
	ksym_bpf__destroy(k->bpf);
	k->bpf = NULL;
}

void ksym_place_of(const char *text, uint64_t addr, struct ksym_place *p)
{
	const char *plus = strrchr(text, '+'), *module;
	unsigned long long in, size;
	int len = 0;

	*p = (struct ksym_place){ 0 };
	if (!plus || sscanf(plus, "+0x%llx/0x%llx%n", &in, &size, &len) != 2 || in > addr ||
	    in > size || size > UINT64_MAX - (addr - in))
		return;
	p->from = addr - in;
	p->to = p->from + size;
	module = plus + len;
	if (*module != ' ')
		module = "";
	snprintf(p->name, sizeof(p->name), "%.*s%s", (int)(plus - text), text, module);
}

int ksym_kernel_find(struct ksym_kernel *k, const uint64_t *addr, size_t n,
		     struct ksym_place *place)
{
	struct ksym_batch *b = &k->bpf->bss->batch;

	for (size_t done = 0; done < n; done += b->n) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);
		int r;

		b->n = (__u32)(n - done < KSYM_BATCH ? n - done : KSYM_BATCH);
		for (uint32_t i = 0; i < b->n; i++)
			b->addr[i] = addr[done + i];
		r = bpf_prog_test_run_opts(bpf_program__fd(k->bpf->progs.name_batch), &opts);
		if (r < 0)
			return r;
		for (uint32_t i = 0; i < b->n; i++) {
			b->text[i][KSYM_BATCH_TEXT - 1] = 0;
			ksym_place_of(b->text[i], addr[done + i], &place[done + i]);
		}
	}
	return 0;
}
