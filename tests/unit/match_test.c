/* Kinds of communication, messages, and what a match says of the whole. */
#include "match_fixture.h"

#define SEND_RECV "ncclDevKernel_SendRecv"

/* One SendRecv kernel, launched under the annotation (NULL = none) and operation (NULL = none). */
static weir_instance instance_under(const char *annotation, const char *op, const weir_comm *comm)
{
    match_fixture f;
    fixture_open(&f);
    weir_rank_id rank = fixture_rank(&f, "a", 0, 4);
    fixture_host_span(&f, rank, WEIR_SPAN_ANNOTATION, "ProfilerStep#3", 0, 0, 1000);
    fixture_host_span(&f, rank, WEIR_SPAN_ANNOTATION, "nccl:all_reduce", 0, 5, 4); /* before */
    if (op) {
        fixture_host_span(&f, rank, WEIR_SPAN_OP, op, 0, 10, 200);
    }
    if (annotation) {
        fixture_host_span(&f, rank, WEIR_SPAN_ANNOTATION, annotation, 0, 20, 100);
    }
    fixture_host_span(&f, rank, WEIR_SPAN_RUNTIME, "cudaLaunchKernelExC", 7, 30, 10);
    uint32_t detail = WEIR_NONE;
    if (comm) {
        FIXTURE_OK(weir_timeline_add_comm(f.t, comm, &detail, &f.err));
    }
    fixture_kernel(&f, fixture_stream(&f, rank, 0, 20), rank, SEND_RECV, 7, detail,
                   (int64_t[]){50, 90});
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 1);
    weir_instance instance = f.match.instances[0];
    fixture_close(&f);
    return instance;
}

static void tells_a_send_recv_kernel_by_the_annotation_around_its_launch(void **state)
{
    (void)state;
    static const struct {
        const char *annotation, *op;
        weir_comm_kind kind;
        bool is_message;
    } rows[] = {
        {"nccl:all_to_all", "c10d::alltoall_base_", WEIR_COMM_ALL_TO_ALL, false},
        {"nccl:send 0->1", NULL, WEIR_COMM_SEND, true},
        {"nccl:recv 0<-2", NULL, WEIR_COMM_RECV, true},
        {"nccl:coalesced", NULL, WEIR_COMM_SEND_RECV, true},
        {"## forward ##", "c10d::alltoall_base_", WEIR_COMM_ALL_TO_ALL, false},
        {"nccl:_reduce_scatter_base", NULL, WEIR_COMM_REDUCE_SCATTER, false},
        {NULL, "c10d::recv_", WEIR_COMM_RECV, true},
        {NULL, NULL, WEIR_COMM_SEND_RECV, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_instance got = instance_under(rows[i].annotation, rows[i].op, NULL);
        assert_int_equal(got.kind, rows[i].kind);
        assert_int_equal(got.is_message, rows[i].is_message);
    }
}

static void tells_a_send_recv_kernel_by_its_arguments_first(void **state)
{
    (void)state;
    weir_comm comm = fixture_args(WEIR_COMM_ALL_TO_ALL, WEIR_NONE, -1);
    assert_int_equal(instance_under("nccl:coalesced", NULL, &comm).kind, WEIR_COMM_ALL_TO_ALL);
    comm.kind = WEIR_COMM_UNKNOWN;
    comm.src_rank = 0;
    comm.dst_rank = 3;
    assert_int_equal(instance_under(NULL, NULL, &comm).kind, WEIR_COMM_SEND);
    comm.src_rank = 3;
    comm.dst_rank = 0;
    assert_int_equal(instance_under(NULL, NULL, &comm).kind, WEIR_COMM_RECV);
    comm.src_rank = comm.dst_rank = -1;
    comm.in_elements = comm.out_elements = 5;
    assert_int_equal(instance_under(NULL, NULL, &comm).kind, WEIR_COMM_ALL_TO_ALL);
}

static weir_comm message(weir_comm_kind kind, int32_t src, int32_t dst)
{
    weir_comm comm = fixture_args(kind, WEIR_NONE, -1);
    comm.src_rank = src;
    comm.dst_rank = dst;
    return comm;
}

static void pairs_the_kth_send_with_the_kth_receive_of_two_ranks(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    for (int32_t r = 0; r < 3; r++) {
        fixture_rank(&f, "a", r, 3);
    }
    /* 0 sends to 1 and 2 in turn; each receiver waits from the last message on. */
    for (int64_t k = 0; k < 20; k++) {
        int32_t to = 1 + (int32_t)(k % 2);
        weir_comm send = message(WEIR_COMM_SEND, 0, to), recv = message(WEIR_COMM_RECV, 0, to);
        int64_t at = 1000000 + k * 500000;
        fixture_comm(&f, 0, SEND_RECV, &send, at, at + 100000);
        if (k > 1) { /* the first of each was received before the capture */
            fixture_comm(&f, (weir_rank_id)to, SEND_RECV, &recv, at - 700000, at + 100500);
        }
    }
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 20);
    assert_int_equal(fixture_complete_count(&f), 18);
    for (uint32_t k = 0; k < 18; k++) {
        assert_int_equal(fixture_instance(&f, 1 + k % 2, k / 2), fixture_instance(&f, 0, k + 2));
    }
    for (uint32_t i = 0; i < 20; i++) {
        const weir_instance *instance = &f.match.instances[i];
        assert_true(instance->is_message);
        assert_int_equal(instance->group_size, 2);
        /* The sender came last. */
        assert_int_equal(f.match.members[instance->last_member].device, 0);
    }
    fixture_close(&f);
}

static void leaves_a_message_without_known_peer_alone(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    for (int32_t r = 0; r < 3; r++) {
        fixture_rank(&f, "a", r, 3);
    }
    for (weir_rank_id r = 0; r < 3; r++) {
        weir_comm comm = message(r == 0 ? WEIR_COMM_SEND : WEIR_COMM_RECV, -1, -1);
        fixture_comm(&f, r, SEND_RECV, &comm, 1000 * (int64_t)r, 5000);
    }
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 3);
    assert_int_equal(fixture_complete_count(&f), 0);
    assert_int_equal(f.match.instances[0].group_size, 0);
    fixture_close(&f);
}

static void knows_the_only_peer_of_a_group_of_two(void **state)
{
    (void)state;
    static const int32_t ranks[2] = {0, 2};
    match_fixture f;
    fixture_open(&f);
    for (int32_t r = 0; r < 3; r++) {
        fixture_rank(&f, "a", r, 3);
    }
    weir_group_id group = fixture_group(&f, "9", ranks, 2);
    weir_comm send = fixture_args(WEIR_COMM_SEND, group, 17);
    weir_comm recv = fixture_args(WEIR_COMM_RECV, group, 4); /* a counter of its own */
    fixture_comm(&f, 0, SEND_RECV, &send, 1000, 5000);
    fixture_comm(&f, 2, SEND_RECV, &recv, 2000, 5100);
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 1);
    assert_true(f.match.instances[0].complete);
    assert_int_equal(f.match.instances[0].last_arrival_ns, 1000); /* since the first start */
    fixture_close(&f);
}

static void sorts_instances_by_last_arrival_and_members_by_device(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    for (int32_t r = 0; r < 4; r++) {
        fixture_rank(&f, "a", r, 4);
    }
    for (weir_rank_id r = 4; r-- > 0;) {
        for (int64_t k = 9; k >= 0; k--) {
            int64_t at = k * 1000000 + (r == 1 || r == 2 ? 300000 : 100000);
            fixture_comm(&f, r, "ncclDevKernel_AllReduce", NULL, at, k * 1000000 + 600000);
        }
    }
    fixture_match(&f);
    const weir_match *m = &f.match;
    assert_int_equal(m->instance_count, 10);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(m->instances[i].first_member, 4 * i);
        assert_int_equal(m->instances[i].last_arrival_ns, (int64_t)i * 1000000 + 200000);
        assert_int_equal(m->instances[i].end_ns, (int64_t)i * 1000000 + 500000);
        for (uint32_t d = 0; d < 4; d++) {
            const weir_member *member = &m->members[4 * i + d];
            assert_int_equal(member->device, d);
            assert_int_equal(member->instance, i);
            assert_int_equal(m->instance_of_span[member->span], i);
            assert_int_equal(m->member_of_span[member->span], 4 * i + d);
        }
        assert_int_equal(m->instances[i].last_member, 4 * i + 1); /* tie: the lower device */
    }
    fixture_close(&f);
}

static void makes_nothing_of_a_timeline_without_spans(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 0);
    assert_int_equal(f.match.edge_count, 0);
    assert_true(f.match.aligned);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_a_send_recv_kernel_by_the_annotation_around_its_launch),
        cmocka_unit_test(tells_a_send_recv_kernel_by_its_arguments_first),
        cmocka_unit_test(pairs_the_kth_send_with_the_kth_receive_of_two_ranks),
        cmocka_unit_test(leaves_a_message_without_known_peer_alone),
        cmocka_unit_test(knows_the_only_peer_of_a_group_of_two),
        cmocka_unit_test(sorts_instances_by_last_arrival_and_members_by_device),
        cmocka_unit_test(makes_nothing_of_a_timeline_without_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
