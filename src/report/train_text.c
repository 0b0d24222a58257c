#include "report/train_text.h"

#include "report/page.h"
#include "report/train_circuits_text.h"
#include "result/quantity.h"

#include <math.h>
#include <string.h>

enum { MEMORY_COLUMNS = 17, STAGES_MOST = 8 };

static void end_line(const page *p, weir_text *line)
{
    if (line->n > 0) {
        text_wrap(p->out, (weir_str){line->p, (uint32_t)line->n}, 2);
    }
    p->out->failed = p->out->failed || line->failed;
    weir_text_clear(line);
}

/* --- head --- */

static void add_known(weir_text *line, const char *before, const char *text)
{
    if (text && text[0]) {
        weir_text_add(line, weir_str_from(before));
        weir_text_escaped(line, weir_str_from(text), 0);
    }
}

static void put_head(const page *p, const weir_training_result *t)
{
    weir_text line = {0};
    bool has_name = t->scenario_name && t->scenario_name[0];
    weir_text_add(&line, WEIR_STR("SIMULATED  "));
    weir_text_escaped(&line, weir_str_from(has_name ? t->scenario_name : t->model), 0);
    weir_text_add(&line, WEIR_STR(": "));
    weir_quantity_count(&line, t->devices);
    add_known(&line, " ", t->accelerator);
    add_known(&line, ", ", t->plan);
    add_known(&line, ", ", t->stack);
    end_line(p, &line);
}

static void put_step(const page *p, const weir_training_result *t)
{
    weir_text line = {0};
    weir_text_add(&line, WEIR_STR("step "));
    weir_quantity_seconds(&line, t->step_s, 4);
    if (t->band_outside) {
        weir_text_add(&line, WEIR_STR(" (outside what was validated"));
    } else {
        weir_text_add(&line, WEIR_STR(" ("));
        weir_quantity_seconds(&line, t->low_s, 3);
        weir_text_add(&line, WEIR_STR(" to "));
        weir_quantity_seconds(&line, t->high_s, 3);
    }
    add_known(&line, ": ", t->band_basis);
    weir_text_add(&line, WEIR_STR(")"));
    if (t->step_s > t->closed_step_s * 1.0005) {
        weir_text_add(&line, WEIR_STR("; undisturbed "));
        weir_quantity_seconds(&line, t->closed_step_s, 4);
    }
    end_line(p, &line);
}

static void add_percent(weir_text *line, double share)
{
    weir_quantity_fixed(line, 100 * share, 1);
    weir_text_add(line, WEIR_STR(" %"));
}

static void put_rates(const page *p, const weir_training_result *t)
{
    weir_text line = {0};
    weir_quantity_count(&line, (uint64_t)(t->tokens_per_s + 0.5));
    weir_text_add(&line, WEIR_STR(" tokens/s ("));
    weir_quantity_digits(&line, t->tokens_per_s_per_device);
    weir_text_add(&line, WEIR_STR(" a GPU), "));
    if (!isnan(t->mfu)) {
        weir_text_add(&line, WEIR_STR("MFU "));
        add_percent(&line, t->mfu);
        weir_text_printf(&line, " of %s, ", t->format);
    }
    weir_quantity_digits(&line, t->model_tflops_per_device);
    weir_text_add(&line, WEIR_STR(" TFLOP/s a GPU"));
    if (t->hardware_tflops_per_device > t->model_tflops_per_device * 1.005) {
        weir_text_add(&line, WEIR_STR(" ("));
        weir_quantity_digits(&line, t->hardware_tflops_per_device);
        weir_text_add(&line, t->recomputes ? WEIR_STR(" with recomputation)")
                                           : WEIR_STR(" with masked pairs)"));
    }
    if (!isnan(t->goodput) && isfinite(t->checkpoint_interval_s)) {
        weir_text_add(&line, WEIR_STR(", goodput "));
        add_percent(&line, t->goodput);
    }
    end_line(p, &line);
}

/* --- memory --- */

static void put_memory(const page *p, const weir_training_result *t)
{
    const struct {
        const char *name;
        double bytes;
    } parts[] = {{"parameters", t->memory_bytes.parameters},
                 {"gradients", t->memory_bytes.gradients},
                 {"optimiser", t->memory_bytes.optimizer},
                 {"activations", t->memory_bytes.activations}};
    double total = t->memory_bytes.total, capacity = t->memory_bytes.capacity;
    double share = capacity > 0 ? total / capacity : 0;
    weir_text number = {0}, rest = {0};
    weir_quantity_fixed(&number, 100 * share, 1);
    weir_text_printf(p->out, "%-13s%6s %%  ", "memory", number.p ? number.p : "");
    for (int i = 0; i < MEMORY_COLUMNS; i++) {
        weir_text_char(p->out, i < (int)(share * MEMORY_COLUMNS + 0.5) ? '#' : '.');
    }
    weir_quantity_si(&rest, total, "B");
    double shown = 0;
    for (int n = 0; n < 2; n++) { /* the two largest */
        size_t best = 0;
        for (size_t i = 1; i < sizeof parts / sizeof *parts; i++) {
            bool is_next = n == 0 || parts[i].bytes < shown;
            bool best_fits = n == 0 || parts[best].bytes < shown;
            best = is_next && (!best_fits || parts[i].bytes > parts[best].bytes) ? i : best;
        }
        shown = parts[best].bytes;
        weir_text_printf(&rest, ", %s ", parts[best].name);
        weir_quantity_fixed(&rest, total > 0 ? 100 * shown / total : 0, 0);
    }
    weir_text_printf(p->out, "  %s\n", rest.p ? rest.p : "");
    p->out->failed = p->out->failed || number.failed || rest.failed;
    weir_text_clear(&number);
    weir_text_clear(&rest);
}

/* --- tables --- */

static void put_words(table *t, const char *text)
{
    for (; text && *text; text++) {
        weir_text_char(table_cell(t), *text == '_' ? ' ' : *text);
    }
    table_end(t);
}

static void put_seconds(table *t, double seconds)
{
    weir_quantity_seconds(table_cell(t), seconds, 3);
    table_end(t);
}

static void put_traffic(const page *p, const weir_training_result *t)
{
    table rows;
    static const char *const heads[] = {"traffic a GPU", "bytes", "rate",   "link",
                                        "tier",          "takes", "exposed"};
    if (t->traffic_count == 0) {
        return;
    }
    table_begin(&rows, "lrrrlrr");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        table_put(&rows, heads[i]);
    }
    for (uint32_t i = 0; i < t->traffic_count; i++) {
        const weir_training_traffic_row *row = &t->traffic[i];
        weir_text_printf(table_cell(&rows), "  %s %u", row->axis, row->ranks);
        table_end(&rows);
        weir_quantity_si(table_cell(&rows), row->bytes_per_device, "B");
        table_end(&rows);
        weir_quantity_si(table_cell(&rows), row->bytes_per_s, "B/s");
        table_end(&rows);
        weir_quantity_si(table_cell(&rows), row->available_bytes_per_s, "B/s");
        table_end(&rows);
        put_words(&rows, row->tier);
        put_seconds(&rows, row->seconds);
        put_seconds(&rows, (double)row->exposed_ns * 1e-9);
    }
    table_print(&rows, p->out, p->options->colour);
    for (uint32_t i = 0; i < t->traffic_count; i++) {
        if (strcmp(t->traffic[i].axis, "pipeline") == 0) {
            weir_text_add(p->out, WEIR_STR("  pipeline: takes is of what is sent and received\n"));
            break;
        }
    }
}

/* Stages are shown as far as they differ from the one before in more than a thousandth. */
static bool is_alike(const weir_training_stage_row *a, const weir_training_stage_row *b)
{
    double busy = fabs((double)(a->busy_ns - b->busy_ns));
    return a->layers == b->layers && !a->is_critical && !b->is_critical &&
           busy <= 1e-3 * (double)a->busy_ns;
}

/* Of the rows that one line stands for: the least and the most. */
typedef struct {
    double memory[2], bubble[2]; /* bytes; share of the stage's time in percent */
} stage_range;

static stage_range range_of(const weir_training_result *t, uint32_t first, uint32_t last)
{
    stage_range r = {{INFINITY, 0}, {INFINITY, 0}};
    for (uint32_t i = first; i <= last; i++) {
        const weir_training_stage_row *row = &t->stage_rows[i];
        double bubble = 100 * weir_quantity_share(row->bubble_ns, row->wall_ns);
        r.memory[0] = fmin(r.memory[0], row->memory_bytes);
        r.memory[1] = fmax(r.memory[1], row->memory_bytes);
        r.bubble[0] = fmin(r.bubble[0], bubble);
        r.bubble[1] = fmax(r.bubble[1], bubble);
    }
    return r;
}

static void put_stage(table *rows, const weir_training_result *t, uint32_t first, uint32_t last)
{
    const weir_training_stage_row *row = &t->stage_rows[first];
    stage_range range = range_of(t, first, last);
    weir_text_printf(table_cell(rows), "  %u", row->stage);
    if (last > first) {
        weir_text_printf(table_cell(rows), " to %u", t->stage_rows[last].stage);
    }
    weir_text_add(table_cell(rows), row->is_critical ? WEIR_STR(" <- path") : WEIR_STR(""));
    table_end(rows);
    table_int(rows, row->layers);
    if (range.memory[1] > 1.005 * range.memory[0]) {
        weir_quantity_digits(table_cell(rows), range.memory[0] * 1e-9);
        weir_text_add(table_cell(rows), WEIR_STR(" to "));
    }
    weir_quantity_si(table_cell(rows), range.memory[1], "B");
    table_end(rows);
    put_seconds(rows, row->forward_s);
    put_seconds(rows, row->backward_s);
    weir_quantity_percent(table_cell(rows), row->busy_ns, row->wall_ns);
    table_end(rows);
    if (range.bubble[1] > range.bubble[0] + 0.5) {
        weir_quantity_fixed(table_cell(rows), range.bubble[0], range.bubble[0] < 1);
        weir_text_add(table_cell(rows), WEIR_STR(" to "));
    }
    weir_quantity_fixed(table_cell(rows), range.bubble[1], range.bubble[1] < 1);
    weir_text_add(table_cell(rows), WEIR_STR(" %"));
    table_end(rows);
}

static void put_stages(const page *p, const weir_training_result *t)
{
    table rows;
    static const char *const heads[] = {"stage",    "layers", "memory", "forward",
                                        "backward", "busy",   "bubble"};
    if (t->stage_row_count < 2) {
        return;
    }
    table_begin(&rows, "lrrrrrr");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        table_put(&rows, heads[i]);
    }
    uint32_t shown = 0;
    for (uint32_t a = 0; a < t->stage_row_count && shown < STAGES_MOST; shown++) {
        uint32_t b = a;
        while (b + 1 < t->stage_row_count && is_alike(&t->stage_rows[a], &t->stage_rows[b + 1])) {
            b++;
        }
        put_stage(&rows, t, a, b);
        a = b + 1;
    }
    table_print(&rows, p->out, p->options->colour);
}

/* --- all of it --- */

/* "66 days", "9.1 h", "13 min" */
static void add_long(weir_text *line, double seconds)
{
    static const struct {
        double s;
        const char *unit;
    } units[] = {{86400, " days"}, {3600, " h"}, {60, " min"}, {1, " s"}};
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof *units && seconds < 2 * units[i].s) {
        i++;
    }
    weir_quantity_digits(line, seconds / units[i].s);
    weir_text_add(line, weir_str_from(units[i].unit));
}

static void add_checkpoints(weir_text *line, const weir_training_result *t)
{
    if (!isfinite(t->checkpoint_interval_s)) {
        weir_text_add(line, WEIR_STR("; without checkpoints each loses all work done so far."));
        return;
    }
    weir_text_add(line, WEIR_STR(", checkpoint every "));
    add_long(line, t->checkpoint_interval_s);
    weir_text_add(line, t->is_best_interval ? WEIR_STR(" (best)") : WEIR_STR(""));
    weir_text_add(line, WEIR_STR("; checkpoints "));
    add_percent(line, t->checkpoint_share);
    weir_text_add(line, WEIR_STR(", lost work "));
    add_percent(line, t->lost_share);
    weir_text_add(line, WEIR_STR(", restarts "));
    add_percent(line, t->restart_share);
    weir_text_char(line, '.');
}

static void put_failures(const page *p, const weir_training_result *t)
{
    weir_text line = {0};
    if (!isnan(t->goodput) && !isfinite(t->mtbf_s)) {
        weir_text_add(&line, WEIR_STR("Failures: none are expected"));
        if (isfinite(t->checkpoint_interval_s)) {
            add_checkpoints(&line, t);
        } else {
            weir_text_char(&line, '.');
        }
    } else if (!isnan(t->goodput)) {
        weir_text_add(&line, WEIR_STR("Failures: one in "));
        add_long(&line, t->mtbf_s);
        add_checkpoints(&line, t);
    }
    end_line(p, &line);
}

weir_code weir_report_train(weir_text *out, const weir_result *result, bool colour, weir_err *err)
{
    const weir_text_options options = {.colour = colour};
    const weir_training_result *t = result->training;
    page p = {.out = out, .result = result, .options = &options};
    put_head(&p, t);
    if (result->verdict.sentence) {
        text_wrap(out, weir_str_from(result->verdict.sentence), 0);
    }
    put_step(&p, t);
    put_rates(&p, t);
    weir_text_char(out, '\n');
    for (int wait = 0; wait < WEIR_WAIT_COUNT; wait++) {
        page_bar(&p, (weir_wait)wait);
    }
    put_memory(&p, t);
    weir_text_char(out, '\n');
    put_traffic(&p, t);
    page_circuits(&p, t);
    put_stages(&p, t);
    page_path(&p);
    if (t->step_s > t->closed_step_s * 1.0005) { /* somebody holds up the others */
        page_control(&p);
        page_stragglers(&p);
    }
    put_failures(&p, t);
    page_notes(&p);
    return out->failed ? weir_err_set(err, WEIR_ERR_MEMORY, "no memory to write the report")
                       : WEIR_OK;
}
