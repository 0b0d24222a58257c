/* A played step against its closed form, whole and in part, and what disturbances do to it. */
#include "train/train_program.h"
#include "train/train_timing.h"

#include "study/sim_ledger.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include "train_job_sample.h"

#include <cmocka.h>

static job_sample sample;
static weir_train_job plain;

static int load(void **state)
{
    (void)state;
    bool ok = sample_make("llama3-8b", &sample);
    plain = sample.job;
    return ok ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
    sample_clear(&sample);
    return 0;
}

static uint32_t pick(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % n;
}

static double step_s(const weir_train_job *job)
{
    weir_train_step step;
    weir_err err = {0};
    if (weir_train_step_of(job, sample.scratch, &step, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return step.step_s;
}

typedef struct {
    weir_train_program program;
    weir_spmd_run run;
    uint32_t longest; /* ops of a program */
} played_step;

static void play(const weir_train_play *how, played_step *p)
{
    weir_err err = {0};
    memset(p, 0, sizeof *p);
    if (weir_train_program_build(how, &p->program, &err) != WEIR_OK ||
        weir_spmd_play(&p->program.spmd, &p->run, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    for (uint32_t i = 0; i < p->program.spmd.program_count; i++) {
        uint32_t ops = p->program.spmd.programs[i].count;
        p->longest = ops > p->longest ? ops : p->longest;
    }
}

static void clear(played_step *p)
{
    weir_spmd_run_clear(&p->run);
    weir_train_program_clear(&p->program);
}

static int64_t play_ns(const weir_train_play *how)
{
    played_step p;
    play(how, &p);
    int64_t ns = p.run.end_ns;
    clear(&p);
    return ns;
}

/* A plan of that model with everything that a step can have; false: it does not fit itself. */
static bool random_job(uint64_t *state, weir_train_job *job)
{
    weir_schedule_fault no_schedule = {0};
    weir_train_fault fault = {0};
    *job = plain;
    weir_train_plan *p = &job->plan;
    weir_train_stack *s = &job->stack;
    p->tensor = 1u << pick(state, 4);
    p->context = 1u << pick(state, 2);
    p->pipeline = 1u << pick(state, 4);
    p->data = 1u << pick(state, 3);
    p->schedule = (weir_schedule_kind)pick(state, WEIR_SCHEDULE_COUNT);
    p->chunks = 1 + pick(state, 2);
    p->micro_batches = p->pipeline * (1 + pick(state, 3));
    p->global_batch = p->micro_batches * p->data;
    p->sequence_parallel = pick(state, 2);
    p->zero = pick(state, 4);
    p->regathers = pick(state, 2);
    p->accumulates_sharded = pick(state, 2);
    p->recompute = pick(state, 2) ? WEIR_RECOMPUTE_PLAN_FULL : WEIR_RECOMPUTE_PLAN_NONE;
    s->overlaps_gradients = pick(state, 2);
    s->overlaps_parameters = pick(state, 2);
    s->overlaps_tensor = pick(state, 2);
    s->overlaps_pipeline = pick(state, 2);
    s->launch_s = pick(state, 3) * 4e-6;
    s->micro_batch_s = pick(state, 2) * 1e-3;
    s->step_s = pick(state, 2) * 20e-3;
    s->jitter = pick(state, 2) * 0.003;
    s->bucket_bytes = pick(state, 2) ? 40e6 : 1e9;
    weir_train_step step;
    weir_err err = {0};
    return weir_schedule_is_possible(p->schedule, p->pipeline, p->chunks, p->micro_batches,
                                     &no_schedule) &&
           weir_train_is_sound(job, weir_train_devices(p), &fault) &&
           weir_train_step_of(job, sample.scratch, &step, &err) == WEIR_OK;
}

static void it_takes_as_long_as_in_closed_form(void **state)
{
    (void)state;
    uint64_t random = 7;
    uint32_t done = 0, seen[WEIR_SCHEDULE_COUNT] = {0};
    for (uint32_t i = 0; i < 4000 && done < 300; i++) {
        weir_train_job job;
        if (!random_job(&random, &job)) {
            continue;
        }
        const weir_train_play how = {.job = &job, .steps = 1};
        played_step p;
        play(&how, &p);
        double apart_ns = fabs((double)p.run.end_ns - step_s(&job) * 1e9);
        if (apart_ns > p.longest) {
            fail_msg("plan %u: tp%u cp%u pp%u x%u dp%u zero%u %s, %u micro-batches: played %.9f s, "
                     "closed %.9f s",
                     i, job.plan.tensor, job.plan.context, job.plan.pipeline, job.plan.chunks,
                     job.plan.data, job.plan.zero, weir_schedule_kind_name(job.plan.schedule),
                     job.plan.micro_batches, (double)p.run.end_ns * 1e-9, step_s(&job));
        }
        clear(&p);
        seen[job.plan.schedule] += job.plan.pipeline > 1;
        done++;
    }
    assert_int_equal(done, 300);
    for (int k = 0; k < WEIR_SCHEDULE_COUNT; k++) {
        assert_true(seen[k] >= 10);
    }
}

/* 32 layers of experts on nodes of eight: what pairs hide is the same in both. */
static void pairs_hide_what_they_do_in_closed_form(void **state)
{
    (void)state;
    job_sample mixture;
    assert_true(sample_make("mixtral-8x7b", &mixture));
    weir_train_job *job = &mixture.job;
    weir_train_plan *p = &job->plan;
    p->data = p->expert = 8;
    for (uint32_t i = 0; i < 8; i++) {
        p->schedule = i % 2 ? WEIR_SCHEDULE_DUALPIPE : WEIR_SCHEDULE_DUALPIPE_V;
        p->chunks = i % 2 ? 1 : 2;
        p->pipeline = 4;
        p->micro_batches = 8 + 4 * (i / 4);
        p->global_batch = p->micro_batches * p->data;
        job->stack.overlaps_pipeline = true;
        double seen_s = step_s(job);
        job->stack.overlaps_experts = true;
        job->stack.overlap_slowdown = 0.125 * (i / 2 % 2);
        assert_true(step_s(job) < seen_s * 0.999);
        played_step played;
        play(&(weir_train_play){.job = job, .steps = 1}, &played);
        assert_true(fabs((double)played.run.end_ns - step_s(job) * 1e9) <= played.longest);
        clear(&played);
        job->stack.overlaps_experts = false;
    }
    sample_clear(&mixture);
}

static weir_train_job grid(uint32_t tensor, uint32_t pipeline, uint32_t data)
{
    weir_train_job job = plain;
    job.plan.tensor = tensor;
    job.plan.pipeline = pipeline;
    job.plan.data = data;
    job.plan.micro_batches = 2 * pipeline;
    job.plan.global_batch = job.plan.micro_batches * data;
    job.stack.overlaps_pipeline = true;
    job.stack.overlaps_gradients = true;
    return job;
}

static void steps_follow_each_other(void **state)
{
    (void)state;
    weir_train_job job = grid(2, 4, 2);
    int64_t one_ns = play_ns(&(weir_train_play){.job = &job, .steps = 1});
    int64_t three_ns = play_ns(&(weir_train_play){.job = &job, .steps = 3});
    assert_true(llabs(three_ns - 3 * one_ns) <= 3);
}

static bool random_zero_bubble(uint64_t *state, weir_train_job *job)
{
    bool ok = random_job(state, job);
    job->stack.post_validation = true;
    return ok && !weir_train_has_barrier(job);
}

/* Every step of every device, from its own beginning to its own end: the period of the steady
 * state, from the first step on. */
static void steps_without_a_barrier_take_their_period(void **state)
{
    (void)state;
    enum { STEPS = 3 };
    uint64_t random = 21;
    uint32_t done = 0;
    for (uint32_t i = 0; i < 30000 && done < 150; i++) {
        weir_train_job job;
        if (!random_zero_bubble(&random, &job)) {
            continue;
        }
        const weir_train_play how = {.job = &job, .steps = STEPS};
        played_step p;
        play(&how, &p);
        uint32_t count, marked = 0;
        const weir_lane *lanes = weir_timeline_lanes(p.run.timeline, &count);
        weir_spans spans = weir_timeline_spans(p.run.timeline);
        for (uint32_t l = 0; l < count; l++) {
            for (uint32_t s = 0; lanes[l].kind == WEIR_LANE_THREAD && s < lanes[l].span_count;
                 s++) {
                int64_t ns = spans.dur_ns[lanes[l].first_span + s];
                assert_true(fabs((double)ns - step_s(&job) * 1e9) <= p.longest);
                marked++;
            }
        }
        assert_int_equal(marked, STEPS * job.plan.pipeline);
        clear(&p);
        done++;
    }
    assert_int_equal(done, 150);
}

static weir_result *ledger_of(const played_step *p)
{
    weir_err err = {0};
    weir_result *result = weir_result_new();
    assert_non_null(result);
    if (weir_sim_ledger_build(&p->program.spmd, &p->run, NULL, result, NULL, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return result;
}

/* One device for all of its stage, and every rank by itself. */
static void folded_and_unfolded_agree(void **state)
{
    (void)state;
    weir_train_job job = grid(2, 4, 2);
    played_step folded, all;
    play(&(weir_train_play){.job = &job, .steps = 1}, &folded);
    play(&(weir_train_play){.job = &job, .steps = 1, .unfolded = true}, &all);
    assert_int_equal(folded.program.devices, 4);
    assert_int_equal(all.program.devices, 16);
    assert_int_equal(folded.run.end_ns, all.run.end_ns);
    weir_result *a = ledger_of(&folded), *b = ledger_of(&all);
    assert_int_equal(a->window.devices, 16);
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        assert_int_equal(a->total.causes.ns[c], b->total.causes.ns[c]);
    }
    weir_result_free(a);
    weir_result_free(b);
    clear(&folded);
    clear(&all);
}

/* Causes of computing add up to those of the closed form, which is a mean over devices. */
static void computing_has_the_causes_of_the_closed_form(void **state)
{
    (void)state;
    weir_train_job job = grid(2, 4, 2);
    weir_train_step step;
    weir_err err = {0};
    played_step p;
    assert_int_equal(weir_train_step_of(&job, sample.scratch, &step, &err), WEIR_OK);
    play(&(weir_train_play){.job = &job, .steps = 1}, &p);
    weir_result *result = ledger_of(&p);
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        weir_wait wait = weir_cause_wait((weir_cause)c);
        if (wait == WEIR_WAIT_COMPUTE || wait == WEIR_WAIT_CACHE) {
            double mean_s = (double)result->total.causes.ns[c] * 1e-9 / 16;
            assert_true(fabs(mean_s - step.cause_s[c]) < 1e-6);
        }
    }
    weir_result_free(result);
    clear(&p);
}

static double closed_wait_s(const weir_train_step *step, weir_wait wait)
{
    double sum = 0;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        sum += weir_cause_wait((weir_cause)c) == wait ? step->cause_s[c] : 0;
    }
    return sum;
}

/* What runs while a device waits anyway counts there, too: its own message, parameters (DESIGN 2.1,
 * line 3). Gradients of one chunk that are reduced while the stage waits for another do not. */
static void waits_are_those_of_the_closed_form(void **state)
{
    (void)state;
    uint64_t random = 5;
    uint32_t done = 0;
    double apart = 0, worst = 0;
    for (uint32_t i = 0; i < 4000 && done < 150; i++) {
        weir_train_job job;
        weir_train_step step;
        weir_err err = {0};
        if (!random_job(&random, &job)) {
            continue;
        }
        played_step p;
        play(&(weir_train_play){.job = &job, .steps = 1}, &p);
        assert_int_equal(weir_train_step_of(&job, sample.scratch, &step, &err), WEIR_OK);
        weir_result *result = ledger_of(&p);
        double all = (double)result->total.wall_ns;
        double played = (double)result->total.waits.ns[WEIR_WAIT_DEPENDENCY] / all;
        double off = fabs(played - closed_wait_s(&step, WEIR_WAIT_DEPENDENCY) / step.step_s);
        apart += off;
        worst = fmax(worst, off);
        weir_result_free(result);
        clear(&p);
        done++;
    }
    assert_int_equal(done, 150);
    assert_true(worst < 0.02 && apart / done < 0.002);
}

static void a_slow_device_holds_up_the_others_and_is_named(void **state)
{
    (void)state;
    weir_train_job job = grid(2, 4, 2);
    const weir_slow_device slow = {5, 1.5}; /* stage 1, replica 0, tensor rank 1 */
    played_step p;
    int64_t calm_ns = play_ns(&(weir_train_play){.job = &job, .steps = 1});
    play(&(weir_train_play){.job = &job, .steps = 1, .slow = &slow, .slow_count = 1}, &p);
    assert_true(p.run.end_ns > calm_ns * 11 / 10);
    assert_int_equal(p.program.devices, 4 + 8); /* its replica rank by rank */
    weir_result *result = ledger_of(&p);
    assert_true(result->straggler_count > 0);
    bool named = false;
    for (uint32_t i = 0; i < result->straggler_count; i++) {
        named = named || (result->stragglers[i].origin_rank == 5 &&
                          result->stragglers[i].reason == WEIR_REASON_SLOW_DEVICE);
    }
    assert_true(named);
    assert_int_equal(result->window.devices, 16);
    weir_result_free(result);
    clear(&p);
}

static void a_device_that_is_slow_by_one_changes_nothing(void **state)
{
    (void)state;
    weir_train_job job = grid(2, 4, 4);
    const weir_slow_device slow = {9, 1};
    int64_t calm_ns = play_ns(&(weir_train_play){.job = &job, .steps = 1});
    assert_int_equal(
        play_ns(&(weir_train_play){.job = &job, .steps = 1, .slow = &slow, .slow_count = 1}),
        calm_ns);
}

static void slower_devices_never_make_it_faster(void **state)
{
    (void)state;
    uint64_t random = 11;
    uint32_t done = 0;
    for (uint32_t i = 0; i < 400 && done < 25; i++) {
        weir_train_job job;
        if (!random_job(&random, &job) || weir_train_devices(&job.plan) > 64) {
            continue;
        }
        weir_slow_device slow = {pick(&random, (uint32_t)weir_train_devices(&job.plan)), 1.2};
        weir_train_play how = {.job = &job, .steps = 1};
        int64_t calm_ns = play_ns(&how);
        how.slow = &slow;
        how.slow_count = 1;
        int64_t slow_ns = play_ns(&how);
        slow.factor = 1.6;
        assert_true(calm_ns <= slow_ns);
        assert_true(slow_ns <= play_ns(&how));
        done++;
    }
    assert_int_equal(done, 25);
}

static void jitter_is_repeated_by_its_seed(void **state)
{
    (void)state;
    weir_train_job job = grid(2, 4, 4);
    weir_train_play how = {.job = &job, .steps = 1, .jitter = 0.05, .seed = 3};
    int64_t first_ns = play_ns(&how);
    assert_int_equal(play_ns(&how), first_ns);
    assert_true(first_ns > play_ns(&(weir_train_play){.job = &job, .steps = 1}));
    how.seed = 4;
    assert_int_not_equal(play_ns(&how), first_ns);
}

/* One device that draws for all ranks of its stage, and every rank by itself. */
static void ranks_that_jitter_in_step_are_as_each_by_itself(void **state)
{
    (void)state;
    for (uint32_t context = 1; context <= 2; context++) {
        weir_train_job job = grid(4, 2, 2);
        job.plan.context = context;
        job.plan.context_kind =
            WEIR_CONTEXT_ALL_GATHER; /* a ring is hidden: nobody is seen to wait */
        weir_train_play how = {.job = &job, .steps = 1, .jitter = 0.05, .seed = 3};
        played_step in_step, all;
        play(&how, &in_step);
        how.unfolded = true;
        play(&how, &all);
        assert_int_equal(in_step.program.devices, 4);
        assert_int_equal(all.program.devices, 16 * context);
        assert_true(llabs(in_step.run.end_ns - all.run.end_ns) < in_step.longest);
        weir_result *a = ledger_of(&in_step), *b = ledger_of(&all);
        const int64_t *one = a->total.causes.ns, *each = b->total.causes.ns;
        int64_t apart_ns = one[WEIR_CAUSE_COMPUTE_GEMM] - each[WEIR_CAUSE_COMPUTE_GEMM];
        /* a message that comes while its receiver waits for another rank is one or the other */
        int64_t waited_ns =
            one[WEIR_CAUSE_DEPENDENCY_STRAGGLER] + one[WEIR_CAUSE_COMMUNICATION_P2P];
        waited_ns -= each[WEIR_CAUSE_DEPENDENCY_STRAGGLER] + each[WEIR_CAUSE_COMMUNICATION_P2P];
        int64_t rounding_ns = (int64_t)all.longest * all.program.devices;
        assert_true(llabs(apart_ns) < rounding_ns);
        assert_true(llabs(waited_ns) < rounding_ns);
        weir_result_free(a);
        weir_result_free(b);
        clear(&in_step);
        clear(&all);
    }
}

/* Of a ring that runs beside computing, too: a block is not there before its rank has sent it. Each
 * by itself, nobody is seen to wait for it. */
static void ranks_of_a_hidden_ring_wait_for_each_other(void **state)
{
    (void)state;
    weir_train_job job = grid(1, 4, 1);
    job.plan.context = 2;
    weir_train_play how = {.job = &job, .steps = 1, .jitter = 0.05, .seed = 3};
    int64_t in_step_ns = play_ns(&how);
    how.unfolded = true;
    assert_true(in_step_ns > play_ns(&how));
}

static double squares_of(const weir_pass_cost *cost)
{
    double sum = 0;
    for (uint32_t i = 0; i < cost->count; i++) {
        bool computes = cost->piece[i].kind == WEIR_PIECE_COMPUTE;
        sum += computes ? cost->piece[i].seconds * cost->piece[i].seconds : 0;
    }
    return sum;
}

/* The expected maximum of eight normal draws is 1.42360 deviations (Harter, Biometrika 48, 1961).
 * Draws of the operations of a pass add up as their squares do; ranks meet once in each pass. */
static void ranks_in_step_wait_for_the_slowest_of_eight(void **state)
{
    (void)state;
    enum { SEEDS = 60, MICRO_BATCHES = 8 };
    weir_train_job job = grid(8, 1, 1);
    job.plan.micro_batches = job.plan.global_batch = MICRO_BATCHES;
    double waited_s = 0, expected_s = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        played_step p;
        play(&(weir_train_play){.job = &job, .steps = 1, .jitter = 0.05, .seed = seed}, &p);
        const weir_chunk_cost *c = p.program.costs.chunk[0];
        double backward = squares_of(&c->dgrad) + squares_of(&c->wgrad);
        expected_s =
            MICRO_BATCHES * 0.05 * 1.42360 * (sqrt(squares_of(&c->forward)) + sqrt(backward));
        weir_result *result = ledger_of(&p);
        waited_s += (double)result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_STRAGGLER] * 1e-9 / 8;
        weir_result_free(result);
        clear(&p);
    }
    weir_train_step step;
    weir_err err = {0};
    assert_int_equal(weir_train_step_of(&job, sample.scratch, &step, &err), WEIR_OK);
    expected_s += 0.05 * 1.42360 * step.cause_s[WEIR_CAUSE_CACHE_OPTIMIZER];
    assert_true(fabs(waited_s / SEEDS / expected_s - 1) < 0.03);
}

/* Stage 1 of replica 0; four nodes of eight: data crosses them, tensor does not. */
static void a_bad_link_slows_what_goes_over_it(void **state)
{
    (void)state;
    weir_train_job job = grid(4, 2, 4);
    weir_train_link link = {.device = 6, .is_node_link = true, .until_s = INFINITY, .share = 1};
    weir_train_play how = {.job = &job, .steps = 1};
    int64_t calm_ns = play_ns(&how);
    how.links = &link;
    how.link_count = 1;
    assert_true(llabs(play_ns(&how) - calm_ns) < 20000); /* rounding of each exchange */
    link.share = 0.25;
    int64_t slow_ns = play_ns(&how);
    assert_true(slow_ns > calm_ns);
    link.until_s = 1e-3;
    int64_t mended_ns = play_ns(&how);
    assert_true(mended_ns < slow_ns);
    assert_true(mended_ns >= calm_ns - 20000);
}

static void a_link_that_stays_broken_ends_the_step(void **state)
{
    (void)state;
    weir_train_job job = grid(4, 2, 4);
    const weir_train_link link = {.device = 6, .is_node_link = true, .until_s = INFINITY};
    played_step p;
    play(&(weir_train_play){.job = &job, .steps = 1, .links = &link, .link_count = 1}, &p);
    assert_int_not_equal(p.run.stalled_by, WEIR_NONE);
    weir_result *result = ledger_of(&p);
    assert_true(result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_FAILURE] > 0);
    weir_result_free(result);
    clear(&p);
}

static void a_device_that_does_not_exist_is_refused(void **state)
{
    (void)state;
    weir_train_job job = grid(2, 2, 2);
    const weir_slow_device slow = {8, 2};
    weir_train_program program = {0};
    weir_err err = {0};
    const weir_train_play how = {.job = &job, .steps = 1, .slow = &slow, .slow_count = 1};
    assert_int_equal(weir_train_program_build(&how, &program, &err), WEIR_ERR_INPUT);
    assert_string_equal(err.text, "disturb.slow: found device 8, expected one of 0 to 7");
}

static void more_steps_than_can_be_played_are_refused(void **state)
{
    (void)state;
    weir_train_job job = grid(2, 2, 2);
    weir_train_program program = {0};
    weir_err err = {0};
    const weir_train_play how = {.job = &job, .steps = 1u << 30};
    assert_int_equal(weir_train_program_build(&how, &program, &err), WEIR_ERR_LIMIT);
    assert_non_null(strstr(err.text, "expected at most 4194304 in all, such as steps: "));
}

static void ranks_are_numbered_in_the_order_of_the_plan(void **state)
{
    (void)state;
    weir_train_plan plan = grid(2, 3, 4).plan;
    plan.context = 5;
    /* tensor fastest, then context, data, pipeline */
    assert_int_equal(weir_train_rank(&plan, (weir_train_place){1, 0, 0, 0}), 1);
    assert_int_equal(weir_train_rank(&plan, (weir_train_place){0, 1, 0, 0}), 2);
    assert_int_equal(weir_train_rank(&plan, (weir_train_place){0, 0, 1, 0}), 10);
    assert_int_equal(weir_train_rank(&plan, (weir_train_place){0, 0, 0, 1}), 40);
    for (uint32_t rank = 0; rank < 120; rank++) {
        assert_int_equal(weir_train_rank(&plan, weir_train_place_of(&plan, rank)), rank);
    }
}

/* One bad NIC or node link is no worse than all of them as bad, and no better than none: the step
 * in closed form with all rates scaled bounds the played one. */
static void one_bad_link_is_no_worse_than_all_of_them(void **state)
{
    (void)state;
    uint64_t random = 31;
    uint32_t done = 0, slower = 0;
    for (uint32_t i = 0; i < 4000 && done < 120; i++) {
        weir_train_job job, all;
        if (!random_job(&random, &job) || weir_train_devices(&job.plan) > 64) {
            continue;
        }
        job.network.node_transport = "nvlink4"; /* else the library's nearest by rate */
        job.network.network_transport = "ib-ndr";
        static const double shares[] = {0.03, 0.3, 0.8};
        weir_train_link link = {.device = pick(&random, (uint32_t)weir_train_devices(&job.plan)),
                                .is_node_link = pick(&random, 2),
                                .until_s = INFINITY,
                                .share = shares[pick(&random, 3)]};
        all = job;
        *(link.is_node_link ? &all.network.node_bytes_per_s : &all.network.nic_bytes_per_s) *=
            link.share;
        const weir_train_play how = {.job = &job, .steps = 1, .links = &link, .link_count = 1};
        double one_s = (double)play_ns(&how) * 1e-9, whole_s = step_s(&job), all_s = step_s(&all);
        bool is_paired = job.plan.schedule == WEIR_SCHEDULE_DUALPIPE ||
                         job.plan.schedule == WEIR_SCHEDULE_DUALPIPE_V;
        double slack = is_paired ? 0.02 : 1e-4; /* of pairs of passes not held closer */
        if (one_s > all_s + slack * all_s || one_s < whole_s - 1e-4 * whole_s) {
            fail_msg("plan %u: tp%u cp%u pp%u x%u dp%u %s: %s of device %u at %g: %.6f s, all %.6f "
                     "s, none %.6f s",
                     i, job.plan.tensor, job.plan.context, job.plan.pipeline, job.plan.chunks,
                     job.plan.data, weir_schedule_kind_name(job.plan.schedule),
                     link.is_node_link ? "node link" : "NIC", link.device, link.share, one_s, all_s,
                     whole_s);
        }
        slower += one_s > whole_s * 1.001;
        done++;
    }
    assert_int_equal(done, 120);
    assert_true(slower > 30);
}

/* Eight tensor ranks do nothing without each other: with one node link at a tenth they are as slow
 * as with all of them. */
static void ranks_in_step_are_as_slow_as_their_weakest_link(void **state)
{
    (void)state;
    weir_train_job job = plain, all;
    job.plan.tensor = 8;
    job.network.node_transport = "nvlink4";
    all = job;
    all.network.node_bytes_per_s *= 0.1;
    const weir_train_link link = {3, true, 0, INFINITY, 0.1};
    const weir_train_play how = {.job = &job, .steps = 1, .links = &link, .link_count = 1};
    double one_s = (double)play_ns(&how) * 1e-9;
    assert_true(fabs(one_s / step_s(&all) - 1) < 1e-3);
    assert_true(one_s > 1.5 * step_s(&job));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_takes_as_long_as_in_closed_form),
        cmocka_unit_test(pairs_hide_what_they_do_in_closed_form),
        cmocka_unit_test(steps_follow_each_other),
        cmocka_unit_test(steps_without_a_barrier_take_their_period),
        cmocka_unit_test(folded_and_unfolded_agree),
        cmocka_unit_test(computing_has_the_causes_of_the_closed_form),
        cmocka_unit_test(waits_are_those_of_the_closed_form),
        cmocka_unit_test(a_slow_device_holds_up_the_others_and_is_named),
        cmocka_unit_test(a_device_that_is_slow_by_one_changes_nothing),
        cmocka_unit_test(slower_devices_never_make_it_faster),
        cmocka_unit_test(jitter_is_repeated_by_its_seed),
        cmocka_unit_test(ranks_that_jitter_in_step_are_as_each_by_itself),
        cmocka_unit_test(ranks_of_a_hidden_ring_wait_for_each_other),
        cmocka_unit_test(ranks_in_step_wait_for_the_slowest_of_eight),
        cmocka_unit_test(a_bad_link_slows_what_goes_over_it),
        cmocka_unit_test(a_link_that_stays_broken_ends_the_step),
        cmocka_unit_test(a_device_that_does_not_exist_is_refused),
        cmocka_unit_test(more_steps_than_can_be_played_are_refused),
        cmocka_unit_test(one_bad_link_is_no_worse_than_all_of_them),
        cmocka_unit_test(ranks_in_step_are_as_slow_as_their_weakest_link),
        cmocka_unit_test(ranks_are_numbered_in_the_order_of_the_plan),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
