#!/usr/bin/env python3
"""What a single link is worth, `fabric.single_links` of `weir fabric --json`, against the same step
with that one cable 1 % faster and slower.

Four switches in a square, a device at each, every direction a cable of its own with its own rate.
"""
import json
import os
import tempfile
import unittest

import common

# Gb/s from switch i to the next one, and back.
RATES = {(0, 1): 300, (1, 2): 400, (2, 3): 350, (3, 0): 320,
         (1, 0): 380, (2, 1): 310, (3, 2): 390, (0, 3): 330}


class Links(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def play(self, rates):
        with open(os.path.join(self.folder.name, "cables.csv"), "w", encoding="ascii") as out:
            out.write("from,to,rate,latency,optical,one_way\n")
            for (a, b), rate in rates.items():
                out.write(f"s{a},s{b},{rate:.6f} Gb/s,,no,yes\n")
            for i in range(4):
                out.write(f"d{i},s{i},4000 Gb/s,,no,no\n")
        switch = {"ports": 8, "rate": "400 Gb/s", "latency": "0 s", "watts": "0 W"}
        phases = [
            {"name": "ring", "compute": "2 ms", "pattern": "shift", "degree": 1,
             "bytes": "100 MB", "times": 3},
            {"name": "back", "compute": "1 ms", "pattern": "shift", "degree": 3, "bytes": "80 MB"}]
        scenario = {"name": "links", "traffic": {"steps": 1, "phases": phases},
                    "candidates": [{"name": "square", "kind": "list", "cables": "cables.csv",
                                    "switch": switch, "efficiency": 1}],
                    "cluster": {"nodes": 4, "devices": 1, "node_link": "none",
                                "nic": {"rate": "400 Gb/s"}}}
        path = os.path.join(self.folder.name, "scenario.json")
        with open(path, "w", encoding="ascii") as out:
            json.dump(scenario, out)
        run = common.weir("fabric", path, "--json")
        self.assertEqual(run.code, 0, run.err)
        return run.json["fabric"]["candidates"][0]["step_s"], run.json["fabric"]["single_links"]

    def test_two_links_set_the_pace_and_are_worth_what_the_step_says(self):
        """The ring waits for 0-1, the way back for 2-1: 3 x 100 MB / 37.5 GB/s + 80 / 38.75."""
        step_s, found = self.play(RATES)
        ring_s, back_s = 3 * 100e6 / 37.5e9, 80e6 / 38.75e9
        self.assertAlmostEqual(step_s, 7e-3 + ring_s + back_s, delta=1e-8)
        self.assertEqual(len(found), 2)
        for row, pair, own_s in zip(found, ((0, 1), (2, 1)), (ring_s, back_s)):
            with self.subTest(link=row["link"]):
                faster_s, _ = self.play({**RATES, pair: RATES[pair] * 1.01})
                slower_s, _ = self.play({**RATES, pair: RATES[pair] * 0.99})
                # ends of four exchanges are whole ns
                self.assertAlmostEqual(row["marginal_s_per_percent"], step_s - faster_s, delta=8e-9)
                self.assertAlmostEqual(row["loss_s_per_percent"], slower_s - step_s, delta=8e-9)
                self.assertAlmostEqual(row["structure_s_per_percent"], own_s * 0.01, delta=1e-12)
                self.assertAlmostEqual(row["pace_share"], own_s / step_s, delta=1e-5)

    def test_a_second_link_right_behind_it_takes_most_of_the_gain(self):
        """1-2 at 301 Gb/s: 1 % more of 0-1 stops there, less costs as before."""
        rates = {**RATES, (1, 2): 301}
        step_s, found = self.play(rates)
        faster_s, _ = self.play({**rates, (0, 1): 303})
        ring_s = 3 * 100e6 / 37.5e9
        self.assertAlmostEqual(found[0]["marginal_s_per_percent"], step_s - faster_s, delta=8e-9)
        self.assertAlmostEqual(found[0]["marginal_s_per_percent"], ring_s * (1 - 300 / 301),
                               delta=1e-12)
        self.assertAlmostEqual(found[0]["loss_s_per_percent"], ring_s * (1 / 0.99 - 1), delta=1e-12)


if __name__ == "__main__":
    common.main(needs_data=False)
