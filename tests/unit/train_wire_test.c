/* What groups of a plan put on the links of a node and between nodes, and how long it takes: no
 * faster than the link, whatever the factors. Bytes are counted by hand. */
#include "train_job_sample.h"

#include "train/train_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

static job_sample sample;

static int make(void **state)
{
    (void)state;
    return sample_make("llama3-8b", &sample) ? 0 : 1;
}

static int clear(void **state)
{
    (void)state;
    sample_clear(&sample);
    return 0;
}

/* splitmix64 (public domain, S. Vigna). */
static uint64_t draw(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double between(uint64_t *seed, double least, double most)
{
    return least * pow(most / least, (double)(draw(seed) >> 11) * 0x1p-53);
}

static const weir_collective_kind kinds[] = {WEIR_COLLECTIVE_ALL_REDUCE, WEIR_COLLECTIVE_ALL_GATHER,
                                             WEIR_COLLECTIVE_REDUCE_SCATTER,
                                             WEIR_COLLECTIVE_ALL_TO_ALL, WEIR_COLLECTIVE_SEND_RECV};

/* Axes of 1 to 8 ranks on nodes of 1 to 16, links of any rate, fitted factors of 0.3 to 3. */
static weir_train_job random_job(uint64_t *seed)
{
    weir_train_job job = sample.job;
    uint32_t *sizes[] = {&job.plan.tensor, &job.plan.context, &job.plan.pipeline, &job.plan.data,
                         &job.plan.expert_tensor};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        *sizes[i] = 1u << draw(seed) % 4;
    }
    job.plan.expert = job.plan.data;
    job.network.devices_per_node = 1u << draw(seed) % 5;
    job.network.node_bytes_per_s = draw(seed) % 8 ? between(seed, 10e9, 900e9) : 0;
    job.network.nic_bytes_per_s = between(seed, 5e9, 100e9);
    job.network.has_node_reduction = draw(seed) % 2;
    job.network.library = draw(seed) % 4 ? sample.library : NULL;
    job.stack.tensor_factor = between(seed, 0.3, 3);
    job.stack.data_factor = between(seed, 0.3, 3);
    job.stack.expert_factor = between(seed, 0.3, 3);
    return job;
}

static void nothing_moves_faster_than_its_link(void **state)
{
    (void)state;
    uint64_t seed = 20261201;
    for (int i = 0; i < 20000; i++) {
        weir_train_job job = random_job(&seed);
        weir_train_group group = (weir_train_group)(draw(&seed) % (WEIR_GROUP_EXPERT_DATA + 1));
        weir_collective_kind kind = kinds[draw(&seed) % (sizeof kinds / sizeof *kinds)];
        weir_wire wire = weir_train_wire(&job, group, kind, between(&seed, 1, 1e11));
        weir_axis_span span = weir_train_wire_span(&job, group);
        double link = span.nodes > 1 ? job.network.nic_bytes_per_s : job.network.node_bytes_per_s;
        assert_true(isfinite(wire.seconds));
        if (wire.bytes > link * wire.seconds * (1 + 1e-12)) {
            fail_msg("draw %d: %g B in %g s over %g B/s", i, wire.bytes, wire.seconds, link);
        }
    }
}

/* A ring of 8 sends 7/8 of the bytes on each of two ways; switches that sum take what a device has
 * and its part of the sum, 1 + 1/8 (NCCL, NVLS). */
static void switches_that_sum_are_sent_less(void **state)
{
    (void)state;
    weir_train_job job = sample.job;
    job.plan.tensor = 8;
    weir_wire summed = weir_train_wire(&job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_REDUCE, 1e9);
    job.network.has_node_reduction = false;
    weir_wire ring = weir_train_wire(&job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_REDUCE, 1e9);
    assert_true(fabs(summed.bytes - 1.125e9) < 1);
    assert_true(fabs(ring.bytes - 1.75e9) < 1);
}

/* 8 ranks in a node and nothing but NICs: each NIC carries its whole share of the ring. */
static void devices_without_a_link_take_their_nics(void **state)
{
    (void)state;
    weir_train_job job = sample.job;
    job.plan.tensor = 8;
    job.network.node_bytes_per_s = 0;
    weir_wire wire = weir_train_wire(&job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_REDUCE, 1e9);
    assert_true(fabs(wire.bytes - 1.75e9) < 1);
    assert_true(wire.seconds >= 1.75e9 / 50e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_moves_faster_than_its_link),
        cmocka_unit_test(switches_that_sum_are_sent_less),
        cmocka_unit_test(devices_without_a_link_take_their_nics),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
