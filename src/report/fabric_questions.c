#include "report/fabric_questions.h"

#include "report/fabric_page.h"
#include "result/quantity.h"

#include <math.h>
#include <string.h>

enum { MAX_COLUMNS = 12, KEY_COLUMNS = 14, NAME_COLUMNS = 24 };

static weir_code finish(const weir_text *out, weir_err *err)
{
    if (out->failed) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to write the report");
    }
    return WEIR_OK;
}

static void put_head(const page *p, const char *what)
{
    const weir_fabric_result *fabric = p->result->fabric;
    weir_text line = {0};
    weir_text_add(&line, WEIR_STR("SIMULATED  "));
    if (fabric != NULL && fabric->scenario_name != NULL) {
        weir_text_escaped(&line, weir_str_from(fabric->scenario_name), 0);
        weir_text_add(&line, WEIR_STR(": "));
    }
    weir_text_add(&line, weir_str_from(what));
    fabric_line(p, &line);
    weir_text_char(p->out, '\n');
}

/* --- sweep --- */

/* "oversubscription" of "candidates.0.oversubscription". */
static weir_str last_of(const char *key)
{
    weir_str whole = weir_str_from(key);
    uint32_t begin = 0;
    for (uint32_t i = 0; i < whole.n; i++) {
        begin = whole.p[i] == '.' ? i + 1 : begin;
    }
    return (weir_str){whole.p + begin, whole.n - begin};
}

static const weir_fabric_result *first_fabric(const weir_fabric_sweep *sweep)
{
    for (uint32_t i = 0; i < sweep->point_count; i++) {
        if (sweep->points[i].fabric != NULL) {
            return sweep->points[i].fabric;
        }
    }
    return NULL;
}

static void put_point(table *t, const weir_fabric_sweep *sweep, const weir_fabric_point *point,
                      uint32_t candidates)
{
    const weir_fabric_result *fabric = point->fabric;
    for (uint32_t i = 0; i < sweep->key_count; i++) {
        text_name(table_cell(t), weir_str_from(point->values[i]), KEY_COLUMNS);
        table_end(t);
    }
    const weir_fabric_candidate_row *best = fabric != NULL ? candidate_recommended(fabric) : NULL;
    if (best != NULL) {
        candidate_add(table_cell(t), best);
    } else {
        weir_text_add(table_cell(t), fabric != NULL ? WEIR_STR("none") : WEIR_STR("refused"));
    }
    table_end(t);
    for (uint32_t i = 0; i < candidates; i++) {
        if (fabric != NULL && i < fabric->candidate_count &&
            fabric->candidates[i].refused == NULL) {
            weir_quantity_seconds(table_cell(t), fabric->candidates[i].step_s, 4);
        } else {
            weir_text_char(table_cell(t), '-');
        }
        table_end(t);
    }
}

/* Candidates that have a column, and whether some were left out. */
static uint32_t shown_candidates(const weir_fabric_sweep *sweep, const weir_fabric_result *first)
{
    uint32_t count = first != NULL ? first->candidate_count : 0;
    uint32_t used = sweep->key_count + 1, room = used < MAX_COLUMNS ? MAX_COLUMNS - used : 0;
    return count < room ? count : room;
}

/* Each reason once, at its first point. */
static void put_refusals(const page *p, const weir_fabric_sweep *sweep)
{
    const char *last = NULL;
    for (uint32_t i = 0; i < sweep->point_count; i++) {
        const char *refused = sweep->points[i].refused;
        if (refused != NULL && (last == NULL || strcmp(refused, last) != 0)) {
            weir_text line = {0};
            weir_text_add(&line, WEIR_STR("Refused: "));
            weir_text_escaped(&line, weir_str_from(refused), 0);
            fabric_line(p, &line);
            last = refused;
        }
    }
}

weir_code weir_report_sweep(weir_text *out, const weir_result *result, bool colour, weir_err *err)
{
    static const char aligns[] = "rrrrrrrrrrrr";
    weir_text_options options = {.colour = colour};
    page p = {.out = out, .result = result, .options = &options};
    const weir_fabric_sweep *sweep = result->sweep;
    const weir_fabric_result *first = first_fabric(sweep);
    uint32_t candidates = shown_candidates(sweep, first);
    table t;
    put_head(&p, "steps on each candidate");
    table_begin(&t, aligns + sizeof(aligns) - 1 - (sweep->key_count + 1 + candidates));
    for (uint32_t i = 0; i < sweep->key_count; i++) {
        text_name(table_cell(&t), last_of(sweep->keys[i]), KEY_COLUMNS);
        table_end(&t);
    }
    table_put(&t, "best");
    for (uint32_t i = 0; i < candidates; i++) {
        weir_text name = {0};
        candidate_add(&name, &first->candidates[i]);
        text_name(table_cell(&t), (weir_str){name.p, (uint32_t)name.n}, KEY_COLUMNS);
        weir_text_clear(&name);
        table_end(&t);
    }
    for (uint32_t i = 0; i < sweep->point_count; i++) {
        put_point(&t, sweep, &sweep->points[i], candidates);
    }
    table_print(&t, out, colour);
    put_refusals(&p, sweep);
    if (first != NULL && candidates < first->candidate_count) {
        weir_text_printf(out, "%u more candidates with --csv or --json.\n",
                         (unsigned)(first->candidate_count - candidates));
    }
    return finish(out, err);
}

/* --- find --- */

weir_code weir_report_find(weir_text *out, const weir_result *result, bool colour, weir_err *err)
{
    weir_text_options options = {.colour = colour};
    page p = {.out = out, .result = result, .options = &options};
    weir_text head = {0};
    if (result->find_count > 0) {
        weir_text_printf(&head, "%s for at most ", result->finds[0].what);
        weir_quantity_fixed(&head, 100 * result->finds[0].lose_share, 1);
        weir_text_add(&head, WEIR_STR(" % of the step"));
    }
    put_head(&p, head.p != NULL ? head.p : "nothing to find");
    out->failed = out->failed || head.failed;
    weir_text_clear(&head);
    for (uint32_t i = 0; i < result->find_count; i++) {
        const weir_fabric_find *find = &result->finds[i];
        weir_text line = {0};
        if (find->sentence != NULL) {
            weir_text_escaped(&line, weir_str_from(find->sentence), 0);
        }
        fabric_line(&p, &line);
    }
    return finish(out, err);
}

/* --- mix --- */

static void put_mix_row(table *t, const weir_fabric_mix *mix, uint32_t i, uint32_t jobs)
{
    const weir_fabric_mix_row *row = &mix->rows[i];
    text_name(table_cell(t), weir_str_from(row->name), NAME_COLUMNS);
    table_end(t);
    if (isnan(row->ratio)) {
        table_put(t, "refused");
        table_put(t, "");
    } else {
        weir_quantity_fixed(table_cell(t), row->ratio, 3);
        table_end(t);
        weir_quantity_fixed(table_cell(t), 100 * row->wait_share[WEIR_WAIT_COMMUNICATION], 1);
        weir_text_add(table_cell(t), WEIR_STR(" %"));
        table_end(t);
    }
    for (uint32_t k = 0; k < jobs; k++) {
        if (row->job_step_s != NULL && !isnan(row->ratio)) {
            weir_quantity_seconds(table_cell(t), row->job_step_s[k], 4);
        }
        table_end(t);
    }
    table_put(t, i == mix->best ? "<-" : "");
}

static void put_mix_jobs(const page *p, const weir_fabric_mix *mix)
{
    for (uint32_t i = 0; i < mix->job_count; i++) {
        weir_text line = {0};
        weir_text_printf(&line, "  job %u: ", (unsigned)i + 1);
        weir_text_escaped(&line, weir_str_from(mix->jobs[i]), 0);
        weir_text_add(&line, WEIR_STR(", "));
        weir_quantity_fixed(&line, 100 * mix->weights[i], 0);
        weir_text_add(&line, WEIR_STR(" %"));
        fabric_line(p, &line);
    }
    weir_text_char(p->out, '\n');
}

static void put_mix_table(const page *p, const weir_fabric_mix *mix)
{
    enum { OTHERS = 4 };
    uint32_t jobs = mix->job_count < MAX_COLUMNS - OTHERS ? mix->job_count : MAX_COLUMNS - OTHERS;
    char align[MAX_COLUMNS + 1] = "lrr";
    table t;
    for (uint32_t i = 0; i < jobs; i++) {
        align[3 + i] = 'r';
    }
    align[3 + jobs] = 'l';
    table_begin(&t, align);
    table_put(&t, "candidate");
    table_put(&t, "step/fastest");
    table_put(&t, "comm. wait");
    for (uint32_t i = 0; i < jobs; i++) {
        weir_text_printf(table_cell(&t), "job %u", (unsigned)i + 1);
        table_end(&t);
    }
    table_put(&t, "");
    for (uint32_t i = 0; i < mix->count; i++) {
        put_mix_row(&t, mix, i, jobs);
    }
    table_print(&t, p->out, p->options->colour);
}

weir_code weir_report_mix(weir_text *out, const weir_result *result, bool colour, weir_err *err)
{
    weir_text_options options = {.colour = colour};
    page p = {.out = out, .result = result, .options = &options};
    const weir_fabric_mix *mix = result->mix;
    weir_text_add(out, WEIR_STR("SIMULATED  a mix of jobs on one fabric\n"));
    put_mix_jobs(&p, mix);
    put_mix_table(&p, mix);
    for (uint32_t i = 0; i < mix->count; i++) {
        weir_text line = {0};
        if (mix->rows[i].refused != NULL) {
            weir_text_add(&line, WEIR_STR("Refused: "));
            weir_text_escaped(&line, weir_str_from(mix->rows[i].name), 0);
            weir_text_add(&line, WEIR_STR(": "));
            weir_text_escaped(&line, weir_str_from(mix->rows[i].refused), 0);
        }
        fabric_line(&p, &line);
    }
    return finish(out, err);
}
