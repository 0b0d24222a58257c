#include "study/train_sweep.h"

#include "base/thread.h"
#include "study/train_traffic.h"

#include <stdlib.h>
#include <string.h>

void weir_train_sweep_fill(const weir_train_scenario *scenario, const weir_train_step *step,
                           weir_train_sweep_row *row)
{
    const weir_train_plan *plan = &scenario->job.plan;
    double devices = (double)weir_train_devices(plan);
    double peak = weir_gemm_format_peak(scenario->cluster.accelerator, plan->format);
    double device_s = step->step_s * devices;
    row->step_s = step->step_s;
    row->tokens_per_s = step->tokens / step->step_s;
    row->tokens_per_s_per_device = step->tokens / device_s;
    row->mfu = step->model_flop / device_s / peak;
    row->hfu = step->flop / device_s / peak;
    row->bubble_share = step->bubble_share;
    row->memory_bytes = step->memory.total;
    row->capacity_bytes = step->memory.capacity;
    row->fits = !(step->memory.capacity > 0) || step->memory.total <= step->memory.capacity;
    for (int w = 0; w < WEIR_WAIT_COUNT; w++) {
        row->wait_s[w] = 0;
    }
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        row->wait_s[weir_cause_wait((weir_cause)c)] += step->cause_s[c];
    }
}

/* --- rows --------------------------------------------------------------------------------- */

/* Of one thread: what it may not share. */
typedef struct {
    weir_train_shelf *shelf;
    weir_train_scratch *scratch;
    weir_setting *settings;
    weir_arena *arena; /* of reasons and of the name */
    const char *name;
    weir_code code; /* of the first row that failed for another reason than its input */
    weir_err err;
} worker;

typedef struct {
    const weir_train_sweep_request *request;
    weir_train_sweep *sweep;
    worker *workers;
    uint32_t worker_count;
} sweeping;

/* "job.yaml:3:9: plan.tensor: found 12 ...", "--set plan.tensor: plan.tensor: found 12 ..." without
 * the place, which the row's values say; an error elsewhere (a preset) stays whole. */
static const char *without_place(const char *text, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(text, "--set ", 6) == 0) {
        const char *colon = strstr(text, ": ");
        return colon ? colon + 2 : text;
    }
    if (strncmp(text, name, n) != 0 || text[n] != ':') {
        return text;
    }
    text += n + 1;
    while ((*text >= '0' && *text <= '9') || *text == ':') {
        text++;
    }
    return *text == ' ' ? text + 1 : text;
}

/* "plan.tensor: found ..." is about plan.tensor; others are about what was swept. */
static weir_code refuse(worker *w, const char *sentence, weir_train_sweep_row *row)
{
    uint32_t n = 0;
    weir_str whole = weir_str_from(sentence);
    while (n < whole.n &&
           ((whole.p[n] >= 'a' && whole.p[n] <= 'z') || whole.p[n] == '_' || whole.p[n] == '.')) {
        n++;
    }
    bool is_key = n > 0 && n < whole.n && whole.p[n] == ':';
    row->refused = weir_arena_copy(w->arena, whole);
    row->short_reason = is_key ? weir_arena_copy(w->arena, (weir_str){whole.p, n}) : "not possible";
    return row->refused && row->short_reason
               ? WEIR_OK
               : weir_err_set(&w->err, WEIR_ERR_MEMORY, "no memory for a sweep");
}

static weir_code fill_row(const sweeping *s, worker *w, weir_train_sweep_row *row)
{
    const weir_train_sweep_request *q = s->request;
    weir_err err = {0};
    weir_train_step step;
    weir_train_scenario scenario = {0};
    for (uint32_t a = 0; a < q->axis_count; a++) {
        w->settings[q->setting_count + a] = (weir_setting){q->axes[a].key, row->values[a]};
    }
    const weir_train_input input = {q->name, q->bytes, q->n, w->settings,
                                    q->setting_count + q->axis_count};
    weir_code code = weir_train_scenario_parse_on(w->shelf, &input, &scenario, &err);
    if (code == WEIR_OK) {
        code = weir_train_closed_step(&scenario, w->scratch, &step, &err);
    }
    if (code == WEIR_OK) {
        weir_train_sweep_fill(&scenario, &step, row);
        w->name = w->name ? w->name : weir_arena_copy(w->arena, weir_str_from(scenario.name));
        code = w->name ? WEIR_OK : weir_err_set(&err, WEIR_ERR_MEMORY, "no memory for a sweep");
    }
    weir_train_scenario_clear(&scenario);
    if (code == WEIR_ERR_INPUT) {
        return refuse(w, without_place(err.text, q->name), row);
    }
    return code == WEIR_OK ? WEIR_OK : weir_err_set(&w->err, code, "%s", err.text);
}

/* Every worker_count-th row: neighbours take about as long as each other. */
static void work(void *context, uint32_t index)
{
    const sweeping *s = context;
    worker *w = &s->workers[index];
    for (uint32_t i = index; i < s->sweep->row_count && w->code == WEIR_OK; i += s->worker_count) {
        w->code = fill_row(s, w, &s->sweep->rows[i]);
    }
}

/* --- workers ------------------------------------------------------------------------------ */

static void clear_workers(sweeping *s)
{
    for (uint32_t i = 0; i < s->worker_count; i++) {
        weir_train_shelf_free(s->workers[i].shelf);
        weir_train_scratch_free(s->workers[i].scratch);
        weir_arena_free(s->workers[i].arena);
        free(s->workers[i].settings);
    }
    free(s->workers);
}

static bool open_workers(sweeping *s)
{
    const weir_train_sweep_request *q = s->request;
    size_t room = (size_t)q->setting_count + q->axis_count + 1;
    s->workers = calloc((size_t)s->worker_count + 1, sizeof *s->workers);
    for (uint32_t i = 0; s->workers && i < s->worker_count; i++) {
        worker *w = &s->workers[i];
        w->shelf = weir_train_shelf_new();
        w->scratch = weir_train_scratch_new();
        w->arena = weir_arena_new();
        w->settings = calloc(room, sizeof *w->settings);
        if (!w->shelf || !w->scratch || !w->arena || !w->settings) {
            return false;
        }
        for (uint32_t k = 0; k < q->setting_count; k++) {
            w->settings[k] = q->settings[k];
        }
    }
    return s->workers != NULL;
}

/* Texts of workers into the arena that outlives them. */
static bool keep_texts(const sweeping *s, weir_arena *arena)
{
    weir_train_sweep *sweep = s->sweep;
    for (uint32_t i = 0; i < sweep->row_count; i++) {
        weir_train_sweep_row *row = &sweep->rows[i];
        if (row->refused) {
            row->refused = weir_arena_copy(arena, weir_str_from(row->refused));
            row->short_reason = weir_arena_copy(arena, weir_str_from(row->short_reason));
            if (!row->refused || !row->short_reason) {
                return false;
            }
        }
    }
    for (uint32_t i = 0; i < s->worker_count && s->workers && !sweep->scenario_name; i++) {
        const char *name = s->workers[i].name;
        sweep->scenario_name = name ? weir_arena_copy(arena, weir_str_from(name)) : NULL;
        if (name && !sweep->scenario_name) {
            return false;
        }
    }
    return true;
}

static weir_code run(sweeping *s, weir_arena *arena, weir_err *err)
{
    uint32_t threads = s->request->threads ? s->request->threads : weir_thread_cores();
    s->worker_count = threads < s->sweep->row_count ? threads : s->sweep->row_count;
    weir_code code =
        open_workers(s) ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a sweep");
    if (code == WEIR_OK) {
        weir_thread_for(s->worker_count, s->worker_count, work, s);
    }
    for (uint32_t i = 0; s->workers && i < s->worker_count && code == WEIR_OK; i++) {
        code = s->workers[i].code;
        if (code != WEIR_OK) {
            weir_err_set(err, code, "%s", s->workers[i].err.text);
        }
    }
    if (code == WEIR_OK && !keep_texts(s, arena)) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a sweep");
    }
    if (s->workers) {
        clear_workers(s);
    }
    return code;
}

/* --- the whole ---------------------------------------------------------------------------- */

static weir_code lay_out(const weir_train_sweep_request *q, weir_arena *arena,
                         weir_train_sweep *sweep, weir_err *err)
{
    uint64_t count = 1;
    for (uint32_t a = 0; a < q->axis_count; a++) {
        count *= q->axes[a].count;
        if (count > WEIR_SWEEP_POINTS) {
            return weir_err_set(err, WEIR_ERR_USAGE, "--sweep: more than %d combinations",
                                WEIR_SWEEP_POINTS);
        }
        for (uint32_t b = 0; b < a; b++) {
            if (strcmp(q->axes[a].key, q->axes[b].key) == 0) {
                return weir_err_set(err, WEIR_ERR_USAGE, "--sweep: %s is given twice",
                                    q->axes[a].key);
            }
        }
    }
    const char **keys = weir_arena_alloc(arena, (size_t)q->axis_count + 1, sizeof *keys);
    sweep->rows = weir_arena_alloc(arena, (size_t)count, sizeof *sweep->rows);
    const char **values =
        weir_arena_alloc(arena, (size_t)count * q->axis_count + 1, sizeof *values);
    if (!keys || !sweep->rows || !values) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a sweep");
    }
    sweep->keys = keys;
    sweep->key_count = q->axis_count;
    sweep->row_count = (uint32_t)count;
    for (uint32_t a = 0; a < q->axis_count; a++) {
        keys[a] = q->axes[a].key;
    }
    for (uint32_t i = 0; i < sweep->row_count; i++) {
        uint32_t rest = i;
        const char **mine = values + (size_t)i * q->axis_count;
        for (uint32_t a = q->axis_count; a-- > 0; rest /= q->axes[a].count) {
            mine[a] = q->axes[a].values[rest % q->axes[a].count];
        }
        sweep->rows[i].values = mine;
    }
    return WEIR_OK;
}

static uint32_t best_of(const weir_train_sweep *sweep)
{
    uint32_t best = WEIR_NONE;
    for (uint32_t i = 0; i < sweep->row_count; i++) {
        const weir_train_sweep_row *row = &sweep->rows[i];
        if (!row->refused && row->fits &&
            (best == WEIR_NONE || row->tokens_per_s > sweep->rows[best].tokens_per_s)) {
            best = i;
        }
    }
    return best;
}

/* What is wrong with all rows in the same way is no matter of their values: an unknown key. */
static weir_code check_same(const weir_train_sweep *sweep, weir_err *err)
{
    for (uint32_t i = 0; i < sweep->row_count; i++) {
        const char *refused = sweep->rows[i].refused;
        if (!refused || strcmp(refused, sweep->rows[0].refused) != 0) {
            return WEIR_OK;
        }
    }
    return weir_err_set(err, WEIR_ERR_INPUT, "--sweep: no plan is possible: %s",
                        sweep->rows[0].refused);
}

weir_code weir_train_sweep_run(const weir_train_sweep_request *request, weir_arena *arena,
                               weir_train_sweep *sweep, weir_err *err)
{
    weir_train_sweep made = {.best = WEIR_NONE};
    sweeping s = {.request = request, .sweep = &made};
    weir_code code = lay_out(request, arena, &made, err);
    if (code == WEIR_OK) {
        code = run(&s, arena, err);
    }
    if (code == WEIR_OK) {
        code = check_same(&made, err);
    }
    if (code == WEIR_OK) {
        made.scenario_name = made.scenario_name ? made.scenario_name : request->name;
        made.best = best_of(&made);
        *sweep = made;
    }
    return code;
}
