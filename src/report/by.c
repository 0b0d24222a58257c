#include "report/page.h"
#include "result/quantity.h"
#include "result/verdict.h"

enum { ROWS = 20, NODE_COLUMNS = 20, NAME_COLUMNS = 40 };

static void put_share(table *t, int64_t part, int64_t whole)
{
    weir_quantity_fixed(table_cell(t), 100 * weir_quantity_share(part, whole), 1);
    table_end(t);
}

static void put_duration(table *t, int64_t ns)
{
    weir_quantity_duration(table_cell(t), ns, 3);
    table_end(t);
}

static void put_name(table *t, const char *name, uint32_t columns)
{
    text_name(table_cell(t), weir_str_from(name != NULL ? name : ""), columns);
    table_end(t);
}

static void put_headings(table *t, const char *const *headings)
{
    for (; *headings != NULL; headings++) {
        table_put(t, *headings);
    }
}

/* Ends a table of which `shown` of `count` rows were put; says so where rows are missing. */
static void put_table(const page *p, table *t, uint64_t shown, uint64_t count)
{
    if (count == 0) {
        table_drop(t);
        weir_text_add(p->out, WEIR_STR("Nothing recorded to make this table of.\n"));
        return;
    }
    table_print(t, p->out, p->options->colour);
    if (count > shown) {
        page_ink(p, INK_FAINT, WEIR_WAIT_COMPUTE);
        weir_text_printf(p->out, "%llu more (--top N)", (unsigned long long)(count - shown));
        page_plain(p);
        weir_text_char(p->out, '\n');
    }
}

/* The four shares and the largest cause that is not computing. */
static void put_account(table *t, const weir_account *account)
{
    int best = -1;
    for (int wait = 0; wait < WEIR_WAIT_COUNT; wait++) {
        put_share(t, account->waits.ns[wait], account->wall_ns);
    }
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        if (weir_cause_wait((weir_cause)c) != WEIR_WAIT_COMPUTE &&
            account->causes.ns[c] > (best >= 0 ? account->causes.ns[best] : 0)) {
            best = c;
        }
    }
    if (best >= 0) {
        weir_text_printf(table_cell(t), "%s ", weir_cause_short_name((weir_cause)best));
        weir_quantity_percent(table_cell(t), account->causes.ns[best], account->wall_ns);
    }
    table_end(t);
}

/* Only the columns that tell ranks apart: nodes where there are several, devices where a rank has
 * several. */
static void by_rank(const page *p)
{
    static const char *const headings[] = {"wall",  "comp.",        "comm.", "dep.",
                                           "cache", "most waiting", NULL};
    static const char *const aligns[] = {"rrrrrrl", "rlrrrrrl", "rrrrrrrl", "rrlrrrrrl"};
    bool nodes = p->result->window.nodes > 1;
    bool devices = p->result->window.devices != p->result->window.ranks;
    uint32_t top = page_top(p, ROWS), shown = 0;
    table t;
    table_begin(&t, aligns[(devices ? 2 : 0) + (nodes ? 1 : 0)]);
    table_put(&t, "rank");
    if (devices) {
        table_put(&t, "GPU");
    }
    if (nodes) {
        table_put(&t, "node");
    }
    put_headings(&t, headings);
    for (; shown < p->result->device_count && shown < top; shown++) {
        const weir_device_row *row = &p->result->devices[shown];
        table_int(&t, row->rank);
        if (devices) {
            table_int(&t, row->device);
        }
        if (nodes) {
            weir_str node = weir_node_short(row->node != NULL ? row->node : "");
            text_name(table_cell(&t), node, devices ? 9 : 12); /* 80 columns in all */
            table_end(&t);
        }
        put_duration(&t, row->account.wall_ns);
        put_account(&t, &row->account);
    }
    put_table(p, &t, shown, p->result->device_count);
}

static void by_node(const page *p)
{
    static const char *const headings[] = {"node", "GPUs",  "comp.",        "comm.",
                                           "dep.", "cache", "most waiting", NULL};
    uint32_t top = page_top(p, ROWS), shown = 0;
    table t;
    table_begin(&t, "lrrrrrl");
    put_headings(&t, headings);
    for (; shown < p->result->node_count && shown < top; shown++) {
        const weir_node_row *row = &p->result->nodes[shown];
        put_name(&t, row->node, NODE_COLUMNS);
        table_int(&t, row->devices);
        put_account(&t, &row->account);
    }
    put_table(p, &t, shown, p->result->node_count);
}

static void by_step(const page *p)
{
    static const char *const headings[] = {"step", "wall",  "comp.",        "comm.",
                                           "dep.", "cache", "most waiting", NULL};
    uint32_t top = page_top(p, ROWS), shown = 0;
    int64_t devices = p->result->window.devices > 0 ? p->result->window.devices : 1;
    table t;
    table_begin(&t, "rrrrrrl");
    put_headings(&t, headings);
    for (; shown < p->result->step_count && shown < top; shown++) {
        const weir_step_row *row = &p->result->steps[shown];
        table_int(&t, row->index);
        put_duration(&t, row->account.wall_ns / devices);
        put_account(&t, &row->account);
    }
    put_table(p, &t, shown, p->result->step_count);
}

static void put_cause(table *t, const weir_result *result, int c)
{
    const weir_control *control = &result->control;
    int64_t ns = result->total.causes.ns[c];
    table_put(t, weir_cause_name((weir_cause)c));
    put_share(t, ns, result->total.wall_ns);
    put_duration(t, mean_ns(result, ns));
    if (control->unknown.ns[c] == ns) {
        table_put(t, "?");
        table_put(t, "?");
        table_put(t, "?");
    } else {
        put_share(t, control->planned.ns[c], ns);
        put_share(t, control->steady.ns[c], ns);
        put_share(t, control->erratic.ns[c], ns);
    }
}

static void by_cause(const page *p)
{
    static const char *const headings[] = {"cause",  "share %",   "a step", "planned",
                                           "steady", "erratic %", NULL};
    bool done[WEIR_CAUSE_COUNT] = {false};
    table t;
    table_begin(&t, "lrrrrr");
    put_headings(&t, headings);
    uint32_t top = page_top(p, ROWS), shown = 0, count = 0;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        count += p->result->total.causes.ns[c] > 0;
    }
    for (; shown < count && shown < top; shown++) {
        int best = -1;
        for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
            int64_t least = best >= 0 ? p->result->total.causes.ns[best] : 0;
            if (!done[c] && p->result->total.causes.ns[c] > least) {
                best = c;
            }
        }
        done[best] = true;
        put_cause(&t, p->result, best);
    }
    put_table(p, &t, shown, count);
}

static void put_bytes(table *t, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1000 && unit < 5; unit++) {
        value /= 1000;
    }
    if (bytes > 0) {
        weir_quantity_fixed(table_cell(t), value, value < 10 && unit > 0 ? 1 : 0);
        weir_text_printf(table_cell(t), " %s", units[unit]);
    }
    table_end(t);
}

static void put_collective(table *t, const weir_collective_row *row)
{
    double bandwidth = row->bus_bandwidth_bytes_per_s;
    put_name(t, row->axis, 8);
    table_put(t, weir_comm_kind_name(row->kind));
    put_name(t, row->group, 8);
    weir_text_printf(table_cell(t), "%u%s", (unsigned)row->ranks, row->complete ? "" : "?");
    table_end(t);
    table_int(t, row->instances);
    put_bytes(t, row->bytes);
    put_duration(t, row->transfer_ns);
    put_duration(t, row->arrival_wait_ns);
    if (bandwidth > 0) {
        weir_quantity_fixed(table_cell(t), bandwidth / 1e9, bandwidth < 1e10 ? 1 : 0);
    }
    table_end(t);
}

static void by_axis(const page *p)
{
    static const char *const headings[] = {"axis",  "kind",     "group",   "ranks", "times",
                                           "bytes", "transfer", "arrival", "GB/s",  NULL};
    uint32_t top = page_top(p, ROWS), shown = 0;
    table t;
    page_axes(p, AXES_MAX);
    weir_text_char(p->out, '\n');
    table_begin(&t, "lllrrrrrr");
    put_headings(&t, headings);
    for (; shown < p->result->collective_count && shown < top; shown++) {
        put_collective(&t, &p->result->collectives[shown]);
    }
    put_table(p, &t, shown, p->result->collective_count);
}

static int64_t kernel_ns(const weir_result *result)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < result->kernel_count; i++) {
        ns += result->kernels[i].ns;
    }
    return ns;
}

static void by_kernel(const page *p)
{
    static const char *const headings[] = {"time", "%", "times", "cause", "kernel", NULL};
    uint32_t top = page_top(p, ROWS), shown = 0;
    int64_t all = kernel_ns(p->result);
    table t;
    table_begin(&t, "rrrll");
    put_headings(&t, headings);
    for (; shown < p->result->kernel_count && shown < top; shown++) {
        const weir_kernel_row *row = &p->result->kernels[shown];
        put_duration(&t, row->ns);
        put_share(&t, row->ns, all);
        table_int(&t, (int64_t)row->count);
        table_put(&t, weir_cause_short_name(row->cause));
        put_name(&t, row->name, NAME_COLUMNS);
    }
    put_table(p, &t, shown, p->result->kernel_count);
}

void page_by(const page *p)
{
    static void (*const tables[])(const page *) = {
        [WEIR_BY_RANK] = by_rank, [WEIR_BY_NODE] = by_node,   [WEIR_BY_AXIS] = by_axis,
        [WEIR_BY_STEP] = by_step, [WEIR_BY_CAUSE] = by_cause, [WEIR_BY_KERNEL] = by_kernel};
    if (p->options->by != WEIR_BY_DEFAULT) {
        weir_text_char(p->out, '\n');
        tables[p->options->by](p);
    }
}

void page_unknown_kernels(const page *p)
{
    static const char *const headings[] = {"time", "%", "times", "kernel", NULL};
    uint32_t top = page_top(p, ROWS), shown = 0, count = 0;
    int64_t all = kernel_ns(p->result), unknown = 0;
    table t;
    table_begin(&t, "rrrl");
    put_headings(&t, headings);
    for (uint32_t i = 0; i < p->result->kernel_count; i++) {
        const weir_kernel_row *row = &p->result->kernels[i];
        if (row->family != NULL) {
            continue;
        }
        unknown += row->ns;
        count++;
        if (shown < top) {
            put_duration(&t, row->ns);
            put_share(&t, row->ns, all);
            table_int(&t, (int64_t)row->count);
            put_name(&t, row->name, UINT32_MAX);
            shown++;
        }
    }
    weir_text_add(p->out, WEIR_STR("Kernels that no family matches: "));
    weir_quantity_percent(p->out, unknown, all);
    weir_text_printf(p->out, " of the kernel time, %u name%s.\n", (unsigned)count,
                     count == 1 ? "" : "s");
    if (count > 0) {
        put_table(p, &t, shown, count);
    } else {
        table_drop(&t);
    }
}
