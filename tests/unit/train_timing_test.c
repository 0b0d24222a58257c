/* train_timing.h: steps without a barrier beside steps that are played one behind the other by a
 * player of this file's own, and bubbles that Qi et al. (2401.10241) give. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "train/train_timing.h"
#include "train_job_sample.h"

#include <cmocka.h>

enum { STAGES_MOST = 16, TASKS_MOST = 16 * 2 * 64, STEPS = 96 };

static job_sample sample;

static void set(weir_schedule_kind kind, uint32_t stages, uint32_t micro_batches)
{
    weir_train_plan *p = &sample.job.plan;
    p->schedule = kind;
    p->pipeline = stages;
    p->chunks = kind == WEIR_SCHEDULE_ZB_V ? 2 : 1;
    p->micro_batches = p->global_batch = micro_batches;
    sample.job.stack.post_validation = true;
}

static weir_train_timing timing_of(weir_arena *arena)
{
    weir_train_timing timing;
    weir_err err = {0};
    weir_train_fault fault = {0};
    if (!weir_train_is_sound(&sample.job, weir_train_devices(&sample.job.plan), &fault)) {
        fail_msg("%s: %s", fault.key, fault.text);
    }
    if (weir_train_timing_of(&sample.job, arena, &timing, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return timing;
}

/* --- a player of many steps --- */

typedef struct {
    const weir_train_timing *t;
    uint32_t at[STAGES_MOST];           /* the stage's next task */
    double free_s[STAGES_MOST];         /* it can begin that */
    double end_s[2][2 * TASKS_MOST];    /* of forwards, of gradients of inputs, by position x
                                           micro-batches + micro-batch; NAN: not yet */
    uint32_t stage_of[2 * STAGES_MOST]; /* by position */
} simple;

/* NAN: not yet. */
static double arrives_s(const simple *p, uint32_t stage, const weir_task *task, uint32_t position)
{
    const weir_schedule *s = &p->t->schedule;
    bool is_forward = task->kind == WEIR_TASK_FORWARD;
    uint32_t last = s->stages * s->chunks - 1;
    if (task->kind == WEIR_TASK_WGRAD || position == (is_forward ? 0 : last)) {
        return 0;
    }
    uint32_t other = is_forward ? position - 1 : position + 1;
    uint32_t from = p->stage_of[other], first = from < stage ? from : stage;
    double sent_s = from == stage ? 0 : p->t->costs.hop_s[first];
    return p->end_s[is_forward ? 0 : 1][other * s->micro_batches + task->micro_batch] + sent_s;
}

static bool play_next(simple *p, uint32_t stage)
{
    const weir_schedule *s = &p->t->schedule;
    const weir_task *task = &s->tasks[p->at[stage]];
    uint32_t position = s->position[stage * s->chunks + task->chunk];
    const weir_pass_times *t = &p->t->times[position];
    const double seconds[] = {t->forward_s, t->dgrad_s + t->wgrad_s, t->dgrad_s, t->wgrad_s};
    double at_s = arrives_s(p, stage, task, position);
    if (isnan(at_s)) {
        return false;
    }
    double end_s = fmax(at_s, p->free_s[stage]) + seconds[task->kind];
    p->free_s[stage] = end_s;
    if (task->kind != WEIR_TASK_WGRAD) {
        p->end_s[task->kind == WEIR_TASK_FORWARD ? 0 : 1]
                [position * s->micro_batches + task->micro_batch] = end_s;
    }
    p->at[stage]++;
    return true;
}

static void play_step(simple *p)
{
    const weir_schedule *s = &p->t->schedule;
    for (uint32_t i = 0; i < s->stages * s->chunks * s->micro_batches; i++) {
        p->end_s[0][i] = p->end_s[1][i] = NAN;
    }
    for (uint32_t i = 0; i < s->stages; i++) {
        p->at[i] = s->first[i];
    }
    bool goes_on = true;
    while (goes_on) {
        goes_on = false;
        for (uint32_t i = 0; i < s->stages; i++) {
            while (p->at[i] < s->first[i + 1] && play_next(p, i)) {
                goes_on = true;
            }
        }
    }
    double said_s = 0;
    for (uint32_t i = 0; i < s->stages;
         i++) { /* the norm is handed on, then each one's optimiser */
        said_s = fmax(p->free_s[i], i > 0 ? said_s + p->t->tail.hop_s : 0);
        p->free_s[i] = said_s + p->t->tail.stage_optimizer_s[i];
    }
}

/* Seconds of a step on stage 0, mean of the later half of many. */
static double repeated_s(const weir_train_timing *t)
{
    static simple p;
    p = (simple){.t = t};
    for (uint32_t i = 0; i < t->schedule.stages * t->schedule.chunks; i++) {
        p.stage_of[t->schedule.position[i]] = i / t->schedule.chunks;
    }
    double half_s = 0;
    for (uint32_t n = 0; n < STEPS; n++) {
        half_s = n == STEPS / 2 ? p.free_s[0] : half_s;
        play_step(&p);
    }
    return (p.free_s[0] - half_s) / (STEPS - STEPS / 2);
}

static void without_a_barrier_a_step_takes_what_repeated_ones_do(void **state)
{
    (void)state;
    static const weir_schedule_kind kinds[] = {WEIR_SCHEDULE_ZB_H1, WEIR_SCHEDULE_ZB_H2,
                                               WEIR_SCHEDULE_ZB_V};
    sample.job.stack.overlaps_pipeline = true;
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t stages = 2; stages <= STAGES_MOST; stages *= 2) {
            for (uint32_t m = stages; m <= 4 * stages; m += stages + 1) {
                set(kinds[k], stages, m);
                weir_arena *arena = weir_arena_new();
                weir_train_timing t = timing_of(arena);
                assert_non_null(t.begin_s);
                double expected_s = repeated_s(&t);
                if (fabs(t.period_s - expected_s) > 1e-9 * expected_s) {
                    fail_msg("%s, %u stages, %u micro-batches: found %.12g s, expected %.12g",
                             weir_schedule_kind_name(kinds[k]), stages, m, t.period_s, expected_s);
                }
                weir_arena_free(arena);
            }
        }
    }
}

/* 16 stages on two nodes of 8: one message of 15 leaves its node, and the one around. */
static void messages_within_a_node_are_shorter(void **state)
{
    (void)state;
    set(WEIR_SCHEDULE_ONE_F_ONE_B, 16, 16);
    weir_arena *arena = weir_arena_new();
    weir_train_timing t = timing_of(arena);
    double sum_s = 0;
    for (uint32_t i = 0; i < 15; i++) {
        sum_s += t.costs.hop_s[i];
        assert_true(t.costs.hop_s[i] == t.costs.hop_s[i == 7 ? 15 : 0]);
    }
    assert_true(t.costs.hop_s[7] > t.costs.hop_s[0]);
    assert_true(fabs(t.costs.send_s - sum_s / 15) < 1e-12);
    sample.job.plan.data = 8; /* faster than stages: each on a node of its own */
    sample.job.plan.global_batch *= 8;
    t = timing_of(arena);
    assert_true(t.costs.hop_s[0] == t.costs.hop_s[7]);
    sample.job.plan.data = 1;
    weir_arena_free(arena);
}

/* Every stage is busy, idles or waits for one period. */
static void every_stage_takes_a_period_from_its_own_beginning(void **state)
{
    (void)state;
    set(WEIR_SCHEDULE_ZB_H2, 8, 24);
    weir_arena *arena = weir_arena_new();
    weir_train_timing t = timing_of(arena);
    for (uint32_t i = 0; i < 8; i++) {
        double own_s = t.tail.reduce_end_s[i] + t.tail.norm_s + t.tail.others_s[i] +
                       t.tail.stage_optimizer_s[i] + t.tail.behind_s[i];
        assert_true(fabs(own_s - t.period_s) < 1e-9 * t.period_s);
        assert_true(t.played.stage_begin_s[i] >= -1e-9 && t.tail.others_s[i] >= -1e-9);
    }
    weir_arena_free(arena);
}

/* But for the norm, which is handed on once for each stage instead of summed by all. */
static void barriers_only_cost_time(void **state)
{
    (void)state;
    for (uint32_t k = WEIR_SCHEDULE_ZB_H1; k <= WEIR_SCHEDULE_ZB_V; k++) {
        for (uint32_t stages = 2; stages <= 8; stages *= 2) {
            set((weir_schedule_kind)k, stages, 4 * stages);
            weir_arena *arena = weir_arena_new();
            weir_train_timing free_t = timing_of(arena);
            sample.job.stack.post_validation = false;
            weir_train_timing barrier_t = timing_of(arena);
            assert_null(barrier_t.begin_s);
            assert_true(free_t.period_s <= barrier_t.period_s + stages * free_t.tail.hop_s);
            weir_arena_free(arena);
        }
    }
}

static void only_zero_bubble_goes_without(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < WEIR_SCHEDULE_COUNT; k++) {
        set((weir_schedule_kind)k, 4, 8);
        bool is_zero_bubble = k >= WEIR_SCHEDULE_ZB_H1 && k <= WEIR_SCHEDULE_ZB_V;
        assert_true(weir_train_has_barrier(&sample.job) == !is_zero_bubble);
        sample.job.stack.post_validation = false;
        assert_true(weir_train_has_barrier(&sample.job));
    }
    set(WEIR_SCHEDULE_ZB_H1, 1, 8);
    assert_true(weir_train_has_barrier(&sample.job));
}

/* Qi et al., table 1, for a GPT with unfused attention: 32 of 34 + 5 a s / h. */
static void gradients_of_weights_keep_what_the_paper_counts(void **state)
{
    (void)state;
    job_sample gpt;
    assert_true(sample_make("gpt3-175b", &gpt));
    for (uint32_t s = 1024; s <= 4096; s *= 2) {
        gpt.job.plan.sequence = s;
        gpt.job.stack.attention = WEIR_ATTENTION_UNFUSED;
        gpt.job.stack.dropout = true;
        double expected = 32 / (34 + 5.0 * gpt.model.heads * s / gpt.model.hidden);
        assert_true(fabs(weir_train_wgrad_share(&gpt.job) - expected) < 1e-3);
    }
    sample_clear(&gpt);
}

static int load(void **state)
{
    (void)state;
    return sample_make("llama3-8b", &sample) ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
    sample_clear(&sample);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_barrier_a_step_takes_what_repeated_ones_do),
        cmocka_unit_test(every_stage_takes_a_period_from_its_own_beginning),
        cmocka_unit_test(messages_within_a_node_are_shorter),
        cmocka_unit_test(barriers_only_cost_time),
        cmocka_unit_test(only_zero_bubble_goes_without),
        cmocka_unit_test(gradients_of_weights_keep_what_the_paper_counts),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
