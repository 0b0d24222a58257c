/* schedule_play.c: the longest path through the lists of all stages. */
#include "train/schedule.h"

#include <math.h>

typedef struct {
    const weir_schedule *s;
    const weir_schedule_costs *costs;
    uint32_t positions;
    uint32_t *stage_of;         /* by position */
    uint32_t *next;             /* by stage: row of its next task */
    double *forward, *backward; /* ends, by position x micro-batch; below 0: not yet */
    weir_schedule_times *played;
} player;

static double seconds_of(const player *p, const weir_task *task, uint32_t position)
{
    const weir_pass_times *t = &p->costs->times[position];
    switch (task->kind) {
    case WEIR_TASK_FORWARD:
        return t->forward_s;
    case WEIR_TASK_BACKWARD:
        return t->dgrad_s + t->wgrad_s;
    case WEIR_TASK_DGRAD:
        return t->dgrad_s;
    default:
        return t->wgrad_s;
    }
}

/* When what the task needs from elsewhere is there; below 0: not yet known. sent: how much of it
 * the message took. */
static double ready_at(const player *p, const weir_task *task, uint32_t position, double *sent)
{
    uint32_t m = p->s->micro_batches, mb = task->micro_batch, other = position;
    const double *ends;
    *sent = 0;
    if (task->kind == WEIR_TASK_WGRAD) {
        return 0; /* behind its dgrad in the same list */
    }
    if (task->kind == WEIR_TASK_FORWARD) {
        if (position == 0) {
            return p->costs->ready_s ? p->costs->ready_s[0] : 0;
        }
        other = position - 1;
        ends = p->forward;
    } else if (position == p->positions - 1) {
        return 0; /* behind its forward in the same list */
    } else {
        other = position + 1;
        ends = p->backward;
    }
    double at = ends[other * m + mb];
    if (at < 0) {
        return at;
    }
    *sent = p->stage_of[other] == p->stage_of[position] ? 0 : p->costs->send_s;
    at += *sent;
    if (task->kind == WEIR_TASK_FORWARD && p->costs->ready_s) {
        at = fmax(at, p->costs->ready_s[position]);
    }
    return at;
}

/* Whether another stage waits for what the task gives. */
static bool has_receiver(const player *p, const weir_task *task, uint32_t position)
{
    uint32_t other = position;
    if (task->kind == WEIR_TASK_FORWARD) {
        other += position + 1 < p->positions ? 1 : 0;
    } else if (task->kind != WEIR_TASK_WGRAD) {
        other -= position > 0 ? 1 : 0;
    }
    return p->stage_of[other] != p->stage_of[position];
}

/* Runs a stage's tasks as far as it can; true if it ran any. */
static bool advance(player *p, uint32_t stage)
{
    const weir_schedule *s = p->s;
    weir_schedule_times *t = p->played;
    uint32_t begin = p->next[stage];
    for (; p->next[stage] < s->first[stage + 1]; p->next[stage]++) {
        uint32_t row = p->next[stage];
        const weir_task *task = &s->tasks[row];
        uint32_t position = s->position[stage * s->chunks + task->chunk];
        double sent, at = ready_at(p, task, position, &sent);
        if (at < 0) {
            break;
        }
        double free_s = t->stage_end_s[stage];
        double start = fmax(at, free_s);
        double end = start + seconds_of(p, task, position);
        if (row == s->first[stage]) {
            t->stage_begin_s[stage] = start;
        }
        t->stage_send_s[stage] += fmin(sent, fmax(0, at - free_s));
        t->start_s[row] = start;
        t->stage_busy_s[stage] += end - start;
        t->stage_end_s[stage] = end;
        uint32_t cell = position * s->micro_batches + task->micro_batch;
        if (task->kind == WEIR_TASK_FORWARD) {
            p->forward[cell] = end;
        } else if (task->kind != WEIR_TASK_WGRAD) {
            p->backward[cell] = end;
        }
        if (task->kind == WEIR_TASK_BACKWARD || task->kind == WEIR_TASK_WGRAD) {
            t->gradient_s[position] = end;
        }
        if (p->costs->sends_block && has_receiver(p, task, position)) {
            t->stage_end_s[stage] += p->costs->send_s;
            t->stage_send_s[stage] += p->costs->send_s;
        }
    }
    return p->next[stage] != begin;
}

static weir_code begin(player *p, weir_arena *arena, weir_err *err)
{
    const weir_schedule *s = p->s;
    weir_schedule_times *t = p->played;
    size_t cells = (size_t)p->positions * s->micro_batches;
    p->stage_of = weir_arena_alloc(arena, p->positions, sizeof *p->stage_of);
    p->next = weir_arena_alloc(arena, s->stages, sizeof *p->next);
    p->forward = weir_arena_alloc(arena, 2 * cells, sizeof *p->forward);
    t->start_s = weir_arena_alloc(arena, s->first[s->stages], sizeof *t->start_s);
    t->stage_begin_s = weir_arena_alloc(arena, 4 * (size_t)s->stages, sizeof *t->stage_begin_s);
    t->gradient_s = weir_arena_alloc(arena, p->positions, sizeof *t->gradient_s);
    if (!p->stage_of || !p->next || !p->forward || !t->start_s || !t->stage_begin_s ||
        !t->gradient_s) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to play a schedule");
    }
    p->backward = p->forward + cells;
    t->stage_end_s = t->stage_begin_s + s->stages;
    t->stage_busy_s = t->stage_end_s + s->stages;
    t->stage_send_s = t->stage_busy_s + s->stages;
    for (size_t i = 0; i < 2 * cells; i++) {
        p->forward[i] = -1;
    }
    for (uint32_t i = 0; i < s->stages; i++) {
        p->next[i] = s->first[i];
        for (uint32_t c = 0; c < s->chunks; c++) {
            p->stage_of[s->position[i * s->chunks + c]] = i;
        }
    }
    return WEIR_OK;
}

weir_code weir_schedule_play(const weir_schedule *schedule, const weir_schedule_costs *costs,
                             weir_arena *arena, weir_schedule_times *played, weir_err *err)
{
    *played = (weir_schedule_times){0};
    player p = {.s = schedule,
                .costs = costs,
                .positions = schedule->stages * schedule->chunks,
                .played = played};
    weir_code code = begin(&p, arena, err);
    bool moves = code == WEIR_OK;
    while (moves) {
        moves = false;
        for (uint32_t i = 0; i < schedule->stages; i++) {
            moves |= advance(&p, i);
        }
    }
    for (uint32_t i = 0; i < schedule->stages && code == WEIR_OK; i++) {
        if (p.next[i] != schedule->first[i + 1]) {
            return weir_err_set(err, WEIR_ERR_INTERNAL, "a schedule waits for itself");
        }
        played->makespan_s = fmax(played->makespan_s, played->stage_end_s[i]);
    }
    for (uint32_t i = 0; i < schedule->stages && code == WEIR_OK; i++) {
        played->bubble_share +=
            (1 - played->stage_busy_s[i] / played->makespan_s) / schedule->stages;
    }
    return code;
}
