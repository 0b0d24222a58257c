/* How sure the time of a step is: the error that the validation left in its stratum
 * (presets/training-bands.yaml, which says what strata are and which of them a plan has). */
#include "scenario/keys.h"
#include "scenario/preset.h"
#include "study/train_figures.h"

#include <stddef.h>
#include <string.h>

/* Times the devices of the largest row: beyond is outside of what was validated. */
enum { MODEL = 0, RESPECTS = 4, BEYOND = 2 };

/* A stratum, and a plan: words of the preset, "" where a plan has none. */
typedef struct {
    const char *words[RESPECTS]; /* model, precision, stages, devices; NULL: any */
    const char *regime;
    double error; /* share that 90 of 100 rows stay within */
    uint64_t rows;
} stratum;

typedef struct {
    const weir_yaml_node *accelerators, *strata;
    double devices, low_mfu;
} raw_bands;

#define WORD(place, key)                                                                           \
    {                                                                                              \
        .name = (key), .type = WEIR_KEY_TEXT, .offset = offsetof(stratum, words[place])            \
    }

static const weir_key stratum_keys[] = {
    WORD(MODEL, "model"),
    WORD(1, "precision"),
    WORD(2, "stages"),
    WORD(3, "devices"),
    {.name = "regime",
     .type = WEIR_KEY_TEXT,
     .offset = offsetof(stratum, regime),
     .needed = WEIR_KEY_ALWAYS},
    {.name = "error_p90",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(stratum, error),
     .max = 1,
     .needed = WEIR_KEY_ALWAYS},
    {.name = "rows",
     .type = WEIR_KEY_UINT64,
     .offset = offsetof(stratum, rows),
     .needed = WEIR_KEY_ALWAYS},
};
static const weir_key_table stratum_table = {
    .title = "stratum", .keys = stratum_keys, .count = sizeof stratum_keys / sizeof *stratum_keys};

static const weir_key top_keys[] = {
    {.name = "accelerators",
     .type = WEIR_KEY_NODE,
     .offset = offsetof(raw_bands, accelerators),
     .needed = WEIR_KEY_ALWAYS},
    {.name = "devices",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(raw_bands, devices),
     .needed = WEIR_KEY_ALWAYS},
    {.name = "low_mfu",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(raw_bands, low_mfu),
     .needed = WEIR_KEY_ALWAYS},
    {.name = "strata",
     .type = WEIR_KEY_NODE,
     .offset = offsetof(raw_bands, strata),
     .needed = WEIR_KEY_ALWAYS},
};
static const weir_key_table top_table = {
    .title = "bands", .keys = top_keys, .count = sizeof top_keys / sizeof *top_keys};

/* --- the plan ----------------------------------------------------------------------------- */

static const char *precision_of(weir_gemm_format format)
{
    switch (format) {
    case WEIR_GEMM_16:
        return "16-bit";
    case WEIR_GEMM_FP8:
    case WEIR_GEMM_FP8_BLOCK:
        return "FP8";
    case WEIR_GEMM_FP4:
        return "FP4";
    default:
        return ""; /* no row */
    }
}

static bool has_word(const weir_yaml_node *list, const char *word)
{
    for (const weir_yaml_node *n = list->first; n; n = n->next) {
        if (weir_str_eq(n->text, weir_str_from(word))) {
            return true;
        }
    }
    return false;
}

/* *why: what a report says of the regime. */
static stratum of_plan(const train_figures *f, const raw_bands *bands, const char **why)
{
    const weir_train_job *job = &f->scenario->job;
    const weir_accelerator *accelerator = weir_kernel_accelerator(job->kernels);
    double devices = (double)weir_train_devices(&job->plan);
    double peak = devices * weir_gemm_format_peak(accelerator, WEIR_GEMM_16);
    stratum plan = {.words = {weir_model_moe_layers(job->model) > 0 ? "moe" : "dense",
                              precision_of(job->plan.format),
                              job->plan.pipeline > 1 ? "pipeline" : "one stage",
                              devices >= 512 ? ">= 512 GPUs" : "< 512 GPUs"},
                    .regime = "datasheet"};
    if (!has_word(bands->accelerators, accelerator->id)) {
        *why = "an accelerator not compared";
    } else if (weir_kernel_basis(job->kernels) == WEIR_BASIS_DATASHEET) {
        *why = "kernels of the datasheet";
    } else if (f->step->model_flop <= bands->low_mfu * peak * f->step->step_s) {
        plan.regime = "low-mfu";
        *why = "low MFU";
    } else {
        plan.regime = "all";
        *why = "";
    }
    return plan;
}

/* --- its stratum -------------------------------------------------------------------------- */

/* Respects of the row, all of which the plan has, the model's kind as many as all others;
 * WEIR_NONE: it lacks one. */
static uint32_t shared(const stratum *row, const stratum *plan)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < RESPECTS; i++) {
        if (row->words[i] && strcmp(row->words[i], plan->words[i]) != 0) {
            return WEIR_NONE;
        }
        count += !row->words[i] ? 0 : i == MODEL ? RESPECTS : 1;
    }
    return strcmp(row->regime, plan->regime) == 0 ? count : WEIR_NONE;
}

/* The row of the most respects; of several the one of the most error. rows stays 0: there is none.
 */
static weir_code find(const weir_key_source *source, const weir_yaml_node *strata,
                      const stratum *plan, stratum *best, weir_err *err)
{
    uint32_t most = 0;
    weir_code code = WEIR_OK;
    for (const weir_yaml_node *n = strata->first; n && code == WEIR_OK; n = n->next) {
        stratum row = {{NULL}, NULL, 0, 0};
        code = weir_keys_read(source, n, &stratum_table, 0, &row, err);
        uint32_t count = code == WEIR_OK ? shared(&row, plan) : WEIR_NONE;
        bool is_better = count > most || (count == most && row.error > best->error);
        if (count != WEIR_NONE && (best->rows == 0 || is_better)) {
            *best = row;
            most = count;
        }
    }
    return code;
}

static void add(weir_text *text, const char *part)
{
    if (part && part[0]) {
        weir_text_printf(text, "%s%s", text->n ? ", " : "", part);
    }
}

static weir_code put(const train_figures *f, const stratum *row, const char *why, bool is_beyond,
                     weir_err *err)
{
    weir_training_result *t = f->result->training;
    weir_text basis = {0};
    t->band_outside = row->rows == 0 || is_beyond;
    double error = t->band_outside ? 0 : row->error;
    t->low_s = t->step_s * (1 - error);
    t->high_s = t->step_s * (1 + error);
    if (t->step_s > t->closed_step_s * 1.0005) {
        add(&basis, "as undisturbed steps");
    }
    for (uint32_t i = 0; i < RESPECTS && !is_beyond; i++) {
        add(&basis, row->words[i]);
    }
    add(&basis, is_beyond ? "more than twice the devices of any published row" : why);
    if (!t->band_outside) {
        bool is_sheet = strcmp(row->regime, "datasheet") == 0;
        weir_text_printf(&basis, "%s90 %% of %llu published rows are that near%s",
                         basis.n ? ": " : "", (unsigned long long)row->rows,
                         is_sheet ? " with such kernels" : "");
    }
    t->band_basis =
        basis.failed || !basis.p ? NULL : weir_result_copy(f->result, weir_str_from(basis.p));
    weir_text_clear(&basis);
    return t->band_basis ? WEIR_OK : TRAIN_NO_MEMORY(err);
}

weir_code train_figure_band(const train_figures *f, weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_arena *arena = weir_arena_new();
    raw_bands bands = {0};
    stratum best = {{NULL}, NULL, 0, 0};
    weir_code code =
        arena ? weir_preset_open("training-bands.yaml", &doc, err) : TRAIN_NO_MEMORY(err);
    const weir_key_source source = {doc, arena};
    if (code == WEIR_OK) {
        code = weir_keys_read(&source, weir_yaml_root(doc), &top_table, 0, &bands, err);
    }
    if (code == WEIR_OK) {
        const char *why;
        const stratum plan = of_plan(f, &bands, &why);
        double devices = (double)weir_train_devices(&f->scenario->job.plan);
        code = find(&source, bands.strata, &plan, &best, err);
        code = code == WEIR_OK ? put(f, &best, why, devices > BEYOND * bands.devices, err) : code;
    }
    weir_yaml_free(doc);
    weir_arena_free(arena);
    return code;
}
