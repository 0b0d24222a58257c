/* match_fixture.h: builds small timelines for the tests of match/, with a known truth.
 *
 * Times are given on one true clock; each node shows local = true - offset, bent by its drift. */
#ifndef WEIR_TESTS_MATCH_FIXTURE_H
#define WEIR_TESTS_MATCH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    weir_timeline *t;
    weir_match match;
    weir_err err;
    uint32_t threads;
    uint32_t next_correlation;
    weir_rank_id rank_count;
    int64_t offset_ns[64]; /* by rank: what must be added to its clock */
    double drift[64];      /* ... and how fast that grows, from moment 0 on */
    uint64_t random;
} match_fixture;

#define FIXTURE_OK(call) assert_int_equal((call), WEIR_OK)

static inline void fixture_open(match_fixture *f)
{
    memset(f, 0, sizeof *f);
    f->t = weir_timeline_new(NULL);
    f->next_correlation = 100;
    f->random = 88172645463325252u;
    assert_non_null(f->t);
}

/* Xorshift (G. Marsaglia, 2003): the same numbers on every machine. */
static inline uint64_t fixture_random(match_fixture *f, uint64_t below)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return f->random % below;
}

static inline weir_name_id fixture_name(match_fixture *f, const char *text)
{
    weir_name_id id = 0;
    FIXTURE_OK(weir_timeline_intern(f->t, weir_str_from(text), &id, &f->err));
    return id;
}

static inline weir_rank_id fixture_rank(match_fixture *f, const char *node, int32_t number,
                                        uint32_t world)
{
    weir_rank rank = {.number = number, .world_size = world, .node = fixture_name(f, node)};
    weir_rank_id id = 0;
    FIXTURE_OK(weir_timeline_add_rank(f->t, &rank, &id, &f->err));
    f->rank_count = id + 1;
    return id;
}

static inline void fixture_clock(match_fixture *f, weir_rank_id rank, int64_t offset_ns,
                                 double drift)
{
    f->offset_ns[rank] = offset_ns;
    f->drift[rank] = drift;
}

/* aligned = local + offset + drift * local, so local = (true - offset) / (1 + drift). */
static inline int64_t fixture_local(const match_fixture *f, weir_rank_id rank, int64_t true_ns)
{
    int64_t flat = true_ns - f->offset_ns[rank];
    double d = f->drift[rank];
    return d == 0 ? flat : flat - (int64_t)llround((double)flat * (d / (1 + d)));
}

static inline weir_group_id fixture_group(match_fixture *f, const char *name, const int32_t *ranks,
                                          uint32_t count)
{
    weir_group group = {.name = fixture_name(f, name),
                        .description = fixture_name(f, "test"),
                        .size = count,
                        .rank_count = count,
                        .ranks = ranks};
    weir_group_id id = 0;
    FIXTURE_OK(weir_timeline_add_group(f->t, &group, &id, &f->err));
    return id;
}

static inline weir_lane_id fixture_stream(match_fixture *f, weir_rank_id rank, int64_t device,
                                          int64_t stream)
{
    weir_lane_id lane = 0;
    FIXTURE_OK(
        weir_timeline_add_lane(f->t, WEIR_LANE_STREAM, rank, device, stream, &lane, &f->err));
    return lane;
}

static inline void fixture_host_span(match_fixture *f, weir_rank_id rank, weir_span_kind kind,
                                     const char *name, uint32_t correlation, int64_t start_ns,
                                     int64_t dur_ns)
{
    weir_lane_id lane = 0;
    FIXTURE_OK(weir_timeline_add_lane(f->t, WEIR_LANE_THREAD, rank, 1000 + (int64_t)rank, 1, &lane,
                                      &f->err));
    weir_new_span span = {.start_ns = fixture_local(f, rank, start_ns),
                          .dur_ns = dur_ns,
                          .lane = lane,
                          .name = fixture_name(f, name),
                          .correlation = correlation,
                          .detail = WEIR_NONE,
                          .kind = kind};
    FIXTURE_OK(weir_timeline_add_span(f->t, &span, &f->err));
}

static inline void fixture_kernel(match_fixture *f, weir_lane_id lane, weir_rank_id rank,
                                  const char *name, uint32_t correlation, uint32_t detail,
                                  const int64_t when[2])
{
    int64_t start = fixture_local(f, rank, when[0]), end = fixture_local(f, rank, when[1]);
    weir_new_span span = {.start_ns = start,
                          .dur_ns = end - start,
                          .lane = lane,
                          .name = fixture_name(f, name),
                          .correlation = correlation,
                          .detail = detail,
                          .kind = WEIR_SPAN_KERNEL};
    FIXTURE_OK(weir_timeline_add_span(f->t, &span, &f->err));
}

/* A communication kernel with what the profiler recorded (comm may be NULL) on device 0 of the
 * rank, or another one. */
static inline void fixture_comm_on(match_fixture *f, weir_rank_id rank, int64_t device,
                                   const char *name, const weir_comm *comm, const int64_t when[2])
{
    uint32_t detail = WEIR_NONE;
    if (comm) {
        FIXTURE_OK(weir_timeline_add_comm(f->t, comm, &detail, &f->err));
    }
    fixture_kernel(f, fixture_stream(f, rank, device, 20), rank, name, 0, detail, when);
}

static inline void fixture_comm(match_fixture *f, weir_rank_id rank, const char *name,
                                const weir_comm *comm, int64_t start_ns, int64_t end_ns)
{
    const int64_t when[2] = {start_ns, end_ns};
    fixture_comm_on(f, rank, 0, name, comm, when);
}

static inline weir_comm fixture_args(weir_comm_kind kind, weir_group_id group, int64_t seq)
{
    return (weir_comm){
        .kind = kind, .group = group, .seq = seq, .src_rank = -1, .dst_rank = -1, .shape = 0};
}

/* What classify says of the names that the tests use. */
static inline void fixture_match_sealed(match_fixture *f)
{
    uint32_t count = weir_timeline_name_count(f->t);
    bool *is_comm = calloc(count, sizeof *is_comm);
    weir_comm_kind *kind_of = calloc(count, sizeof *kind_of);
    assert_non_null(is_comm);
    assert_non_null(kind_of);
    for (weir_name_id id = 0; id < count; id++) {
        weir_str name = weir_timeline_name(f->t, id);
        is_comm[id] = weir_str_starts(name, WEIR_STR("ncclDevKernel"));
        if (weir_str_has(name, WEIR_STR("SendRecv"))) {
            kind_of[id] = WEIR_COMM_SEND_RECV;
        } else if (weir_str_has(name, WEIR_STR("AllReduce"))) {
            kind_of[id] = WEIR_COMM_ALL_REDUCE;
        } else if (weir_str_has(name, WEIR_STR("Broadcast"))) {
            kind_of[id] = WEIR_COMM_BROADCAST;
        } else if (weir_str_has(name, WEIR_STR("AllGather"))) {
            kind_of[id] = WEIR_COMM_ALL_GATHER;
        }
    }
    weir_match_options options = {is_comm, kind_of, f->threads};
    FIXTURE_OK(weir_match_build(f->t, &options, &f->match, &f->err));
    free(is_comm);
    free(kind_of);
}

static inline void fixture_match(match_fixture *f)
{
    FIXTURE_OK(weir_timeline_seal(f->t, &f->err));
    fixture_match_sealed(f);
}

static inline void fixture_close(match_fixture *f)
{
    weir_match_clear(&f->match);
    weir_timeline_free(f->t);
}

static inline uint32_t fixture_complete_count(const match_fixture *f)
{
    uint32_t complete = 0;
    for (uint32_t i = 0; i < f->match.instance_count; i++) {
        complete += f->match.instances[i].complete;
    }
    return complete;
}

/* Sum of a device's waits for the last arrival, on one clock. A span waits no longer than it runs:
 * in the sleep set one of them ends 14 us before the last arrival. */
static inline int64_t fixture_wait_ns(const match_fixture *f, weir_device_id device)
{
    weir_spans spans = weir_timeline_spans(f->t);
    int64_t sum = 0;
    for (uint32_t i = 0; i < f->match.member_count; i++) {
        const weir_member *m = &f->match.members[i];
        int64_t wait = f->match.instances[m->instance].last_arrival_ns - spans.start_ns[m->span];
        if (m->device == device) {
            sum += wait < spans.dur_ns[m->span] ? wait : spans.dur_ns[m->span];
        }
    }
    return sum;
}

/* The k-th communication span of a rank's device 0, in time order. */
static inline weir_span_id fixture_nth(const match_fixture *f, weir_rank_id rank, uint32_t k)
{
    uint32_t lane_count;
    const weir_lane *lanes = weir_timeline_lanes(f->t, &lane_count);
    for (uint32_t l = 0; l < lane_count; l++) {
        if (lanes[l].kind == WEIR_LANE_STREAM && lanes[l].rank == rank && lanes[l].number == 20) {
            return lanes[l].first_span + k;
        }
    }
    return WEIR_NONE;
}

static inline uint32_t fixture_instance(const match_fixture *f, weir_rank_id rank, uint32_t k)
{
    return f->match.instance_of_span[fixture_nth(f, rank, k)];
}

#endif
