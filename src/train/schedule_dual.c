/* schedule_dual.c: DualPipe and DualPipe-V (DeepSeek-V3, 2412.19437, section 3.2.1) as lists of
 * passes.
 *
 * Micro-batches enter at both ends (DualPipe) or go down and up a V (DualPipe-V: the same list of
 * half of the stages). A stage's own leg comes from its nearer end, the other one from the far end.
 * In the steady state a forward of one leg and a backward of the other run as a pair. */
#include "train/schedule_inside.h"

typedef struct {
    schedule_writer *w;
    uint32_t depth;        /* stages of a half */
    uint32_t at;           /* of them, from the end */
    uint32_t each;         /* micro-batches of a leg */
    uint32_t chunk[2];     /* of the own leg, of the other */
    uint32_t first[2];     /* micro-batch of the leg */
    uint32_t forwards[2];  /* written */
    uint32_t backwards[2]; /* written */
    uint32_t held, done;   /* gradients of weights: split off, written */
} dual;

static void forward(dual *d, uint32_t leg)
{
    schedule_put(d->w, WEIR_TASK_FORWARD, d->chunk[leg], d->first[leg] + d->forwards[leg]++);
}

static void backward(dual *d, uint32_t leg, bool splits)
{
    schedule_put(d->w, splits ? WEIR_TASK_DGRAD : WEIR_TASK_BACKWARD, d->chunk[leg],
                 d->first[leg] + d->backwards[leg]++);
    d->held += splits ? 1 : 0;
}

static void pair(dual *d, uint32_t forward_leg, uint32_t backward_leg)
{
    forward(d, forward_leg);
    d->w->tasks[d->w->count - 1].paired = 1;
    backward(d, backward_leg, false);
}

/* The oldest that is held: the dgrad that as many others precede as there are wgrads. */
static void weights(dual *d, uint32_t *from)
{
    while (d->w->tasks[*from].kind != WEIR_TASK_DGRAD) {
        (*from)++;
    }
    weir_task task = d->w->tasks[(*from)++];
    schedule_put(d->w, WEIR_TASK_WGRAD, task.chunk, task.micro_batch);
    d->done++;
}

/* Until both legs are in their steady state. */
static void fill(dual *d, uint32_t *from)
{
    uint32_t after = d->depth - 1 - d->at;
    for (uint32_t i = 0; i < 2 * after; i++) {
        forward(d, 0);
    }
    for (uint32_t i = 0; i <= d->at; i++) {
        forward(d, 0);
        forward(d, 1);
    }
    for (uint32_t i = 0; i < after; i++) {
        backward(d, 1, true);
        weights(d, from);
        forward(d, 1);
    }
}

/* The innermost stage has no pair at first: its forward's result is what the backward waits for. */
static void steady(dual *d)
{
    uint32_t rounds = d->each - 2 * d->depth + d->at + 1;
    for (uint32_t i = 0; i < rounds; i++) {
        if (i == 0 && d->at == d->depth - 1) {
            forward(d, 0);
            backward(d, 1, false);
        } else {
            pair(d, 0, 1);
        }
        pair(d, 1, 0);
    }
}

/* The last backwards are split, and their gradients of weights fill the gaps. */
static void drain(dual *d, uint32_t *from)
{
    uint32_t after = d->depth - 1 - d->at, rounds = d->at + 1;
    for (uint32_t i = 0; i < after; i++) {
        backward(d, 1, false);
        pair(d, 1, 0);
    }
    for (uint32_t i = 0; i < rounds; i++) {
        bool odd = d->at % 2 == 1;
        backward(d, 1, i > rounds / 2 || (odd && i == rounds / 2));
        backward(d, 0, i >= rounds / 2);
    }
    for (uint32_t i = 0; i < after; i++) {
        weights(d, from);
        backward(d, 0, true);
    }
    while (d->done < d->held) {
        weights(d, from);
    }
}

static void write(dual *d)
{
    uint32_t from = d->w->count;
    fill(d, &from);
    steady(d);
    drain(d, &from);
}

void schedule_write_dualpipe(schedule_writer *w, uint32_t stage)
{
    uint32_t far = w->stages - 1 - stage, own = stage < w->stages / 2 ? 0 : 1;
    uint32_t half = w->micro_batches / 2;
    dual d = {.w = w,
              .depth = w->stages / 2,
              .at = own == 0 ? stage : far,
              .each = half,
              .chunk = {own, 1 - own},
              .first = {own * half, (1 - own) * half}};
    write(&d);
}

void schedule_write_dualpipe_v(schedule_writer *w, uint32_t stage)
{
    dual d = {.w = w, .depth = w->stages, .at = stage, .each = w->micro_batches, .chunk = {0, 1}};
    write(&d);
}
