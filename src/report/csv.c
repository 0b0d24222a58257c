#include "codec/decimal.h"
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

/* RFC 4180, but with lines that end in \n. Names have their control bytes escaped as in the text
 * report; a value with comma, quote or blank ends is quoted. */

typedef struct {
    weir_text *out;
    bool any; /* the row has a value */
} sheet;

static void next(sheet *s)
{
    if (s->any) {
        weir_text_char(s->out, ',');
    }
    s->any = true;
}

static void put_text(sheet *s, const char *text) /* NULL: an empty value */
{
    weir_text plain = {0};
    next(s);
    if (text != NULL) {
        weir_text_escaped(&plain, weir_str_from(text), 0);
    }
    weir_str value = {plain.n > 0 ? plain.p : "", (uint32_t)plain.n};
    if (weir_str_has(value, WEIR_STR(",")) || weir_str_has(value, WEIR_STR("\"")) ||
        weir_str_starts(value, WEIR_STR(" ")) || weir_str_ends(value, WEIR_STR(" "))) {
        weir_text_char(s->out, '"');
        for (uint32_t i = 0; i < value.n; i++) {
            weir_text_add(s->out,
                          value.p[i] == '"' ? WEIR_STR("\"\"") : (weir_str){&value.p[i], 1});
        }
        weir_text_char(s->out, '"');
    } else {
        weir_text_add(s->out, value);
    }
    s->out->failed = s->out->failed || plain.failed;
    weir_text_clear(&plain);
}

static void put_int(sheet *s, int64_t value)
{
    next(s);
    weir_text_printf(s->out, "%" PRId64, value);
}

static void put_known_double(sheet *s, double value, bool known)
{
    char text[WEIR_DECIMAL_MAX] = "";
    next(s);
    size_t n = known ? weir_decimal_print(text, value) : 0;
    weir_text_bytes(s->out, text, n);
}

static void put_headings(sheet *s, const char *const *names)
{
    for (; *names != NULL; names++) {
        put_text(s, *names);
    }
}

static void end_row(sheet *s)
{
    weir_text_char(s->out, '\n');
    s->any = false;
}

static void put_account_headings(sheet *s)
{
    static const char *const hidden[] = {"hidden_communication_ns", "hidden_arrival_wait_ns",
                                         "hidden_copy_ns", NULL};
    put_text(s, "wall_ns");
    for (int wait = 0; wait < WEIR_WAIT_COUNT; wait++) {
        next(s);
        weir_text_printf(s->out, "%s_ns", weir_wait_name((weir_wait)wait));
    }
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        next(s);
        weir_text_printf(s->out, "%s_ns", weir_cause_name((weir_cause)c));
    }
    put_headings(s, hidden);
    end_row(s);
}

static void put_account(sheet *s, const weir_account *account)
{
    put_int(s, account->wall_ns);
    for (int wait = 0; wait < WEIR_WAIT_COUNT; wait++) {
        put_int(s, account->waits.ns[wait]);
    }
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        put_int(s, account->causes.ns[c]);
    }
    put_int(s, account->hidden.communication_ns);
    put_int(s, account->hidden.arrival_wait_ns);
    put_int(s, account->hidden.copy_ns);
    end_row(s);
}

static void put_devices(sheet *s, const weir_result *result)
{
    static const char *const names[] = {"rank", "node", "device", "multiplicity", NULL};
    put_headings(s, names);
    put_account_headings(s);
    for (uint32_t i = 0; i < result->device_count; i++) {
        const weir_device_row *row = &result->devices[i];
        put_int(s, row->rank);
        put_text(s, row->node);
        put_int(s, row->device);
        put_int(s, row->multiplicity);
        put_account(s, &row->account);
    }
}

static void put_nodes(sheet *s, const weir_result *result)
{
    static const char *const names[] = {"node", "devices", NULL};
    put_headings(s, names);
    put_account_headings(s);
    for (uint32_t i = 0; i < result->node_count; i++) {
        put_text(s, result->nodes[i].node);
        put_int(s, result->nodes[i].devices);
        put_account(s, &result->nodes[i].account);
    }
}

static void put_steps(sheet *s, const weir_result *result)
{
    put_text(s, "step");
    put_account_headings(s);
    for (uint32_t i = 0; i < result->step_count; i++) {
        put_int(s, result->steps[i].index);
        put_account(s, &result->steps[i].account);
    }
}

static void put_causes(sheet *s, const weir_result *result)
{
    static const char *const names[] = {"wait",      "cause",      "ns",         "planned_ns",
                                        "steady_ns", "erratic_ns", "unknown_ns", NULL};
    put_headings(s, names);
    end_row(s);
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        put_text(s, weir_wait_name(weir_cause_wait((weir_cause)c)));
        put_text(s, weir_cause_name((weir_cause)c));
        put_int(s, result->total.causes.ns[c]);
        put_int(s, result->control.planned.ns[c]);
        put_int(s, result->control.steady.ns[c]);
        put_int(s, result->control.erratic.ns[c]);
        put_int(s, result->control.unknown.ns[c]);
        end_row(s);
    }
}

static void put_collective(sheet *s, const weir_collective_row *row)
{
    put_text(s, row->axis);
    put_text(s, weir_comm_kind_name(row->kind));
    put_text(s, row->group);
    put_text(s, row->tier);
    put_int(s, row->ranks);
    put_text(s, row->complete ? "true" : "false");
    put_int(s, row->instances);
    next(s);
    if (row->bytes > 0) {
        weir_text_printf(s->out, "%" PRIu64, row->bytes);
    }
    put_int(s, row->transfer_ns);
    put_int(s, row->arrival_wait_ns);
    put_int(s, row->unsplit_ns);
    put_int(s, row->exposed_ns);
    put_known_double(s, row->algorithm_bandwidth_bytes_per_s,
                     row->algorithm_bandwidth_bytes_per_s > 0);
    put_known_double(s, row->bus_bandwidth_bytes_per_s, row->bus_bandwidth_bytes_per_s > 0);
    end_row(s);
}

static void put_axes(sheet *s, const weir_result *result)
{
    static const char *const names[] = {"axis",
                                        "kind",
                                        "group",
                                        "tier",
                                        "ranks",
                                        "complete",
                                        "instances",
                                        "bytes",
                                        "transfer_ns",
                                        "arrival_wait_ns",
                                        "unsplit_ns",
                                        "exposed_ns",
                                        "algorithm_bandwidth_bytes_per_s",
                                        "bus_bandwidth_bytes_per_s",
                                        NULL};
    put_headings(s, names);
    end_row(s);
    for (uint32_t i = 0; i < result->collective_count; i++) {
        put_collective(s, &result->collectives[i]);
    }
}

static void put_kernels(sheet *s, const weir_result *result)
{
    static const char *const names[] = {"name", "family", "class", "cause", "count", "ns", NULL};
    put_headings(s, names);
    end_row(s);
    for (uint32_t i = 0; i < result->kernel_count; i++) {
        const weir_kernel_row *row = &result->kernels[i];
        put_text(s, row->name);
        put_text(s, row->family);
        put_text(s, row->cls);
        put_text(s, weir_cause_name(row->cause));
        put_int(s, (int64_t)row->count);
        put_int(s, row->ns);
        end_row(s);
    }
}

weir_code weir_report_csv(weir_text *out, const weir_result *result, weir_by by, weir_err *err)
{
    static void (*const tables[])(sheet *, const weir_result *) = {
        [WEIR_BY_DEFAULT] = put_devices, [WEIR_BY_RANK] = put_devices, [WEIR_BY_NODE] = put_nodes,
        [WEIR_BY_AXIS] = put_axes,       [WEIR_BY_STEP] = put_steps,   [WEIR_BY_CAUSE] = put_causes,
        [WEIR_BY_KERNEL] = put_kernels};
    sheet s = {.out = out};
    tables[by](&s, result);
    if (out->failed) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to write the CSV");
    }
    return WEIR_OK;
}
