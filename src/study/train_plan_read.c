/* train_plan_read.c: the parallel plan of a training scenario: its lists, and what follows from the
 * cluster where it is not written. */
#include "model/model_memory.h"
#include "study/train_inside.h"

#include <string.h>

enum { AXES_MOST = WEIR_AXIS_COUNT + 1 }; /* one too many is seen as named twice */

/* Names, then those of Megatron's --rank-order. */
static const char *const axes[] = {
#define X(name, text, letters) text,
    WEIR_TRAIN_AXES(X)
#undef X
#define X(name, text, letters) letters,
        WEIR_TRAIN_AXES(X)
#undef X
};
static const char *const recomputes[] = {"none", "selective", "full", "block"};
_Static_assert(WEIR_RECOMPUTE_PLAN_BLOCK == 3, "recomputes follows weir_recompute_plan");
static const char *const part_names[] = {"core",    "norms",   "activation", "up",
                                         "network", "experts", "output"};
static const uint32_t part_masks[] = {
    WEIR_RECOMPUTE_CORE,    WEIR_RECOMPUTE_NORMS,   WEIR_RECOMPUTE_ACTIVATION, WEIR_RECOMPUTE_UP,
    WEIR_RECOMPUTE_NETWORK, WEIR_RECOMPUTE_EXPERTS, WEIR_RECOMPUTE_OUTPUT};
_Static_assert(sizeof part_names / sizeof *part_names == sizeof part_masks / sizeof *part_masks,
               "a mask for each name");

static weir_code read_list(train_reader *r, const weir_yaml_node *node, const char *what,
                           weir_err *err)
{
    return node->kind == WEIR_YAML_SEQUENCE ? WEIR_OK
                                            : weir_yaml_reject(r->source.doc, node, what, err);
}

static weir_code read_chunk_layers(train_reader *r, const weir_yaml_node *node,
                                   weir_train_plan *plan, weir_err *err)
{
    static const weir_key count = {.name = "chunk_layers", .type = WEIR_KEY_UINT, .max = 1024};
    uint32_t positions = plan->pipeline * plan->chunks, at = 0;
    weir_code code = read_list(r, node, "a list of numbers of layers", err);
    if (code == WEIR_OK && (node->count != positions || positions > WEIR_TRAIN_MAX_CHUNKS)) {
        return weir_yaml_fail(r->source.doc, node, err,
                              "found %u numbers, expected one for each of the %u chunks",
                              node->count, positions);
    }
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next) {
        uint32_t layers = 0;
        code = weir_key_read(&r->source, n, &count, &layers, err);
        plan->chunk_layers[at++] = (uint16_t)layers;
    }
    return code;
}

/* "tp-cp-ep-dp-pp" as the list that it stands for; a list as it is. */
static weir_code order_list(train_reader *r, const weir_yaml_node *node, weir_yaml_node *list,
                            weir_yaml_node items[AXES_MOST], weir_err *err)
{
    *list = *node;
    if (node->kind != WEIR_YAML_SCALAR) {
        return read_list(r, node, "axes such as tp-cp-ep-dp-pp", err);
    }
    weir_str rest = node->text;
    list->kind = WEIR_YAML_SEQUENCE;
    for (uint32_t i = 0; i < AXES_MOST; i++) {
        uint32_t end = weir_str_find(rest, WEIR_STR("-"), 0);
        items[i] = *node;
        items[i].text.p = weir_arena_copy(r->source.arena, (weir_str){rest.p, end});
        items[i].text.n = end;
        items[i].next = end < rest.n && i + 1 < AXES_MOST ? &items[i + 1] : NULL;
        if (!items[i].text.p) {
            return scenario_no_memory(err);
        }
        if (end == rest.n) {
            break;
        }
        rest.p += end + 1;
        rest.n -= end + 1;
    }
    list->first = items;
    return WEIR_OK;
}

static weir_code read_order(train_reader *r, const weir_yaml_node *node, weir_train_plan *plan,
                            weir_err *err)
{
    uint32_t seen = 0, at = 0;
    weir_yaml_node list, items[AXES_MOST];
    weir_code code = order_list(r, node, &list, items, err);
    for (const weir_yaml_node *n = code == WEIR_OK ? list.first : NULL; n && code == WEIR_OK;
         n = n->next) {
        uint32_t axis;
        code = weir_yaml_choice(r->source.doc, n, axes, 2 * WEIR_AXIS_COUNT, &axis, err);
        axis %= WEIR_AXIS_COUNT;
        if (code == WEIR_OK && seen >> axis & 1) {
            return weir_yaml_fail(r->source.doc, n, err, "found %s twice, expected each axis once",
                                  axes[axis]);
        }
        if (code == WEIR_OK) {
            seen |= 1u << axis;
            plan->order[at++] = (weir_train_axis)axis;
        }
    }
    const uint32_t sizes[WEIR_AXIS_COUNT] = {[WEIR_AXIS_TENSOR] = plan->tensor,
                                             [WEIR_AXIS_CONTEXT] = plan->context,
                                             [WEIR_AXIS_DATA] = 2, /* not yet known */
                                             [WEIR_AXIS_PIPELINE] = plan->pipeline};
    for (uint32_t a = 0; a < WEIR_AXIS_COUNT && code == WEIR_OK; a++) {
        if (!(seen >> a & 1) && sizes[a] > 1) {
            return weir_yaml_fail(r->source.doc, node, err,
                                  "found no %s, expected all axes, such as tp-cp-ep-dp-pp",
                                  axes[a]);
        }
        if (!(seen >> a & 1)) {
            plan->order[at++] = (weir_train_axis)a;
        }
    }
    return code;
}

static weir_code read_parts(train_reader *r, const weir_yaml_node *node, weir_train_plan *plan,
                            weir_err *err)
{
    enum { KNOWN = sizeof part_masks / sizeof *part_masks };
    uint32_t at = 0;
    weir_code code = read_list(r, node, "a list of parts such as [core, norms]", err);
    plan->recompute_parts = 0;
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next) {
        code = weir_yaml_choice(r->source.doc, n, part_names, KNOWN, &at, err);
        plan->recompute_parts |= code == WEIR_OK ? part_masks[at] : 0;
    }
    return code;
}

/* All of `recompute` but its other keys. */
static weir_code read_recompute(train_reader *r, const weir_yaml_node *node, weir_train_plan *plan,
                                weir_err *err)
{
    static const weir_key layers = {
        .name = "layers", .type = WEIR_KEY_UINT, .min = 1, .max = WEIR_MODEL_MAX_LAYERS};
    static const char *const only_layers[] = {"layers"};
    const weir_yaml *doc = r->source.doc;
    const weir_yaml_node *count;
    if (node->kind == WEIR_YAML_SEQUENCE) {
        plan->recompute = WEIR_RECOMPUTE_PLAN_SELECTIVE;
        return read_parts(r, node, plan, err);
    }
    if (node->kind == WEIR_YAML_SCALAR) {
        uint32_t word = 0;
        weir_code code = weir_yaml_choice(doc, node, recomputes,
                                          sizeof recomputes / sizeof *recomputes, &word, err);
        plan->recompute = (weir_recompute_plan)word;
        return code;
    }
    weir_code code = weir_yaml_check_keys(doc, node, only_layers, 1, err);
    if (code == WEIR_OK) {
        code = weir_yaml_need(doc, node, "layers", WEIR_YAML_ANY, &count, err);
    }
    plan->recompute = WEIR_RECOMPUTE_PLAN_BLOCK;
    return code == WEIR_OK ? weir_key_read(&r->source, count, &layers, &plan->recompute_layers, err)
                           : code;
}

/* What follows from the cluster and the rest; whether it fits is train_check.h's. */
static void complete(const weir_cluster *cluster, const train_raw_plan *raw, weir_train_plan *plan)
{
    uint64_t devices = (uint64_t)cluster->nodes * cluster->devices;
    uint64_t replica = (uint64_t)plan->tensor * plan->context * plan->pipeline;
    if (plan->data == 0) {
        plan->data = (uint32_t)(devices / replica > 0 ? devices / replica : 1);
    }
    if (plan->micro_batches == 0) {
        uint64_t once = (uint64_t)plan->micro_batch * plan->data;
        plan->micro_batches = (uint32_t)(plan->global_batch / once);
    }
    if (plan->tensor == 1) {
        plan->sequence_parallel = false;
    }
    plan->schedule = raw->schedule < WEIR_SCHEDULE_COUNT ? (weir_schedule_kind)raw->schedule
                     : plan->chunks > 1                  ? WEIR_SCHEDULE_INTERLEAVED
                                                         : WEIR_SCHEDULE_ONE_F_ONE_B;
    plan->layout = raw->layout < TRAIN_LAYOUT_AUTO           ? (weir_stage_layout)raw->layout
                   : raw->chunk_layers                       ? WEIR_LAYOUT_LIST
                   : plan->first_layers || plan->last_layers ? WEIR_LAYOUT_LESS
                                                             : WEIR_LAYOUT_EVEN;
    if (raw->packed_mean_length > 0 && raw->packed_mean_length < plan->sequence) {
        plan->pairs = plan->sequence * (raw->packed_mean_length + 1) / 2;
    }
    plan->format = train_format_of_precision[raw->precision];
}

static weir_code read_lists(train_reader *r, const train_raw_plan *raw, weir_train_plan *plan,
                            weir_err *err)
{
    weir_code code = WEIR_OK;
    if (raw->chunk_layers) {
        code = read_chunk_layers(r, raw->chunk_layers, plan, err);
    }
    if (code == WEIR_OK && raw->order) {
        code = read_order(r, raw->order, plan, err);
    }
    if (code == WEIR_OK && raw->recompute_parts) {
        code = read_parts(r, raw->recompute_parts, plan, err);
    }
    if (code == WEIR_OK && raw->recompute) {
        code = read_recompute(r, raw->recompute, plan, err);
    }
    if (code == WEIR_OK && raw->recompute_parts &&
        plan->recompute != WEIR_RECOMPUTE_PLAN_SELECTIVE) {
        return weir_yaml_reject(r->source.doc, raw->recompute_parts,
                                "recompute: selective beside it", err);
    }
    return code;
}

/* Passes of a step are listed one by one. More stages than there can be are train_check.h's. */
static weir_code check_passes(train_reader *r, const weir_yaml_node *node,
                              const weir_train_plan *plan, weir_err *err)
{
    enum { MOST = 1 << 22 };
    uint64_t stages = (uint64_t)plan->pipeline * plan->chunks;
    if (stages > WEIR_TRAIN_MAX_CHUNKS || plan->micro_batches <= MOST / stages) {
        return WEIR_OK;
    }
    const weir_yaml_node *batch = weir_yaml_find(node, "global_batch");
    return weir_yaml_fail(r->source.doc, batch ? batch : node, err,
                          "found %u micro-batches x %llu stages and chunks, expected at most %d in "
                          "all",
                          plan->micro_batches, (unsigned long long)stages, MOST);
}

/* A device without BF16 calculates in FP16, unless BF16 was asked for. */
static weir_code choose_precision(train_reader *r, const weir_yaml_node *node, train_raw_plan *raw,
                                  weir_err *err)
{
    enum { BF16 = 0, FP16 = 1 };
    const weir_yaml_node *documents = weir_yaml_find(node, "packed_mean_length");
    if (documents && raw->packed_mean_length > raw->plan.sequence) {
        return weir_yaml_fail(r->source.doc, documents, err,
                              "found documents longer than the %u tokens of a sequence",
                              (unsigned)raw->plan.sequence);
    }
    const weir_accelerator *a = r->scenario->cluster.accelerator;
    const weir_yaml_node *written = weir_yaml_find(node, "precision");
    bool lacks_bf16 =
        a && !(a->peak_flop_per_s[WEIR_DTYPE_BF16] > 0) && a->peak_flop_per_s[WEIR_DTYPE_FP16] > 0;
    if (raw->precision == BF16 && lacks_bf16 && written) {
        return weir_yaml_fail(r->source.doc, written, err,
                              "found bf16, which %s does not calculate in, expected "
                              "for example fp16",
                              a->name);
    }
    raw->precision = raw->precision == BF16 && lacks_bf16 ? FP16 : raw->precision;
    r->scenario->precision = train_precisions[raw->precision];
    return WEIR_OK;
}

static weir_code miss_layers(train_reader *r, const weir_yaml_node *node,
                             const weir_train_plan *plan, weir_err *err)
{
    uint32_t chunks = plan->pipeline * plan->chunks, layers = r->scenario->model.layers;
    weir_text list = {0};
    for (uint32_t i = 0; i < chunks && i < 8; i++) { /* as even as can be */
        weir_text_printf(&list, "%s%u", i ? ", " : "",
                         layers / chunks + (i < layers % chunks ? 1 : 0));
    }
    weir_code code =
        list.failed ? scenario_no_memory(err)
                    : weir_yaml_fail(r->source.doc, weir_yaml_find(node, "layout"), err,
                                     "found list without chunk_layers, expected layers of each of "
                                     "the %u chunks, such as chunk_layers: [%s%s]",
                                     chunks, list.p, chunks > 8 ? ", ..." : "");
    weir_text_clear(&list);
    return code;
}

weir_code train_read_plan(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    train_raw_plan raw = {.plan = {.recompute_parts = WEIR_RECOMPUTE_CORE}};
    for (uint32_t a = 0; a < WEIR_AXIS_COUNT; a++) {
        raw.plan.order[a] = (weir_train_axis)a;
    }
    weir_code code = weir_keys_read(&r->source, node, &train_plan_keys, 0, &raw, err);
    if (code == WEIR_OK) {
        code = read_lists(r, &raw, &raw.plan, err);
    }
    if (code == WEIR_OK && raw.layout == WEIR_LAYOUT_LIST && !raw.chunk_layers) {
        return miss_layers(r, node, &raw.plan, err);
    }
    if (code == WEIR_OK) {
        code = choose_precision(r, node, &raw, err);
    }
    if (code == WEIR_OK) {
        complete(&r->scenario->cluster, &raw, &raw.plan);
        r->scenario->job.plan = raw.plan;
        code = check_passes(r, node, &raw.plan, err);
    }
    return code;
}
