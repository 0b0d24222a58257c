#include "report/kineto_writer.h"

#include "base/sort.h"
#include "codec/gzip_write.h"

#include "report/kineto_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- one rank --- */

/* Device spans of the rank by start, those that last longer first. */
static weir_code order_spans(kineto_rank *r, const weir_device *device, weir_err *err)
{
    const weir_lane *lanes = r->lanes + device->first_lane;
    uint32_t count = 0;
    for (uint32_t i = 0; i < device->lane_count; i++) {
        count += lanes[i].span_count;
    }
    weir_sort_pair *pairs = malloc((count + (size_t)1) * sizeof *pairs);
    r->order = malloc((count + (size_t)1) * sizeof *r->order);
    if (!pairs || !r->order) {
        free(pairs);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a trace of %u spans", count);
    }
    for (uint32_t i = 0; i < device->lane_count; i++) {
        for (uint32_t k = 0; k < lanes[i].span_count; k++) {
            weir_span_id span = lanes[i].first_span + k;
            pairs[r->count++] = (weir_sort_pair){(uint64_t)r->spans.start_ns[span], span};
        }
    }
    bool ok = weir_sort_pairs(pairs, count);
    for (uint32_t i = 0; ok && i < count; i++) {
        r->order[i] = (weir_span_id)pairs[i].value;
    }
    free(pairs);
    return ok ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "no memory to sort a trace");
}

static weir_code make_folder(const char *dir, weir_err *err)
{
    return mkdir(dir, 0777) == 0 || errno == EEXIST
               ? WEIR_OK
               : weir_err_set(err, WEIR_ERR_IO, "%s: %s", dir, strerror(errno));
}

/* Beside its place, then renamed. */
static weir_code write_file(const char *path, const weir_text *text, weir_err *err)
{
    weir_text beside = {0};
    weir_text_printf(&beside, "%s.part", path);
    FILE *out = beside.failed ? NULL : fopen(beside.p, "wb");
    if (!out) {
        weir_text_clear(&beside);
        return weir_err_set(err, WEIR_ERR_IO, "%s: %s", path, strerror(errno));
    }
    weir_code code = weir_gzip_write(out, path, text->p, text->n, err);
    if (fclose(out) != 0 && code == WEIR_OK) {
        code = weir_err_set(err, WEIR_ERR_IO, "%s: %s", path, strerror(errno));
    }
    if (code == WEIR_OK && rename(beside.p, path) != 0) {
        code = weir_err_set(err, WEIR_ERR_IO, "%s: %s", path, strerror(errno));
    }
    if (code != WEIR_OK) {
        remove(beside.p);
    }
    weir_text_clear(&beside);
    return code;
}

static weir_code write_rank(const char *dir, const weir_kineto_request *request, uint32_t d,
                            weir_err *err)
{
    uint32_t count;
    const weir_device *device = &weir_timeline_devices(request->timeline, &count)[d];
    kineto_rank r = {.request = request,
                     .id = device->rank,
                     .device = d,
                     .rank = &weir_timeline_ranks(request->timeline, &count)[device->rank],
                     .spans = weir_timeline_spans(request->timeline)};
    r.lanes = weir_timeline_lanes(request->timeline, &r.lane_count);
    r.groups = weir_timeline_groups(request->timeline, &count);
    weir_text path = {0};
    weir_text_printf(&path, "%s/rank%d.json.gz", dir, (int)r.rank->number);
    weir_code code = order_spans(&r, device, err);
    if (code == WEIR_OK) {
        kineto_write_events(&r);
        code = r.out.failed || path.failed
                   ? weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the trace of rank %d",
                                  (int)r.rank->number)
                   : write_file(path.p, &r.out, err);
    }
    weir_text_clear(&path);
    weir_text_clear(&r.out);
    free(r.order);
    return code;
}

weir_code weir_kineto_write(const char *dir, const weir_kineto_request *request, weir_err *err)
{
    uint32_t devices;
    (void)weir_timeline_devices(request->timeline, &devices);
    weir_code code = make_folder(dir, err);
    for (uint32_t d = 0; d < devices && code == WEIR_OK; d++) {
        code = write_rank(dir, request, d, err);
    }
    return code;
}
