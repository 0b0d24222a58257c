/* --compare: what nccl-tests measured beside what the scenario's cluster should reach. */
#include "cli/fabric.h"
#include "study/nccl_compare.h"

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
}

static void fill_sizes(const weir_nccl_comparison *from, weir_nccl_size_row *rows)
{
    for (uint32_t i = 0; i < from->row_count; i++) {
        const weir_nccl_compared *row = &from->rows[i];
        bool foretold = row->foretold_s == row->foretold_s; /* else NAN */
        rows[i] = (weir_nccl_size_row){
            .bytes = row->bytes,
            .measured_s = row->measured_s,
            .measured_bus_bytes_per_s = row->measured_bus_bytes_per_s,
            .foretold_s = row->foretold_s,
            .foretold_bus_bytes_per_s = row->foretold_bus_bytes_per_s,
            .limit_bus_bytes_per_s = row->limit_bus_bytes_per_s,
            .share = row->share,
            .algorithm = foretold ? weir_collective_algorithm_name(row->algorithm) : NULL,
            .protocol = foretold ? weir_collective_protocol_name(row->protocol) : NULL,
        };
    }
}

static const char *copy(weir_result *r, const char *text)
{
    return text ? weir_result_copy(r, weir_str_from(text)) : NULL;
}

static void fill_findings(weir_result *r, const weir_nccl_comparison *from,
                          weir_nccl_finding_row *rows)
{
    for (uint32_t i = 0; i < from->finding_count; i++) {
        const weir_nccl_finding *finding = &from->findings[i];
        rows[i] = (weir_nccl_finding_row){
            .kind = weir_nccl_finding_name(finding->kind),
            .from_bytes = finding->from_bytes,
            .sentence = copy(r, finding->sentence),
            .check = copy(r, finding->check),
            .source = copy(r, finding->source),
        };
    }
}

static weir_code fill_run(weir_result *r, const weir_nccl_comparison *from, weir_nccl_run_row *to,
                          weir_err *err)
{
    *to = (weir_nccl_run_row){
        .title = copy(r, from->title),
        .ranks = from->shape.ranks,
        .nodes = from->shape.nodes,
        .plateau_share = from->plateau_share,
        .latency_factor = from->latency_factor,
        .seeming_nic_bytes_per_s = from->seeming_nic_bytes_per_s,
        .rows = weir_arena_alloc(r->arena, (size_t)from->row_count + 1, sizeof *to->rows),
        .findings =
            weir_arena_alloc(r->arena, (size_t)from->finding_count + 1, sizeof *to->findings),
    };
    if (!to->title || !to->rows || !to->findings)
        return no_memory(err);
    fill_sizes(from, to->rows);
    to->row_count = from->row_count;
    fill_findings(r, from, to->findings);
    to->finding_count = from->finding_count;
    return WEIR_OK;
}

static weir_code fill(weir_result *r, const weir_nccl_report *report, weir_err *err)
{
    weir_code code = WEIR_OK;
    r->compared = weir_arena_alloc(r->arena, (size_t)report->run_count + 1, sizeof *r->compared);
    if (!r->compared)
        return no_memory(err);
    for (uint32_t i = 0; i < report->run_count && code == WEIR_OK; i++)
        code = fill_run(r, &report->runs[i], &r->compared[i], err);
    r->compared_count = code == WEIR_OK ? report->run_count : 0;
    return code;
}

static weir_code read_measured(const char *path, weir_nccl_tests *tests, weir_diags *diags,
                               weir_err *err)
{
    weir_source *source = NULL;
    weir_code code = weir_source_open(path, 0, &source, err);
    if (code == WEIR_OK)
        code = weir_nccl_tests_read(source, path, tests, diags, err);
    weir_source_close(source);
    return code;
}

weir_code fabric_compare(fabric_run_state *run, weir_err *err)
{
    weir_fabric_scenario scenario = {0};
    weir_nccl_tests tests = {0};
    weir_nccl_report report = {0};
    weir_nccl_options options = {0};
    run->result = weir_result_new();
    if (!run->result)
        return no_memory(err);
    run->result->command = "fabric";
    weir_code code = fabric_read_scenario(run, NULL, &scenario, err);
    if (code == WEIR_OK)
        code = read_measured(run->options->compare, &tests, &run->result->diags, err);
    if (code == WEIR_OK && scenario.candidate_count == 1)
        options.oversubscription = scenario.candidates[0].oversubscription[0];
    if (code == WEIR_OK)
        code = weir_nccl_compare(&scenario.cluster, &tests, &options, &report, err);
    if (code == WEIR_OK)
        code = fill(run->result, &report, err);
    weir_nccl_report_clear(&report);
    weir_nccl_tests_clear(&tests);
    weir_fabric_scenario_clear(&scenario);
    return code;
}
