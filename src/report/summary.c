#include "report/page.h"
#include "result/quantity.h"
#include "result/verdict.h"

#include <string.h>

enum { NODE_COLUMNS = 12, AXIS_COLUMNS = 9, FIRST_NOTES = 2, PLACES = 2, PLACE_COLUMNS = 56 };

static void end_line(const page *p, weir_text *line, uint32_t indent)
{
    if (line->n > 0) {
        text_wrap(p->out, (weir_str){line->p, (uint32_t)line->n}, indent);
    }
    p->out->failed = p->out->failed || line->failed;
    weir_text_clear(line);
}

static void put_duration(table *t, int64_t ns)
{
    weir_quantity_duration(table_cell(t), ns, 3);
    table_end(t);
}

/* --- who is waited for --- */

static const char *late_host_phrase(weir_cause cause)
{
    switch (cause) {
    case WEIR_CAUSE_DEPENDENCY_HOST:
        return "late host: launches late";
    case WEIR_CAUSE_DEPENDENCY_SYNC:
        return "late host: waits for GPU";
    case WEIR_CAUSE_DEPENDENCY_DATA:
        return "late host: data loader";
    case WEIR_CAUSE_DEPENDENCY_ALLOCATOR:
        return "late host: device memory";
    case WEIR_CAUSE_DEPENDENCY_COMPILE:
        return "late host: compilation";
    case WEIR_CAUSE_DEPENDENCY_CHECKPOINT:
        return "late host: checkpoint";
    case WEIR_CAUSE_DEPENDENCY_LAUNCH:
        return "late host: launch calls";
    default:
        return "late host";
    }
}

static void add_factor(weir_text *cell, double factor)
{
    if (factor >= 1.005) { /* less would be shown as 1.00 */
        weir_text_add(cell, WEIR_STR(": x"));
        weir_quantity_fixed(cell, factor, 2);
    }
}

static void put_why(table *t, const weir_straggler_row *row)
{
    weir_text *cell = table_cell(t);
    if (row->rank >= 0 && row->origin_rank >= 0 && row->origin_rank != row->rank) {
        weir_text_printf(cell, "waited for rank %d", (int)row->origin_rank);
    } else {
        switch (row->reason) {
        case WEIR_REASON_LATE_HOST:
            weir_text_add(cell,
                          weir_str_from(row->has_host_cause ? late_host_phrase(row->host_cause)
                                                            : "late host"));
            break;
        case WEIR_REASON_MORE_WORK:
            weir_text_add(cell, WEIR_STR("more work"));
            add_factor(cell, row->factor);
            break;
        case WEIR_REASON_SLOW_DEVICE:
            weir_text_add(cell, WEIR_STR("slow GPU"));
            add_factor(cell, row->factor);
            break;
        case WEIR_REASON_SLOW_LINK:
            weir_text_add(cell, WEIR_STR("slow link"));
            break;
        case WEIR_REASON_ABSENT:
            weir_text_add(cell, WEIR_STR("files missing or cut"));
            break;
        case WEIR_REASON_UNKNOWN:
        case WEIR_REASON_COUNT:
            weir_text_add(cell, WEIR_STR("unknown"));
            break;
        }
    }
    table_end(t);
}

/* One process that drives several devices: the rank alone would not tell which. */
static bool has_several_devices(const weir_result *result, int32_t rank)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < result->device_count; i++) {
        n += result->devices[i].rank == rank;
    }
    return n > 1;
}

static void put_straggler(table *t, const weir_result *result, const weir_straggler_row *row)
{
    weir_text *cell = table_cell(t);
    if (row->rank < 0) {
        weir_text_add(cell, WEIR_STR("  absent ranks"));
    } else {
        weir_text_printf(cell, "  rank %d", (int)row->rank);
        if (has_several_devices(result, row->rank)) {
            weir_text_printf(cell, " GPU %d", (int)row->device);
        }
    }
    if (row->rank >= 0 && result->window.nodes > 1 && row->node != NULL) {
        weir_text_char(cell, ' ');
        text_name(cell, weir_node_short(row->node), NODE_COLUMNS);
    }
    table_end(t);
    put_duration(t, weir_straggler_mean_ns(result, row));
    text_name(table_cell(t), weir_str_from(row->axis != NULL ? row->axis : ""), AXIS_COLUMNS);
    table_end(t);
    put_why(t, row);
    if (row->origin_rank < 0) {
        table_put(t, "unknown");
    } else if (row->origin_rank == row->rank) {
        table_put(t, "itself");
    } else {
        table_int(t, row->origin_rank);
    }
}

/* The row in which the blamed rank is waited for itself: it may stand far below its victims. */
static const weir_straggler_row *blamed_row(const weir_result *result)
{
    for (uint32_t i = 0; result->verdict.blames && i < result->straggler_count; i++) {
        if (result->stragglers[i].rank == result->verdict.rank) {
            return &result->stragglers[i];
        }
    }
    return NULL;
}

/* The blamed rank, then those that are waited for most. */
void page_stragglers(const page *p)
{
    const weir_result *result = p->result;
    const weir_straggler_row *blamed = blamed_row(result);
    uint32_t top = page_top(p, 3), shown = 0;
    table t;
    table_begin(&t, "lrlll");
    table_put(&t, "waited for");
    table_put(&t, result->window.steps > 0 ? "a step" : "in all");
    table_put(&t, "axis");
    table_put(&t, "why");
    table_put(&t, "origin");
    if (blamed != NULL) {
        put_straggler(&t, result, blamed);
        shown++;
    }
    for (uint32_t i = 0; i < result->straggler_count && shown < top; i++) {
        const weir_straggler_row *row = &result->stragglers[i];
        if (row != blamed &&
            weir_quantity_share(row->waited_for_ns, result->total.wall_ns) >= 0.001) {
            put_straggler(&t, result, row);
            shown++;
        }
    }
    if (shown > 0) {
        table_print(&t, p->out, p->options->colour);
    } else {
        table_drop(&t);
    }
}

/* --- collectives by axis --- */

static void add_collective(axis_row *row, const weir_collective_row *from)
{
    row->exposed_ns += from->exposed_ns;
    row->transfer_ns += from->transfer_ns;
    row->arrival_wait_ns += from->arrival_wait_ns;
    row->unsplit_ns += from->unsplit_ns;
    if (from->bus_bandwidth_bytes_per_s > 0) {
        row->bus_bytes += from->bus_bandwidth_bytes_per_s * (double)from->transfer_ns;
        row->bus_ns += from->transfer_ns;
    }
}

static bool axis_is_behind(const axis_row *a, const axis_row *b)
{
    if (a->exposed_ns != b->exposed_ns) {
        return a->exposed_ns < b->exposed_ns;
    }
    return strcmp(a->axis, b->axis) > 0;
}

uint32_t axes_of(const weir_result *result, axis_row rows[AXES_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < result->collective_count; i++) {
        const weir_collective_row *from = &result->collectives[i];
        const char *axis = from->axis != NULL ? from->axis : "unknown";
        uint32_t at = 0;
        while (at < count && strcmp(rows[at].axis, axis) != 0) {
            at++;
        }
        if (at == AXES_MAX) {
            continue;
        }
        if (at == count) {
            rows[count++] = (axis_row){.axis = axis};
        }
        add_collective(&rows[at], from);
    }
    for (uint32_t i = 1; i < count; i++) {
        axis_row row = rows[i];
        uint32_t at = i;
        for (; at > 0 && axis_is_behind(&rows[at - 1], &row); at--) {
            rows[at] = rows[at - 1];
        }
        rows[at] = row;
    }
    return count;
}

/* Columns that only some runs have. */
typedef struct {
    bool unsplit, bandwidth;
} axis_columns;

static void put_axis(table *t, const weir_result *result, const axis_row *row, axis_columns has)
{
    weir_text_add(table_cell(t), WEIR_STR("  "));
    text_name(table_cell(t), weir_str_from(row->axis), AXIS_COLUMNS);
    table_end(t);
    put_duration(t, mean_ns(result, row->exposed_ns));
    put_duration(t, mean_ns(result, row->transfer_ns));
    put_duration(t, mean_ns(result, row->arrival_wait_ns));
    if (has.unsplit) {
        put_duration(t, mean_ns(result, row->unsplit_ns));
    }
    if (has.bandwidth) {
        double bandwidth = row->bus_ns > 0 ? row->bus_bytes / (double)row->bus_ns : 0;
        if (bandwidth > 0) {
            weir_quantity_fixed(table_cell(t), bandwidth / 1e9, bandwidth < 1e10 ? 1 : 0);
        }
        table_end(t);
    }
}

void page_axes(const page *p, uint32_t top)
{
    static const char *const aligns[] = {"lrrr", "lrrrr", "lrrrr", "lrrrrr"};
    axis_row rows[AXES_MAX];
    uint32_t count = axes_of(p->result, rows);
    axis_columns has = {0};
    for (uint32_t i = 0; i < count; i++) {
        has.unsplit = has.unsplit || rows[i].unsplit_ns > 0;
        has.bandwidth = has.bandwidth || rows[i].bus_ns > 0;
    }
    if (count == 0) {
        return;
    }
    table t;
    table_begin(&t, aligns[(has.unsplit ? 2 : 0) + (has.bandwidth ? 1 : 0)]);
    table_put(&t, p->result->window.steps > 0 ? "axis, a step" : "axis, in all");
    table_put(&t, "exposed");
    table_put(&t, "transfer");
    table_put(&t, "arrival");
    if (has.unsplit) {
        table_put(&t, "unsplit");
    }
    if (has.bandwidth) {
        table_put(&t, "bus GB/s");
    }
    for (uint32_t i = 0; i < count && i < top; i++) {
        put_axis(&t, p->result, &rows[i], has);
    }
    table_print(&t, p->out, p->options->colour);
}

/* --- single lines --- */

void page_efficiency(const page *p)
{
    weir_text line = {0};
    if (p->result->efficiency.mfu >= 0) {
        weir_text_add(&line, WEIR_STR("MFU "));
        weir_quantity_fixed(&line, 100 * p->result->efficiency.mfu, 0);
        bool first = true;
        for (uint32_t i = 0; i < p->result->efficiency.ladder_count; i++) {
            const weir_ladder_step *step = &p->result->efficiency.ladder[i];
            if (step->share >= 0.005) {
                weir_text_printf(&line, "%s - %s ", first ? " = 100" : "", step->loss);
                weir_quantity_fixed(&line, 100 * step->share, 0);
                first = false;
            }
        }
    }
    end_line(p, &line, 2);
}

void page_path(const page *p)
{
    int64_t length = p->result->critical_path.length_ns;
    weir_text line = {0};
    if (length > 0) {
        weir_text_add(&line, WEIR_STR("Critical path: "));
        bool first = true;
        for (int wait = 0; wait < WEIR_WAIT_COUNT; wait++) {
            int64_t ns = p->result->critical_path.waits.ns[wait];
            if (weir_quantity_share(ns, length) >= 0.005) {
                weir_text_printf(&line, "%s%s ", first ? "" : ", ",
                                 weir_wait_name((weir_wait)wait));
                weir_quantity_percent(&line, ns, length);
                first = false;
            }
        }
        if (p->result->critical_path.rank_count > 1) {
            weir_text_printf(&line, "; rank %d ", (int)p->result->critical_path.ranks[0].rank);
            weir_quantity_percent(&line, p->result->critical_path.ranks[0].ns, length);
        }
        weir_text_char(&line, '.');
    }
    end_line(p, &line, 2);
}

void page_hidden(const page *p)
{
    const weir_account *total = &p->result->total;
    int64_t communication = total->hidden.communication_ns + total->hidden.arrival_wait_ns;
    weir_text line = {0};
    if (weir_quantity_share(communication, total->wall_ns) >= 0.01) {
        weir_text_add(&line, WEIR_STR("Hidden under computing: communication "));
        weir_quantity_percent(&line, communication, total->wall_ns);
    }
    if (weir_quantity_share(total->hidden.copy_ns, total->wall_ns) >= 0.01) {
        weir_text_add(&line, line.n > 0 ? WEIR_STR(", copies ")
                                        : WEIR_STR("Hidden under computing: copies "));
        weir_quantity_percent(&line, total->hidden.copy_ns, total->wall_ns);
    }
    if (line.n > 0 && p->result->efficiency.overlap_tax_ns > 0) {
        weir_text_add(&line, WEIR_STR("; kernels beside it take "));
        weir_quantity_duration(&line, mean_ns(p->result, p->result->efficiency.overlap_tax_ns), 2);
        weir_text_add(&line, p->result->window.steps > 0 ? WEIR_STR(" a step longer")
                                                         : WEIR_STR(" longer"));
    }
    if (line.n > 0) {
        weir_text_char(&line, '.');
    }
    end_line(p, &line, 2);
}

/* A place without the folders of its file: "rank0.json:123:45: excerpt". */
static weir_str place_name(const char *place)
{
    weir_str name = weir_str_from(place);
    uint32_t end = weir_str_find(name, WEIR_STR(":"), 0);
    for (uint32_t i = end; i > 0; i--) {
        if (name.p[i - 1] == '/') {
            return (weir_str){name.p + i, name.n - i};
        }
    }
    return name;
}

/* The first kinds of loss with their first places, of the others only the counts. */
static void add_kinds(weir_text *line, const weir_diags *diags, bool loss)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < diags->count; i++) {
        const weir_diag *diag = &diags->items[i];
        if (diag->loss != loss) {
            continue;
        }
        weir_text_printf(line, "%s%llu %s", shown == 0 ? "" : ", ", (unsigned long long)diag->count,
                         diag->kind);
        if (loss && shown < PLACES && diag->place_count > 0) {
            weir_text_add(line, WEIR_STR(" ("));
            text_name(line, place_name(diag->places[0].text), PLACE_COLUMNS);
            weir_text_char(line, ')');
        }
        shown++;
    }
}

void page_losses(const page *p, bool lost)
{
    weir_text kinds = {0}, line = {0};
    add_kinds(&kinds, &p->result->diags, lost);
    if (kinds.n > 0) {
        weir_text_printf(&line, "%s: %s.", lost ? "Lost" : "Repaired or assumed", kinds.p);
    }
    line.failed = line.failed || kinds.failed;
    weir_text_clear(&kinds);
    end_line(p, &line, 2);
}

static void add_clocks(weir_text *line, const weir_result *result)
{
    if (result->clock.hosts < 2) {
        return;
    }
    weir_text_printf(line, "Clocks: %u hosts, %s", (unsigned)result->clock.hosts,
                     result->clock.aligned ? "all linked, +-" : "not all linked, +-");
    weir_quantity_duration(line, result->clock.residual_ns, 2);
    weir_text_add(line, WEIR_STR(". "));
}

void page_sureness(const page *p)
{
    static const char *const names[] = {"counted", "by shape", "by marker", "by name", "unknown"};
    weir_text line = {0};
    bool first = true;
    add_clocks(&line, p->result);
    for (int i = 0; i < 5; i++) {
        if (p->result->classes[i] >= 0.0005) {
            weir_text_printf(&line, "%s%s ", first ? "Kernels classed: " : ", ", names[i]);
            weir_quantity_fixed(&line, 100 * p->result->classes[i],
                                p->result->classes[i] < 0.0095 ? 1 : 0);
            weir_text_add(&line, WEIR_STR(" %"));
            first = false;
        }
    }
    if (!first) {
        weir_text_char(&line, '.');
    }
    end_line(p, &line, 2);
}

void page_notes(const page *p)
{
    for (uint32_t i = 0; i < p->result->note_count && i < FIRST_NOTES; i++) {
        weir_text line = {0};
        weir_text_add(&line, WEIR_STR("Note: "));
        weir_text_escaped(&line, weir_str_from(p->result->notes[i]), 0);
        end_line(p, &line, 2);
    }
    if (p->result->note_count > FIRST_NOTES) {
        uint32_t more = p->result->note_count - FIRST_NOTES;
        page_ink(p, INK_FAINT, WEIR_WAIT_COMPUTE);
        weir_text_printf(p->out, "%u more note%s with --json.", (unsigned)more,
                         more == 1 ? "" : "s");
        page_plain(p);
        weir_text_char(p->out, '\n');
    }
}
