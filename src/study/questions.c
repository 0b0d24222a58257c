#include "study/questions.h"

#include "scenario/unit.h"

#include <math.h>
#include <string.h>

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a question");
}

/* --- pieces between commas ---------------------------------------------------------------- */

static weir_str trim(weir_str text)
{
    while (text.n && text.p[0] == ' ') {
        text.p++;
        text.n--;
    }
    while (text.n && text.p[text.n - 1] == ' ') {
        text.n--;
    }
    return text;
}

/* Cuts the next piece off rest, up to a comma outside brackets, braces and quotes. false: there was
 * no comma, the piece is the last one. */
static bool next_piece(weir_str *rest, weir_str *piece)
{
    uint32_t depth = 0, i = 0;
    char quote = '\0';
    for (; i < rest->n; i++) {
        char c = rest->p[i];
        if (quote) {
            quote = c == quote ? '\0' : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if ((c == ']' || c == '}') && depth) {
            depth--;
        } else if (c == ',' && depth == 0) {
            break;
        }
    }
    bool more = i < rest->n;
    *piece = trim((weir_str){rest->p, i});
    rest->p += i + more;
    rest->n -= i + more;
    return more;
}

/* As many as there can be. */
static uint32_t count_commas(weir_str text)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < text.n; i++) {
        count += text.p[i] == ',';
    }
    return count;
}

/* --- sweeps ------------------------------------------------------------------------------- */

static weir_code add_value(weir_sweep_axis *axis, weir_str value, weir_arena *arena, weir_err *err)
{
    if (value.n == 0) {
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "--sweep %.200s: value %u is empty, expected KEY=a,b,c", axis->key,
                            axis->count + 1);
    }
    for (uint32_t i = 0; i < axis->count; i++) {
        if (weir_str_eq(value, weir_str_from(axis->values[i]))) {
            return weir_err_set(err, WEIR_ERR_USAGE, "--sweep %.200s: found '%.*s' twice",
                                axis->key, (int)(value.n < 60 ? value.n : 60), value.p);
        }
    }
    axis->values[axis->count] = weir_arena_copy(arena, value);
    return axis->values[axis->count++] ? WEIR_OK : no_memory(err);
}

weir_code weir_sweep_parse(const char *text, weir_arena *arena, weir_sweep_axis *axis,
                           weir_err *err)
{
    weir_str all = weir_str_from(text);
    uint32_t at = weir_str_find(all, WEIR_STR("="), 0);
    weir_str key = trim((weir_str){all.p, at});
    if (at == all.n || key.n == 0) {
        return weir_err_set(err, WEIR_ERR_USAGE, "--sweep: found '%.200s', expected KEY=a,b,c",
                            text);
    }
    weir_str rest = {all.p + at + 1, all.n - at - 1}, value;
    weir_sweep_axis made = {.key = weir_arena_copy(arena, key)};
    made.values = weir_arena_alloc(arena, (size_t)count_commas(rest) + 1, sizeof *made.values);
    if (!made.key || !made.values) {
        return no_memory(err);
    }
    for (bool more = true; more;) {
        more = next_piece(&rest, &value);
        weir_code code = add_value(&made, value, arena, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    *axis = made;
    return WEIR_OK;
}

static weir_code count_points(const weir_sweep_axis *axes, uint32_t axis_count, uint32_t *count,
                              weir_err *err)
{
    uint64_t points = 1;
    if (axis_count == 0 || axis_count > WEIR_SWEEP_AXES) {
        return weir_err_set(err, WEIR_ERR_USAGE, "--sweep: found %u keys, expected 1 to %d",
                            axis_count, WEIR_SWEEP_AXES);
    }
    for (uint32_t i = 0; i < axis_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(axes[i].key, axes[j].key) == 0) {
                return weir_err_set(err, WEIR_ERR_USAGE, "--sweep %.200s: found that key twice",
                                    axes[i].key);
            }
        }
        points *= axes[i].count;
        if (points > WEIR_SWEEP_POINTS) {
            return weir_err_set(err, WEIR_ERR_USAGE,
                                "--sweep: found more than %d combinations, expected fewer values",
                                WEIR_SWEEP_POINTS);
        }
    }
    *count = (uint32_t)points;
    return WEIR_OK;
}

static weir_code play_point(const weir_sweep *sweep, uint32_t number, const weir_player *player,
                            weir_arena *arena, weir_err *err)
{
    weir_setting *settings = weir_arena_alloc(arena, sweep->axis_count, sizeof *settings);
    weir_sweep_point *point = &sweep->points[number];
    if (!settings) {
        return no_memory(err);
    }
    for (uint32_t i = sweep->axis_count; i-- > 0;) { /* the last axis goes round first */
        const weir_sweep_axis *axis = &sweep->axes[i];
        settings[i] = (weir_setting){axis->key, axis->values[number % axis->count]};
        number /= axis->count;
    }
    point->settings = settings;
    weir_play_wish wish = {
        .settings = settings, .setting_count = sweep->axis_count, .only = WEIR_NONE};
    return player->play(player->context, &wish, arena, &point->play, err);
}

weir_code weir_sweep_run(const weir_sweep_axis *axes, uint32_t axis_count,
                         const weir_player *player, weir_arena *arena, weir_sweep *sweep,
                         weir_err *err)
{
    weir_sweep made = {.axes = axes, .axis_count = axis_count};
    weir_code code = count_points(axes, axis_count, &made.count, err);
    if (code == WEIR_OK) {
        made.points = weir_arena_alloc(arena, made.count, sizeof *made.points);
        code = made.points ? WEIR_OK : no_memory(err);
    }
    for (uint32_t i = 0; i < made.count && code == WEIR_OK; i++) {
        code = play_point(&made, i, player, arena, err);
    }
    if (code == WEIR_OK) {
        *sweep = made;
    }
    return code;
}

/* --- mixes -------------------------------------------------------------------------------- */

/* "a.yaml:0.6": the weight is behind the last colon. */
static weir_code parse_job(weir_str piece, weir_arena *arena, weir_mix_job *job, weir_err *err)
{
    uint32_t colon = piece.n;
    while (colon > 0 && piece.p[colon - 1] != ':') {
        colon--;
    }
    weir_str weight = trim((weir_str){piece.p + colon, piece.n - colon});
    if (colon < 2 || !weir_number_parse(weight, &job->weight) || !(job->weight > 0)) {
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "--mix: found '%.*s', expected FILE:WEIGHT such as a.yaml:0.6",
                            (int)(piece.n < 200 ? piece.n : 200), piece.p);
    }
    job->path = weir_arena_copy(arena, trim((weir_str){piece.p, colon - 1}));
    return job->path ? WEIR_OK : no_memory(err);
}

weir_code weir_mix_parse(const char *text, weir_arena *arena, weir_mix_job **jobs, uint32_t *count,
                         weir_err *err)
{
    weir_str rest = weir_str_from(text), piece;
    uint32_t n = 0, most = count_commas(rest) + 1;
    double sum = 0;
    weir_mix_job *made = weir_arena_alloc(arena, most, sizeof *made);
    if (!made) {
        return no_memory(err);
    }
    for (bool more = true; more; n++) {
        more = next_piece(&rest, &piece);
        weir_code code = parse_job(piece, arena, &made[n], err);
        if (code != WEIR_OK) {
            return code;
        }
        sum += made[n].weight;
    }
    if (n < 2) {
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "--mix: found one job, expected at least two, such as "
                            "a.yaml:0.6,b.yaml:0.4");
    }
    for (uint32_t i = 0; i < n; i++) {
        made[i].weight /= sum;
    }
    *jobs = made;
    *count = n;
    return WEIR_OK;
}

static double fastest(const weir_play *play)
{
    double best = NAN;
    for (uint32_t i = 0; i < play->count; i++) {
        if (!play->rows[i].refused && !(best <= play->rows[i].step_s)) {
            best = play->rows[i].step_s;
        }
    }
    return best;
}

/* What one job adds to the rows of the candidates. */
static weir_code add_job(weir_mix *mix, uint32_t job, const weir_play *play, double **steps,
                         weir_err *err)
{
    double best = fastest(play), weight = mix->jobs[job].weight;
    for (uint32_t i = 0; i < mix->count; i++) {
        const weir_play_row *row = &play->rows[i];
        weir_mix_row *to = &mix->rows[i];
        if (strcmp(row->candidate, to->candidate) != 0) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "--mix: %.100s has a candidate '%.60s', expected '%.60s' as in "
                                "%.100s",
                                mix->jobs[job].path, row->candidate, to->candidate,
                                mix->jobs[0].path);
        }
        steps[i][job] = row->step_s;
        if (row->refused) {
            to->refused = to->refused ? to->refused : row->refused;
            continue;
        }
        to->ratio += weight * row->step_s / best;
        for (uint32_t w = 0; w < WEIR_WAIT_COUNT; w++) {
            to->wait_share[w] += weight * row->wait_share[w];
        }
    }
    return WEIR_OK;
}

/* Rows as the first play has them, with room for the steps of all jobs. */
static weir_code begin_rows(weir_mix *mix, const weir_play *play, weir_arena *arena,
                            double ***steps, weir_err *err)
{
    mix->count = play->count;
    mix->rows = weir_arena_alloc(arena, (size_t)play->count + 1, sizeof *mix->rows);
    *steps = weir_arena_alloc(arena, (size_t)play->count + 1, sizeof **steps);
    if (!mix->rows || !*steps) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < play->count; i++) {
        mix->rows[i].candidate = play->rows[i].candidate;
        (*steps)[i] = weir_arena_alloc(arena, mix->job_count, sizeof(double));
        mix->rows[i].job_step_s = (*steps)[i];
        if (!(*steps)[i]) {
            return no_memory(err);
        }
    }
    return WEIR_OK;
}

static void choose(weir_mix *mix)
{
    mix->best = WEIR_NONE;
    for (uint32_t i = 0; i < mix->count; i++) {
        weir_mix_row *row = &mix->rows[i];
        if (row->refused) {
            row->ratio = NAN;
            for (uint32_t w = 0; w < WEIR_WAIT_COUNT; w++) {
                row->wait_share[w] = NAN;
            }
        } else if (mix->best == WEIR_NONE || row->ratio < mix->rows[mix->best].ratio) {
            mix->best = i;
        }
    }
}

weir_code weir_mix_run(const weir_mix_job *jobs, uint32_t job_count, const weir_player *player,
                       weir_arena *arena, weir_mix *mix, weir_err *err)
{
    weir_mix made = {.jobs = jobs, .job_count = job_count};
    double **steps = NULL;
    weir_code code = WEIR_OK;
    for (uint32_t j = 0; j < job_count && code == WEIR_OK; j++) {
        weir_play play = {0};
        weir_play_wish wish = {
            .path = jobs[j].path, .candidates_path = j ? jobs[0].path : NULL, .only = WEIR_NONE};
        code = player->play(player->context, &wish, arena, &play, err);
        if (code == WEIR_OK && j == 0) {
            code = begin_rows(&made, &play, arena, &steps, err);
        }
        if (code == WEIR_OK && play.count != made.count) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "--mix: %.200s has %u candidates, expected %u as in %.200s",
                                jobs[j].path, play.count, made.count, jobs[0].path);
        }
        if (code == WEIR_OK) {
            code = add_job(&made, j, &play, steps, err);
        }
    }
    if (code == WEIR_OK) {
        choose(&made);
        *mix = made;
    }
    return code;
}
