/* train_scenario_fuzz.c: a training scenario, or a setting of one, is read or refused in one
 * sentence, never read astray, never leaked; what was read has a step in closed form, or a reason
 * why not. Files that it names do not exist. */
#include "study/train_scenario.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const char base[] = "model: {layers: 4, hidden: 64, heads: 4, ffn: 256, vocab: 128}\n"
                           "cluster: {accelerator: h100-sxm, nodes: 2, devices: 2}\n"
                           "plan: {sequence: 64, global_batch: 8, tensor: 2, pipeline: 2}\n";

/* Schedules are lists of tasks: absurdly long ones take minutes, which is no error. */
static bool is_small(const weir_train_plan *p)
{
    return (uint64_t)p->pipeline * p->chunks * p->micro_batches <= 1 << 14;
}

static void calculate(const weir_train_scenario *s)
{
    weir_err err = {0};
    weir_train_step step;
    weir_train_scratch *scratch = weir_train_scratch_new();
    if (scratch) {
        weir_code code = weir_train_step_of(&s->job, scratch, &step, &err);
        if (code == WEIR_OK ? !(step.step_s >= 0) : err.text[0] == '\0') {
            abort();
        }
    }
    weir_train_scratch_free(scratch);
}

static void check(weir_code code, weir_train_scenario *s, const weir_err *err)
{
    if (code == WEIR_OK) {
        const weir_train_plan *p = &s->job.plan;
        uint64_t devices = (uint64_t)s->cluster.nodes * s->cluster.devices;
        if (weir_train_devices(p) != devices || p->micro_batches == 0 ||
            s->job.model != &s->model) {
            abort();
        }
        if (is_small(p)) {
            calculate(s);
        }
        weir_train_scenario_clear(s);
    } else if (s->arena || err->text[0] == '\0') {
        abort();
    }
}

/* "KEY=VALUE" as a setting of the base. */
static void read_setting(weir_train_shelf *shelf, const char *text, size_t n)
{
    char *copy = calloc(n + 1, 1);
    char *equals = copy ? memchr(memcpy(copy, text, n), '=', n) : NULL;
    if (equals) {
        weir_train_scenario s = {0};
        weir_err err = {0};
        *equals = '\0';
        weir_setting set = {copy, equals + 1};
        const weir_train_input input = {"base", base, sizeof base - 1, &set, 1};
        check(weir_train_scenario_parse_on(shelf, &input, &s, &err), &s, &err);
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    weir_train_scenario s = {0};
    weir_err err = {0};
    weir_train_shelf *shelf = weir_train_shelf_new();
    if (!shelf) {
        return 0;
    }
    if (n > 1 && bytes[0] == '=') {
        read_setting(shelf, (const char *)bytes + 1, n - 1);
    } else {
        const weir_train_input input = {"fuzz/train", (const char *)bytes, n, NULL, 0};
        check(weir_train_scenario_parse_on(shelf, &input, &s, &err), &s, &err);
    }
    weir_train_shelf_free(shelf);
    return 0;
}
