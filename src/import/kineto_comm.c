#include "import/kineto_comm.h"

#include "base/grow.h"
#include "base/text.h"
#include "import/kineto_ranks.h"
#include "timeline/comm_names.h"
#include "timeline/shard.h"

#include <stdlib.h>

static weir_code timeline_limit(const kineto_shard *s, weir_code code, weir_err *err)
{
    return code == WEIR_ERR_LIMIT
               ? weir_err_set(err, code, "%s: needs more memory than --max-memory allows",
                              s->file.p)
               : weir_err_set(err, code, "%s: out of memory", s->file.p);
}

static weir_code no_memory(const kineto_shard *s, weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "%s: out of memory", s->file.p);
}

/* Ranks of an arithmetic series, as "Global rank start/stride" and "Group size" give them. */
static int32_t *ranks_of_series(const kineto_comm *c, uint32_t *count)
{
    bool usable = c->rank_stride > 0 && c->rank_stride < INT32_MAX && c->group_size > 0 &&
                  c->group_size <= 1 << 20 && c->rank_start >= 0 && c->rank_start < INT32_MAX &&
                  c->rank_start + c->rank_stride * c->group_size < INT32_MAX;
    int32_t *ranks = usable ? malloc((size_t)c->group_size * sizeof *ranks) : NULL;
    *count = ranks ? (uint32_t)c->group_size : 0;
    for (uint32_t i = 0; i < *count; i++) {
        ranks[i] = (int32_t)(c->rank_start + (int64_t)i * c->rank_stride);
    }
    return ranks;
}

static weir_code group_add(kineto_shard *s, const kineto_comm *c, weir_group_id *group,
                           weir_err *err)
{
    weir_group g = {.size = c->group_size > 0 && c->group_size <= 1 << 20 ? (uint32_t)c->group_size
                                                                          : 0};
    weir_code code = weir_timeline_intern(s->shard, c->group_name, &g.name, err);
    if (code == WEIR_OK) {
        code = weir_timeline_intern(s->shard, c->group_description, &g.description, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    int32_t *ranks = kineto_ranks_parse(c->group_ranks, &g.rank_count);
    if (!ranks) {
        ranks = ranks_of_series(c, &g.rank_count);
    }
    g.ranks = ranks;
    g.size = g.size ? g.size : g.rank_count;
    code = weir_timeline_add_group(s->shard, &g, group, err);
    free(ranks);
    return code;
}

/* key: what of the arguments tells groups apart. */
static weir_code group_of_key(kineto_shard *s, weir_str key, const kineto_comm *c,
                              weir_group_id *group, weir_err *err)
{
    if (!s->group_keys) {
        s->group_keys = weir_intern_new(weir_timeline_budget(s->shard));
    }
    uint32_t row;
    weir_code code = s->group_keys ? weir_intern_add(s->group_keys, key, &row) : WEIR_ERR_MEMORY;
    if (code != WEIR_OK) {
        return timeline_limit(s, code, err);
    }
    if (row <= s->group_count) {
        *group = s->group_ids[row - 1];
        return WEIR_OK;
    }
    if (s->group_count == KINETO_MAX_GROUPS) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "%s: more than %u process groups in one file",
                            s->file.p, KINETO_MAX_GROUPS);
    }
    if (!weir_grow(&s->group_ids, s->group_count, &s->group_capacity, sizeof *s->group_ids)) {
        return no_memory(s, err);
    }
    code = group_add(s, c, group, err);
    if (code == WEIR_OK) {
        s->group_ids[s->group_count++] = *group;
    }
    return code;
}

/* The group of a collective's arguments; WEIR_NONE where they name none. */
static weir_code group_find(kineto_shard *s, const kineto_comm *c, weir_group_id *group,
                            weir_err *err)
{
    *group = WEIR_NONE;
    if (c->group_name.n == 0 && c->group_ranks.n == 0 && c->group_description.n == 0) {
        return WEIR_OK;
    }
    weir_text text = {0};
    weir_text_printf(&text, "%lld %lld %lld ", (long long)c->group_size, (long long)c->rank_start,
                     (long long)c->rank_stride);
    weir_text_add(&text, c->group_name);
    weir_text_char(&text, '\n');
    weir_text_add(&text, c->group_description);
    weir_text_char(&text, '\n');
    weir_text_add(&text, c->group_ranks);
    weir_code code = text.failed
                         ? no_memory(s, err)
                         : group_of_key(s, (weir_str){text.p, (uint32_t)text.n}, c, group, err);
    weir_text_clear(&text);
    return code;
}

weir_code kineto_comm_add(kineto_shard *s, const kineto_event *e, uint32_t shape, uint32_t *detail,
                          weir_err *err)
{
    const kineto_comm *c = &e->comm;
    weir_comm comm = {
        .kind = weir_comm_kind_find(c->collective),
        .seq = c->seq,
        .in_elements = c->in_elements > 0 ? (uint64_t)c->in_elements : 0,
        .out_elements = c->out_elements > 0 ? (uint64_t)c->out_elements : 0,
        .element_bytes = weir_comm_element_bytes(c->dtype),
        .src_rank = c->src_rank >= 0 && c->src_rank < INT32_MAX ? (int32_t)c->src_rank : -1,
        .dst_rank = c->dst_rank >= 0 && c->dst_rank < INT32_MAX ? (int32_t)c->dst_rank : -1,
        .shape = shape,
    };
    if (c->rank >= 0 && c->rank < INT32_MAX && s->argument_rank == INT64_MIN) {
        s->argument_rank = c->rank;
    }
    weir_code code = group_find(s, c, &comm.group, err);
    return code == WEIR_OK ? weir_timeline_add_comm(s->shard, &comm, detail, err) : code;
}
