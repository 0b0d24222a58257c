/* What stands beside the events: deviceProperties, distributedInfo, names of files and hosts. */
#include "codec/json_scan.h"
#include "import/kineto_ranks.h"
#include "import/kineto_spans.h"
#include "timeline/shard.h"

#include <stdlib.h>
#include <string.h>

static bool integer_get(weir_str value, int64_t *number)
{
    weir_str text = weir_json_unquote(value);
    weir_str digits = text.n ? text : value;
    bool saturated = false;
    return weir_json_integer(digits.p, digits.p + digits.n, number, &saturated) && !saturated;
}

static weir_code device_read(kineto_shard *s, weir_str value, weir_err *err)
{
    struct kineto_device device = {0};
    const char *p = value.p + 1, *end = value.p + value.n;
    weir_str key, member;
    while (value.n && weir_json_next(&p, end, &key, &member)) {
        int64_t number = 0;
        if (weir_str_eq(key, WEIR_STR("name"))) {
            weir_code code =
                weir_timeline_intern(s->shard, weir_json_unquote(member), &device.name, err);
            if (code != WEIR_OK) {
                return code;
            }
        } else if (weir_str_eq(key, WEIR_STR("numSms")) && integer_get(member, &number)) {
            device.sm_count = number > 0 && number < UINT32_MAX ? (uint32_t)number : 0;
        } else if (weir_str_eq(key, WEIR_STR("totalGlobalMem")) && integer_get(member, &number)) {
            device.memory_bytes = number > 0 ? (uint64_t)number : 0;
        }
    }
    struct kineto_device *grown =
        realloc(s->devices, (s->device_count + (size_t)1) * sizeof *s->devices);
    if (!grown) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "%s: out of memory", s->file.p);
    }
    s->devices = grown;
    s->devices[s->device_count++] = device;
    return WEIR_OK;
}

static weir_code devices_read(kineto_shard *s, weir_str value, weir_err *err)
{
    const char *p = value.p + 1, *end = value.p + value.n;
    weir_str key, item;
    while (value.p[0] == '[' && s->device_count < 1024 && weir_json_next(&p, end, &key, &item)) {
        weir_code code = item.p[0] == '{' ? device_read(s, item, err) : WEIR_OK;
        if (code != WEIR_OK) {
            return code;
        }
    }
    return WEIR_OK;
}

/* One row of pg_config: adds a group, which finish() uses to complete those of the events. */
static weir_code group_read(kineto_shard *s, weir_str value, weir_err *err)
{
    weir_group group = {0};
    int32_t *ranks = NULL;
    const char *p = value.p + 1, *end = value.p + value.n;
    weir_str key, member;
    weir_code code = WEIR_OK;
    while (code == WEIR_OK && weir_json_next(&p, end, &key, &member)) {
        int64_t number = 0;
        if (weir_str_eq(key, WEIR_STR("pg_name"))) {
            weir_str text = weir_json_unquote(member);
            code = weir_timeline_intern(s->shard, text.n ? text : member, &group.name, err);
        } else if (weir_str_eq(key, WEIR_STR("pg_desc"))) {
            code =
                weir_timeline_intern(s->shard, weir_json_unquote(member), &group.description, err);
        } else if (weir_str_eq(key, WEIR_STR("pg_size")) && integer_get(member, &number)) {
            group.size = number > 0 && number <= 1 << 20 ? (uint32_t)number : 0;
        } else if (weir_str_eq(key, WEIR_STR("ranks"))) {
            free(ranks);
            ranks = kineto_ranks_parse(member, &group.rank_count);
        }
    }
    group.ranks = ranks;
    weir_group_id id;
    if (code == WEIR_OK && (group.name || group.description)) {
        code = weir_timeline_add_group(s->shard, &group, &id, err);
    }
    free(ranks);
    return code;
}

static weir_code distributed_read(kineto_shard *s, weir_str value, weir_err *err)
{
    const char *p = value.p + 1, *end = value.p + value.n;
    weir_str key, member;
    while (value.p[0] == '{' && weir_json_next(&p, end, &key, &member)) {
        int64_t number = 0;
        if (weir_str_eq(key, WEIR_STR("rank")) && integer_get(member, &number) && number >= 0 &&
            number < INT32_MAX) {
            s->rank = number;
        } else if (weir_str_eq(key, WEIR_STR("world_size")) && integer_get(member, &number) &&
                   number > 0 && number < INT32_MAX) {
            s->world_size = number;
        } else if (weir_str_eq(key, WEIR_STR("pg_config")) && member.p[0] == '[') {
            const char *q = member.p + 1;
            weir_str none, item;
            while (weir_json_next(&q, member.p + member.n, &none, &item)) {
                weir_code code = item.p[0] == '{' ? group_read(s, item, err) : WEIR_OK;
                if (code != WEIR_OK) {
                    return code;
                }
            }
        }
    }
    return WEIR_OK;
}

weir_code kineto_shard_metadata(kineto_shard *s, weir_str key, weir_str value, weir_err *err)
{
    int64_t number = 0;
    if (weir_str_eq(key, WEIR_STR("deviceProperties"))) {
        return devices_read(s, value, err);
    }
    if (weir_str_eq(key, WEIR_STR("distributedInfo"))) {
        return distributed_read(s, value, err);
    }
    if (weir_str_eq(key, WEIR_STR("traceName"))) {
        return weir_timeline_intern(s->shard, weir_json_unquote(value), &s->trace_name, err);
    }
    if (weir_str_eq(key, WEIR_STR("host_name")) || weir_str_eq(key, WEIR_STR("hostname"))) {
        return weir_timeline_intern(s->shard, weir_json_unquote(value), &s->host, err);
    }
    if (weir_str_eq(key, WEIR_STR("baseTimeNanoseconds")) && integer_get(value, &number) &&
        number >= 0 && number < INT64_C(1) << 61) {
        s->base_ns = number;
    }
    return WEIR_OK;
}

/* Groups that the events name without their ranks get those of pg_config. */
static void groups_complete(kineto_shard *s)
{
    uint32_t count;
    weir_group *groups = weir_timeline_edit_groups(s->shard, &count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; groups[i].rank_count == 0 && k < count; k++) {
            const weir_group *from = &groups[k];
            bool same = from->rank_count && from->name == groups[i].name &&
                        (from->size == groups[i].size || groups[i].size == 0);
            int32_t *ranks = same ? malloc(from->rank_count * sizeof *ranks) : NULL;
            if (ranks) {
                memcpy(ranks, from->ranks, from->rank_count * sizeof *ranks);
                groups[i].ranks = ranks;
                groups[i].rank_count = from->rank_count;
                groups[i].size = from->size ? from->size : from->rank_count;
                groups[i].description =
                    groups[i].description ? groups[i].description : from->description;
            }
        }
    }
}

static void lanes_label(kineto_shard *s)
{
    for (uint32_t i = 0; i < s->thread_name_count; i++) {
        const struct kineto_label_row *row = &s->thread_names[i];
        for (uint32_t k = 0; k < s->label_count; k++) {
            if (s->labels[k] == row->label) {
                weir_timeline_label_existing(s->shard, s->label_ranks[k], row->pid, row->tid,
                                             row->text);
            }
        }
    }
}

static void strays_drop(kineto_shard *s)
{
    const kineto_where nowhere = {NULL, NULL};
    for (uint64_t n = weir_timeline_drop_strays(s->shard, &s->earliest_ns); n > 0; n--) {
        kineto_shard_diag(s, "stray-timestamp", true, &nowhere,
                          WEIR_STR("weeks away from all others"));
    }
}

void kineto_shard_finish(kineto_shard *s)
{
    strays_drop(s);
    groups_complete(s);
    lanes_label(s);
}
