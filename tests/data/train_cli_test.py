"""`weir train` from outside: its JSON against the schemas, sums, and that its ways agree.

Played, swept and as a line, a scenario without disturbances has the same step; what a trace of the
simulated ranks says is in other tests."""
import glob
import json
import os
import unittest

import common
from schema_test import Validator

SCHEMAS = os.path.join(common.SOURCE, "docs", "schema")
EXAMPLES = [os.path.join(common.SOURCE, "examples", "llama3-405b-16k.yaml"),
            *sorted(glob.glob(os.path.join(common.SOURCE, "examples", "train", "*.yaml")))]
SMALL = {"name": "8B", "model": "llama3-8b",
         "cluster": {"accelerator": "h100-sxm", "nodes": 2},
         "plan": {"sequence": 8192, "global_batch": 64, "tensor": 2, "pipeline": 2}}


def schema(name):
    with open(os.path.join(SCHEMAS, name), encoding="utf-8") as source:
        return json.load(source)


def faults(value, name):
    found = schema(name)
    return list(Validator(found).check(value, found))[:5]


def train(scenario, *options):
    return common.weir("train", "-", *options, input=json.dumps(scenario).encode())


def lines(scenarios):
    text = "".join(json.dumps(s) + "\n" for s in scenarios)
    run = common.weir("train", "--lines", "-", input=text.encode())
    return [json.loads(line) for line in run.out.splitlines()]


class Train(unittest.TestCase):
    def test_examples_follow_the_schema_and_add_up(self):
        for path in EXAMPLES:
            with self.subTest(os.path.basename(path)):
                run = common.weir("train", path, "--json")
                self.assertEqual(run.code, 0, run.err)
                result = run.json
                self.assertEqual(faults(result, "result.schema.json"), [])
                total = result["total"]
                self.assertEqual(sum(total["waits"].values()), total["wall_ns"])
                self.assertEqual(sum(total["causes"].values()), total["wall_ns"])

    def test_plans_follow_their_schema_and_add_up(self):
        run = train(SMALL, "--sweep", "plan.tensor=1,2,3,4", "--sweep", "plan.zero=0,1", "--json")
        self.assertEqual(faults(run.json, "train-plans.schema.json"), [])
        points = run.json["plans"]["points"]
        self.assertEqual([p["values"] for p in points],
                         [[t, z] for t in "1234" for z in "01"])
        self.assertEqual([p["refused"] is not None for p in points], [False] * 4 + [True] * 2 +
                         [False] * 2)
        for point in points:
            if point["refused"] is None:
                waits = sum(v for k, v in point.items() if k in
                            ("compute_share", "communication_share", "dependency_share",
                             "cache_share"))
                self.assertAlmostEqual(waits, 1, places=9)

    def test_a_line_a_point_and_the_played_step_agree(self):
        line = lines([SMALL])[0]
        swept = train(SMALL, "--sweep", "plan.tensor=2", "--json").json["plans"]["points"][0]
        played = train(SMALL, "--json").json["training"]
        self.assertEqual(swept["step_s"], line["step_s"])
        self.assertEqual(swept["memory_bytes"], line["memory_bytes"]["total"])
        self.assertAlmostEqual(played["step_s"] / line["step_s"], 1, places=4)

    def test_sums_of_a_line(self):
        line = lines([SMALL])[0]
        memory = line["memory_bytes"]
        parts = sum(memory[k] for k in ("parameters", "gradients", "optimizer", "activations",
                                        "buffers"))
        self.assertAlmostEqual(parts / memory["allocated"], 1, places=9)
        whole = memory["allocated"] + memory["context"] + memory["fragmentation"]
        self.assertAlmostEqual(whole / memory["total"], 1, places=9)
        self.assertAlmostEqual(sum(line["waits"].values()) / line["step_s"], 1, places=9)
        self.assertAlmostEqual(sum(line["causes"].values()) / line["step_s"], 1, places=9)

    def test_every_line_has_its_answer(self):
        wrong = dict(SMALL, plan=dict(SMALL["plan"], tensor=3))
        answers = lines([SMALL, wrong, SMALL])
        self.assertEqual([a["line"] for a in answers], [1, 2, 3])
        self.assertIn("heads", answers[1]["error"])
        self.assertEqual({k: v for k, v in answers[0].items() if k != "line"},
                         {k: v for k, v in answers[2].items() if k != "line"})

    def test_threads_change_nothing(self):
        sweep = ("--sweep", "plan.tensor=1,2,4,8", "--sweep", "plan.micro_batch=1,2,3", "--csv")
        self.assertEqual(train(SMALL, *sweep, "--threads", "1").out,
                         train(SMALL, *sweep, "--threads", "3").out)

    def test_a_plan_that_does_not_fit_is_refused_with_what_would(self):
        run = train(SMALL, "--set", "plan.micro_batch=16")
        self.assertEqual(run.code, 2)
        self.assertIn("does not fit into memory", run.err)
        self.assertEqual(train(SMALL, "--set", "plan.micro_batch=16", "--ignore-memory").code, 0)


if __name__ == "__main__":
    common.main(needs_data=False)
