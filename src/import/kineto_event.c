#include "import/kineto_event.h"

#include "codec/json_bytes.h"
#include "codec/json_scan.h"
#include "import/kineto_args.h"

#include <stddef.h>

static kineto_category category_find(weir_str key)
{
    /* The frequent ones first; old writers (torch 1.8) use capitals. */
    static const struct {
        weir_str name;
        kineto_category category;
    } table[] = {
        {{"python_function", 15}, KINETO_PYTHON},
        {{"cpu_op", 6}, KINETO_OP},
        {{"cuda_runtime", 12}, KINETO_RUNTIME},
        {{"kernel", 6}, KINETO_KERNEL},
        {{"user_annotation", 15}, KINETO_ANNOTATION},
        {{"gpu_memcpy", 10}, KINETO_MEMCPY},
        {{"gpu_memset", 10}, KINETO_MEMSET},
        {{"cuda_driver", 11}, KINETO_RUNTIME},
        {{"cuda_sync", 9}, KINETO_SYNC},
        {{"gpu_user_annotation", 19}, KINETO_IGNORED},
        {{"Operator", 8}, KINETO_OP},
        {{"Runtime", 7}, KINETO_RUNTIME},
        {{"Kernel", 6}, KINETO_KERNEL},
        {{"Memcpy", 6}, KINETO_MEMCPY},
        {{"Memset", 6}, KINETO_MEMSET},
        {{"Trace", 5}, KINETO_IGNORED},
        {{"overhead", 8}, KINETO_IGNORED},
        {{"hip_runtime", 11}, KINETO_RUNTIME},
        {{"mtia_ccp_events", 15}, KINETO_KERNEL},
        {{"mtia_runtime", 12}, KINETO_RUNTIME},
        {{"mtia_insight", 12}, KINETO_IGNORED},
        {{"mtia_counters", 13}, KINETO_IGNORED},
        {{"glow_runtime", 12}, KINETO_RUNTIME},
        {{"xpu_runtime", 11}, KINETO_RUNTIME},
        {{"xpu_driver", 10}, KINETO_RUNTIME},
        {{"xpu_sync", 8}, KINETO_IGNORED},
        {{"xpu_user_annotation", 19}, KINETO_IGNORED},
        {{"privateuse1_runtime", 19}, KINETO_RUNTIME},
        {{"privateuse1_driver", 18}, KINETO_RUNTIME},
        {{"cuda_event", 10}, KINETO_IGNORED},
        {{"cuda_profiler_range", 19}, KINETO_IGNORED},
        {{"hardware_counters", 17}, KINETO_IGNORED},
        {{"cpu_instant_event", 17}, KINETO_IGNORED},
        {{"collective_comm", 15}, KINETO_IGNORED},
        {{"hpu_op", 6}, KINETO_IGNORED},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (kineto_key_is(key, table[i].name.p, table[i].name.n)) {
            return table[i].category;
        }
    }
    return KINETO_UNKNOWN;
}

static const char *category_read(const kineto_parser *ps, const char *p)
{
    weir_str text = {"", 0};
    p = kineto_read_text(ps, p, &text);
    ps->event->category = category_find(text);
    return p;
}

/* Of this event nothing is wanted any more: flows, counters, Python frames. */
static bool is_unwanted(const kineto_parser *ps)
{
    const kineto_event *e = ps->event;
    bool phase = e->phase == 's' || e->phase == 'f' || e->phase == 't' || e->phase == 'C' ||
                 e->phase == 'i' || e->phase == 'I';
    return phase || e->category == KINETO_IGNORED ||
           (e->category == KINETO_PYTHON && !ps->options->python);
}

/* Arguments that came before what tells which of them matter (keys in alphabetical order). */
static bool is_too_early(const kineto_event *e)
{
    return e->phase != 'M' && (e->category == KINETO_NONE || e->name.n == 0);
}

static const char *member(const kineto_parser *ps, weir_str key, const char *p)
{
    kineto_event *e = ps->event;
    switch (key.n) {
    case 2:
        if (KEY("ph")) {
            weir_str text = {"", 0};
            p = kineto_read_text(ps, p, &text);
            e->phase = text.n == 1 ? text.p[0] : 0;
            return p;
        }
        if (KEY("ts")) {
            return kineto_read_time(ps, p, &e->ts_ns, &e->has_ts);
        }
        break;
    case 3:
        if (KEY("cat")) {
            return category_read(ps, p);
        }
        if (KEY("pid")) {
            return kineto_read_place(ps, p, &e->pid);
        }
        if (KEY("tid")) {
            return kineto_read_place(ps, p, &e->tid);
        }
        if (KEY("dur")) {
            return kineto_read_time(ps, p, &e->dur_ns, &e->has_dur);
        }
        break;
    case 4:
        if (KEY("name") && *p == '"') {
            return kineto_read_name(ps, p, &e->name, &e->name_escaped);
        }
        if (KEY("args")) {
            e->early_args = is_too_early(e) ? p : NULL;
            return kineto_read_arguments(ps, p);
        }
        break;
    default:
        break;
    }
    return weir_json_skip_value(p, ps->end);
}

/* Most events of a large file are skipped: what only the others need is reset later. */
static void event_reset(kineto_event *e)
{
    memset(e, 0, offsetof(kineto_event, open));
    e->name = (weir_str){"", 0};
}

const char *kineto_event_parse(kineto_event *event, const char *p, const char *end,
                               const kineto_event_options *options)
{
    const kineto_parser ps = {event, end, options};
    event_reset(event);
    for (p = json_skip_space(p, end);;) {
        if (p >= end) {
            return NULL;
        }
        if (*p == '}') {
            if (!event->has_args) {
                kineto_reset_arguments(event);
            }
            if (event->early_args && !kineto_read_arguments(&ps, event->early_args)) {
                return NULL;
            }
            return p + 1;
        }
        if (*p != '"') {
            return NULL;
        }
        const char *quote = p + 1; /* keys are short */
        while (quote < end && *quote != '"') {
            quote++;
        }
        if (quote >= end) {
            return NULL;
        }
        weir_str key = {p + 1, (uint32_t)(quote - p - 1)};
        p = json_skip_space(quote + 1, end);
        if (p >= end || *p != ':') {
            return NULL;
        }
        p = json_skip_space(p + 1, end);
        p = p < end ? member(&ps, key, p) : NULL;
        if (!p) {
            return NULL;
        }
        p = json_skip_space(p, end);
        if (p < end && *p == ',') {
            p = json_skip_space(p + 1, end);
            event->odd_commas += p < end && *p == '}';
        } else if (p < end && *p != '}') {
            return NULL;
        }
        event->skipped = is_unwanted(&ps);
        if (event->skipped && !options->tolerant) {
            return weir_json_skip_nested(p, end);
        }
    }
}
