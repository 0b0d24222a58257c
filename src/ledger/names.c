/* How nodes, axes and tiers are called. */
#include "ledger/run.h"

#include <string.h>

int64_t ledger_end(const ledger_run *run, weir_span_id span)
{
    return run->spans.start_ns[span] + run->spans.dur_ns[span];
}

const char *ledger_node_name(const ledger_run *run, weir_rank_id rank)
{
    const char *name =
        weir_result_copy(run->result, weir_timeline_name(run->in->timeline, run->ranks[rank].node));
    return name ? name : "";
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* part (lower case) occurs in text, as a word where whole is set, whatever the case. */
static bool has_word(weir_str text, const char *part, bool whole)
{
    weir_str want = weir_str_from(part);
    for (uint32_t at = 0; at + want.n <= text.n; at++) {
        uint32_t i = 0;
        while (i < want.n && lower(text.p[at + i]) == want.p[i]) {
            i++;
        }
        if (i < want.n) {
            continue;
        }
        char before = at ? lower(text.p[at - 1]) : ' ';
        char after = at + want.n < text.n ? lower(text.p[at + want.n]) : ' ';
        if (!whole || ((before < 'a' || before > 'z') && (after < 'a' || after > 'z'))) {
            return true;
        }
    }
    return false;
}

/* Names that Megatron ("TENSOR_MODEL_PARALLEL_GROUP"), DeepSpeed, FSDP and device meshes
 * ("mesh_dp", "tp") give their groups; the first that occurs decides. */
static const char *axis_of_text(weir_str text)
{
    static const struct {
        const char *part;
        bool whole;
        const char *axis;
    } table[] = {
        {"expert", false, "expert"},   {"ep", true, "expert"},
        {"moe", true, "expert"},       {"tensor", false, "tensor"},
        {"tp", true, "tensor"},        {"pipeline", false, "pipeline"},
        {"pp", true, "pipeline"},      {"context", false, "context"},
        {"cp", true, "context"},       {"sequence", false, "context"},
        {"ulysses", false, "context"}, {"embedding", false, "pipeline"},
        {"data", false, "data"},       {"dp", true, "data"},
        {"fsdp", true, "data"},        {"ddp", true, "data"},
        {"replicate", false, "data"},  {"shard", false, "data"},
        {"zero", true, "data"},        {"model", false, "tensor"},
        {"mp", true, "tensor"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (has_word(text, table[i].part, table[i].whole)) {
            return table[i].axis;
        }
    }
    return NULL;
}

static const char *axis_of_group(const ledger_run *run, const weir_group *group)
{
    weir_str text = weir_timeline_name(run->in->timeline, group->description);
    const char *axis = axis_of_text(text);
    axis = axis ? axis : axis_of_text(weir_timeline_name(run->in->timeline, group->name));
    if (axis) {
        return axis;
    }
    uint32_t world = run->rank_count ? run->ranks[0].world_size : 0;
    bool is_world = weir_str_eq(text, WEIR_STR("default_pg")) || (world && group->size == world);
    return is_world ? "world" : "unknown";
}

weir_code ledger_axes(ledger_run *run, weir_err *err)
{
    run->group_axis =
        weir_arena_alloc(run->result->arena, run->group_count + (size_t)1, sizeof *run->group_axis);
    if (!run->group_axis) {
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t g = 0; g < run->group_count; g++) {
        run->group_axis[g] = axis_of_group(run, &run->groups[g]);
    }
    return WEIR_OK;
}

const char *ledger_axis(const ledger_run *run, const weir_instance *instance)
{
    const char *axis = instance->group == WEIR_NONE ? "world" : run->group_axis[instance->group];
    bool told = axis[0] != 'w' && axis[0] != 'u';
    return instance->is_message && !told ? "pipeline" : axis;
}

uint32_t ledger_times(const ledger_run *run, uint32_t instance)
{
    return run->in->instance_times ? run->in->instance_times[instance] : 1;
}

const char *ledger_tier_name(int place)
{
    static const char *const names[] = {"in_node", "between_nodes", "between_racks", "hall"};
    return place < LEDGER_TIERS ? names[place] : NULL;
}

int ledger_tier_place(const char *tier)
{
    int place = 0;
    while (place < LEDGER_TIERS && (!tier || strcmp(ledger_tier_name(place), tier) != 0)) {
        place++;
    }
    return place;
}

const char *ledger_tier(const ledger_run *run, const weir_instance *instance)
{
    const weir_match *m = run->in->match;
    if (run->in->instance_tiers) {
        return run->in->instance_tiers[instance - m->instances];
    }
    weir_name_id first = 0;
    for (uint32_t i = 0; i < instance->member_count; i++) {
        weir_device_id d = m->members[instance->first_member + i].device;
        weir_name_id node = run->ranks[run->devices[d].rank].node;
        if (node == 0) {
            return NULL;
        }
        if (i && node != first) {
            return "between_nodes";
        }
        first = node;
    }
    /* Who is absent may be elsewhere. */
    return instance->complete && instance->member_count ? "in_node" : NULL;
}
