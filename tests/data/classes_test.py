#!/usr/bin/env python3
"""What bounds the kernels of real traces: decoding is memory, prefill is arithmetic, and hardly a
kernel is without a family."""
import os
import unittest

import common

UNKNOWN_SHARE = 0.03
# Files in which somebody replaced the names: the only kernel is called "Kernel", 20 ns in all.
NAMELESS = {"kineto_tb/docs__traces__after_fix_trace.json.gz",
            "kineto_tb/docs__traces__before_fix_trace.json.gz"}


def path(name):
    return os.path.join(common.TRACES, "tracelens", name)


def busy(causes):
    """ns of kernels and copies: all but dependency."""
    return sum(ns for cause, ns in causes.items() if not cause.startswith("dependency."))


class Classes(unittest.TestCase):
    def test_decoding_with_hip_graphs_reads_weights(self):
        result = common.trace(path("inference__sglang_decode__sglang_Qwen3-8B_decode.json.gz"))
        causes = result["total"]["causes"]
        self.assertGreaterEqual(causes.get("cache.weights", 0) / busy(causes), 0.55)

    def test_a_piecewise_prefill_computes(self):
        result = common.trace(
            path("inference__vllm_prefilldecode_piecewise__graph_execution.json.gz"))
        waits = result["total"]["waits"]
        self.assertEqual(max(waits, key=waits.get), "compute", waits)

    def test_a_prefill_of_15360_tokens_computes(self):
        result = common.trace(
            path("inference__sglang_prefilldecode__sglang_Qwen3-8B_prefilldecode.json.gz"))
        waits = result["total"]["waits"]
        self.assertGreater(waits["compute"], waits["cache"], waits)

    def test_hardly_a_kernel_is_without_a_family(self):
        for name in sorted(set(common.kineto_files()) - NAMELESS):
            with self.subTest(file=name):
                self.check_families(os.path.join(common.TRACES, name))

    def check_families(self, file):
        found = [e for e in common.device_events(common.load(file)) if e.kind == "compute"]
        if not found:
            return
        rows = common.trace(file, extra=("--by", "kernel"))["series"]["kernels"]
        unknown = {row["name"] for row in rows if row["family"] is None}
        time, without = 0, {}
        for event in found:
            time += event.end - event.start
            if event.name in unknown:
                without[event.name] = without.get(event.name, 0) + event.end - event.start
        share = sum(without.values()) / time if time else 0
        worst = sorted(without.items(), key=lambda i: -i[1])[:3]
        self.assertLess(share, UNKNOWN_SHARE, worst)


if __name__ == "__main__":
    common.main()
