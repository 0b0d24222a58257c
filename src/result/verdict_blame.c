#include "result/verdict_blame.h"

#include "result/quantity.h"
#include "result/verdict.h"
#include "timeline/comm_names.h"

#include <string.h>

enum { NAME_COLUMNS = 24, CANDIDATES = 64 };

const char *weir_comm_kind_plural(weir_comm_kind kind)
{
    static const char *const names[WEIR_COMM_KIND_COUNT] = {"collectives",
                                                            "all-reduces",
                                                            "all-gathers",
                                                            "reduce-scatters",
                                                            "all-to-alls",
                                                            "broadcasts",
                                                            "reductions",
                                                            "gathers",
                                                            "scatters",
                                                            "barriers",
                                                            "messages",
                                                            "messages",
                                                            "messages or all-to-alls"};
    return names[kind];
}

weir_str weir_node_short(const char *node)
{
    weir_str name = weir_str_from(node);
    bool is_address = name.n > 0 && name.p[0] >= '0' && name.p[0] <= '9';
    uint32_t dot = weir_str_find(name, WEIR_STR("."), 0);
    if (!is_address && dot > 0) {
        name.n = dot;
    }
    return name;
}

int64_t weir_straggler_mean_ns(const weir_result *result, const weir_straggler_row *row)
{
    int64_t others = 0;
    for (uint32_t i = 0; i < result->device_count; i++) {
        if (result->devices[i].rank != row->rank) {
            others += result->devices[i].multiplicity;
        }
    }
    int64_t steps = result->window.steps;
    return row->waited_for_ns / (others > 0 ? others : 1) / (steps > 0 ? steps : 1);
}

static void add_a_step(weir_text *text, const weir_result *result, int64_t ns)
{
    weir_quantity_duration(text, ns, 2);
    weir_text_add(text, result->window.steps > 0 ? WEIR_STR(" a step") : WEIR_STR(" each"));
}

/* The collective in which most is waited (or, unsplit, most time is), on axis where it is given. */
static const weir_collective_row *main_collective(const weir_result *result, const char *axis,
                                                  bool unsplit)
{
    const weir_collective_row *best = NULL;
    int64_t best_ns = 0;
    for (uint32_t i = 0; i < result->collective_count; i++) {
        const weir_collective_row *row = &result->collectives[i];
        int64_t ns = unsplit ? row->unsplit_ns : row->arrival_wait_ns;
        bool fits = axis == NULL || (row->axis != NULL && strcmp(row->axis, axis) == 0);
        if (fits && ns > best_ns) {
            best = row;
            best_ns = ns;
        }
    }
    return best;
}

static const char *plural_of(const weir_collective_row *row)
{
    return weir_comm_kind_plural(row != NULL ? row->kind : WEIR_COMM_UNKNOWN);
}

/* Who the waiting leads back to. */
typedef struct {
    int32_t rank;                  /* -1 = ranks whose files are missing, or unknown */
    int64_t ns;                    /* waited for it, directly or through others */
    const weir_straggler_row *row; /* where it is waited for itself, else where it is the origin */
} culprit;

static int32_t origin_of(const weir_straggler_row *row)
{
    return row->origin_rank >= 0 ? row->origin_rank : row->rank;
}

static culprit culprit_of(const weir_result *result, int32_t rank)
{
    culprit c = {.rank = rank};
    for (uint32_t i = 0; i < result->straggler_count; i++) {
        const weir_straggler_row *row = &result->stragglers[i];
        if (origin_of(row) != rank) {
            continue;
        }
        c.ns += row->waited_for_ns;
        if (c.row == NULL || (c.row->rank != rank && row->rank == rank)) {
            c.row = row;
        }
    }
    return c;
}

/* Rows are sorted, most waited for first: the main origin is among the first ones. */
static culprit main_culprit(const weir_result *result)
{
    culprit best = {.rank = -1};
    for (uint32_t i = 0; i < result->straggler_count && i < CANDIDATES; i++) {
        culprit c = culprit_of(result, origin_of(&result->stragglers[i]));
        if (c.ns > best.ns) {
            best = c;
        }
    }
    return best;
}

static const weir_device_row *device_of_rank(const weir_result *result, int32_t rank)
{
    for (uint32_t i = 0; i < result->device_count; i++) {
        if (result->devices[i].rank == rank) {
            return &result->devices[i];
        }
    }
    return NULL;
}

static uint32_t devices_of_rank(const weir_result *result, int32_t rank)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < result->device_count; i++) {
        n += result->devices[i].rank == rank;
    }
    return n;
}

static void add_rank(weir_text *text, const weir_result *result, int32_t rank)
{
    const weir_device_row *device = device_of_rank(result, rank);
    weir_text_printf(text, "ank %d", (int)rank);
    if (result->verdict.blames && result->verdict.rank == rank &&
        devices_of_rank(result, rank) > 1) { /* one process that drives several */
        weir_text_printf(text, ", GPU %d", (int)result->verdict.device);
    }
    if (device != NULL && device->node != NULL && device->node[0] != '\0') {
        weir_str name = weir_node_short(device->node);
        weir_text_add(text, weir_str_starts(name, WEIR_STR("node")) ? WEIR_STR(" (")
                                                                    : WEIR_STR(" (node "));
        weir_text_escaped(text, name, NAME_COLUMNS);
        weir_text_char(text, ')');
    }
}

/* " (1.74x the others')", nothing where it would be shown as 1.00. */
static void add_factor(weir_text *text, const char *before, double factor, const char *after)
{
    if (factor >= 1.005) {
        weir_text_printf(text, " (%s", before);
        weir_quantity_fixed(text, factor, 2);
        weir_text_printf(text, "x %s)", after);
    }
}

static void add_reason(weir_text *text, const weir_straggler_row *row, weir_reason reason)
{
    switch (reason) {
    case WEIR_REASON_LATE_HOST:
        weir_text_add(text, WEIR_STR(" Its host is late"));
        if (row->has_host_cause) {
            weir_text_printf(text, " (%s)", weir_cause_meaning(row->host_cause));
        }
        weir_text_add(text, WEIR_STR("; not its GPU or the network."));
        break;
    case WEIR_REASON_MORE_WORK:
        weir_text_add(text, WEIR_STR(" It has more work"));
        add_factor(text, "", row->factor, "the others'");
        weir_text_add(text, WEIR_STR("; not its GPU, its host or the network."));
        break;
    case WEIR_REASON_SLOW_DEVICE:
        weir_text_add(text, WEIR_STR(" Its GPU is slow"));
        add_factor(text, "the same kernels take ", row->factor, "as long");
        weir_text_add(text, WEIR_STR("; not its host or the network."));
        break;
    case WEIR_REASON_SLOW_LINK:
        weir_text_add(text, WEIR_STR(" Its link is slow (its earlier transfers take longer); not "
                                     "its GPU or its host."));
        break;
    case WEIR_REASON_ABSENT:
    case WEIR_REASON_UNKNOWN:
    case WEIR_REASON_COUNT:
        weir_text_add(text, WEIR_STR(" Nothing recorded tells why it is late."));
        break;
    }
}

static void blame(weir_result *result, const culprit *c)
{
    const weir_device_row *device = device_of_rank(result, c->rank);
    result->verdict.blames = true;
    result->verdict.rank = c->rank;
    bool own = c->row->rank == c->rank;
    result->verdict.device = own ? c->row->device : device != NULL ? device->device : -1;
    result->verdict.node = device != NULL ? device->node : c->row->node;
    result->verdict.reason = own ? c->row->reason : WEIR_REASON_UNKNOWN;
}

static void say_culprit(weir_result *result, weir_text *text, const culprit *c)
{
    weir_straggler_row all = *c->row;
    all.rank = c->rank;
    all.waited_for_ns = c->ns;
    blame(result, c);
    weir_text_char(text, 'R');
    add_rank(text, result, c->rank);
    weir_text_add(text, WEIR_STR(" makes the others wait: "));
    weir_quantity_percent(text, c->ns, result->total.wall_ns);
    weir_text_printf(text, " of the time ranks wait for it in %s, ",
                     plural_of(main_collective(result, c->row->axis, false)));
    add_a_step(text, result, weir_straggler_mean_ns(result, &all));
    weir_text_char(text, '.');
    add_reason(text, c->row, result->verdict.reason);
}

static uint32_t missing_ranks(const weir_result *result)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < result->collective_count; i++) {
        if (!result->collectives[i].complete && result->collectives[i].ranks > most) {
            most = result->collectives[i].ranks;
        }
    }
    return most > result->window.ranks ? most - result->window.ranks : 0;
}

static void add_missing(weir_text *text, const weir_result *result)
{
    uint32_t missing = missing_ranks(result);
    if (missing == 1) {
        weir_text_add(text, WEIR_STR("the file of 1 rank is missing"));
    } else if (missing > 1) {
        weir_text_printf(text, "the files of %u ranks are missing", (unsigned)missing);
    } else if (!result->clock.aligned) {
        weir_text_add(text, WEIR_STR("the clocks of the hosts could not be aligned"));
    } else {
        weir_text_add(text, WEIR_STR("not all their members were recorded"));
    }
}

/* A simulation without disturbances: who is waited for is what the plan makes of it. */
static bool is_all_planned(const weir_result *result)
{
    weir_cause cause = WEIR_CAUSE_DEPENDENCY_STRAGGLER;
    return result->simulated && result->control.planned.ns[cause] >= result->total.causes.ns[cause];
}

bool verdict_has_culprit(const weir_result *result)
{
    int64_t waited = result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_STRAGGLER];
    if (is_all_planned(result)) {
        return false;
    }
    culprit c = main_culprit(result);
    int64_t tenth = result->total.wall_ns / 10;
    return c.row != NULL && c.rank >= 0 && c.row->reason != WEIR_REASON_UNKNOWN &&
           c.ns >= waited / 2 && c.ns >= tenth && waited >= tenth;
}

void verdict_say_straggler(weir_result *result, weir_text *text)
{
    int64_t waited = result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_STRAGGLER];
    culprit c = main_culprit(result);
    if (is_all_planned(result)) {
        weir_text_printf(text, "Ranks wait for one another in %s: ",
                         plural_of(main_collective(result, NULL, false)));
        weir_quantity_percent(text, waited, result->total.wall_ns);
        weir_text_add(text, WEIR_STR(" of the time, as the plan has it."));
        return;
    }
    if (c.row != NULL && c.rank >= 0 && c.ns >= waited / 2) {
        say_culprit(result, text, &c);
        return;
    }
    if (c.row != NULL && c.row->reason == WEIR_REASON_ABSENT && c.ns >= waited / 2) {
        weir_text_add(text, WEIR_STR("Ranks wait for ranks whose files are missing or cut: "));
        weir_quantity_percent(text, waited, result->total.wall_ns);
        weir_text_printf(text, " of the time, in %s.",
                         plural_of(main_collective(result, c.row->axis, false)));
        return;
    }
    weir_text_printf(text, "Ranks wait for one another in %s: ",
                     plural_of(main_collective(result, NULL, false)));
    weir_quantity_percent(text, waited, result->total.wall_ns);
    weir_text_add(text, WEIR_STR(" of the time, for no rank in particular"));
    if (c.row != NULL && c.rank >= 0) {
        weir_text_add(text, WEIR_STR(" (most for r"));
        add_rank(text, result, c.rank);
        weir_text_add(text, WEIR_STR(", "));
        weir_quantity_percent(text, c.ns, result->total.wall_ns);
        weir_text_char(text, ')');
    }
    weir_text_char(text, '.');
}

void verdict_say_bubble(const weir_result *result, weir_text *text)
{
    weir_quantity_percent(text, result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_BUBBLE],
                          result->total.wall_ns);
    weir_text_add(text, WEIR_STR(" of the time ranks wait for the other end of a message"));
    for (uint32_t i = 0; i < result->straggler_count; i++) {
        const weir_straggler_row *row = &result->stragglers[i];
        if (row->axis != NULL && strcmp(row->axis, "pipeline") == 0 && row->rank >= 0) {
            weir_text_add(text, WEIR_STR(" (most for r"));
            add_rank(text, result, row->rank);
            weir_text_add(text, WEIR_STR(", "));
            weir_quantity_percent(text, row->waited_for_ns, result->total.wall_ns);
            weir_text_char(text, ')');
            break;
        }
    }
    weir_text_char(text, '.');
}

void verdict_say_unsplit(const weir_result *result, weir_text *text)
{
    weir_quantity_percent(text, result->total.causes.ns[WEIR_CAUSE_COMMUNICATION_UNSPLIT],
                          result->total.wall_ns);
    weir_text_printf(text, " of the time is in %s that cannot be split into waiting and transfer: ",
                     plural_of(main_collective(result, NULL, true)));
    add_missing(text, result);
    weir_text_char(text, '.');
}

/* Rows of messages are of kind SEND_RECV: they hold both ends. */
static bool has_cause(const weir_collective_row *row, weir_cause cause)
{
    return weir_comm_cause(row->kind) == cause ||
           (row->kind == WEIR_COMM_SEND_RECV && cause == WEIR_CAUSE_COMMUNICATION_P2P);
}

/* The row of the verdict's kind with the most transfer. */
static const weir_collective_row *main_transfer(const weir_result *result)
{
    const weir_collective_row *best = NULL;
    for (uint32_t i = 0; i < result->collective_count; i++) {
        const weir_collective_row *row = &result->collectives[i];
        if (has_cause(row, result->verdict.cause) &&
            (best == NULL || row->transfer_ns > best->transfer_ns)) {
            best = row;
        }
    }
    return best;
}

static void add_words(weir_text *text, const char *identifier) /* "between_nodes" */
{
    for (; *identifier != '\0'; identifier++) {
        weir_text_char(text, *identifier == '_' ? ' ' : *identifier);
    }
}

void verdict_say_transfer(const weir_result *result, weir_text *text)
{
    const weir_collective_row *row = main_transfer(result);
    weir_text_add(text, WEIR_STR("It is moving data: "));
    weir_quantity_percent(text, result->total.waits.ns[WEIR_WAIT_COMMUNICATION],
                          result->total.wall_ns);
    weir_text_add(text, WEIR_STR(" of the time is communication that nothing hides"));
    if (row != NULL) {
        weir_text_printf(text, ", most of it %s", plural_of(row));
        bool known_axis = row->axis != NULL && strcmp(row->axis, "unknown") != 0;
        if (known_axis || row->tier != NULL) {
            weir_text_printf(text, " (%s%s", known_axis ? row->axis : "",
                             known_axis && row->tier != NULL ? ", " : "");
            add_words(text, row->tier != NULL ? row->tier : "");
            weir_text_char(text, ')');
        }
        if (row->bus_bandwidth_bytes_per_s > 0) {
            weir_text_add(text, WEIR_STR(" at "));
            weir_quantity_fixed(text, row->bus_bandwidth_bytes_per_s / 1e9,
                                row->bus_bandwidth_bytes_per_s < 1e10 ? 1 : 0);
            weir_text_add(text, WEIR_STR(" GB/s of bus bandwidth"));
        }
    }
    weir_text_char(text, '.');
}
