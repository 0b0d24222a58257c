/* train_layer_again.c: what of a layer is computed again before its backward pass. */
#include "train/train_layer_inside.h"

#include "model/model_memory.h"

static bool is_again(uint32_t mask, weir_op_part part)
{
    static const struct {
        weir_op_part part;
        uint32_t mask;
    } parts[] = {
        {WEIR_MODEL_PART_CORE, WEIR_RECOMPUTE_CORE},
        {WEIR_MODEL_PART_ATTENTION_NORM, WEIR_RECOMPUTE_NORMS},
        {WEIR_MODEL_PART_NETWORK_NORM, WEIR_RECOMPUTE_NORMS},
        {WEIR_MODEL_PART_ACTIVATION, WEIR_RECOMPUTE_ACTIVATION | WEIR_RECOMPUTE_NETWORK},
        {WEIR_MODEL_PART_EXPERT_ACTIVATION, WEIR_RECOMPUTE_ACTIVATION | WEIR_RECOMPUTE_EXPERTS},
        {WEIR_MODEL_PART_SHARED_ACTIVATION, WEIR_RECOMPUTE_ACTIVATION | WEIR_RECOMPUTE_EXPERTS},
        {WEIR_MODEL_PART_QKV, WEIR_RECOMPUTE_UP},
        {WEIR_MODEL_PART_LATENT_NORM, WEIR_RECOMPUTE_UP},
        {WEIR_MODEL_PART_ROPE, WEIR_RECOMPUTE_UP},
        {WEIR_MODEL_PART_OUTPUT, WEIR_RECOMPUTE_OUTPUT},
        {WEIR_MODEL_PART_ATTENTION_ADD, WEIR_RECOMPUTE_OUTPUT},
        {WEIR_MODEL_PART_UP, WEIR_RECOMPUTE_NETWORK},
        {WEIR_MODEL_PART_EXPERT_UP, WEIR_RECOMPUTE_EXPERTS},
        {WEIR_MODEL_PART_SHARED_UP, WEIR_RECOMPUTE_EXPERTS},
    };
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].part == part) {
            return (parts[i].mask & mask) != 0;
        }
    }
    return false;
}

void layer_add_recomputation(layer_pricing *p, uint32_t layer, const weir_op_list *forward,
                             bool whole)
{
    uint32_t mask =
        p->plan->recompute == WEIR_RECOMPUTE_PLAN_SELECTIVE ? p->plan->recompute_parts : 0;
    weir_op_list again = {0};
    for (uint32_t i = 0; i < forward->count; i++) {
        if (whole || is_again(mask, forward->op[i].part)) {
            again.op[again.count++] = forward->op[i];
        }
    }
    weir_pass_cost *pass = &p->cost->dgrad;
    double before_s = pass->seconds, before = layer_collectives(pass);
    weir_kernel_sum sum = weir_train_kernels(p->job, &again, WEIR_PASS_FORWARD, true, pass);
    p->dgrad.launches += sum.launches;
    if (whole) {
        layer_tensor_forward(p, &p->cost->dgrad, layer_split_blocks(p, layer), sum.gemm);
        layer_context_pass(p, &p->cost->dgrad, sum.attention, false);
        if (weir_model_is_moe(p->model, layer)) {
            layer_expert_pass(p, &p->cost->dgrad, sum.all, false);
        }
    }
    p->again.seconds = pass->seconds - before_s;
    p->again.launches = sum.launches + layer_collectives(pass) - before;
}
