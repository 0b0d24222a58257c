/* How sure the time of a step is: the error that the validation left in its stratum
 * (presets/training-bands.yaml, written from docs/accuracy.md's tables). */
#include "scenario/preset.h"
#include "scenario/unit.h"
#include "study/train_figures.h"

typedef struct {
    double error; /* share that 90 of 100 rows stay within */
    uint64_t rows;
    bool is_known;
} band_row;

static weir_code read_row(const weir_yaml *doc, const weir_yaml_node *node, band_row *row,
                          weir_err *err)
{
    static const char *const keys[] = {"error_p90", "rows", "largest_devices"};
    const weir_yaml_node *error, *rows;
    weir_code code = weir_yaml_check_keys(doc, node, keys, 3, err);
    code = code == WEIR_OK ? weir_yaml_need(doc, node, "error_p90", WEIR_YAML_SCALAR, &error, err)
                           : code;
    code = code == WEIR_OK ? weir_yaml_need(doc, node, "rows", WEIR_YAML_SCALAR, &rows, err) : code;
    code = code == WEIR_OK ? weir_yaml_uint(doc, rows, UINT32_MAX, &row->rows, err) : code;
    if (code != WEIR_OK) {
        return code;
    }
    if (!weir_number_parse(error->text, &row->error) || !(row->error > 0 && row->error < 1)) {
        return weir_yaml_reject(doc, error, "a share such as 0.15", err);
    }
    row->is_known = true;
    return WEIR_OK;
}

static weir_code find_row(const char *stratum, band_row *row, weir_err *err)
{
    weir_yaml *doc = NULL;
    const weir_yaml_node *strata = NULL;
    weir_code code = weir_preset_open("training-bands.yaml", &doc, err);
    code = code == WEIR_OK
               ? weir_yaml_need(doc, weir_yaml_root(doc), "strata", WEIR_YAML_MAPPING, &strata, err)
               : code;
    const weir_yaml_node *node = code == WEIR_OK ? weir_yaml_find(strata, stratum) : NULL;
    code = node ? read_row(doc, node, row, err) : code;
    weir_yaml_free(doc);
    return code;
}

weir_code train_figure_band(const train_figures *f, weir_err *err)
{
    weir_training_result *t = f->result->training;
    const char *stratum = f->scenario->stratum ? f->scenario->stratum : "dense";
    band_row row = {0};
    weir_code code = find_row(stratum, &row, err);
    if (code != WEIR_OK) {
        return code;
    }
    t->band_outside = !row.is_known;
    t->low_s = row.is_known ? t->step_s * (1 - row.error) : t->step_s;
    t->high_s = row.is_known ? t->step_s * (1 + row.error) : t->step_s;
    t->band_basis =
        row.is_known
            ? weir_result_printf(f->result, "%s: 90 %% of %llu published rows are that near",
                                 stratum, (unsigned long long)row.rows)
            : weir_result_printf(f->result, "%s: nothing published was compared", stratum);
    return t->band_basis ? WEIR_OK : TRAIN_NO_MEMORY(err);
}
