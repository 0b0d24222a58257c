#include "import/nccl_tests.h"

#include "base/grow.h"
#include "base/text.h"
#include "import/nccl_implied.h"
#include "import/nccl_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 64 << 10, ROWS_MOST = 1 << 20, BLOCK = 1 << 16 };

typedef struct {
    weir_str name;
    weir_nccl_tests found;
    weir_nccl_run now; /* being read */
    weir_nccl_columns columns;
    const char **hosts; /* of the run */
    uint32_t host_count, host_room;
    uint8_t *seen; /* by rank, of the run */
    uint32_t seen_room;
    bool is_over; /* its averages were told: what follows is another run */
    bool has_sum; /* rows are sums */
    uint32_t row_total, line;
    weir_text text; /* the line, as far as it is read */
    bool is_cut;    /* it was longer than LINE_MOST */
    weir_diags *diags;
    weir_err *err;
} reader;

static const weir_nccl_columns usual_columns = {true, true, 2};

static weir_code no_memory(reader *r)
{
    return weir_err_set(r->err, WEIR_ERR_MEMORY, "%.*s: no memory for its rows", (int)r->name.n,
                        r->name.p);
}

static void note(reader *r, const char *kind, bool is_lost, uint32_t column, weir_str line)
{
    weir_diags_add(r->diags, kind, is_lost, r->name, r->line, column, line);
}

/* --- runs --- */

static weir_str file_of(weir_str path)
{
    uint32_t at = path.n;
    while (at > 0 && path.p[at - 1] != '/') {
        at--;
    }
    return (weir_str){path.p + at, path.n - at};
}

/* Keeps the run, if it has rows, and makes room for the next. */
static weir_code end_run(reader *r)
{
    weir_nccl_run *run = &r->now;
    if (run->row_count > 0) {
        const weir_nccl_name *name = weir_nccl_find_name(file_of(r->name), WEIR_STR(""));
        if (!run->test && name) {
            run->kind = name->kind;
        }
        weir_nccl_imply(run, r->has_sum);
        run->hosts = r->host_count;
        weir_nccl_tests *t = &r->found;
        if (!weir_grow(&t->runs, t->run_count, &t->run_room, sizeof *t->runs)) {
            return no_memory(r);
        }
        t->runs[t->run_count++] = *run;
    }
    *run = (weir_nccl_run){0};
    r->host_count = 0;
    r->is_over = r->has_sum = false;
    if (r->seen_room) {
        memset(r->seen, 0, r->seen_room);
    }
    return WEIR_OK;
}

/* Something that comes before rows: of this run, if it has none yet. */
static weir_code begin_part(reader *r)
{
    weir_code code = r->now.row_count > 0 || r->is_over ? end_run(r) : WEIR_OK;
    r->now.line = r->now.line ? r->now.line : r->line;
    return code;
}

static weir_code keep_text(reader *r, weir_str text, const char **kept)
{
    if (*kept) {
        return WEIR_OK;
    }
    *kept = weir_arena_copy(r->found.arena, text);
    return *kept ? WEIR_OK : no_memory(r);
}

/* --- lines --- */

static weir_code take_test(reader *r, weir_str line)
{
    const weir_nccl_name *test = weir_nccl_find_name(line, WEIR_STR("_perf"));
    if (!test || weir_str_has(line, WEIR_STR("concluded"))) {
        return WEIR_OK;
    }
    weir_code code = begin_part(r);
    if (code != WEIR_OK || r->now.test) {
        return code;
    }
    weir_text name = {0};
    weir_text_printf(&name, "%s_perf", test->name);
    r->now.kind = test->kind;
    code = name.failed ? no_memory(r)
                       : keep_text(r, (weir_str){name.p, (uint32_t)name.n}, &r->now.test);
    weir_text_clear(&name);
    return code;
}

static weir_code take_host(reader *r, weir_str host)
{
    for (uint32_t i = 0; i < r->host_count; i++) {
        if (weir_str_eq(weir_str_from(r->hosts[i]), host)) {
            return WEIR_OK;
        }
    }
    if (!weir_grow(&r->hosts, r->host_count, &r->host_room, sizeof *r->hosts)) {
        return no_memory(r);
    }
    r->hosts[r->host_count] = weir_arena_copy(r->found.arena, host);
    return r->hosts[r->host_count++] ? WEIR_OK : no_memory(r);
}

static weir_code mark_seen(reader *r, uint32_t rank, weir_str line)
{
    while (rank >= r->seen_room) {
        uint32_t room = r->seen_room;
        if (!weir_grow(&r->seen, room, &r->seen_room, sizeof *r->seen)) {
            return no_memory(r);
        }
        memset(r->seen + room, 0, r->seen_room - room);
    }
    if (r->seen[rank]) {
        r->now.is_rank_repeated = true;
        note(r, "rank-seen-twice", false, 1, line);
        return WEIR_OK;
    }
    r->seen[rank] = 1;
    r->now.ranks++;
    return WEIR_OK;
}

/* "#  Rank  3 Group  0 Pid  104 on host-1 device  3 [0000:39:00] NVIDIA H100"; old versions have no
 * Group. */
static weir_code take_rank(reader *r, weir_str line)
{
    enum { RANKS_MOST = 1 << 24 };
    uint32_t at = weir_str_find(line, WEIR_STR("Rank"), 0);
    uint32_t hash = weir_str_find(line, WEIR_STR("#"), 0);
    uint32_t on = weir_str_find(line, WEIR_STR(" on "), at);
    uint32_t device = weir_str_find(line, WEIR_STR(" device"), on);
    uint64_t rank;
    if (at == line.n || hash > at || on == line.n || device == line.n) {
        return WEIR_OK;
    }
    at += 4;
    if (!weir_nccl_whole(weir_nccl_word(line, &at), &rank) || rank >= RANKS_MOST) {
        return WEIR_OK;
    }
    weir_code code = begin_part(r);
    on += 4;
    code = code == WEIR_OK ? take_host(r, weir_nccl_word(line, &on)) : code;
    code = code == WEIR_OK ? mark_seen(r, (uint32_t)rank, line) : code;
    uint32_t model = weir_str_find(line, WEIR_STR("] "), device);
    if (code == WEIR_OK && model < line.n) {
        model += 2;
        code = keep_text(r, (weir_str){line.p + model, line.n - model}, &r->now.device);
    }
    return code;
}

static weir_code take_version(reader *r, weir_str line)
{
    static const char *const marks[] = {"NCCL version : ", "NCCL version "};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        weir_str mark = weir_str_from(marks[i]);
        uint32_t at = weir_str_find(line, mark, 0);
        if (at < line.n) {
            at += mark.n;
            weir_str version = weir_nccl_word(line, &at);
            return version.n ? keep_text(r, version, &r->now.library) : WEIR_OK;
        }
    }
    return WEIR_OK;
}

static void take_average(reader *r, weir_str line)
{
    uint32_t at = weir_str_find(line, WEIR_STR("Avg bus bandwidth"), 0);
    uint32_t colon = weir_str_find(line, WEIR_STR(":"), at);
    double value, step;
    if (at == line.n || colon == line.n) {
        return;
    }
    colon++;
    if (weir_nccl_number(weir_nccl_word(line, &colon), &value, &step) && value >= 0) {
        r->now.average_busbw_bytes_per_s = value * 1e9;
        r->is_over = true;
    }
}

static weir_code keep_row(reader *r, const weir_nccl_line *row, uint32_t placement, weir_str line)
{
    const weir_nccl_figures *f = &row->placement[placement];
    if (!f->is_sound) {
        note(r, "impossible-row", true, row->column, line);
        return WEIR_OK;
    }
    if (f->has_wrong && f->wrong > 0) {
        note(r, "wrong-result", false, row->column, line);
    }
    weir_nccl_run *run = &r->now;
    if (r->row_total++ >= ROWS_MOST) {
        return weir_err_set(r->err, WEIR_ERR_LIMIT, "%.*s:%u: more than %d rows", (int)r->name.n,
                            r->name.p, r->line, (int)ROWS_MOST);
    }
    if (!weir_grow(&run->rows, run->row_count, &run->row_room, sizeof *run->rows)) {
        return no_memory(r);
    }
    run->rows[run->row_count++] = (weir_nccl_measured){
        .bytes = row->bytes,
        .time_s = f->time_us / 1e6,
        .algbw_bytes_per_s = f->algbw_gb_per_s * 1e9,
        .busbw_bytes_per_s = f->busbw_gb_per_s * 1e9,
        .step_bytes_per_s = fmax(f->algbw_step, f->busbw_step) * 1e9,
        .is_in_place = placement == 1,
        .wrong = f->has_wrong ? f->wrong : 0,
        .line = r->line,
    };
    return WEIR_OK;
}

static weir_code take_row(reader *r, weir_str line, bool *is_row)
{
    weir_nccl_line row;
    weir_nccl_line_kind kind = weir_nccl_row(line, &r->columns, &row);
    *is_row = kind != WEIR_NCCL_NO_ROW;
    if (kind == WEIR_NCCL_NO_ROW) {
        return WEIR_OK;
    }
    if (kind == WEIR_NCCL_CUT_ROW) {
        note(r, "cut-row", true, row.column, line);
    }
    weir_code code = r->is_over ? end_run(r) : WEIR_OK;
    r->now.line = r->now.line ? r->now.line : r->line;
    r->has_sum |= weir_str_eq(row.redop, WEIR_STR("sum"));
    for (uint32_t i = 0; i < row.figures && code == WEIR_OK; i++) {
        code = keep_row(r, &row, i, line);
    }
    return code;
}

static weir_code take_line(reader *r, weir_str line)
{
    bool is_row;
    weir_code code = take_row(r, line, &is_row);
    if (is_row || code != WEIR_OK) {
        return code;
    }
    weir_nccl_columns columns;
    if (weir_nccl_heading(line, &columns)) {
        code = begin_part(r);
        r->columns = columns;
        return code;
    }
    take_average(r, line);
    code = take_test(r, line);
    code = code == WEIR_OK ? take_rank(r, line) : code;
    return code == WEIR_OK ? take_version(r, line) : code;
}

/* --- bytes to lines --- */

/* Takes colours (ESC [ ... letter) and trailing blanks off, in place. */
static weir_str plain_line(weir_text *text)
{
    size_t n = 0;
    for (size_t i = 0; i < text->n; i++) {
        if (text->p[i] == '\x1b' && i + 1 < text->n && text->p[i + 1] == '[') {
            i += 2;
            while (i < text->n && !(text->p[i] >= '@' && text->p[i] <= '~')) {
                i++;
            }
            continue;
        }
        text->p[n++] = text->p[i];
    }
    while (n > 0 && (text->p[n - 1] == '\r' || text->p[n - 1] == ' ' || text->p[n - 1] == '\t')) {
        n--;
    }
    return (weir_str){text->p, (uint32_t)n};
}

static weir_code end_line(reader *r)
{
    r->line++;
    weir_code code = WEIR_OK;
    if (r->text.failed) {
        return no_memory(r);
    }
    if (r->text.n > 0) {
        weir_str line = plain_line(&r->text);
        if (r->is_cut) {
            note(r, "oversized-line", true, LINE_MOST,
                 (weir_str){line.p, line.n < 80 ? line.n : 80});
        }
        code = take_line(r, line);
    }
    r->text.n = 0;
    r->is_cut = false;
    return code;
}

static weir_code take_bytes(reader *r, const char *bytes, size_t n)
{
    weir_code code = WEIR_OK;
    while (n > 0 && code == WEIR_OK) {
        const char *end = memchr(bytes, '\n', n);
        size_t part = end ? (size_t)(end - bytes) : n;
        size_t room = LINE_MOST - r->text.n;
        r->is_cut |= part > room;
        weir_text_bytes(&r->text, bytes, part < room ? part : room);
        if (end) {
            code = end_line(r);
            part++;
        }
        bytes += part;
        n -= part;
    }
    return code;
}

static weir_code read_lines(reader *r, weir_source *source)
{
    char *block = malloc(BLOCK);
    weir_code code = block ? WEIR_OK : no_memory(r);
    size_t n = 1;
    while (code == WEIR_OK && n > 0) {
        code = weir_source_read(source, block, BLOCK, &n, r->err);
        code = code == WEIR_OK ? take_bytes(r, block, n) : code;
    }
    free(block);
    code = code == WEIR_OK && r->text.n > 0 ? end_line(r) : code;
    if (code == WEIR_OK) {
        weir_source_damage damage = weir_source_get_damage(source);
        if (damage.truncated) {
            note(r, "cut-compression", true, 0, WEIR_STR(""));
        }
        if (damage.broken) {
            note(r, "damaged-compression", true, 0, WEIR_STR(""));
        }
        code = end_run(r);
    }
    return code;
}

static weir_code expect_rows(reader *r)
{
    if (r->found.run_count > 0) {
        return WEIR_OK;
    }
    return weir_err_set(r->err, WEIR_ERR_INPUT,
                        "%.*s: no row of nccl-tests in %u lines; a row is 'size count type redop "
                        "root time algbw busbw #wrong', as all_reduce_perf prints it",
                        (int)r->name.n, r->name.p, r->line);
}

weir_code weir_nccl_tests_read(weir_source *source, const char *name, weir_nccl_tests *tests,
                               weir_diags *diags, weir_err *err)
{
    reader r = {.name = weir_str_from(weir_source_shown_name(name)),
                .columns = usual_columns,
                .diags = diags,
                .err = err,
                .found = {.arena = weir_arena_new()}};
    weir_code code = r.found.arena ? read_lines(&r, source) : no_memory(&r);
    code = code == WEIR_OK ? expect_rows(&r) : code;
    if (code == WEIR_OK) {
        *tests = r.found;
    } else {
        weir_nccl_tests_clear(&r.found);
    }
    free(r.now.rows);
    free(r.hosts);
    free(r.seen);
    weir_text_clear(&r.text);
    return code;
}

void weir_nccl_tests_clear(weir_nccl_tests *tests)
{
    for (uint32_t i = 0; i < tests->run_count; i++) {
        free(tests->runs[i].rows);
    }
    free(tests->runs);
    weir_arena_free(tests->arena);
    *tests = (weir_nccl_tests){0};
}
