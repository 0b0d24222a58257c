/* Several files: read side by side, numbered, and joined in the order in which they were given. */
#include "import/kineto.h"

#include "base/text.h"
#include "base/thread.h"
#include "import/kineto_file.h"
#include "import/kineto_identity.h"
#include "timeline/shard.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *const *paths;
    const weir_kineto_options *options;
    weir_budget *budget;
    kineto_shard *shards;
    weir_err *errors; /* of each file */
} work;

static void file_task(void *context, uint32_t index)
{
    work *w = context;
    const char *path = w->paths[index];
    kineto_shard *s = &w->shards[index];
    weir_err *err = &w->errors[index];
    weir_source *source = NULL;
    weir_code code = kineto_shard_init(s, weir_str_from(path), w->budget, err);
    if (code == WEIR_OK) {
        code = weir_source_open(path, w->options->max_inflation, &source, err);
    }
    if (code == WEIR_OK) {
        code = kineto_file_read(s, source, w->options, err);
    }
    weir_source_close(source);
    if (code != WEIR_OK) {
        kineto_shard_clear(s);
    }
}

/* A file that is no trace does not spoil the others: it is counted as lost. Anything else does. */
static weir_code errors_judge(work *w, uint32_t count, weir_diags *diags, weir_err *err)
{
    uint32_t good = 0;
    const weir_err *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        weir_code code = w->errors[i].code;
        if (code != WEIR_OK && code != WEIR_ERR_INPUT) {
            *err = w->errors[i];
            return code;
        }
        first = code != WEIR_OK && !first ? &w->errors[i] : first;
        good += code == WEIR_OK;
    }
    if (good == 0 && first) {
        *err = *first;
        return first->code;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (w->errors[i].code != WEIR_OK) {
            weir_diags_add(diags, "unreadable-file", true, weir_str_from(w->errors[i].text), 0, 0,
                           (weir_str){"", 0});
        }
    }
    return WEIR_OK;
}

/* Unix time in 2001: what lies before it counts from baseTimeNanoseconds. */
#define EPOCH_NS INT64_C(1000000000000000000)

/* What to add to the moments of a file. Files of 2024 and 2025 end with baseTimeNanoseconds: a cut
 * one has lost it, and borrows that of the others (it is the same for all files of three months).
 */
static int64_t shift_of(const kineto_shard *s, int64_t others_base, weir_diags *diags)
{
    if (s->base_ns > 0) {
        return s->base_ns;
    }
    bool relative = s->earliest_ns < EPOCH_NS;
    if (!s->cut || !relative || others_base <= 0) {
        return 0;
    }
    weir_diags_add(diags, "base-time-borrowed", false, s->file, 0, 0, (weir_str){"", 0});
    return others_base;
}

static weir_code shards_join(weir_timeline *t, work *w, uint32_t count, weir_diags *diags,
                             weir_err *err)
{
    int64_t base = 0;
    for (uint32_t i = 0; i < count && base <= 0; i++) {
        base = w->shards[i].shard ? w->shards[i].base_ns : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        kineto_shard *s = &w->shards[i];
        weir_diags_merge(diags, &s->diags);
        weir_code code = WEIR_OK;
        if (s->shard) {
            code = weir_timeline_absorb(t, s->shard, shift_of(s, base, diags), err);
        }
        kineto_shard_clear(s);
        if (code != WEIR_OK) {
            return code;
        }
    }
    return weir_timeline_seal(t, err);
}

weir_code weir_kineto_read(weir_timeline *t, const char *const *paths, uint32_t path_count,
                           const weir_kineto_options *options, weir_diags *diags, weir_err *err)
{
    static const weir_kineto_options defaults;
    weir_err local = {0};
    err = err ? err : &local;
    work w = {.paths = paths,
              .options = options ? options : &defaults,
              .budget = weir_timeline_budget(t)};
    w.shards = calloc(path_count + (size_t)1, sizeof *w.shards);
    w.errors = calloc(path_count + (size_t)1, sizeof *w.errors);
    weir_code code = WEIR_OK;
    if (!w.shards || !w.errors) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for %u files", path_count);
    } else {
        weir_thread_for(path_count, w.options->threads, file_task, &w);
        code = errors_judge(&w, path_count, diags, err);
    }
    if (code == WEIR_OK) {
        code = kineto_identify(w.shards, path_count, diags, err);
    }
    if (code == WEIR_OK) {
        code = shards_join(t, &w, path_count, diags, err);
    }
    for (uint32_t i = 0; w.shards && i < path_count; i++) {
        kineto_shard_clear(&w.shards[i]);
    }
    free(w.shards);
    free(w.errors);
    return code;
}
