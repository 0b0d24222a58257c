#include "cli/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct progress {
    pthread_t thread;
    pthread_mutex_t mutex; /* guards stage and stopped */
    pthread_cond_t stop;
    const char *stage;
    bool stopped;
};

/* Once a second until stopped. */
static void *show(void *context)
{
    progress *p = context;
    bool shown = false;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&p->mutex);
    for (int seconds = 1; !p->stopped; seconds++) {
        next.tv_sec++;
        while (!p->stopped && pthread_cond_timedwait(&p->stop, &p->mutex, &next) == 0)
            ;
        if (!p->stopped) {
            fprintf(stderr, "\r\033[Kweir: %s, %d s", p->stage, seconds);
            shown = true;
        }
    }
    pthread_mutex_unlock(&p->mutex);
    if (shown)
        fprintf(stderr, "\r\033[K");
    return NULL;
}

progress *progress_start(bool wanted)
{
    if (!wanted || !isatty(STDERR_FILENO))
        return NULL;
    progress *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->stage = "starting";
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&p->stop, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&p->mutex, NULL);
    if (pthread_create(&p->thread, NULL, show, p) == 0)
        return p;
    pthread_cond_destroy(&p->stop);
    pthread_mutex_destroy(&p->mutex);
    free(p);
    return NULL;
}

void progress_stage(progress *p, const char *stage)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->mutex);
    p->stage = stage;
    pthread_mutex_unlock(&p->mutex);
}

void progress_stop(progress *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->mutex);
    p->stopped = true;
    pthread_cond_signal(&p->stop);
    pthread_mutex_unlock(&p->mutex);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->stop);
    pthread_mutex_destroy(&p->mutex);
    free(p);
}
