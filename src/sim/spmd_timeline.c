#include "sim/spmd_timeline.h"

#include "base/sort.h"
#include "base/text.h"
#include "sim/spmd_writer.h"

#include <stdlib.h>
#include <string.h>

/* --- ranks and lanes --- */

/* Ids of nodes are consecutive in the scenario; devices are numbered within theirs. */
static uint32_t device_in_node(const weir_spmd *spmd, uint32_t device)
{
    uint32_t node = spmd->node_of_device[device], first = device;
    while (first > 0 && spmd->node_of_device[first - 1] == node) {
        first--;
    }
    return device - first;
}

static int32_t rank_number(const weir_spmd *spmd, uint32_t device)
{
    return (int32_t)(spmd->rank_of_device ? spmd->rank_of_device[device] : device);
}

static uint32_t count_ranks(const sim_cast *cast)
{
    uint64_t count = 0;
    for (uint32_t d = 0; d < cast->device_count; d++) {
        count += cast->devices[d].multiplicity;
    }
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static weir_code add_rank(spmd_writer *w, const cast_device *device, weir_rank_id *rank,
                          weir_err *err)
{
    const weir_spmd *spmd = w->engine->spmd;
    weir_text text = {0};
    weir_text_printf(&text, "node %u",
                     spmd->node_of_device ? spmd->node_of_device[device->device] : 0);
    weir_rank row = {.number = rank_number(spmd, device->device),
                     .world_size = w->world_size,
                     .multiplicity = device->multiplicity};
    weir_code code = text.failed ? weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a node's name")
                                 : weir_timeline_intern(w->t, (weir_str){text.p, (uint32_t)text.n},
                                                        &row.node, err);
    weir_text_clear(&text);
    return code == WEIR_OK ? weir_timeline_add_rank(w->t, &row, rank, err) : code;
}

static weir_code add_lanes(spmd_writer *w, weir_err *err)
{
    const sim_engine *engine = w->engine;
    weir_code code = WEIR_OK;
    for (uint32_t d = 0; d < engine->cast->device_count && code == WEIR_OK; d++) {
        const cast_device *device = &engine->cast->devices[d];
        const sim_script *script = &engine->scripts[device->program];
        weir_rank_id rank = 0;
        code = add_rank(w, device, &rank, err);
        w->run->device_of_rank[d] = device->device;
        uint32_t number =
            engine->spmd->node_of_device ? device_in_node(engine->spmd, device->device) : 0;
        for (uint32_t l = 0; l < script->lane_count && code == WEIR_OK; l++) {
            code =
                weir_timeline_add_lane(w->t, WEIR_LANE_STREAM, rank, number, script->lane_number[l],
                                       &w->lanes[engine->devices[d].first_lane + l], err);
        }
    }
    return code;
}

/* --- communication --- */

static weir_code add_group(spmd_writer *w, uint32_t row, weir_err *err)
{
    const cast_meeting *meeting = &w->engine->cast->meetings[row];
    const weir_exchange *exchange = &w->engine->spmd->exchanges[meeting->exchange];
    const weir_exchange_group *members = &exchange->groups[meeting->group];
    weir_sort_pair *order = malloc(((size_t)members->count + 1) * sizeof *order);
    int32_t *ranks = malloc(((size_t)members->count + 1) * sizeof *ranks);
    for (uint32_t i = 0; order && i < members->count; i++) {
        int32_t rank = rank_number(w->engine->spmd, members->members[i]);
        order[i] = (weir_sort_pair){(uint64_t)rank, i};
    }
    weir_code code = WEIR_OK;
    if (!order || !ranks || !weir_sort_pairs(order, members->count)) {
        code = SIM_NO_MEMORY(err);
    }
    for (uint32_t i = 0; code == WEIR_OK && i < members->count; i++) {
        ranks[i] = (int32_t)order[i].key;
    }
    weir_group group = {.size = members->ranks ? members->ranks : members->count,
                        .rank_count = members->count,
                        .ranks = ranks};
    if (code == WEIR_OK) {
        weir_str axis = weir_str_from(exchange->axis ? exchange->axis : "");
        code = weir_timeline_intern(w->t, axis, &group.name, err);
        group.description = group.name;
    }
    if (code == WEIR_OK) {
        code = weir_timeline_add_group(w->t, &group, &w->group_of[row], err);
    }
    free(order);
    free(ranks);
    return code;
}

static weir_code add_comm(spmd_writer *w, uint32_t id, weir_err *err)
{
    const sim_meeting *meeting = &w->engine->meetings[id];
    const cast_meeting *row = &w->engine->cast->meetings[meeting->row];
    const weir_exchange *exchange = &w->engine->spmd->exchanges[row->exchange];
    weir_code code = WEIR_OK;
    if (w->group_of[meeting->row] == WEIR_NONE) {
        code = add_group(w, meeting->row, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    const weir_exchange_group *group = &exchange->groups[row->group];
    bool is_pair = exchange->is_message && group->count == 2;
    weir_comm comm = {.kind = exchange->kind,
                      .group = w->group_of[meeting->row],
                      .seq = w->next_seq[w->group_of[meeting->row]]++,
                      .in_elements = exchange->bytes,
                      .out_elements = exchange->bytes,
                      .element_bytes = 1,
                      .src_rank = is_pair ? rank_number(w->engine->spmd, group->members[0]) : -1,
                      .dst_rank = is_pair ? rank_number(w->engine->spmd, group->members[1]) : -1};
    return weir_timeline_add_comm(w->t, &comm, &w->detail[id], err);
}

/* --- spans --- */

/* What a kernel's grid is in a trace: equal work takes equally long where nobody is slow. */
static weir_code add_work(spmd_writer *w, const weir_program_op *op, uint32_t *detail,
                          weir_err *err)
{
    *detail = WEIR_NONE;
    if (op->kind != WEIR_STEP_COMPUTE) {
        return WEIR_OK;
    }
    uint64_t ns = (uint64_t)op->duration_ns;
    const weir_shape shape = {.grid = {(uint32_t)ns, (uint32_t)(ns >> 32), 1}};
    return weir_timeline_add_shape(w->t, &shape, detail, err);
}

static weir_code intern_names(spmd_writer *w, weir_err *err)
{
    const weir_spmd *spmd = w->engine->spmd;
    uint64_t ops = 0;
    for (uint32_t p = 0; p < spmd->program_count; p++) {
        w->first_name[p] = ops;
        ops += spmd->programs[p].count;
    }
    w->op_names = malloc((ops + 1) * sizeof *w->op_names);
    w->op_work = malloc((ops + 1) * sizeof *w->op_work);
    weir_code code = w->op_names && w->op_work ? WEIR_OK : SIM_NO_MEMORY(err);
    for (uint32_t p = 0; p < spmd->program_count; p++) {
        for (uint32_t k = 0; k < spmd->programs[p].count && code == WEIR_OK; k++) {
            const weir_program_op *op = &spmd->programs[p].ops[k];
            code = weir_timeline_intern(w->t, weir_str_from(op->name ? op->name : ""),
                                        &w->op_names[w->first_name[p] + k], err);
            code = code == WEIR_OK ? add_work(w, op, &w->op_work[w->first_name[p] + k], err) : code;
        }
    }
    return code;
}

static bool is_idle(const sim_engine *engine, const sim_record *r)
{
    const sim_script *script = &engine->scripts[engine->cast->devices[r->device].program];
    return script->program->ops[r->op].kind == WEIR_STEP_IDLE;
}

static weir_code add_spans(spmd_writer *w, weir_err *err)
{
    const sim_engine *engine = w->engine;
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < engine->record_count && code == WEIR_OK; i++) {
        const sim_record *r = &engine->records[i];
        uint32_t program = engine->cast->devices[r->device].program;
        uint32_t lane =
            engine->devices[r->device].first_lane + engine->scripts[program].lane_of[r->op];
        w->lane_of_item[i] = lane;
        if (is_idle(engine, r)) {
            continue;
        }
        w->span_count++;
        const weir_new_span span = {.start_ns = r->start_ns,
                                    .dur_ns = r->dur_ns,
                                    .lane = w->lanes[lane],
                                    .name = w->op_names[w->first_name[program] + r->op],
                                    .detail = r->meeting == WEIR_NONE
                                                  ? w->op_work[w->first_name[program] + r->op]
                                                  : w->detail[r->meeting],
                                    .kind = WEIR_SPAN_KERNEL};
        code = weir_timeline_add_span(w->t, &span, err);
    }
    return code;
}

/* Sealing orders the spans of a lane by start, longer first. Streams stand in the order of ranks,
 * then of their numbers: as they were added. */
static void find_spans(spmd_writer *w, uint32_t *order, uint32_t n)
{
    const sim_record *records = w->engine->records;
    for (uint32_t i = 1; i < n; i++) { /* few begin together */
        uint32_t row = order[i], k = i;
        for (; k > 0 && w->lane_of_item[order[k - 1]] == w->lane_of_item[row] &&
               records[order[k - 1]].start_ns == records[row].start_ns &&
               records[order[k - 1]].dur_ns < records[row].dur_ns;
             k--) {
            order[k] = order[k - 1];
        }
        order[k] = row;
    }
    for (uint32_t i = 0; i < n; i++) {
        w->span_of[order[i]] = i;
    }
}

/* Records stand in the order of their ends: that is the order of starts on a lane, but for messages
 * that overtake each other. */
static bool order_starts(const sim_engine *engine, weir_sort_pair *pairs, uint32_t n)
{
    for (uint32_t a = 0; a < n;) {
        uint32_t b = a + 1;
        bool ordered = true;
        for (; b < n && pairs[b].key == pairs[a].key; b++) {
            ordered = ordered && engine->records[pairs[b].value].start_ns >=
                                     engine->records[pairs[b - 1].value].start_ns;
        }
        for (uint32_t i = a; !ordered && i < b; i++) {
            pairs[i].key = (uint64_t)engine->records[pairs[i].value].start_ns;
        }
        if (!ordered && !weir_sort_pairs(pairs + a, b - a)) {
            return false;
        }
        a = b;
    }
    return true;
}

static weir_code order_spans(spmd_writer *w, weir_err *err)
{
    const sim_engine *engine = w->engine;
    uint32_t n = 0;
    weir_sort_pair *pairs = malloc(((size_t)w->span_count + 1) * sizeof *pairs);
    uint32_t *order = malloc(((size_t)w->span_count + 1) * sizeof *order);
    bool ok = pairs && order;
    for (uint32_t i = 0; ok && i < engine->record_count; i++) {
        w->span_of[i] = WEIR_NONE;
        if (!is_idle(engine, &engine->records[i])) {
            pairs[n++] = (weir_sort_pair){w->lane_of_item[i], i};
        }
    }
    ok = ok && weir_sort_pairs(pairs, n);
    ok = ok && order_starts(engine, pairs, n);
    for (uint32_t i = 0; ok && i < n; i++) {
        order[i] = (uint32_t)pairs[i].value;
    }
    if (ok) {
        find_spans(w, order, n);
    }
    free(pairs);
    free(order);
    return ok ? WEIR_OK : SIM_NO_MEMORY(err);
}

/* --- all of it --- */

static bool make_room(spmd_writer *w)
{
    const sim_engine *engine = w->engine;
    size_t lanes = 1, groups = (size_t)engine->cast->meeting_count + 1;
    for (uint32_t d = 0; d < engine->cast->device_count; d++) {
        lanes += engine->scripts[engine->cast->devices[d].program].lane_count;
    }
    w->lanes = malloc(lanes * sizeof *w->lanes);
    w->group_of = malloc(groups * sizeof *w->group_of);
    w->next_seq = calloc(groups, sizeof *w->next_seq);
    w->detail = malloc(((size_t)engine->meeting_count + 1) * sizeof *w->detail);
    w->span_of = malloc(((size_t)engine->record_count + 1) * sizeof *w->span_of);
    w->lane_of_item = malloc(((size_t)engine->record_count + 1) * sizeof *w->lane_of_item);
    w->first_name = malloc(((size_t)engine->spmd->program_count + 1) * sizeof *w->first_name);
    for (size_t i = 0; w->group_of && i < groups; i++) {
        w->group_of[i] = WEIR_NONE;
    }
    return w->lanes && w->group_of && w->next_seq && w->detail && w->span_of && w->lane_of_item &&
           w->first_name;
}

static weir_code write_all(spmd_writer *w, weir_err *err)
{
    weir_code code = make_room(w) ? WEIR_OK : SIM_NO_MEMORY(err);
    code = code == WEIR_OK ? add_lanes(w, err) : code;
    code = code == WEIR_OK ? sim_steps_mark(w->engine, w->t, err) : code;
    code = code == WEIR_OK ? intern_names(w, err) : code;
    for (uint32_t id = 0; code == WEIR_OK && id < w->engine->meeting_count; id++) {
        code = add_comm(w, id, err);
    }
    code = code == WEIR_OK ? add_spans(w, err) : code;
    code = code == WEIR_OK ? order_spans(w, err) : code;
    code = code == WEIR_OK ? weir_timeline_seal(w->t, err) : code;
    return code == WEIR_OK ? spmd_fill_tables(w, err) : code;
}

weir_code sim_timeline_build(const sim_engine *engine, weir_spmd_run *run, weir_err *err)
{
    run->timeline = weir_timeline_new(engine->budget);
    if (!run->timeline) {
        return SIM_NO_MEMORY(err);
    }
    spmd_writer w = {
        .engine = engine, .run = run, .t = run->timeline, .world_size = count_ranks(engine->cast)};
    run->device_of_rank = weir_arena_alloc(run->arena, (size_t)engine->cast->device_count + 1,
                                           sizeof *run->device_of_rank);
    weir_code code = run->device_of_rank ? write_all(&w, err) : SIM_NO_MEMORY(err);
    free(w.lanes);
    free(w.group_of);
    free(w.next_seq);
    free(w.detail);
    free(w.span_of);
    free(w.lane_of_item);
    free(w.op_names);
    free(w.op_work);
    free(w.first_name);
    return code;
}
