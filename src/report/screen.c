#include "report/page.h"
#include "result/quantity.h"

enum { NAME_COLUMNS = 13, BAR_COLUMNS = 17, CAUSE_COLUMNS = 38 };

void page_ink(const page *p, ink which, weir_wait wait)
{
    static const char *const waits[WEIR_WAIT_COUNT] = {"\033[32m", "\033[36m", "\033[31m",
                                                       "\033[33m"};
    if (!p->options->colour) {
        return;
    }
    const char *code = which == INK_FAINT ? "\033[2m" : which == INK_BOLD ? "\033[1m" : waits[wait];
    weir_text_add(p->out, weir_str_from(code));
}

void page_plain(const page *p)
{
    if (p->options->colour) {
        weir_text_add(p->out, WEIR_STR("\033[0m"));
    }
}

uint32_t page_top(const page *p, uint32_t otherwise)
{
    return p->options->top > 0 ? p->options->top : otherwise;
}

int64_t mean_ns(const weir_result *result, int64_t total_ns)
{
    int64_t devices = 0;
    for (uint32_t i = 0; i < result->device_count; i++) {
        devices += result->devices[i].multiplicity;
    }
    int64_t steps = result->window.steps;
    return total_ns / (devices > 0 ? devices : 1) / (steps > 0 ? steps : 1);
}

static void add_count(weir_text *text, uint32_t count, const char *one)
{
    weir_text_printf(text, "%u %s%s", (unsigned)count, one, count == 1 ? "" : "s");
}

static void add_extent(weir_text *text, const weir_result *result)
{
    if (result->window.steps == 0) {
        weir_quantity_duration(text, result->window.end_ns - result->window.begin_ns, 4);
        weir_text_add(text, WEIR_STR(" without step markers"));
        return;
    }
    add_count(text, result->window.steps, "step");
    if (result->window.step_ns > 0) {
        weir_text_add(text, WEIR_STR(" of "));
        weir_quantity_duration(text, result->window.step_ns, 4);
    }
}

static void put_header(const page *p)
{
    weir_text *out = p->out;
    page_ink(p, INK_BOLD, WEIR_WAIT_COMPUTE);
    weir_text_add(out, p->result->simulated ? WEIR_STR("SIMULATED") : WEIR_STR("MEASURED"));
    page_plain(p);
    weir_text_add(out, WEIR_STR("  "));
    add_count(out, p->result->window.ranks, "rank");
    if (p->result->window.devices != p->result->window.ranks) {
        weir_text_add(out, WEIR_STR(", "));
        add_count(out, p->result->window.devices, "GPU");
    }
    weir_text_add(out, WEIR_STR(", "));
    add_count(out, p->result->window.nodes, "node");
    weir_text_add(out, WEIR_STR(", "));
    add_extent(out, p->result);
    weir_text_char(out, '\n');
}

/* Where most of the exposed time of a communication cause was, with its tier. */
static const char *tier_of(const weir_result *result, weir_cause cause)
{
    const weir_communication_part *best = NULL;
    for (uint32_t i = 0; i < result->communication_count; i++) {
        const weir_communication_part *part = &result->communication[i];
        if (part->cause == cause && (best == NULL || part->ns > best->ns)) {
            best = part;
        }
    }
    return best != NULL ? best->tier : NULL;
}

static void add_cause(weir_text *item, const weir_result *result, weir_cause cause, bool first)
{
    weir_text_printf(item, "%s%s ", first ? "" : ", ", weir_cause_short_name(cause));
    double percent =
        100 * weir_quantity_share(result->total.causes.ns[cause], result->total.wall_ns);
    weir_quantity_fixed(item, percent, percent < 0.95 ? 1 : 0);
    const char *tier = first ? tier_of(result, cause) : NULL;
    if (tier != NULL) {
        weir_text_add(item, WEIR_STR(" ("));
        for (; *tier != '\0'; tier++) {
            weir_text_char(item, *tier == '_' ? ' ' : *tier);
        }
        weir_text_char(item, ')');
    }
}

static weir_cause next_cause(const weir_result *result, weir_wait wait, const bool *done)
{
    weir_cause best = WEIR_CAUSE_COUNT;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        if (weir_cause_wait((weir_cause)c) == wait && !done[c] &&
            (best == WEIR_CAUSE_COUNT ||
             result->total.causes.ns[c] > result->total.causes.ns[best])) {
            best = (weir_cause)c;
        }
    }
    return best;
}

/* As many of the largest causes as fit; those under half a percent only if they are the first. */
static void add_causes(weir_text *line, const weir_result *result, weir_wait wait, size_t room)
{
    bool done[WEIR_CAUSE_COUNT] = {false};
    for (int i = 0; i < 4; i++) {
        weir_cause cause = next_cause(result, wait, done);
        if (cause == WEIR_CAUSE_COUNT) {
            return;
        }
        done[cause] = true;
        double share = weir_quantity_share(result->total.causes.ns[cause], result->total.wall_ns);
        if (share < 0.0005 || (i > 0 && share < 0.005)) {
            return;
        }
        weir_text item = {0};
        add_cause(&item, result, cause, line->n == 0);
        if (line->n + item.n <= room) {
            weir_text_bytes(line, item.p, item.n);
        }
        line->failed = line->failed || item.failed;
        weir_text_clear(&item);
    }
}

void page_bar(const page *p, weir_wait wait)
{
    const weir_result *result = p->result;
    double share = weir_quantity_share(result->total.waits.ns[wait], result->total.wall_ns);
    weir_text number = {0}, causes = {0}, peak = {0};
    weir_quantity_fixed(&number, 100 * share, 1);
    if (wait == WEIR_WAIT_COMPUTE && result->efficiency.peak_share_in_compute >= 0) {
        weir_text_add(&peak, WEIR_STR("; "));
        weir_quantity_fixed(&peak, 100 * result->efficiency.peak_share_in_compute, 0);
        weir_text_add(&peak, WEIR_STR(" % of peak"));
    }
    add_causes(&causes, result, wait, CAUSE_COLUMNS - peak.n);
    page_ink(p, INK_WAIT, wait);
    weir_text_printf(p->out, "%-*s", NAME_COLUMNS, weir_wait_name(wait));
    page_plain(p);
    weir_text_printf(p->out, "%6s %%  ", number.p != NULL ? number.p : "");
    int full = (int)(share * BAR_COLUMNS + 0.5);
    page_ink(p, INK_WAIT, wait);
    for (int i = 0; i < BAR_COLUMNS; i++) {
        weir_text_char(p->out, i < full ? '#' : '.');
    }
    page_plain(p);
    if (causes.n > 0) {
        weir_text_add(p->out, WEIR_STR("  "));
        weir_text_bytes(p->out, causes.p, causes.n);
        weir_text_bytes(p->out, peak.p, peak.n);
    }
    weir_text_char(p->out, '\n');
    p->out->failed = p->out->failed || number.failed || causes.failed || peak.failed;
    weir_text_clear(&number);
    weir_text_clear(&causes);
    weir_text_clear(&peak);
}

static int64_t waiting_of(const weir_causes *causes)
{
    int64_t ns = 0;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        ns += weir_cause_wait((weir_cause)c) == WEIR_WAIT_COMPUTE ? 0 : causes->ns[c];
    }
    return ns;
}

static void add_control(weir_text *line, const weir_result *result, int64_t waiting)
{
    const weir_control *control = &result->control;
    int64_t unknown = waiting_of(&control->unknown);
    weir_text_add(line, WEIR_STR("  of the waiting: "));
    if (unknown == waiting) {
        weir_text_add(line, result->window.steps <= 1
                                ? WEIR_STR("planned, steady, erratic unknown (one step)")
                                : WEIR_STR("planned, steady, erratic unknown"));
        return;
    }
    weir_text_add(line, WEIR_STR("planned "));
    weir_quantity_percent(line, waiting_of(&control->planned), waiting);
    weir_text_add(line, WEIR_STR(", steady "));
    weir_quantity_percent(line, waiting_of(&control->steady), waiting);
    weir_text_add(line, WEIR_STR(", erratic "));
    weir_quantity_percent(line, waiting_of(&control->erratic), waiting);
    if (unknown > 0) {
        weir_text_add(line, WEIR_STR(", unknown "));
        weir_quantity_percent(line, unknown, waiting);
    }
}

void page_control(const page *p)
{
    enum { INDENT = 4 };
    int64_t waiting = waiting_of(&p->result->total.causes);
    weir_text line = {0};
    if (waiting <= 0) {
        return;
    }
    add_control(&line, p->result, waiting);
    if (p->result->control.places_for_half > 0) {
        weir_text_add(&line, WEIR_STR("; half in "));
        add_count(&line, p->result->control.places_for_half, "place");
    }
    if (!line.failed) {
        text_wrap(p->out, (weir_str){line.p, (uint32_t)line.n}, INDENT);
    }
    p->out->failed |= line.failed;
    weir_text_clear(&line);
}

static void put_first_screen(const page *p)
{
    put_header(p);
    page_losses(p, true);
    if (p->result->verdict.sentence != NULL) {
        text_wrap(p->out, weir_str_from(p->result->verdict.sentence), 0);
    }
    weir_text_char(p->out, '\n');
    for (int wait = 0; wait < WEIR_WAIT_COUNT; wait++) {
        page_bar(p, (weir_wait)wait);
    }
    page_control(p);
    weir_text_char(p->out, '\n');
    page_stragglers(p);
    page_axes(p, page_top(p, 3));
    page_efficiency(p);
    page_path(p);
    page_hidden(p);
    page_losses(p, false);
    page_sureness(p);
    page_notes(p);
}

weir_code weir_report_text(weir_text *out, const weir_result *result,
                           const weir_text_options *options, weir_err *err)
{
    page p = {out, result, options};
    if (options->unknown_kernels) {
        page_unknown_kernels(&p);
    } else {
        put_first_screen(&p);
        page_by(&p);
    }
    if (out->failed) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to write the report");
    }
    return WEIR_OK;
}
