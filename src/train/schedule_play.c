/* schedule_play.c: the longest path through the lists of all stages.
 *
 * A stage runs its list until a task needs the end of one that has not run; the stage that runs
 * that one wakes it. Every task is looked at once or twice. */
#include "train/schedule.h"

typedef struct {
    const weir_schedule *s;
    const weir_schedule_costs *costs;
    uint32_t *before, *behind;  /* by cell (stage x chunks + chunk): the cell of the position before
                                   (behind) on the same way; WEIR_NONE */
    uint32_t *next;             /* by stage: row of its next task */
    const double **missing;     /* by stage: the end that it waits for */
    uint32_t *queue;            /* stages that can go on: a ring of as many as there are */
    uint32_t head, waiting;     /* of the queue */
    double *forward, *backward; /* ends, by cell x micro-batch; below 0: not yet */
    double *sending_s;          /* by stage: on its way for so long is what it did last */
    weir_schedule_times *played;
} player;

static double later(double a, double b)
{
    return a > b ? a : b;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double seconds_of(const player *p, uint32_t row, uint32_t cell)
{
    const weir_pass_times *t = &p->costs->times[p->s->position[cell]];
    switch (p->s->tasks[row].kind) {
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

static uint32_t cell_of(const player *p, uint32_t stage, uint32_t row)
{
    return stage * p->s->chunks + p->s->tasks[row].chunk;
}

/* The cell whose result the task needs; WEIR_NONE: nothing but what its stage has done before. */
static uint32_t giver(const player *p, uint32_t row, uint32_t cell)
{
    uint8_t kind = p->s->tasks[row].kind;
    return kind == WEIR_TASK_FORWARD ? p->before[cell]
           : kind == WEIR_TASK_WGRAD ? WEIR_NONE
                                     : p->behind[cell];
}

/* The cell that waits for the task. */
static uint32_t taker(const player *p, uint32_t row, uint32_t cell)
{
    uint8_t kind = p->s->tasks[row].kind;
    return kind == WEIR_TASK_FORWARD ? p->behind[cell]
           : kind == WEIR_TASK_WGRAD ? WEIR_NONE
                                     : p->before[cell];
}

typedef struct {
    double at_s;   /* when all that is needed is there */
    double sent_s; /* of which a message took */
} arrival;

double weir_schedule_hop_s(const double *hop_s, uint32_t stages, uint32_t one, uint32_t other)
{
    uint32_t first = one < other ? one : other, second = one < other ? other : one;
    return hop_s[second - first == 1 ? first : stages - 1];
}

static double message_s(const player *p, uint32_t stage, uint32_t other)
{
    return other == stage    ? 0
           : p->costs->hop_s ? weir_schedule_hop_s(p->costs->hop_s, p->s->stages, stage, other)
                             : p->costs->send_s;
}

static double begin_of(const weir_schedule_costs *costs, uint32_t stage)
{
    return costs->free_s ? costs->free_s[stage] : 0;
}

/* False: it is not known yet; the stage waits. */
static bool arrives(player *p, uint32_t stage, uint32_t row, arrival *a)
{
    const weir_task *task = &p->s->tasks[row];
    uint32_t cell = cell_of(p, stage, row), other = giver(p, row, cell);
    bool is_forward = task->kind == WEIR_TASK_FORWARD;
    if (other != WEIR_NONE) {
        const double *ends = is_forward ? p->forward : p->backward;
        const double *end = &ends[(size_t)other * p->s->micro_batches + task->micro_batch];
        if (*end < 0) {
            p->missing[stage] = end;
            return false;
        }
        double sent = message_s(p, stage, other / p->s->chunks);
        if (*end + sent > a->at_s) {
            *a = (arrival){*end + sent, sent};
        }
    }
    if (is_forward && p->costs->ready_s) {
        double ready = p->costs->ready_s[p->s->position[cell]] + begin_of(p->costs, stage);
        if (ready > a->at_s) {
            *a = (arrival){ready, 0};
        }
    }
    return true;
}

static void wake(player *p, uint32_t stage)
{
    uint32_t stages = p->s->stages;
    p->missing[stage] = NULL;
    p->queue[(p->head + p->waiting++) % stages] = stage;
}

/* What the message to another stage takes; 0: there is none. */
static double finish(player *p, uint32_t stage, uint32_t row, double end)
{
    const weir_task *task = &p->s->tasks[row];
    uint32_t cell = cell_of(p, stage, row), other = taker(p, row, cell);
    bool is_forward = task->kind == WEIR_TASK_FORWARD;
    if (task->kind == WEIR_TASK_BACKWARD || task->kind == WEIR_TASK_WGRAD) {
        double *last = &p->played->gradient_s[p->s->position[cell]];
        *last = later(*last, end);
    }
    if (task->kind == WEIR_TASK_WGRAD) {
        return 0;
    }
    double *ends = is_forward ? p->forward : p->backward;
    double *mine = &ends[(size_t)cell * p->s->micro_batches + task->micro_batch];
    *mine = end;
    if (other == WEIR_NONE || other / p->s->chunks == stage) {
        return 0;
    }
    if (p->missing[other / p->s->chunks] == mine) {
        wake(p, other / p->s->chunks);
    }
    return message_s(p, stage, other / p->s->chunks);
}

/* The least cut between the two exchanges and the kernels that may hide each. */
double weir_pair_saved_s(const weir_pair_share *forward, const weir_pair_share *backward)
{
    double a = forward->forward_exchange_s, b = backward->backward_exchange_s;
    double f = forward->forward_kernels_s, d = backward->dgrad_kernels_s;
    double w = backward->wgrad_kernels_s;
    return lesser(lesser(a + b, a + f + w), lesser(b + d + w, f + d + w));
}

/* rows: of a forward and a backward. */
static double saved_of(const player *p, uint32_t stage, uint32_t row)
{
    const weir_pair_share *pair = p->costs->pair;
    const uint32_t *position = p->s->position;
    return pair ? weir_pair_saved_s(&pair[position[cell_of(p, stage, row)]],
                                    &pair[position[cell_of(p, stage, row + 1)]])
                : 0;
}

/* Runs a stage's next task, or pair of them; false: it waits. */
static bool run(player *p, uint32_t stage)
{
    const weir_schedule *s = p->s;
    weir_schedule_times *t = p->played;
    uint32_t row = p->next[stage];
    bool is_pair = s->tasks[row].paired != 0 && row + 1 < s->first[stage + 1];
    arrival a = {0};
    if (!arrives(p, stage, row, &a) || (is_pair && !arrives(p, stage, row + 1, &a))) {
        return false;
    }
    double seconds = seconds_of(p, row, cell_of(p, stage, row));
    if (is_pair) {
        double saved_s = saved_of(p, stage, row);
        seconds += seconds_of(p, row + 1, cell_of(p, stage, row + 1)) - saved_s;
        t->stage_saved_s[stage] += saved_s;
    }
    double free_s = t->stage_end_s[stage], start = later(a.at_s, free_s), end = start + seconds;
    if (a.at_s > free_s) {
        double waited = a.at_s - free_s; /* its own message first, the awaited one last */
        a.sent_s += p->sending_s[stage];
        t->stage_send_s[stage] += a.sent_s < waited ? a.sent_s : waited;
    }
    if (row == s->first[stage]) {
        t->stage_begin_s[stage] = start;
    }
    t->stage_busy_s[stage] += seconds;
    t->stage_end_s[stage] = end;
    double sent_s = 0;
    for (uint32_t i = row; i <= row + is_pair; i++) {
        t->start_s[i] = start;
        sent_s = later(sent_s, finish(p, stage, i, end));
    }
    p->sending_s[stage] = p->costs->sends_block ? 0 : sent_s;
    if (p->costs->sends_block) {
        t->stage_end_s[stage] += sent_s;
        t->stage_send_s[stage] += sent_s;
    }
    p->next[stage] += 1 + (uint32_t)is_pair;
    return true;
}

/* Of the two cells that may hold a position, the one of the chunk; WEIR_NONE: none does. */
static uint32_t choose(const weir_schedule *s, const uint32_t held[2], uint32_t chunk)
{
    bool is_second = held[1] != WEIR_NONE && s->chunks > 1 && held[1] % s->chunks == chunk;
    return held[is_second ? 1 : 0];
}

/* Which cells hand over to which. holder: room for two cells of each position. */
static void link_cells(player *p, uint32_t *holder)
{
    const weir_schedule *s = p->s;
    uint32_t cells = s->stages * s->chunks;
    for (uint32_t i = 0; i < 2 * cells; i++) {
        holder[i] = WEIR_NONE;
    }
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t *found = &holder[2 * s->position[i]];
        found[found[0] == WEIR_NONE ? 0 : 1] = i;
    }
    for (uint32_t stage = 0; stage < s->stages; stage++) {
        for (uint32_t c = 0; c < s->chunks; c++) {
            uint32_t cell = stage * s->chunks + c, at = s->position[cell];
            p->before[cell] = at > 0 ? choose(s, &holder[2 * (at - 1)], c) : WEIR_NONE;
            p->behind[cell] = at + 1 < cells ? choose(s, &holder[2 * (at + 1)], c) : WEIR_NONE;
        }
    }
}

static weir_code begin(player *p, weir_arena *arena, weir_err *err)
{
    const weir_schedule *s = p->s;
    weir_schedule_times *t = p->played;
    size_t stages = s->stages, held = stages * s->chunks, cells = held * s->micro_batches;
    uint32_t *numbers = weir_arena_alloc(arena, 4 * held + 2 * stages, sizeof *numbers);
    p->missing = weir_arena_alloc(arena, stages, sizeof *p->missing);
    p->sending_s = weir_arena_alloc(arena, stages, sizeof *p->sending_s);
    p->forward = weir_arena_alloc(arena, 2 * cells, sizeof *p->forward);
    t->start_s = weir_arena_alloc(arena, s->first[stages], sizeof *t->start_s);
    t->stage_begin_s = weir_arena_alloc(arena, 5 * stages + held, sizeof *t->stage_begin_s);
    if (!numbers || !p->missing || !p->sending_s || !p->forward || !t->start_s ||
        !t->stage_begin_s) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to play a schedule");
    }
    p->before = numbers;
    p->behind = numbers + held;
    p->next = numbers + 4 * held;
    p->queue = p->next + stages;
    p->backward = p->forward + cells;
    t->stage_end_s = t->stage_begin_s + stages;
    t->stage_busy_s = t->stage_end_s + stages;
    t->stage_send_s = t->stage_busy_s + stages;
    t->stage_saved_s = t->stage_send_s + stages;
    t->gradient_s = t->stage_saved_s + stages;
    for (size_t i = 0; i < 2 * cells; i++) {
        p->forward[i] = -1;
    }
    link_cells(p, numbers + 2 * held);
    for (uint32_t i = 0; i < stages; i++) {
        p->next[i] = s->first[i];
        t->stage_end_s[i] = begin_of(p->costs, i);
        wake(p, i);
    }
    return WEIR_OK;
}

/* Times of each stage from when it was free. Of DualPipe's two stages with the same position the
 * first counts. */
static void count_from_own(const weir_schedule *s, const double *free_s, weir_schedule_times *t)
{
    for (uint32_t i = 0; i < s->stages; i++) {
        double begin_s = free_s[i];
        for (uint32_t row = s->first[i]; row < s->first[i + 1]; row++) {
            t->start_s[row] -= begin_s;
        }
        uint32_t chunks = s->kind == WEIR_SCHEDULE_DUALPIPE ? 1 : s->chunks;
        for (uint32_t c = 0; c < chunks; c++) {
            t->gradient_s[s->position[i * s->chunks + c]] -= begin_s;
        }
        t->stage_end_s[i] -= begin_s;
        t->stage_begin_s[i] -= begin_s;
    }
}

static void sum_up(weir_schedule_times *t, uint32_t stages)
{
    for (uint32_t i = 0; i < stages; i++) {
        t->makespan_s = later(t->makespan_s, t->stage_end_s[i]);
        t->span_s = later(t->span_s, t->stage_end_s[i] - t->stage_begin_s[i]);
    }
    for (uint32_t i = 0; i < stages && t->makespan_s > 0; i++) {
        t->bubble_share += (1 - t->stage_busy_s[i] / t->makespan_s) / stages;
    }
}

weir_code weir_schedule_play(const weir_schedule *schedule, const weir_schedule_costs *costs,
                             weir_arena *arena, weir_schedule_times *played, weir_err *err)
{
    weir_schedule_times times = {0};
    player p = {.s = schedule, .costs = costs, .played = &times};
    weir_code code = begin(&p, arena, err);
    while (code == WEIR_OK && p.waiting > 0) {
        uint32_t stage = p.queue[p.head];
        p.head = (p.head + 1) % schedule->stages;
        p.waiting--;
        while (p.next[stage] < schedule->first[stage + 1] && run(&p, stage)) {
        }
    }
    for (uint32_t i = 0; i < schedule->stages && code == WEIR_OK; i++) {
        if (p.next[i] != schedule->first[i + 1]) {
            return weir_err_set(err, WEIR_ERR_INTERNAL, "a schedule waits for itself");
        }
    }
    if (code == WEIR_OK) {
        if (costs->free_s) {
            count_from_own(schedule, costs->free_s, &times);
        }
        sum_up(&times, schedule->stages);
        *played = times;
    }
    return code;
}
