/* What would make a plan fit into memory: one change at a time, each computed anew. */
#include "model/model_memory.h"
#include "train/train_check.h"
#include "train/train_memory.h"

#include <stdio.h>

typedef struct {
    const weir_train_job *job;
    double before;
    weir_memory_remedy *remedies;
    uint32_t count, room;
} search;

static void note(search *s, const char *key, const char *value, double total)
{
    uint32_t at = s->count < s->room ? s->count : s->room - 1;
    if (s->count == s->room && s->remedies[at].total <= total) {
        return;
    }
    for (; at > 0 && s->remedies[at - 1].total > total; at--) {
        s->remedies[at] = s->remedies[at - 1];
    }
    s->remedies[at] = (weir_memory_remedy){.key = key, .total = total};
    snprintf(s->remedies[at].value, sizeof s->remedies[at].value, "%s", value);
    s->count += s->count < s->room;
}

/* Keeps a changed job that is sound and takes less. */
static void attempt(search *s, weir_train_job *changed, const char *key, const char *value)
{
    weir_train_fault fault;
    weir_train_memory memory;
    weir_train_plan *p = &changed->plan;
    uint64_t devices = weir_train_devices(&s->job->plan);
    uint64_t replica = (uint64_t)p->tensor * p->context * p->pipeline;
    if (replica > devices || devices % replica != 0) {
        return;
    }
    p->data = (uint32_t)(devices / replica);
    p->micro_batches = p->global_batch / (p->data * p->micro_batch);
    if (p->micro_batches == 0 || !weir_train_is_sound(changed, devices, &fault)) {
        return;
    }
    weir_train_memory_of(changed, &memory);
    if (memory.total < s->before) {
        note(s, key, value, memory.total);
    }
}

static void attempt_number(search *s, uint32_t *member, weir_train_job *changed, const char *key,
                           uint32_t number)
{
    char text[32];
    uint32_t before = *member;
    weir_train_plan plan = changed->plan;
    *member = number;
    snprintf(text, sizeof text, "%u", number);
    if (number != before && number > 0) {
        attempt(s, changed, key, text);
    }
    changed->plan = plan;
}

static void attempt_recompute(search *s, weir_train_job *changed)
{
    weir_train_plan plan = changed->plan;
    weir_train_plan *p = &changed->plan;
    if (p->recompute == WEIR_RECOMPUTE_PLAN_NONE) {
        p->recompute = WEIR_RECOMPUTE_PLAN_SELECTIVE;
        p->recompute_parts = WEIR_RECOMPUTE_CORE | WEIR_RECOMPUTE_NORMS | WEIR_RECOMPUTE_ACTIVATION;
        attempt(s, changed, "plan.recompute", "[core, norms, activation]");
        changed->plan = plan;
    }
    if (p->recompute != WEIR_RECOMPUTE_PLAN_FULL) {
        p->recompute = WEIR_RECOMPUTE_PLAN_FULL;
        attempt(s, changed, "plan.recompute", "full");
        changed->plan = plan;
    }
}

uint32_t weir_train_memory_remedies(const weir_train_job *job, weir_memory_remedy *remedies,
                                    uint32_t room)
{
    if (room == 0) {
        return 0;
    }
    weir_train_job changed = *job;
    weir_train_plan *p = &changed.plan;
    weir_train_memory memory;
    weir_train_memory_of(job, &memory);
    search s = {job, memory.total, remedies, 0, room};
    attempt_recompute(&s, &changed);
    attempt_number(&s, &p->zero, &changed, "plan.zero", p->zero < 3 ? p->zero + 1 : 3);
    attempt_number(&s, &p->micro_batch, &changed, "plan.micro_batch", p->micro_batch / 2);
    attempt_number(&s, &p->tensor, &changed, "plan.tensor", p->tensor * 2);
    attempt_number(&s, &p->pipeline, &changed, "plan.pipeline", p->pipeline * 2);
    attempt_number(&s, &p->context, &changed, "plan.context", p->context * 2);
    attempt_number(&s, &p->expert, &changed, "plan.expert", p->expert * 2);
    if (!p->sequence_parallel && p->tensor > 1) {
        p->sequence_parallel = true;
        attempt(&s, &changed, "plan.sequence_parallel", "yes");
    }
    return s.count;
}
