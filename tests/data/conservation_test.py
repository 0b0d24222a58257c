#!/usr/bin/env python3
"""Time is conserved on every Kineto file, alone and in its set; nothing crashes.

weir trace ends with 0 and a result whose causes add up, or with 2 and a sentence where no device
did anything.
"""
import os
import unittest

import common

SETS = ("sst_sleep", "sst_long_a2a_optimizer__", "sst_long_a2a_optimizer_3", "qcomm_trace",
        "sst_long_a2a_optimizer_5", "log__resnet18")


class Conservation(unittest.TestCase):
    def check(self, paths, may_refuse):
        run = common.weir("trace", "--json", *paths)
        if run.code == 2 and may_refuse:
            self.assertRegex(run.err, r"\w+ \w+", "a sentence")
            self.assertEqual(run.out, b"")
            return
        self.assertEqual(run.code, 0, run.err[:300])
        result = run.json
        self.assertEqual(result["schema"], 1)
        self.assertEqual(result["source"]["kind"], "measured")
        common.check_conservation(self, result)
        for step in result["steps"]:
            self.assertEqual(sum(step["waits"].values()), step["wall_ns"])
        path = result["critical_path"]
        self.assertEqual(sum(path["waits"].values()), path["length_ns"])
        self.assertEqual(sum(path["causes"].values()), path["length_ns"])
        # Shares of the kernels that have to be classed; copies and collectives have not.
        classes = sum(result["classes"].values())
        if classes or any(d["intervals"]["compute_ns"] for d in result["devices"]):
            self.assertAlmostEqual(classes, 1.0, delta=0.001)

    def test_every_kineto_file_alone(self):
        for name in common.kineto_files():
            with self.subTest(file=name):
                path = os.path.join(common.TRACES, name)
                found = common.device_events(common.load(path))
                self.check([path], may_refuse=not found)

    def test_every_set(self):
        for pattern in SETS:
            with self.subTest(set=pattern):
                paths = common.torchrec(pattern)
                self.assertGreaterEqual(len(paths), 2)
                self.check(paths, may_refuse=False)

    def test_other_json_is_refused_with_a_sentence_or_read(self):
        for row in common.index():
            if row["format"] in ("kineto", "") or not row["file"].endswith(".json.gz"):
                continue
            with self.subTest(file=row["file"]):
                run = common.weir("trace", "--json", os.path.join(common.TRACES, row["file"]))
                self.assertIn(run.code, (0, 2), run.err[:300])
                if run.code == 2:
                    self.assertTrue(run.err.strip())


if __name__ == "__main__":
    common.main()
