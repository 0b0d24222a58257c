#include "import/kineto_event.h"

#include "codec/json_bytes.h"
#include "codec/json_scan.h"

#include <stddef.h>
#include <string.h>

#define NOT_GIVEN INT64_MIN

typedef struct {
    kineto_event *event;
    const char *end;
    const kineto_event_options *options;
} parser;

static const char *skip_space(const char *p, const char *end)
{
    return json_skip_space(p, end);
}

static bool key_is(weir_str key, const char *text, size_t n)
{
    return key.n == n && memcmp(key.p, text, n) == 0;
}
#define KEY(literal) key_is(key, literal, sizeof(literal) - 1)

/* Keys that follow one another inside an event: what a tolerant reading trusts. */
static bool is_known_key(const char *p, const char *end)
{
    static const char *const keys[] = {"pid\"",
                                       "tid\"",
                                       "ts\"",
                                       "dur\"",
                                       "args\"",
                                       "cat\"",
                                       "ph\"",
                                       "name\"",
                                       "id\"",
                                       "bp\"",
                                       "s\"",
                                       "External id\"",
                                       "Ev Idx\"",
                                       "Python id\"",
                                       "Python parent id\"",
                                       "Python module id\"",
                                       "correlation\"",
                                       "Call stack\""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i]);
        if ((size_t)(end - p) > n && memcmp(p, keys[i], n) == 0) {
            return *skip_space(p + n, end) == ':';
        }
    }
    return false;
}

/* The quote that really ends a string: a known key or the end of an object follows. */
static const char *tolerant_end(const char *p, const char *end)
{
    for (; p < end; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p) {
            return NULL;
        }
        const char *next = skip_space(p + 1, end);
        if (next >= end) {
            return NULL;
        }
        if (*next == ',') {
            next = skip_space(next + 1, end);
            if (next < end && *next == '"' && is_known_key(next + 1, end)) {
                return p;
            }
        } else if (*next == '}') {
            next = skip_space(next + 1, end);
            if (next >= end || *next == '}' || *next == ',' || *next == ']') {
                return p;
            }
        }
    }
    return NULL;
}

/* The closing quote of the value behind p, which must be followed by what may follow a value. */
static const char *text_end(const parser *ps, const char *p, bool *escaped)
{
    const char *quote = json_string_end(p, ps->end, escaped);
    if (!ps->options->tolerant) {
        return quote;
    }
    const char *tolerant = tolerant_end(p, ps->end);
    if (tolerant && memchr(p, '\\', (size_t)(tolerant - p))) {
        *escaped = true;
    }
    return tolerant;
}

static const char *text_read(const parser *ps, const char *p, weir_str *text)
{
    if (*p != '"') {
        return weir_json_skip_value(p, ps->end);
    }
    bool escaped;
    const char *quote = json_string_end(p + 1, ps->end, &escaped);
    if (!quote) {
        return NULL;
    }
    *text = (weir_str){p + 1, (uint32_t)(quote - p - 1)};
    return quote + 1;
}

/* Text that people and compilers make up: it may hold quotes. */
static const char *name_read(const parser *ps, const char *p, weir_str *text, bool *escaped)
{
    const char *quote = text_end(ps, p + 1, escaped);
    if (!quote) {
        return NULL;
    }
    *text = (weir_str){p + 1, (uint32_t)(quote - p - 1)};
    return quote + 1;
}

/* An integer, bare or as a string. What is no number (null, NaN) leaves the value untouched. */
static const char *integer_read(const parser *ps, const char *p, int64_t *value)
{
    bool quoted = *p == '"', saturated = false;
    const char *after = weir_json_integer(p + quoted, ps->end, value, &saturated);
    if (!after || (quoted && (after >= ps->end || *after != '"'))) {
        ps->event->odd_numbers += *p == 'N' || *p == 'I' || *p == '-';
        return weir_json_skip_value(p, ps->end);
    }
    ps->event->odd_numbers += saturated;
    ps->event->odd_strings += quoted;
    return after < ps->end ? after + quoted : NULL;
}

static const char *time_read(const parser *ps, const char *p, int64_t *ns, bool *has)
{
    bool quoted = *p == '"';
    const char *after = weir_json_micros(p + quoted, ps->end, ns);
    if (!after || (quoted && (after >= ps->end || *after != '"'))) {
        ps->event->odd_numbers++;
        return weir_json_skip_value(p, ps->end);
    }
    *has = true;
    ps->event->odd_strings += quoted;
    return after < ps->end ? after + quoted : NULL;
}

/* Numbers that only link spans are kept in 32 bits; larger ones are folded. */
static const char *link_read(const parser *ps, const char *p, uint32_t *value)
{
    int64_t wide = 0;
    p = integer_read(ps, p, &wide);
    if (wide > 0 && wide <= UINT32_MAX) {
        *value = (uint32_t)wide;
    } else if (wide > 0) {
        uint64_t mixed = (uint64_t)wide * 0x9e3779b97f4a7c15u;
        *value = (uint32_t)(mixed >> 32) | 1;
    }
    return p;
}

static const char *place_read(const parser *ps, const char *p, kineto_place *place)
{
    place->present = true;
    if (*p != '"') {
        int64_t number = NOT_GIVEN;
        p = integer_read(ps, p, &number);
        place->has_number = number != NOT_GIVEN;
        place->number = place->has_number ? number : 0;
        return p;
    }
    weir_str text;
    p = text_read(ps, p, &text);
    if (!p) {
        return NULL;
    }
    uint32_t digits = text.n;
    while (digits > 0 && text.p[digits - 1] >= '0' && text.p[digits - 1] <= '9') {
        digits--;
    }
    place->label = (weir_str){text.p, digits};
    while (place->label.n && place->label.p[place->label.n - 1] == ' ') {
        place->label.n--;
    }
    bool saturated;
    place->has_number =
        digits < text.n && text.n - digits < 19 &&
        weir_json_integer(text.p + digits, text.p + text.n, &place->number, &saturated) != NULL;
    if (!place->has_number) {
        place->label = text;
    }
    return p;
}

/* "[4, 1, 1]" */
static const char *triple_read(const parser *ps, const char *p, uint32_t out[3])
{
    if (*p != '[') {
        return weir_json_skip_value(p, ps->end);
    }
    const char *q = p + 1;
    for (unsigned i = 0; i < 3; i++) {
        int64_t value;
        bool saturated;
        q = weir_json_integer(skip_space(q, ps->end), ps->end, &value, &saturated);
        if (!q) {
            break;
        }
        out[i] = value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
        q = skip_space(q, ps->end);
        q += q < ps->end && *q == ',';
    }
    return weir_json_skip_nested(p + 1, ps->end);
}

static const char *raw_read(const parser *ps, const char *p, weir_str *raw)
{
    const char *after = weir_json_skip_value(p, ps->end);
    if (after) {
        *raw = (weir_str){p, (uint32_t)(after - p)};
    }
    return after;
}

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
        if (key_is(key, table[i].name.p, table[i].name.n)) {
            return table[i].category;
        }
    }
    return KINETO_UNKNOWN;
}

static const char *category_read(const parser *ps, const char *p)
{
    weir_str text = {"", 0};
    p = text_read(ps, p, &text);
    ps->event->category = category_find(text);
    return p;
}

static kineto_comm *comm_of(kineto_event *e)
{
    if (!e->has_comm) {
        e->has_comm = true;
        const weir_str none = {"", 0};
        e->comm = (kineto_comm){.collective = none,
                                .dtype = none,
                                .group_name = none,
                                .group_description = none,
                                .group_ranks = none,
                                .seq = -1,
                                .src_rank = -1,
                                .dst_rank = -1,
                                .rank = -1};
    }
    return &e->comm;
}

/* Arguments that only communication has. *known = false: none of these. */
static const char *comm_argument(const parser *ps, weir_str key, const char *p, bool *known)
{
    kineto_event *e = ps->event;
    *known = true;
    switch (key.p[0]) {
    case 'C':
        if (KEY("Collective name")) {
            return text_read(ps, p, &comm_of(e)->collective);
        }
        break;
    case 'D':
        if (KEY("Dst Rank")) {
            return integer_read(ps, p, &comm_of(e)->dst_rank);
        }
        break;
    case 'G':
        if (KEY("Group size")) {
            return integer_read(ps, p, &comm_of(e)->group_size);
        }
        if (KEY("Global rank start")) {
            return integer_read(ps, p, &comm_of(e)->rank_start);
        }
        if (KEY("Global rank stride")) {
            return integer_read(ps, p, &comm_of(e)->rank_stride);
        }
        break;
    case 'd':
        if (KEY("dtype")) {
            return text_read(ps, p, &comm_of(e)->dtype);
        }
        break;
    case 'I':
        if (KEY("In msg nelems")) {
            return integer_read(ps, p, &comm_of(e)->in_elements);
        }
        break;
    case 'O':
        if (KEY("Out msg nelems")) {
            return integer_read(ps, p, &comm_of(e)->out_elements);
        }
        break;
    case 'P':
        if (KEY("Process Group Name")) {
            return text_read(ps, p, &comm_of(e)->group_name);
        }
        if (KEY("Process Group Description")) {
            return text_read(ps, p, &comm_of(e)->group_description);
        }
        if (KEY("Process Group Ranks")) {
            return raw_read(ps, p, &comm_of(e)->group_ranks);
        }
        break;
    case 'R':
        if (KEY("Rank")) {
            return integer_read(ps, p, &comm_of(e)->rank);
        }
        break;
    case 'S':
        if (KEY("Seq")) {
            return integer_read(ps, p, &comm_of(e)->seq);
        }
        if (KEY("Src Rank")) {
            return integer_read(ps, p, &comm_of(e)->src_rank);
        }
        break;
    default:
        break;
    }
    *known = false;
    return p;
}

static const char *sync_argument(const parser *ps, weir_str key, const char *p, bool *known)
{
    kineto_event *e = ps->event;
    *known = true;
    if (KEY("cuda_sync_kind")) {
        return text_read(ps, p, &e->sync_kind);
    }
    if (KEY("wait_on_stream")) {
        return integer_read(ps, p, &e->wait_stream);
    }
    if (KEY("wait_on_cuda_event_record_corr_id")) {
        return integer_read(ps, p, &e->wait_record);
    }
    *known = false;
    return p;
}

static const char *shape_argument(const parser *ps, weir_str key, const char *p, bool *known)
{
    kineto_event *e = ps->event;
    int64_t value = 0;
    *known = true;
    switch (key.p[0]) {
    case 'b':
        if (KEY("block")) {
            return triple_read(ps, p, e->shape.block);
        }
        if (KEY("bytes")) {
            p = integer_read(ps, p, &value);
            e->shape.bytes = value > 0 ? (uint64_t)value : 0;
            return p;
        }
        break;
    case 'g':
        if (KEY("grid")) {
            return triple_read(ps, p, e->shape.grid);
        }
        if (KEY("graph id")) {
            p = integer_read(ps, p, &value);
            e->shape.graph_id = value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
            return p;
        }
        break;
    case 'r':
        if (KEY("registers per thread")) {
            p = integer_read(ps, p, &value);
            e->shape.registers = value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
            return p;
        }
        break;
    case 's':
        if (KEY("size")) { /* MTIA */
            p = integer_read(ps, p, &value);
            e->shape.bytes = value > 0 ? (uint64_t)value : 0;
            return p;
        }
        break;
    default:
        break;
    }
    *known = false;
    return p;
}

static const char *op_argument(const parser *ps, weir_str key, const char *p, bool *known)
{
    kineto_event *e = ps->event;
    *known = true;
    if (KEY("Input Dims") || KEY("Input dims")) {
        return raw_read(ps, p, &e->dims);
    }
    if (KEY("Input type")) {
        return raw_read(ps, p, &e->types);
    }
    if (KEY("Concrete Inputs")) {
        return raw_read(ps, p, &e->concrete);
    }
    if (KEY("finished")) {
        e->open = *p == 'f';
    }
    *known = false;
    return p;
}

static const char *argument(const parser *ps, weir_str key, const char *p)
{
    kineto_event *e = ps->event;
    if (KEY("External id") || KEY("external id")) {
        return link_read(ps, p, &e->external);
    }
    if (KEY("correlation")) {
        return link_read(ps, p, &e->correlation);
    }
    if (KEY("device")) {
        return integer_read(ps, p, &e->device);
    }
    if (KEY("stream")) {
        return integer_read(ps, p, &e->stream);
    }
    bool known = false;
    if (e->category == KINETO_KERNEL || e->category == KINETO_MEMCPY ||
        e->category == KINETO_MEMSET) {
        p = shape_argument(ps, key, p, &known);
    } else if (e->category == KINETO_SYNC) {
        p = sync_argument(ps, key, p, &known);
    } else if (e->category == KINETO_OP) {
        p = op_argument(ps, key, p, &known);
    } else if (e->phase == 'M' && KEY("name") && *p == '"') {
        bool escaped;
        return name_read(ps, p, &e->label, &escaped);
    }
    if (!known && (e->category == KINETO_OP || e->category == KINETO_KERNEL)) {
        p = comm_argument(ps, key, p, &known);
    }
    return known ? p : weir_json_skip_value(p, ps->end);
}

/* Nothing more is wanted of the arguments than links that were found already. */
static bool arguments_done(const parser *ps, bool wants_shapes)
{
    const kineto_event *e = ps->event;
    switch (e->category) {
    case KINETO_OP:
        return e->external && !wants_shapes;
    case KINETO_RUNTIME:
        return e->correlation && e->external;
    case KINETO_ANNOTATION:
        return e->external;
    default:
        return false;
    }
}

static void arguments_reset(kineto_event *e)
{
    const weir_str none = {"", 0};
    e->has_args = true;
    e->open = false;
    e->external = e->correlation = 0;
    e->device = e->stream = e->wait_stream = e->wait_record = NOT_GIVEN;
    e->shape = (weir_shape){{0}, {0}, 0, 0, 0};
    e->dims = e->types = e->concrete = e->sync_kind = e->label = none;
}

static const char *arguments_read(const parser *ps, const char *p)
{
    arguments_reset(ps->event);
    if (*p != '{') {
        return weir_json_skip_value(p, ps->end);
    }
    bool wants = ps->event->category == KINETO_OP &&
                 ps->options->wants_shapes(ps->options->context, ps->event);
    for (p = skip_space(p + 1, ps->end);;) {
        if (p >= ps->end) {
            return NULL;
        }
        if (*p == '}') {
            return p + 1;
        }
        if (*p != '"') {
            return NULL;
        }
        bool escaped;
        const char *quote = json_string_end(p + 1, ps->end, &escaped);
        if (!quote) {
            return NULL;
        }
        weir_str key = {p + 1, (uint32_t)(quote - p - 1)};
        p = skip_space(quote + 1, ps->end);
        if (p >= ps->end || *p != ':') {
            return NULL;
        }
        p = skip_space(p + 1, ps->end);
        p = p < ps->end && key.n ? argument(ps, key, p) : weir_json_skip_value(p, ps->end);
        if (!p) {
            return NULL;
        }
        p = skip_space(p, ps->end);
        if (p < ps->end && *p == ',') {
            p = skip_space(p + 1, ps->end);
            ps->event->odd_commas += p < ps->end && *p == '}';
        } else if (p < ps->end && *p != '}') {
            return NULL;
        }
        if (arguments_done(ps, wants)) {
            return weir_json_skip_nested(p, ps->end);
        }
    }
}

/* Of this event nothing is wanted any more: flows, counters, Python frames. */
static bool is_unwanted(const parser *ps)
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

static const char *member(const parser *ps, weir_str key, const char *p)
{
    kineto_event *e = ps->event;
    switch (key.n) {
    case 2:
        if (KEY("ph")) {
            weir_str text = {"", 0};
            p = text_read(ps, p, &text);
            e->phase = text.n == 1 ? text.p[0] : 0;
            return p;
        }
        if (KEY("ts")) {
            return time_read(ps, p, &e->ts_ns, &e->has_ts);
        }
        break;
    case 3:
        if (KEY("cat")) {
            return category_read(ps, p);
        }
        if (KEY("pid")) {
            return place_read(ps, p, &e->pid);
        }
        if (KEY("tid")) {
            return place_read(ps, p, &e->tid);
        }
        if (KEY("dur")) {
            return time_read(ps, p, &e->dur_ns, &e->has_dur);
        }
        break;
    case 4:
        if (KEY("name") && *p == '"') {
            return name_read(ps, p, &e->name, &e->name_escaped);
        }
        if (KEY("args")) {
            e->early_args = is_too_early(e) ? p : NULL;
            return arguments_read(ps, p);
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
    const parser ps = {event, end, options};
    event_reset(event);
    for (p = skip_space(p, end);;) {
        if (p >= end) {
            return NULL;
        }
        if (*p == '}') {
            if (!event->has_args) {
                arguments_reset(event);
            }
            if (event->early_args && !arguments_read(&ps, event->early_args)) {
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
        p = skip_space(quote + 1, end);
        if (p >= end || *p != ':') {
            return NULL;
        }
        p = skip_space(p + 1, end);
        p = p < end ? member(&ps, key, p) : NULL;
        if (!p) {
            return NULL;
        }
        p = skip_space(p, end);
        if (p < end && *p == ',') {
            p = skip_space(p + 1, end);
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

/* An event is the first thing on its line, or stands behind a comma, a bracket or another event;
 * the arguments of a metadata event ("args": {"name": ...}) are neither. */
static bool may_begin(const char *begin, const char *brace)
{
    const char *p = brace;
    while (p > begin && json_is_space(p[-1])) {
        if (*--p == '\n') {
            return true;
        }
    }
    return p == begin || p[-1] == ',' || p[-1] == '[' || p[-1] == '}';
}

static bool is_event_key(const char *key, const char *end)
{
    static const char *const keys[] = {"\"ph\"", "\"name\"", "\"cat\"", "\"pid\"", "\"args\"",
                                       "\"ts\"", "\"tid\"",  "\"dur\"", "\"id\""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i]);
        if ((size_t)(end - key) > n && memcmp(key, keys[i], n) == 0) {
            const char *colon = skip_space(key + n, end);
            return colon < end && *colon == ':';
        }
    }
    return false;
}

const char *kineto_event_find(const char *begin, const char *p, const char *end)
{
    while (p < end && (p = memchr(p, '{', (size_t)(end - p))) != NULL) {
        const char *key = skip_space(p + 1, end);
        if (key < end && is_event_key(key, end) && may_begin(begin, p)) {
            return p;
        }
        p++;
    }
    return NULL;
}

/* What Kineto writes behind the events; none of it occurs inside one. */
static bool is_top_level_key(const char *key, const char *end)
{
    static const char *const keys[] = {"\"traceName\"",           "\"displayTimeUnit\"",
                                       "\"baseTimeNanoseconds\"", "\"distributedInfo\"",
                                       "\"deviceProperties\"",    "\"schemaVersion\"",
                                       "\"host_name\"",           "\"metadata\""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i]);
        if ((size_t)(end - key) > n && memcmp(key, keys[i], n) == 0) {
            const char *colon = skip_space(key + n, end);
            return colon < end && *colon == ':';
        }
    }
    return false;
}

static bool is_behind_event(const char *begin, const char *bracket)
{
    const char *p = bracket;
    while (p > begin && json_is_space(p[-1])) {
        p--;
    }
    return p > begin && p[-1] == '}';
}

const char *kineto_events_end_find(const char *begin, const char *p, const char *end, bool is_last)
{
    for (; p < end && (p = memchr(p, ']', (size_t)(end - p))) != NULL; p++) {
        const char *next = skip_space(p + 1, end);
        if (next < end && *next == ',' && is_top_level_key(skip_space(next + 1, end), end)) {
            return p;
        }
        if (next < end && *next == '}' && is_last && skip_space(next + 1, end) == end &&
            is_behind_event(begin, p)) {
            return p;
        }
    }
    return NULL;
}
