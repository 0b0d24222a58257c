#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MAX_THREADS = 256 };

typedef struct {
    atomic_uint next;
    uint32_t count;
    void (*task)(void *context, uint32_t index);
    void *context;
} work;

uint32_t weir_thread_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (uint32_t)cores;
}

static void *work_run(void *argument)
{
    work *w = argument;
    for (;;) {
        uint32_t index = atomic_fetch_add(&w->next, 1);
        if (index >= w->count) {
            return NULL;
        }
        w->task(w->context, index);
    }
}

void weir_thread_for(uint32_t count, uint32_t threads, void (*task)(void *context, uint32_t index),
                     void *context)
{
    work w = {.count = count, .task = task, .context = context};
    if (threads == 0) {
        threads = weir_thread_cores();
    }
    threads = threads > MAX_THREADS ? MAX_THREADS : threads;
    threads = threads > count ? count : threads;
    pthread_t helpers[MAX_THREADS];
    uint32_t started = 0;
    while (started + 1 < threads && pthread_create(&helpers[started], NULL, work_run, &w) == 0) {
        started++;
    }
    work_run(&w);
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(helpers[i], NULL);
    }
}
