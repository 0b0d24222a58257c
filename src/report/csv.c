#include "report/report.h"
#include "report/sheet.h"

#include <math.h>
#include <string.h>

static void put_headings(sheet *s, const char *const *names)
{
    for (; *names != NULL; names++) {
        sheet_text(s, *names);
    }
}

static void put_heading_ns(sheet *s, const char *name)
{
    weir_text heading = {0};
    weir_text_printf(&heading, "%s_ns", name);
    sheet_text(s, heading.p);
    s->out->failed = s->out->failed || heading.failed;
    weir_text_clear(&heading);
}

static void put_account_headings(sheet *s)
{
    static const char *const hidden[] = {"hidden_communication_ns", "hidden_arrival_wait_ns",
                                         "hidden_copy_ns", NULL};
    sheet_text(s, "wall_ns");
    for (int wait = 0; wait < WEIR_WAIT_COUNT; wait++) {
        put_heading_ns(s, weir_wait_name((weir_wait)wait));
    }
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        put_heading_ns(s, weir_cause_name((weir_cause)c));
    }
    put_headings(s, hidden);
    sheet_end(s);
}

static void put_account(sheet *s, const weir_account *account)
{
    sheet_int(s, account->wall_ns);
    for (int wait = 0; wait < WEIR_WAIT_COUNT; wait++) {
        sheet_int(s, account->waits.ns[wait]);
    }
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        sheet_int(s, account->causes.ns[c]);
    }
    sheet_int(s, account->hidden.communication_ns);
    sheet_int(s, account->hidden.arrival_wait_ns);
    sheet_int(s, account->hidden.copy_ns);
    sheet_end(s);
}

static void put_devices(sheet *s, const weir_result *result)
{
    static const char *const names[] = {"rank", "node", "device", "multiplicity", NULL};
    put_headings(s, names);
    put_account_headings(s);
    for (uint32_t i = 0; i < result->device_count; i++) {
        const weir_device_row *row = &result->devices[i];
        sheet_int(s, row->rank);
        sheet_text(s, row->node);
        sheet_int(s, row->device);
        sheet_int(s, row->multiplicity);
        put_account(s, &row->account);
    }
}

static void put_nodes(sheet *s, const weir_result *result)
{
    static const char *const names[] = {"node", "devices", NULL};
    put_headings(s, names);
    put_account_headings(s);
    for (uint32_t i = 0; i < result->node_count; i++) {
        sheet_text(s, result->nodes[i].node);
        sheet_int(s, result->nodes[i].devices);
        put_account(s, &result->nodes[i].account);
    }
}

static void put_steps(sheet *s, const weir_result *result)
{
    sheet_text(s, "step");
    put_account_headings(s);
    for (uint32_t i = 0; i < result->step_count; i++) {
        sheet_int(s, result->steps[i].index);
        put_account(s, &result->steps[i].account);
    }
}

static void put_causes(sheet *s, const weir_result *result)
{
    static const char *const names[] = {"wait",      "cause",      "ns",         "planned_ns",
                                        "steady_ns", "erratic_ns", "unknown_ns", NULL};
    put_headings(s, names);
    sheet_end(s);
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        sheet_text(s, weir_wait_name(weir_cause_wait((weir_cause)c)));
        sheet_text(s, weir_cause_name((weir_cause)c));
        sheet_int(s, result->total.causes.ns[c]);
        sheet_int(s, result->control.planned.ns[c]);
        sheet_int(s, result->control.steady.ns[c]);
        sheet_int(s, result->control.erratic.ns[c]);
        sheet_int(s, result->control.unknown.ns[c]);
        sheet_end(s);
    }
}

static double known(double bytes_per_s)
{
    return bytes_per_s > 0 ? bytes_per_s : (double)NAN;
}

static void put_collective(sheet *s, const weir_collective_row *row)
{
    sheet_text(s, row->axis);
    sheet_text(s, weir_comm_kind_name(row->kind));
    sheet_text(s, row->group);
    sheet_text(s, row->tier);
    sheet_int(s, row->ranks);
    sheet_text(s, row->complete ? "true" : "false");
    sheet_int(s, row->instances);
    if (row->bytes > 0) {
        sheet_uint(s, row->bytes);
    } else {
        sheet_text(s, NULL);
    }
    sheet_int(s, row->transfer_ns);
    sheet_int(s, row->arrival_wait_ns);
    sheet_int(s, row->unsplit_ns);
    sheet_int(s, row->exposed_ns);
    sheet_double(s, known(row->algorithm_bandwidth_bytes_per_s));
    sheet_double(s, known(row->bus_bandwidth_bytes_per_s));
    sheet_end(s);
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
    sheet_end(s);
    for (uint32_t i = 0; i < result->collective_count; i++) {
        put_collective(s, &result->collectives[i]);
    }
}

static void put_kernels(sheet *s, const weir_result *result)
{
    static const char *const names[] = {"name", "family", "class", "cause", "count", "ns", NULL};
    put_headings(s, names);
    sheet_end(s);
    for (uint32_t i = 0; i < result->kernel_count; i++) {
        const weir_kernel_row *row = &result->kernels[i];
        sheet_text(s, row->name);
        sheet_text(s, row->family);
        sheet_text(s, row->cls);
        sheet_text(s, weir_cause_name(row->cause));
        sheet_int(s, (int64_t)row->count);
        sheet_int(s, row->ns);
        sheet_end(s);
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
