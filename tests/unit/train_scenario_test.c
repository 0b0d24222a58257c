/* Reading of training scenarios: what follows from what is not written, every section, and the
 * sentences of bad input. Expected values are counted by hand from the text above each. */
#include "study/train_scenario.h"

#include "model/model_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

static const char base[] = "model: llama3-8b\n"
                           "cluster: {accelerator: h100-sxm, nodes: 4}\n"
                           "plan: {sequence: 8192, global_batch: 64}\n";

static weir_code parse_with(const char *text, const weir_setting *settings, uint32_t count,
                            weir_train_scenario *s, weir_err *err)
{
    memset(s, 0, sizeof *s);
    return weir_train_scenario_parse("job.yaml", text, strlen(text), settings, count, s, err);
}

static void read_with(const weir_setting *settings, uint32_t count, weir_train_scenario *s)
{
    weir_err err = {0};
    if (parse_with(base, settings, count, s, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
}

static void read_set(const char *key, const char *value, weir_train_scenario *s)
{
    const weir_setting set = {key, value};
    read_with(&set, 1, s);
}

/* The whole sentence of the base with that setting. */
static void refused(const char *key, const char *value, const char *sentence)
{
    const weir_setting set = {key, value};
    weir_train_scenario s;
    weir_err err = {0};
    weir_code code = parse_with(base, &set, 1, &s, &err);
    if (code == WEIR_OK) {
        weir_train_scenario_clear(&s);
        fail_msg("%s=%s is read", key, value);
    }
    assert_int_equal(code, WEIR_ERR_INPUT);
    assert_null(s.arena);
    assert_string_equal(err.text, sentence);
}

/* --- what follows ------------------------------------------------------------------------- */

static void the_rest_follows_from_the_shortest_scenario(void **state)
{
    weir_train_scenario s;
    read_with(NULL, 0, &s);
    const weir_train_plan *p = &s.job.plan;
    assert_string_equal(s.name, "job.yaml");
    assert_int_equal(s.cluster.devices, 8); /* presets/hosts.yaml: a DGX H100 */
    assert_string_equal(s.cluster.node_link->id, "nvlink4");
    assert_string_equal(s.cluster.library, "nccl-2.27");
    assert_true(s.job.network.nic_bytes_per_s == 50e9); /* 400 Gb/s, one each */
    assert_true(s.job.network.node_bytes_per_s == 450e9);
    assert_true(s.job.network.has_node_reduction);
    assert_int_equal(p->data, 32);
    assert_int_equal(p->micro_batches, 2); /* 64 / (1 x 32) */
    assert_int_equal(p->schedule, WEIR_SCHEDULE_ONE_F_ONE_B);
    assert_int_equal(p->layout, WEIR_LAYOUT_EVEN);
    assert_int_equal(p->format, WEIR_GEMM_16);
    assert_false(p->sequence_parallel); /* nothing to share out with one tensor rank */
    assert_string_equal(s.job.stack.id, "megatron-core");
    assert_ptr_equal(s.job.model, &s.model);
    weir_train_scenario_clear(&s);
}

static void what_is_written_overrules_the_usual_node(void **state)
{
    static const weir_setting sets[] = {{"cluster.nic", "cx6-200g"},
                                        {"cluster.nics", "4"},
                                        {"cluster.node_link", "{like: nvlink4, rate: 100 GB/s}"},
                                        {"cluster.library", "nccl-2.18"}};
    weir_train_scenario s;
    read_with(sets, 4, &s);
    assert_true(s.job.network.nic_bytes_per_s == 12.5e9); /* 25 GB/s for two devices */
    assert_true(s.job.network.node_bytes_per_s == 100e9);
    assert_string_equal(s.cluster.library, "nccl-2.18");
    weir_train_scenario_clear(&s);
}

static void a_mesh_has_a_cable_to_each_other_device(void **state)
{
    weir_train_scenario s;
    read_set("cluster.accelerator", "mi300x", &s);
    assert_true(s.job.network.node_bytes_per_s == 7 * 64e9);
    assert_false(s.job.network.has_node_reduction);
    weir_train_scenario_clear(&s);
}

/* Without a link between them devices exchange through the host, and over their NICs where nothing
 * is known of it. */
static void devices_that_no_link_joins_exchange_through_the_host(void **state)
{
    static const weir_setting sets[] = {{"cluster.node_link", "none"},
                                        {"cluster.pcie", "pcie5-x16"}};
    weir_train_scenario s;
    read_with(sets, 1, &s);
    assert_true(s.job.network.node_bytes_per_s == 0);
    assert_true(s.job.network.nic_bytes_per_s == 50e9);
    weir_train_scenario_clear(&s);
    read_with(sets, 2, &s);
    assert_true(s.job.network.node_bytes_per_s == 63e9); /* presets/links/pcie5-x16.yaml */
    assert_false(s.job.network.has_node_reduction);
    weir_train_scenario_clear(&s);
}

static void a_nic_is_no_faster_than_the_link_to_it(void **state)
{
    static const weir_setting slow = {"cluster.pcie", "{like: pcie5-x16, rate: 8 GB/s}"};
    weir_train_scenario s;
    read_with(&slow, 1, &s);
    assert_true(s.job.network.nic_bytes_per_s == 8e9);
    assert_true(s.job.network.node_bytes_per_s == 450e9);
    weir_train_scenario_clear(&s);
    read_set("cluster.pcie", "pcie5-x16", &s);
    assert_true(s.job.network.nic_bytes_per_s == 50e9);
    weir_train_scenario_clear(&s);
}

static double step_s(const weir_train_job *job)
{
    weir_train_step step;
    weir_err err = {0};
    weir_train_scratch *scratch = weir_train_scratch_new();
    assert_int_equal(weir_train_step_of(job, scratch, &step, &err), WEIR_OK);
    weir_train_scratch_free(scratch);
    return step.step_s;
}

/* NVLink carries 450 GB/s, PCIe 63, a NIC 50. */
static void a_slower_way_between_devices_never_makes_the_step_shorter(void **state)
{
    static const weir_setting sets[] = {
        {"plan.tensor", "8"}, {"cluster.node_link", "none"}, {"cluster.pcie", "pcie5-x16"}};
    double last_s = 0;
    static const uint32_t counts[] = {1, 3, 2};
    for (int i = 0; i < 3; i++) {
        weir_train_scenario s;
        read_with(sets, counts[i], &s);
        double now_s = step_s(&s.job);
        assert_true(isfinite(now_s) && now_s > last_s);
        last_s = now_s;
        weir_train_scenario_clear(&s);
    }
}

static void a_rack_of_72_is_one_node(void **state)
{
    static const weir_setting sets[] = {{"cluster.accelerator", "gb200"},
                                        {"plan.global_batch", "288"}};
    weir_train_scenario s;
    read_with(sets, 2, &s);
    assert_int_equal(s.job.network.devices_per_node, 72);
    assert_int_equal(s.job.plan.data, 288);
    weir_train_scenario_clear(&s);
}

static void chunks_make_the_schedule_interleaved(void **state)
{
    static const weir_setting sets[] = {
        {"plan.pipeline", "2"}, {"plan.chunks", "4"}, {"plan.tensor", "4"}};
    weir_train_scenario s;
    read_with(sets, 3, &s);
    assert_int_equal(s.job.plan.schedule, WEIR_SCHEDULE_INTERLEAVED);
    assert_int_equal(s.job.plan.data, 4);
    assert_true(s.job.plan.sequence_parallel);
    weir_train_scenario_clear(&s);
}

static void kernels_may_be_those_of_the_datasheet(void **state)
{
    weir_train_scenario s;
    read_with(NULL, 0, &s);
    assert_int_equal(weir_kernel_basis(s.job.kernels), WEIR_BASIS_MEASURED);
    weir_train_scenario_clear(&s);
    read_set("cluster.kernels", "datasheet", &s);
    assert_int_equal(weir_kernel_basis(s.job.kernels), WEIR_BASIS_DATASHEET);
    weir_train_scenario_clear(&s);
}

/* --- the plan ----------------------------------------------------------------------------- */

static void recomputation_is_a_word_parts_or_a_number_of_layers(void **state)
{
    weir_train_scenario s;
    read_set("plan.recompute", "full", &s);
    assert_int_equal(s.job.plan.recompute, WEIR_RECOMPUTE_PLAN_FULL);
    weir_train_scenario_clear(&s);
    read_set("plan.recompute", "selective", &s);
    assert_int_equal(s.job.plan.recompute_parts, WEIR_RECOMPUTE_CORE);
    weir_train_scenario_clear(&s);
    read_set("plan.recompute", "[norms, network]", &s);
    assert_int_equal(s.job.plan.recompute, WEIR_RECOMPUTE_PLAN_SELECTIVE);
    assert_int_equal(s.job.plan.recompute_parts, WEIR_RECOMPUTE_NORMS | WEIR_RECOMPUTE_NETWORK);
    weir_train_scenario_clear(&s);
    read_set("plan.recompute", "{layers: 3}", &s);
    assert_int_equal(s.job.plan.recompute, WEIR_RECOMPUTE_PLAN_BLOCK);
    assert_int_equal(s.job.plan.recompute_layers, 3);
    weir_train_scenario_clear(&s);
}

static void the_order_is_megatrons_or_a_list(void **state)
{
    static const char *const texts[] = {"tp-pp-dp", "[tensor, pipeline, data]"};
    for (int i = 0; i < 2; i++) {
        weir_train_scenario s;
        read_set("plan.order", texts[i], &s);
        const weir_train_axis *order = s.job.plan.order;
        assert_int_equal(order[0], WEIR_AXIS_TENSOR);
        assert_int_equal(order[1], WEIR_AXIS_PIPELINE);
        assert_int_equal(order[2], WEIR_AXIS_DATA);
        assert_int_equal(order[3], WEIR_AXIS_CONTEXT); /* what is not named comes last */
        assert_int_equal(order[4], WEIR_AXIS_EXPERT);
        weir_train_scenario_clear(&s);
    }
}

static void layers_of_chunks_make_the_layout_a_list(void **state)
{
    static const weir_setting sets[] = {{"plan.pipeline", "4"},
                                        {"plan.chunk_layers", "[7, 9, 9, 7]"}};
    weir_train_scenario s;
    read_with(sets, 2, &s);
    assert_int_equal(s.job.plan.layout, WEIR_LAYOUT_LIST);
    assert_int_equal(s.job.plan.chunk_layers[1], 9);
    weir_train_scenario_clear(&s);
}

static void packed_documents_have_fewer_pairs(void **state)
{
    weir_train_scenario s;
    read_set("plan.packed_mean_length", "512", &s);
    assert_true(s.job.plan.pairs == 16 * (512.0 * 513 / 2)); /* 16 documents a sequence */
    weir_train_scenario_clear(&s);
}

/* --- the other sections ------------------------------------------------------------------- */

static void a_stack_is_a_preset_with_values_over_it(void **state)
{
    weir_train_scenario s;
    read_set("stack",
             "{preset: nemo-24.12, launch: 12 us, overlaps_tensor: no, gemm_factor: "
             "{value: 1.25, source: mine}}",
             &s);
    assert_string_equal(s.job.stack.id, "nemo-24.12");
    assert_true(fabs(s.job.stack.launch_s - 12e-6) < 1e-18);
    assert_false(s.job.stack.overlaps_tensor);
    assert_true(s.job.stack.gemm_factor == 1.25);
    assert_int_equal(s.job.stack.attention, WEIR_ATTENTION_CUDNN); /* the preset's */
    weir_train_scenario_clear(&s);
}

static void disturbances_name_devices_and_their_links(void **state)
{
    static const weir_setting sets[] = {
        {"disturb.slow", "[{device: 31, factor: 1.5}]"},
        {"disturb.jitter", "0.02"},
        {"disturb.broken", "[{link: nic 3, at: 1 s, until: 2 s, rate: 0.5}, {link: node link 7}]"}};
    weir_train_scenario s;
    read_with(sets, 3, &s);
    assert_int_equal(s.slow_count, 1);
    assert_int_equal(s.slow[0].device, 31);
    assert_true(s.jitter == 0.02);
    assert_int_equal(s.link_count, 2);
    assert_int_equal(s.links[0].device, 3);
    assert_false(s.links[0].is_node_link);
    assert_true(s.links[0].at_s == 1 && s.links[0].until_s == 2 && s.links[0].share == 0.5);
    assert_true(s.links[1].is_node_link);
    assert_true(s.links[1].until_s == INFINITY && s.links[1].share == 0);
    weir_train_scenario_clear(&s);
}

static void waiting_for_data_lengthens_each_step(void **state)
{
    weir_train_scenario s;
    weir_train_step step[2];
    weir_err err = {0};
    weir_train_scratch *scratch = weir_train_scratch_new();
    read_with(NULL, 0, &s);
    assert_int_equal(weir_train_step_of(&s.job, scratch, &step[0], &err), WEIR_OK);
    weir_train_scenario_clear(&s);
    read_set("data.wait", "20 ms", &s);
    assert_int_equal(weir_train_step_of(&s.job, scratch, &step[1], &err), WEIR_OK);
    assert_true(fabs(step[1].step_s - step[0].step_s - 0.02) < 1e-9);
    assert_true(fabs(step[1].cause_s[WEIR_CAUSE_DEPENDENCY_DATA] - 0.02) < 1e-15);
    weir_train_scenario_clear(&s);
    weir_train_scratch_free(scratch);
}

/* presets/reliability.yaml: 50,676 h, 6.7 min, 10 min; 14 bytes a parameter, 2 TB/s, 10 GB/s.
 * Llama 3 8B has 8,030,261,248 parameters. */
static void failures_and_checkpoints_are_those_of_the_presets(void **state)
{
    weir_train_scenario s;
    read_with(NULL, 0, &s);
    const weir_goodput_job *g = &s.goodput;
    assert_true(g->devices == 32);
    assert_true(g->device_mtbf_s == 50676 * 3600.0);
    assert_true(fabs(g->detect_s - 402) < 1e-9 && g->restart_s == 600);
    assert_true(g->interval_s == 0 && g->asynchronous);
    assert_true(fabs(g->state_bytes - 14 * 8030261248.0 / 32) < 1);
    assert_true(g->stored_bytes_per_s == 2e12 / 32);
    assert_true(g->copied_bytes_per_s == 10e9);
    weir_train_scenario_clear(&s);
    static const weir_setting sets[] = {{"reliability", "a100-rsc"},
                                        {"checkpoint", "{interval: 30 min, asynchronous: no}"}};
    read_with(sets, 2, &s);
    assert_true(s.goodput.device_mtbf_s == 8090 * 3600.0 && s.goodput.restart_s == 600);
    assert_true(s.goodput.interval_s == 1800 && !s.goodput.asynchronous);
    weir_train_scenario_clear(&s);
    static const weir_setting none[] = {{"reliability", "none"}, {"checkpoint", "none"}};
    read_with(none, 2, &s);
    assert_true(s.goodput.device_mtbf_s == 0 && s.goodput.stored_bytes_per_s == 0);
    weir_train_scenario_clear(&s);
}

static void a_network_is_a_candidate_of_weir_fabric(void **state)
{
    weir_train_scenario s;
    read_set("network", "{kind: clos, switch: tomahawk5-400g, oversubscription: [1, 3]}", &s);
    assert_true(s.has_network);
    assert_int_equal(s.network.candidate_count, 1);
    assert_int_equal(s.network.candidates[0].kind, WEIR_CANDIDATE_CLOS);
    assert_true(s.network.candidates[0].oversubscription[1] == 3);
    assert_int_equal(s.network.cluster.nodes, 4);
    weir_train_scenario_clear(&s);
    read_set("network", "clos3-400g", &s);
    assert_string_equal(s.network.candidates[0].name, "clos3-400g");
    weir_train_scenario_clear(&s);
    read_set("network", "ideal", &s);
    assert_false(s.has_network);
    weir_train_scenario_clear(&s);
}

static void a_shelf_gives_the_same_scenarios(void **state)
{
    weir_train_shelf *shelf = weir_train_shelf_new();
    weir_train_scratch *scratch = weir_train_scratch_new();
    weir_train_scenario own, lent[2];
    weir_train_step step[3];
    weir_err err = {0};
    assert_non_null(shelf);
    read_with(NULL, 0, &own);
    for (int i = 0; i < 2; i++) {
        const weir_train_input input = {"job.yaml", base, sizeof base - 1, NULL, 0};
        assert_int_equal(weir_train_scenario_parse_on(shelf, &input, &lent[i], &err), WEIR_OK);
        assert_null(lent[i].shelf);
    }
    assert_ptr_equal(lent[0].job.kernels, lent[1].job.kernels);
    assert_int_equal(weir_train_step_of(&own.job, scratch, &step[0], &err), WEIR_OK);
    weir_train_scenario_clear(&lent[0]);
    assert_int_equal(weir_train_step_of(&lent[1].job, scratch, &step[1], &err), WEIR_OK);
    assert_true(step[0].step_s == step[1].step_s);
    weir_train_scenario_clear(&lent[1]);
    weir_train_scenario_clear(&own);
    weir_train_scratch_free(scratch);
    weir_train_shelf_free(shelf);
}

/* --- bad input: key, value, nearest value that works -------------------------------------- */

static void groups_that_do_not_divide_are_refused(void **state)
{
    refused("plan.tensor", "3",
            "--set plan.tensor: found 3, by which the heads (32) cannot be divided, expected for "
            "example 2");
    refused("plan.pipeline", "3",
            "--set plan.pipeline: found 3: tensor 1 x context 1 x pipeline 3 = 3 devices for a "
            "replica, expected a divisor of the 32 of the cluster; pipeline 2 fits");
    refused("plan.data", "5",
            "--set plan.data: found 5 replicas of 1 devices, expected 32 on the cluster's 32");
}

static void micro_batches_that_do_not_fit_are_refused(void **state)
{
    refused("plan.global_batch", "60",
            "--set plan.global_batch: found 60 sequences for 32 replicas of micro-batches of 1, "
            "expected a multiple of 32 such as 64");
    refused("plan.micro_batch", "3",
            "--set plan.micro_batch: found 3 sequences at a time, but a replica has 2 of the 64 "
            "(32 replicas), expected for example 2");
    refused("plan.micro_batches", "7",
            "--set plan.micro_batches: found 7, expected 2: 64 sequences on 32 replicas, 1 at a "
            "time");
}

static void absurdly_many_micro_batches_are_refused(void **state)
{
    refused("plan.global_batch", "1073741824",
            "--set plan.global_batch: found 33554432 micro-batches x 1 stages and chunks, expected "
            "at most 4194304 in all");
}

static void more_stages_than_layers_are_refused(void **state)
{
    refused("plan", "{sequence: 8192, global_batch: 64, pipeline: 16, chunks: 4}",
            "--set plan: chunks: found 16 stages x 4 chunks = 64 for 32 layers, expected at most "
            "32; chunks 2 fits");
}

static void unknown_models_stacks_and_keys_name_the_nearest(void **state)
{
    refused("model", "lama3-8b",
            "--set model: found 'lama3-8b', expected a model of presets/models such as "
            "'llama3-8b', or a file ending in .json");
    refused("stack", "nemo-24.13", "--set stack: found 'nemo-24.13', expected 'nemo-24.12'");
    refused("plan.tensr", "2", "--set plan.tensr: found unknown key 'tensr', expected 'tensor'");
    refused("plan.schedule", "intrleaved",
            "--set plan.schedule: found 'intrleaved', expected 'interleaved'");
    refused("plan.recompute", "[norm]", "--set plan.recompute: found 'norm', expected 'norms'");
    refused("plan.order", "tp-dp-tp",
            "--set plan.order: found tensor twice, expected each axis once");
    refused("plan.order", "tp-pp",
            "--set plan.order: found no data, expected all axes, such as tp-cp-ep-dp-pp");
    refused("plan.expert", "2",
            "--set plan.expert: found 2 for a model without experts, expected 1");
    refused("plan.recompute", "block",
            "--set plan.recompute: found block without recompute_layers, expected 1 to 32 of each "
            "chunk");
}

static void an_unknown_model_type_is_refused(void **state)
{
    refused("model", "{model_type: mamba, num_hidden_layers: 2}",
            "--set model: model_type: found 'mamba', expected one such as 'llama', 'mistral', "
            "'mixtral'");
}

static void values_without_unit_or_out_of_range_are_refused(void **state)
{
    refused("stack", "{launch: 5}",
            "--set stack: launch: found '5', expected a time with its unit, such as '25 ms'");
    refused("plan.zero", "4", "--set plan.zero: found '4', expected a whole number from 0 to 3");
    refused("disturb", "{slow: [{device: 32, factor: 2}]}",
            "--set disturb: device: found '32', expected a device from 0 to 31");
    refused("disturb", "{broken: [{link: spine 3}]}",
            "--set disturb: link: found 'spine 3', expected 'nic N' or 'node link N' with N from 0 "
            "to 31");
    refused("plan.chunk_layers", "[16, 16]",
            "--set plan.chunk_layers: found 2 numbers, expected one for each of the 1 chunks");
}

static void formats_that_the_hardware_lacks_are_refused(void **state)
{
    static const weir_setting sets[] = {{"cluster.accelerator", "a100-sxm-80gb"},
                                        {"plan.precision", "fp8"}};
    weir_train_scenario s;
    weir_err err = {0};
    assert_int_equal(parse_with(base, sets, 2, &s, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "found fp8, which NVIDIA A100"));
    static const weir_setting volta[] = {{"cluster.accelerator", "v100-sxm-32gb"},
                                         {"cluster.nic", "cx5-100g"},
                                         {"cluster.node_link", "nvlink2"},
                                         {"plan.precision", "bf16"}};
    err = (weir_err){0};
    assert_int_equal(parse_with(base, volta, 4, &s, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "found bf16, which NVIDIA V100 SXM2 32 GB does not"));
}

static void a_precision_keeps_its_word(void **state)
{
    static const weir_setting half[] = {{"plan.precision", "fp16"}};
    weir_train_scenario s;
    weir_err err = {0};
    assert_int_equal(parse_with(base, half, 1, &s, &err), WEIR_OK);
    assert_string_equal(s.precision, "fp16");
    assert_int_equal(s.job.plan.format, WEIR_GEMM_16);
    weir_train_scenario_clear(&s);
}

/* Rates of a device from presets/links and nics, multiplied by hand: a mesh of eight has seven
 * cables, one of four three, a ring two; a torus has two links along each of its directions. */
static void usual_nodes_have_links_and_nics(void **state)
{
    static const struct {
        const char *id;
        uint32_t devices;
        double node, nic;
    } nodes[] = {{"v100-sxm-16gb", 8, 150e9, 6.25e9},
                 {"v100-sxm-32gb", 16, 150e9, 6.25e9},
                 {"h100-pcie", 8, 63e9, 25e9},
                 {"mi250x", 8, 100e9, 12.5e9},
                 {"mi325x", 8, 448e9, 50e9},
                 {"mi350x", 8, 537.6e9, 50e9},
                 {"mi355x", 8, 537.6e9, 50e9},
                 {"ascend-910b", 8, 196e9, 25e9},
                 {"gh200", 4, 450e9, 25e9},
                 {"tpu-v4", 4, 0, 90e9},
                 {"tpu-v5p", 4, 0, 180e9}};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        const weir_setting sets[] = {
            {"cluster.accelerator", nodes[i].id},
            {"plan.precision", strncmp(nodes[i].id, "v100", 4) == 0 ? "fp16" : "bf16"}};
        weir_train_scenario s;
        read_with(sets, 2, &s);
        assert_int_equal(s.job.network.devices_per_node, nodes[i].devices);
        assert_true(fabs(s.job.network.node_bytes_per_s - nodes[i].node) <= 1e-9 * nodes[i].node);
        assert_true(fabs(s.job.network.nic_bytes_per_s - nodes[i].nic) <= 1e-9 * nodes[i].nic);
        assert_true(isfinite(step_s(&s.job)));
        weir_train_scenario_clear(&s);
    }
}

/* What the sentences about l4 and about PCIe as a node's link say can be written as it stands. */
static void hints_about_links_lead_to_a_scenario_that_is_read(void **state)
{
    static const weir_setting sets[] = {{"cluster.accelerator", "l4"},
                                        {"cluster.nic", "cx7-400g"},
                                        {"cluster.pcie", "pcie5-x16"},
                                        {"cluster.node_link", "none"}};
    weir_train_scenario s;
    for (uint32_t count = 3; count <= 4; count++) {
        read_with(sets, count, &s);
        assert_true(s.job.network.node_bytes_per_s == 63e9);
        weir_train_scenario_clear(&s);
    }
    refused("cluster.node_link", "pcie5-x16",
            "--set cluster.node_link: found 'pcie5-x16', expected a link that joins devices of a "
            "node; where the host does that: node_link: none and pcie: pcie5-x16");
}

static void an_accelerator_without_a_usual_node_needs_its_nic(void **state)
{
    refused("cluster.accelerator", "l4",
            "job.yaml:2:10: found no nic, which is needed: presets/hosts.yaml has no usual node of "
            "l4, expected for example nic: cx7-400g, and node_link: nvlink4 or, where the host "
            "joins the devices, pcie: pcie5-x16");
    refused("cluster.accelerator", "gb",
            "--set cluster.accelerator: found 'gb', expected 'gb200' or 'gb300'");
    refused("cluster.accelerator", "b20-sxm",
            "--set cluster.accelerator: found 'b20-sxm', expected 'b200-sxm' or 'h20-sxm'");
    refused("cluster", "{nodes: 4}",
            "--set cluster: found no accelerator, expected accelerator: h100-sxm or another one of "
            "presets/accelerators");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_follows_from_the_shortest_scenario),
        cmocka_unit_test(what_is_written_overrules_the_usual_node),
        cmocka_unit_test(a_mesh_has_a_cable_to_each_other_device),
        cmocka_unit_test(devices_that_no_link_joins_exchange_through_the_host),
        cmocka_unit_test(a_nic_is_no_faster_than_the_link_to_it),
        cmocka_unit_test(a_slower_way_between_devices_never_makes_the_step_shorter),
        cmocka_unit_test(a_rack_of_72_is_one_node),
        cmocka_unit_test(chunks_make_the_schedule_interleaved),
        cmocka_unit_test(kernels_may_be_those_of_the_datasheet),
        cmocka_unit_test(recomputation_is_a_word_parts_or_a_number_of_layers),
        cmocka_unit_test(the_order_is_megatrons_or_a_list),
        cmocka_unit_test(layers_of_chunks_make_the_layout_a_list),
        cmocka_unit_test(packed_documents_have_fewer_pairs),
        cmocka_unit_test(a_stack_is_a_preset_with_values_over_it),
        cmocka_unit_test(disturbances_name_devices_and_their_links),
        cmocka_unit_test(waiting_for_data_lengthens_each_step),
        cmocka_unit_test(failures_and_checkpoints_are_those_of_the_presets),
        cmocka_unit_test(a_network_is_a_candidate_of_weir_fabric),
        cmocka_unit_test(a_shelf_gives_the_same_scenarios),
        cmocka_unit_test(groups_that_do_not_divide_are_refused),
        cmocka_unit_test(micro_batches_that_do_not_fit_are_refused),
        cmocka_unit_test(absurdly_many_micro_batches_are_refused),
        cmocka_unit_test(more_stages_than_layers_are_refused),
        cmocka_unit_test(unknown_models_stacks_and_keys_name_the_nearest),
        cmocka_unit_test(an_unknown_model_type_is_refused),
        cmocka_unit_test(values_without_unit_or_out_of_range_are_refused),
        cmocka_unit_test(formats_that_the_hardware_lacks_are_refused),
        cmocka_unit_test(a_precision_keeps_its_word),
        cmocka_unit_test(usual_nodes_have_links_and_nics),
        cmocka_unit_test(hints_about_links_lead_to_a_scenario_that_is_read),
        cmocka_unit_test(an_accelerator_without_a_usual_node_needs_its_nic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
