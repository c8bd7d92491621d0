// SPDX-License-Identifier: Apache-2.0
#include "collector/web/call/web_pool.h"

#include <pthread.h>

enum { THREADS = 2, WAITING_MAX = 128 };

struct web_pool {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct web_job *first, **last;
	unsigned waiting, nthreads;
	bool stopping;
	const char *conninfo;
	int stop_fd;
	pthread_t threads[THREADS];
};

static struct web_job *take_job(struct web_pool *p)
{
	struct web_job *job;

	pthread_mutex_lock(&p->lock);
	while (!p->first && !p->stopping)
		pthread_cond_wait(&p->work, &p->lock);
	job = p->first;
	if (job) {
		p->first = job->next;
		if (!p->first)
			p->last = &p->first;
		p->waiting--;
	}
	pthread_mutex_unlock(&p->lock);
	return job;
}

static void *pool_run(void *arg)
{
	struct web_pool *p = arg;
	struct web_db db = { .conninfo = p->conninfo, .stop_fd = p->stop_fd };
	struct web_job *job;

	while ((job = take_job(p)))
		job->run(job, &db);
	web_db_close(&db);
	return NULL;
}

int web_pool_start(struct web_pool **out, const char *conninfo, int stop_fd)
{
	struct web_pool *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	p->last = &p->first;
	p->conninfo = conninfo;
	p->stop_fd = stop_fd;
	for (; p->nthreads < THREADS; p->nthreads++) {
		int r = pthread_create(&p->threads[p->nthreads], NULL, pool_run, p);

		if (r) {
			web_pool_stop(p);
			web_pool_free(p);
			return -r;
		}
	}
	*out = p;
	return 0;
}

int web_pool_put(struct web_pool *p, struct web_job *job)
{
	int r = 0;

	job->next = NULL;
	pthread_mutex_lock(&p->lock);
	if (p->stopping || p->waiting >= WAITING_MAX) {
		r = -EBUSY;
	} else {
		*p->last = job;
		p->last = &job->next;
		p->waiting++;
		pthread_cond_signal(&p->work);
	}
	pthread_mutex_unlock(&p->lock);
	return r;
}

void web_pool_stop(struct web_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
	while (p->nthreads)
		pthread_join(p->threads[--p->nthreads], NULL);
}

void web_pool_free(struct web_pool *p)
{
	if (!p)
		return;
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->work);
	free(p);
}
