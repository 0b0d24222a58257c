/* train_job_sample.h: a training job of presets, for tests: one llama on H100 nodes of eight. */
#ifndef WEIR_TESTS_TRAIN_JOB_SAMPLE_H
#define WEIR_TESTS_TRAIN_JOB_SAMPLE_H

#include "model/model_source.h"
#include "train/train_check.h"
#include "train/train_step.h"

#include <string.h>

typedef struct {
    weir_model model;
    weir_accelerators *accelerators;
    weir_kernel_times *kernels;
    weir_library *library;
    weir_train_scratch *scratch;
    weir_train_chains chains;
    weir_train_job job;
} job_sample;

static const weir_accelerator *sample_accelerator(const weir_accelerators *all, const char *id)
{
    uint32_t count;
    const weir_accelerator *list = weir_accelerators_list(all, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i].id, id) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

/* Every axis is 1, one sequence of 4096 tokens in one micro-batch; a stack that hides nothing and
 * adds nothing. False where a preset cannot be read. */
static bool sample_make(const char *model, job_sample *s)
{
    weir_err err = {0};
    memset(s, 0, sizeof *s);
    if (weir_model_preset(model, &s->model, &err) != WEIR_OK ||
        weir_accelerators_load(&s->accelerators, &err) != WEIR_OK ||
        weir_kernel_times_open(sample_accelerator(s->accelerators, "h100-sxm"), &s->kernels,
                               &err) != WEIR_OK ||
        weir_library_open("nccl-2.27", &s->library, &err) != WEIR_OK ||
        weir_train_chains_load(&s->chains, &err) != WEIR_OK) {
        return false;
    }
    s->scratch = weir_train_scratch_new();
    s->job.model = &s->model;
    s->job.kernels = s->kernels;
    s->job.chains = &s->chains;
    s->job.plan = (weir_train_plan){.tensor = 1,
                                    .context = 1,
                                    .pipeline = 1,
                                    .data = 1,
                                    .expert = 1,
                                    .expert_tensor = 1,
                                    .chunks = 1,
                                    .micro_batch = 1,
                                    .global_batch = 1,
                                    .micro_batches = 1,
                                    .sequence = 4096,
                                    .schedule = WEIR_SCHEDULE_ONE_F_ONE_B,
                                    .format = WEIR_GEMM_16};
    for (int a = 0; a < WEIR_AXIS_COUNT; a++) {
        s->job.plan.order[a] = (weir_train_axis)a;
        s->job.network.factor[a] = 1;
    }
    s->job.stack = (weir_train_stack){.attention = WEIR_ATTENTION_FLASH2,
                                      .fused_add = true,
                                      .fused_activation = true,
                                      .fused_rope = true,
                                      .fused_loss = true,
                                      .gradient_bytes = 4,
                                      .reduced_bytes = 2,
                                      .gathered_bytes = 2,
                                      .state_bytes = 12,
                                      .optimizer_bytes = 34,
                                      .vocab_multiple = 128,
                                      .bucket_bytes = 40e6,
                                      .gemm_factor = 1,
                                      .attention_factor = 1,
                                      .memory_factor = 1,
                                      .tensor_factor = 1,
                                      .data_factor = 1,
                                      .expert_factor = 1,
                                      .fragmentation = 1};
    s->job.network.devices_per_node = 8;
    s->job.network.node_bytes_per_s = 450e9;
    s->job.network.nic_bytes_per_s = 50e9;
    s->job.network.has_node_reduction = true;
    s->job.network.library = s->library;
    return s->scratch != NULL;
}

static void sample_clear(job_sample *s)
{
    weir_train_scratch_free(s->scratch);
    weir_library_free(s->library);
    weir_kernel_times_free(s->kernels);
    weir_accelerators_free(s->accelerators);
}

#endif
