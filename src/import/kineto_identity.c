#include "import/kineto_identity.h"

#include "timeline/shard.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static weir_str base_name(weir_str path)
{
    for (uint32_t i = path.n; i-- > 0;) {
        if (path.p[i] == '/' || path.p[i] == '\\') {
            return (weir_str){path.p + i + 1, path.n - i - 1};
        }
    }
    return path;
}

/* The number behind `word`, with at most one of "-_ " between; -1 where there is none. */
static int64_t number_after(weir_str text, weir_str word)
{
    for (uint32_t at = weir_str_find(text, word, 0); at < text.n;
         at = weir_str_find(text, word, at + 1)) {
        uint32_t i = at + word.n;
        i += i < text.n && (text.p[i] == '-' || text.p[i] == '_' || text.p[i] == ' ');
        int64_t number = -1;
        for (; i < text.n && is_digit(text.p[i]) && number < 1000000; i++) {
            number = (number < 0 ? 0 : number * 10) + (text.p[i] - '0');
        }
        if (number >= 0 && (i == text.n || !is_digit(text.p[i]))) {
            return number;
        }
    }
    return -1;
}

int64_t kineto_rank_of_name(weir_str path)
{
    static const weir_str words[] = {{"rank", 4},   {"Rank", 4}, {"RANK", 4},
                                     {"worker", 6}, {"TP-", 3},  {"TP", 2}};
    weir_str name = base_name(path);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        int64_t number = number_after(name, words[i]);
        if (number >= 0) {
            return number;
        }
    }
    weir_str folder = {path.p, path.n - name.n}; /* rank_3/trace.json */
    return number_after(folder, words[0]);
}

weir_str kineto_host_of_name(weir_str path)
{
    weir_str name = base_name(path);
    uint32_t stop = 0; /* HOST_PID.STAMP: the first dot behind "_" and digits only */
    for (uint32_t i = 0; i + 1 < name.n; i++) {
        if (name.p[i] != '_' || !is_digit(name.p[i + 1])) {
            continue;
        }
        uint32_t k = i + 1;
        while (k < name.n && is_digit(name.p[k])) {
            k++;
        }
        uint32_t digits = 0;
        for (uint32_t m = k + 1; k < name.n && name.p[k] == '.' && m < name.n; m++, digits++) {
            if (!is_digit(name.p[m])) {
                break;
            }
        }
        if (digits >= 10) { /* a time stamp: no version number */
            stop = i;
        }
    }
    return (weir_str){name.p, stop};
}

static weir_code identify_one(kineto_shard *s, weir_err *err)
{
    weir_name_id file, none;
    weir_code code = weir_timeline_intern(s->shard, s->file, &file, err);
    code = code == WEIR_OK ? weir_timeline_intern(s->shard, WEIR_STR(""), &none, err) : code;
    if (code == WEIR_OK && s->label_count == 0) { /* no events: still a file of some rank */
        s->labels[0] = none;
        const weir_rank rank = {.number = -1};
        code = weir_timeline_add_rank(s->shard, &rank, &s->label_ranks[0], err);
        s->label_count = code == WEIR_OK;
    }
    weir_name_id host = s->host;
    if (code == WEIR_OK && host == 0) {
        weir_str name = kineto_host_of_name(weir_timeline_name(s->shard, s->trace_name));
        name = name.n ? name : kineto_host_of_name(s->file);
        code = weir_timeline_intern(s->shard, name, &host, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t count;
    weir_rank *ranks = weir_timeline_edit_ranks(s->shard, &count);
    for (uint32_t i = 0; i < s->label_count; i++) {
        weir_rank *rank = &ranks[s->label_ranks[i]];
        weir_str label = weir_timeline_name(s->shard, s->labels[i]);
        int64_t number = -1;
        if (label.n) {
            number = number_after(label, WEIR_STR("rank"));
            number = number >= 0 ? number : kineto_rank_of_name(label);
        } else {
            number = s->rank != INT64_MIN            ? s->rank
                     : s->argument_rank != INT64_MIN ? s->argument_rank
                                                     : kineto_rank_of_name(s->file);
        }
        rank->number = (int32_t)number;
        rank->world_size = s->world_size > 0 ? (uint32_t)s->world_size : 0;
        rank->node = host;
        rank->file = file;
        rank->cut = s->cut;
    }
    return WEIR_OK;
}

/* deviceProperties lists all visible devices; the row of the device that the rank drove. On AMD the
 * number is an agent's, not an index: then the first row stands for all. */
static void device_describe(kineto_shard *s)
{
    uint32_t count;
    weir_rank *ranks = weir_timeline_edit_ranks(s->shard, &count);
    for (uint32_t i = 0; i < count && s->device_count; i++) {
        int64_t number = weir_timeline_first_device(s->shard, i);
        const struct kineto_device *d =
            &s->devices[number >= 0 && number < s->device_count ? number : 0];
        ranks[i].device_name = d->name;
        ranks[i].sm_count = d->sm_count;
        ranks[i].device_memory_bytes = d->memory_bytes;
    }
}

typedef struct {
    int32_t *taken;
    uint32_t count;
    int32_t next; /* all below are taken */
} numbers;

static bool is_taken(const numbers *n, int32_t number)
{
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->taken[i] == number) {
            return true;
        }
    }
    return false;
}

static void number_give(kineto_shard *s, weir_rank *rank, numbers *n, weir_diags *diags)
{
    bool twice = rank->number >= 0;
    while (is_taken(n, n->next)) {
        n->next++;
    }
    rank->number = n->next;
    rank->numbered = true;
    n->taken[n->count++] = n->next++;
    weir_diags_add(diags, twice ? "rank-seen-twice" : "rank-not-recorded", false, s->file, 0, 0,
                   (weir_str){"", 0});
}

/* First those that have a number of their own keep it; the others, and those whose number another
 * file has already, get the next free one. */
static void numbers_give(kineto_shard *shards, uint32_t count, numbers *n, bool *has_own,
                         weir_diags *diags)
{
    uint32_t row = 0, rank_count;
    for (uint32_t i = 0; i < count; i++) {
        weir_rank *ranks =
            shards[i].shard ? weir_timeline_edit_ranks(shards[i].shard, &rank_count) : NULL;
        for (uint32_t k = 0; ranks && k < rank_count; k++, row++) {
            has_own[row] = ranks[k].number >= 0 && !is_taken(n, ranks[k].number);
            if (has_own[row]) {
                n->taken[n->count++] = ranks[k].number;
            }
        }
    }
    row = 0;
    for (uint32_t i = 0; i < count; i++) {
        weir_rank *ranks =
            shards[i].shard ? weir_timeline_edit_ranks(shards[i].shard, &rank_count) : NULL;
        for (uint32_t k = 0; ranks && k < rank_count; k++, row++) {
            if (!has_own[row]) {
                number_give(&shards[i], &ranks[k], n, diags);
            }
        }
    }
}

/* A cut file may have lost the name of its host (older writers put traceName last). Another file
 * whose name tells the same host, and whose metadata calls it otherwise, lends its metadata. */
static weir_code hosts_borrow(kineto_shard *shards, uint32_t count, weir_err *err)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!shards[i].shard || !shards[i].cut || shards[i].host || shards[i].trace_name) {
            continue;
        }
        weir_str mine = kineto_host_of_name(shards[i].file);
        for (uint32_t k = 0; mine.n && k < count; k++) {
            bool told = shards[k].shard && (shards[k].host || shards[k].trace_name);
            if (!told || !weir_str_eq(mine, kineto_host_of_name(shards[k].file))) {
                continue;
            }
            weir_str host = shards[k].host ? weir_timeline_name(shards[k].shard, shards[k].host)
                                           : kineto_host_of_name(weir_timeline_name(
                                                 shards[k].shard, shards[k].trace_name));
            weir_code code = weir_timeline_intern(shards[i].shard, host, &shards[i].host, err);
            if (code != WEIR_OK) {
                return code;
            }
            break;
        }
    }
    return WEIR_OK;
}

weir_code kineto_identify(kineto_shard *shards, uint32_t count, weir_diags *diags, weir_err *err)
{
    uint32_t total = 0;
    weir_code borrowed = hosts_borrow(shards, count, err);
    if (borrowed != WEIR_OK) {
        return borrowed;
    }
    for (uint32_t i = 0; i < count; i++) {
        weir_code code = shards[i].shard ? identify_one(&shards[i], err) : WEIR_OK;
        if (code != WEIR_OK) {
            return code;
        }
        if (shards[i].shard) {
            device_describe(&shards[i]);
            total += shards[i].label_count;
        }
    }
    numbers n = {calloc(total + (size_t)1, sizeof *n.taken), 0, 0};
    bool *has_own = calloc(total + (size_t)1, sizeof *has_own);
    weir_code code = WEIR_OK;
    if (n.taken && has_own) {
        numbers_give(shards, count, &n, has_own, diags);
    } else {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for %u ranks", total);
    }
    free(n.taken);
    free(has_own);
    return code;
}
