#include "cli/train_lines.h"

#include "cli/output.h"
#include "codec/json_write.h"
#include "study/train_traffic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void write_memory(weir_json_writer *w, const weir_train_memory *m)
{
    const struct {
        const char *key;
        double bytes;
    } parts[] = {{"parameters", m->parameters},
                 {"gradients", m->gradients},
                 {"optimizer", m->optimizer},
                 {"activations", m->activations},
                 {"buffers", m->buffers},
                 {"context", m->context},
                 {"fragmentation", m->fragmentation},
                 {"allocated", m->allocated},
                 {"total", m->total},
                 {"capacity", m->capacity}};
    weir_json_key(w, "memory_bytes");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        weir_json_key(w, parts[i].key);
        weir_json_double(w, parts[i].bytes);
    }
    weir_json_close(w);
    weir_json_key(w, "fits");
    weir_json_bool(w, m->total <= m->capacity);
}

static void write_causes(weir_json_writer *w, const weir_train_step *step)
{
    double waits[WEIR_WAIT_COUNT] = {0};
    for (int i = 0; i < WEIR_CAUSE_COUNT; i++) {
        waits[weir_cause_wait((weir_cause)i)] += step->cause_s[i];
    }
    weir_json_key(w, "waits");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    for (int i = 0; i < WEIR_WAIT_COUNT; i++) {
        weir_json_key(w, weir_wait_name((weir_wait)i));
        weir_json_double(w, waits[i]);
    }
    weir_json_close(w);
    weir_json_key(w, "causes");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    for (int i = 0; i < WEIR_CAUSE_COUNT; i++) {
        if (step->cause_s[i] > 0) {
            weir_json_key(w, weir_cause_name((weir_cause)i));
            weir_json_double(w, step->cause_s[i]);
        }
    }
    weir_json_close(w);
    weir_json_key(w, "exposed");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    for (int i = 0; i < WEIR_AXIS_COUNT; i++) {
        weir_json_key(w, weir_train_axis_name((weir_train_axis)i));
        weir_json_double(w, step->axis[i].exposed_s);
    }
    weir_json_close(w);
}

static void write_number(weir_json_writer *w, const char *key, double value)
{
    weir_json_key(w, key);
    weir_json_double(w, value);
}

static void write_step(weir_json_writer *w, const weir_train_scenario *scenario,
                       const weir_train_step *step)
{
    double devices = (double)weir_train_devices(&scenario->job.plan);
    double peak = weir_gemm_format_peak(scenario->cluster.accelerator, scenario->job.plan.format);
    weir_json_key(w, "name");
    weir_json_text(w, scenario->name);
    write_number(w, "step_s", step->step_s);
    write_number(w, "tokens_per_s", step->tokens / step->step_s);
    write_number(w, "tokens_per_s_per_device", step->tokens / step->step_s / devices);
    write_number(w, "mfu", step->model_flop / step->step_s / devices / peak);
    write_number(w, "hfu", step->flop / step->step_s / devices / peak);
    write_number(w, "bubble_share", step->bubble_share);
    write_memory(w, &step->memory);
    write_causes(w, step);
}

void train_step_write(weir_text *out, const weir_train_scenario *scenario,
                      const weir_train_step *step)
{
    weir_json_writer w;
    weir_json_begin(&w, out);
    weir_json_open_object(&w, WEIR_JSON_INLINE);
    write_step(&w, scenario, step);
    weir_json_close(&w);
}

/* --- lines --- */

typedef struct {
    weir_train_shelf *shelf;
    weir_train_scratch *scratch;
    const weir_setting *settings;
    uint32_t setting_count;
} lines_state;

static void answer(const lines_state *state, uint64_t line, const char *bytes, size_t n,
                   weir_text *out)
{
    char name[32];
    weir_err err = {0};
    weir_json_writer w;
    weir_train_scenario scenario = {0};
    weir_train_step step;
    snprintf(name, sizeof name, "line %llu", (unsigned long long)line);
    const weir_train_input input = {name, bytes, n, state->settings, state->setting_count};
    weir_code code = weir_train_scenario_parse_on(state->shelf, &input, &scenario, &err);
    if (code == WEIR_OK) {
        code = weir_train_closed_step(&scenario, state->scratch, &step, &err);
    }
    weir_json_begin(&w, out);
    weir_json_open_object(&w, WEIR_JSON_INLINE);
    weir_json_key(&w, "line");
    weir_json_uint(&w, line);
    if (code == WEIR_OK) {
        write_step(&w, &scenario, &step);
    } else {
        weir_json_key(&w, "error");
        weir_json_text(&w, err.text);
    }
    weir_json_close(&w);
    weir_text_char(out, '\n');
    weir_train_scenario_clear(&scenario);
}

/* Whoever writes into a pipe may wait for the answer before the next line. */
static bool is_regular(FILE *in)
{
    struct stat about;
    return fstat(fileno(in), &about) == 0 && S_ISREG(about.st_mode);
}

static weir_code answer_all(const lines_state *state, FILE *in, weir_err *err)
{
    enum { KEPT_BYTES = 1 << 20 };
    const size_t most = is_regular(in) ? KEPT_BYTES : 0;
    char *bytes = NULL;
    size_t room = 0;
    ssize_t n;
    uint64_t line = 0;
    weir_text out = {0};
    weir_code code = WEIR_OK;
    while (code == WEIR_OK && (n = getline(&bytes, &room, in)) > 0) {
        line++;
        if (bytes[0] != '\n') {
            answer(state, line, bytes, (size_t)n, &out);
        }
        if (out.n > most) {
            code = output_print(&out, err);
            weir_text_clear(&out);
        }
    }
    if (code == WEIR_OK && ferror(in)) {
        code = weir_err_set(err, WEIR_ERR_IO, "--lines: %s", strerror(errno));
    }
    if (code == WEIR_OK) {
        code = output_print(&out, err);
    }
    weir_text_clear(&out);
    free(bytes);
    return code;
}

weir_code train_lines(const char *path, const weir_setting *settings, uint32_t setting_count,
                      weir_err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(path, "r");
    if (!in) {
        return weir_err_set(err, WEIR_ERR_IO, "%s: %s", path, strerror(errno));
    }
    lines_state state = {weir_train_shelf_new(), weir_train_scratch_new(), settings, setting_count};
    weir_code code = state.shelf && state.scratch
                         ? answer_all(&state, in, err)
                         : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for scenarios");
    weir_train_scratch_free(state.scratch);
    weir_train_shelf_free(state.shelf);
    if (!is_stdin) {
        fclose(in);
    }
    return code;
}
