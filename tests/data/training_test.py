#!/usr/bin/env python3
"""Published training steps against `weir train`: a sample of rows, and the errors of the page.

tools/training_fit turns rows of data/training/calibration.csv into scenarios. All runs but those of
one small-model sweep are computed, every twelfth of that; medians may not rise above LIMITS, which
are those of docs/accuracy.md and a fifth more. The pieces of the fit are tested beside."""
import os
import statistics
import sys
import unittest
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("WEIR_SOURCE") or os.path.dirname(os.path.dirname(HERE))
BIN = os.environ.get("WEIR_BIN") or os.path.join(SOURCE, "build", "release", "weir")
DATA = Path(os.environ.get("WEIR_DATA") or os.path.join(SOURCE, "..", "shared", "data"), "training")
SKIPPED = 77

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tools"))
from training_fit import cases, cross, engine, fit, judge, preset, report, scenario  # noqa: E402

LEFT_OUT = Path(SOURCE, "tools", "training_fit", "left_out.csv")
LIMITS = {  # stratum -> medians, half/half and with the source left out
    "grade A, MFU > 20 %": (0.04, 0.065), "dense": (0.039, 0.066),
    "mixture of experts": (0.067, 0.07), "pipeline stages > 1": (0.043, 0.065),
    "≥ 512 GPUs": (0.04, 0.063), "FP8": (0.056, 0.063), "FP4": (0.07, 0.076),
    "grade B without vtrain_single": (0.045, 0.07),
    "vtrain_single (launch-bound)": (0.05, 0.094)}
REFUSED = {1394}  # 64 expert ranks on the 32 devices of a stage: the row contradicts itself


class Config:
    """A configuration for tests: one constant times what it costs, and the rest."""

    def __init__(self, line, parts, step_s):
        self.line, self.parts, self.step_s, self.source = line, parts, step_s, "made"

    def suspect(self):
        return []


class Linear:
    """Stands for weir: a step is the sum of its parts, each with its constant."""

    def steps(self, jobs):
        return [c.parts[0] + c.parts[1] * k["gemm_factor"] + c.parts[2] * k["data_factor"]
                for c, k in jobs]


class Pieces(unittest.TestCase):
    def test_constants_that_made_the_steps_are_found_again(self):
        parts = [(0.1 * i, 1.0 + (i * 7) % 5, 0.3 * ((i * 3) % 11)) for i in range(40)]
        configs = [Config(i, p, p[0] + 1.12 * p[1] + 0.7 * p[2]) for i, p in enumerate(parts)]
        found, _ = fit.fit_stack(Linear(), configs, ("gemm_factor", "data_factor"), "made", 6)
        self.assertAlmostEqual(found["gemm_factor"], 1.12, delta=0.01)
        self.assertAlmostEqual(found["data_factor"], 0.7, delta=0.03)

    def test_a_constant_that_nothing_depends_on_stays_at_its_default(self):
        configs = [Config(i, (0, 1 + i, 0), 1.1 * (1 + i)) for i in range(9)]
        found, _ = fit.fit_stack(Linear(), configs, ("gemm_factor", "data_factor"), "made")
        self.assertAlmostEqual(found["data_factor"], 1.0, delta=1e-9)

    def test_ranks_of_equal_values_are_shared(self):
        self.assertEqual(judge.ranks([3, 1, 3, 2]), [2.5, 0, 2.5, 1])
        self.assertAlmostEqual(judge.spearman([1, 2, 3, 4], [10, 20, 40, 30]), 0.8)

    def test_a_quantile_lies_between_order_statistics(self):
        self.assertAlmostEqual(judge.quantile(range(11), 0.9), 9)
        self.assertAlmostEqual(judge.quantile([0, 1], 0.25), 0.25)

    def test_a_layout_of_bridge_is_layers_by_position(self):
        counts = scenario.bridge_layout("Et*4|(t*4|)*14tmL", 16)
        self.assertEqual(counts, [4] * 15 + [1])


class Published(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        timed, _, _ = cases.load(DATA)
        cls.timed = timed
        cls.crossed = cross.read(LEFT_OUT)
        cls.sample = [c for i, c in enumerate(timed)
                      if not judge.is_vtrain_single(c) or i % 12 == 0]
        weir = engine.Engine(BIN)
        folder = Path(SOURCE, "presets", "stacks")
        cls.answers = weir.run([preset.as_shipped(folder, c) for c in cls.sample])

    def test_no_row_is_refused(self):
        refused = [(c.line, a["error"]) for c, a in zip(self.sample, self.answers)
                   if "error" in a and c.line not in REFUSED]
        self.assertEqual(refused, [])

    def test_every_row_has_a_step_that_did_not_see_it(self):
        self.assertEqual([c.line for c in self.timed if c.line not in self.crossed and
                          c.line not in REFUSED], [])

    def test_presets_are_those_of_the_fit(self):
        moved = [c.line for c, a in zip(self.sample, self.answers)
                 if c.line in self.crossed and
                 abs(a.get("step_s", 0) / self.crossed[c.line]["fitted"] - 1) > 0.02]
        self.assertLess(len(moved), len(self.sample) / 100)

    def test_medians_of_strata_stay(self):
        timed = [c for c in self.timed if c.line in self.crossed]
        result = report.Result(timed, [], [], {}, self.crossed)
        for name, member, _, _ in judge.STRATA:
            configs = [c for c in timed if member(c)]
            for limit, errors in zip(LIMITS.get(name, ()), (result.halves(configs),
                                                            result.left(configs))):
                self.assertLessEqual(statistics.median(errors), limit, name)


if __name__ == "__main__":
    if not DATA.is_dir():
        print(f"skipped: there is no data at {DATA}")
        sys.exit(SKIPPED)
    unittest.main()
