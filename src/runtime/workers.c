/* workers.c: the threads that run kernels.
 *
 * How it works: one job at a time is cut into parts that threads take from a counter; the caller takes parts too. When
 * the workers are busy with another thread's job, a job runs on its caller alone: results never depend on who ran what.
 * Nothing about kernels or memory may be put here. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "runtime/runtime.h"

#define MOST 256
#define PARTS_PER_WORKER 4

static struct {
    pthread_mutex_t mutex;              /* guards everything below except the counters of a running job */
    pthread_cond_t wake, done;
    int started, wanted;                /* wanted: threads including the caller; 0: not decided yet */
    bool busy;
    uint64_t job;                       /* number of the present job */
    void (*body)(void *, int64_t, int64_t);
    void *arg;
    int64_t n, part;
    int64_t next;
    int active;                         /* helpers inside the present job */
    int invited;
} crew = { .mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };

static _Thread_local bool inside;

static void take_parts(void (*body)(void *, int64_t, int64_t), void *arg, int64_t n, int64_t part) {
    for (;;) {
        int64_t lo = __atomic_fetch_add(&crew.next, part, __ATOMIC_RELAXED);
        if (lo >= n) return;
        body(arg, lo, n - lo < part ? n : lo + part);
    }
}

static void *helper(void *unused) {
    (void)unused;
    inside = true;
    uint64_t seen = 0;
    pthread_mutex_lock(&crew.mutex);
    for (;;) {
        while (crew.job == seen || crew.invited == 0) pthread_cond_wait(&crew.wake, &crew.mutex);
        seen = crew.job;
        crew.invited--;
        crew.active++;
        void (*body)(void *, int64_t, int64_t) = crew.body;
        void *arg = crew.arg;
        int64_t n = crew.n, part = crew.part;
        pthread_mutex_unlock(&crew.mutex);
        take_parts(body, arg, n, part);
        pthread_mutex_lock(&crew.mutex);
        if (--crew.active == 0) pthread_cond_signal(&crew.done);
    }
    return NULL;
}

/* A forked child has none of its parent's threads. */
static void after_fork(void) {
    crew.started = 0;
    crew.busy = false;
    crew.active = crew.invited = 0;
    pthread_mutex_init(&crew.mutex, NULL);
    pthread_cond_init(&crew.wake, NULL);
    pthread_cond_init(&crew.done, NULL);
}

static int cores(void) {
    const char *s = getenv("KILN_NUM_THREADS");
    long n = s ? strtol(s, NULL, 10) : 0;
    if (n <= 0) n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST ? MOST : (int)n;
}

int workers_count(void) {
    pthread_mutex_lock(&crew.mutex);
    if (!crew.wanted) crew.wanted = cores();
    int n = crew.wanted;
    pthread_mutex_unlock(&crew.mutex);
    return n;
}

void workers_set(int n) {
    pthread_mutex_lock(&crew.mutex);
    crew.wanted = n < 1 ? cores() : n > MOST ? MOST : n;
    pthread_mutex_unlock(&crew.mutex);
}

/* With the mutex held: as many helpers as can be had, up to `most`. */
static int helpers_ready(int most) {
    static bool forks_watched;
    if (!forks_watched) forks_watched = pthread_atfork(NULL, NULL, after_fork) == 0;
    while (crew.started < most) {
        pthread_t t;
        pthread_attr_t attr;
        if (pthread_attr_init(&attr)) break;
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
        int failed = pthread_create(&t, &attr, helper, NULL);
        pthread_attr_destroy(&attr);
        if (failed) break;
        crew.started++;
    }
    return crew.started < most ? crew.started : most;
}

void workers_run(void (*body)(void *arg, int64_t lo, int64_t hi), void *arg, int64_t n, int64_t least) {
    if (n <= 0) return;
    if (least < 1) least = 1;
    int threads = inside || n < 2 * least ? 1 : workers_count();
    if (threads > n / least) threads = (int)(n / least);
    if (threads <= 1) { body(arg, 0, n); return; }
    pthread_mutex_lock(&crew.mutex);
    int helpers = crew.busy ? 0 : helpers_ready(threads - 1);
    if (helpers == 0) {
        pthread_mutex_unlock(&crew.mutex);
        body(arg, 0, n);
        return;
    }
    crew.busy = true;
    crew.body = body;
    crew.arg = arg;
    crew.n = n;
    int64_t part = n / ((int64_t)(helpers + 1) * PARTS_PER_WORKER);
    crew.part = part > least ? part : least;
    __atomic_store_n(&crew.next, 0, __ATOMIC_RELAXED);
    crew.invited = helpers;
    crew.job++;
    pthread_cond_broadcast(&crew.wake);
    part = crew.part;
    pthread_mutex_unlock(&crew.mutex);
    inside = true;
    take_parts(body, arg, n, part);
    inside = false;
    pthread_mutex_lock(&crew.mutex);
    crew.invited = 0;
    while (crew.active > 0) pthread_cond_wait(&crew.done, &crew.mutex);
    crew.busy = false;
    pthread_mutex_unlock(&crew.mutex);
}
