#include "study/nccl_compare.h"

#include "base/sort.h"
#include "base/text.h"
#include "study/nccl_inside.h"

#include <math.h>
#include <stdlib.h>

static weir_code no_memory(const nccl_judge *j)
{
    return weir_err_set(j->err, WEIR_ERR_MEMORY, "no memory to compare %u rows",
                        j->run ? j->run->row_count : 0);
}

static weir_code make_title(const nccl_judge *j, bool is_known)
{
    weir_text text = {0};
    const weir_collective_shape *shape = &j->out->shape;
    const char *test = j->run->test ? j->run->test
                       : is_known   ? weir_collective_kind_name(shape->kind)
                                    : "an unknown collective";
    weir_text_printf(&text, "%s, %u ranks on %u %s", test, shape->ranks, shape->nodes,
                     shape->nodes == 1 ? "host" : "hosts");
    if (!text.failed) {
        j->out->title = weir_arena_copy(j->arena, (weir_str){text.p, (uint32_t)text.n});
    }
    weir_text_clear(&text);
    return j->out->title ? WEIR_OK : no_memory(j);
}

/* A row that repeats the size of the row before it in place. */
static bool is_second_placement(const weir_nccl_run *run, uint32_t i)
{
    return i > 0 && run->rows[i].is_in_place && !run->rows[i - 1].is_in_place &&
           run->rows[i].line == run->rows[i - 1].line;
}

static weir_code compare_row(const nccl_judge *j, const weir_nccl_measured *row, bool is_known,
                             weir_nccl_compared *out)
{
    *out = (weir_nccl_compared){
        .bytes = row->bytes,
        .measured_s = row->time_s,
        .measured_bus_bytes_per_s = row->busbw_bytes_per_s,
        .foretold_s = NAN,
        .foretold_bus_bytes_per_s = NAN,
        .limit_bus_bytes_per_s = NAN,
        .share = NAN,
        .algorithm = WEIR_ALGORITHM_COUNT,
        .protocol = WEIR_PROTOCOL_COUNT,
    };
    if (!is_known || row->bytes == 0) {
        return WEIR_OK;
    }
    weir_collective_shape shape = j->out->shape;
    shape.bytes = (double)row->bytes;
    weir_collective_choice choice;
    weir_code code = nccl_foretell(j, &shape, &choice, &out->foretold_s);
    if (code != WEIR_OK) {
        return code;
    }
    double bus_bytes = shape.bytes * weir_collective_bus_factor(shape.kind, shape.ranks);
    out->algorithm = choice.algorithm;
    out->protocol = choice.protocol;
    out->foretold_bus_bytes_per_s = bus_bytes / out->foretold_s;
    out->limit_bus_bytes_per_s = bus_bytes / nccl_limit_s(&shape);
    out->share = out->foretold_s / row->time_s;
    return WEIR_OK;
}

static weir_code compare_run(const nccl_judge *j)
{
    weir_nccl_comparison *out = j->out;
    bool is_known = nccl_shape_of(j, &out->shape);
    weir_code code = make_title(j, is_known);
    out->rows = weir_arena_alloc(j->arena, j->run->row_count, sizeof *out->rows);
    code = code == WEIR_OK && !out->rows ? no_memory(j) : code;
    for (uint32_t i = 0; i < j->run->row_count && code == WEIR_OK; i++) {
        const weir_nccl_measured *row = &j->run->rows[i];
        if (!is_second_placement(j->run, i)) {
            code = compare_row(j, row, is_known, &out->rows[out->row_count++]);
            double bytes = (double)row->bytes;
            out->shape.bytes = bytes > out->shape.bytes ? bytes : out->shape.bytes;
        }
    }
    return code == WEIR_OK ? nccl_diagnose(j) : code;
}

weir_code weir_nccl_compare(const weir_cluster *cluster, const weir_nccl_tests *tests,
                            const weir_nccl_options *options, weir_nccl_report *report,
                            weir_err *err)
{
    weir_nccl_report made = {.arena = weir_arena_new()};
    nccl_judge j = {.cluster = cluster, .options = options, .arena = made.arena, .err = err};
    weir_code code = made.arena ? weir_nccl_rules_load(&made.rules, err) : no_memory(&j);
    if (code == WEIR_OK && cluster->library) {
        code = weir_library_open(cluster->library, &j.library, err);
    }
    if (code == WEIR_OK) {
        made.runs = weir_arena_alloc(made.arena, tests->run_count, sizeof *made.runs);
        code = made.runs ? WEIR_OK : no_memory(&j);
    }
    j.rules = &made.rules;
    for (uint32_t i = 0; i < tests->run_count && code == WEIR_OK; i++) {
        j.run = &tests->runs[i];
        j.out = &made.runs[made.run_count++];
        code = compare_run(&j);
    }
    weir_library_free(j.library);
    if (code == WEIR_OK) {
        *report = made;
    } else {
        weir_nccl_report_clear(&made);
    }
    return code;
}

void weir_nccl_report_clear(weir_nccl_report *report)
{
    weir_nccl_rules_clear(&report->rules);
    weir_arena_free(report->arena);
    *report = (weir_nccl_report){0};
}
