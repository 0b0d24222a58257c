#!/usr/bin/env python3
"""Circuits of a job go where something is exposed, through `weir fabric --json`.

Four nodes of 400 Gb/s with five circuits each, 10 GB/s a circuit; pairs send 100 MB across (0-2,
1-3) and 50 MB around (0-1, 1-2, 2-3, 3-0). No library, cables of 0 m, efficiency 1.
"""
import json
import os
import tempfile
import unittest

import common

ACROSS = ((0, 2), (1, 3))
AROUND = ((0, 1), (1, 2), (2, 3), (3, 0))


class Exposure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name, pairs, megabytes in (("across", ACROSS, 100), ("around", AROUND, 50)):
            cells = [[0] * 4 for _ in range(4)]
            for a, b in pairs:
                cells[a][b] = cells[b][a] = megabytes
            with open(os.path.join(self.folder.name, name + ".csv"), "w", encoding="ascii") as out:
                out.writelines(",".join(f"{cell} MB" for cell in row) + "\n" for row in cells)

    def play(self, *phases):
        ocs = {"ports": 1000, "switching": "1 ms", "linkup": "0 s", "circulators": True}
        light = {"kind": "ocs-job", "blocks": "nic", "ocs": ocs, "uplinks": 5,
                 "lengths": ["0 m"] * 3, "efficiency": 1}
        scenario = {"name": "exposure", "traffic": {"steps": 2, "phases": list(phases)},
                    "candidates": [{"name": "greedy", "design": "greedy", **light},
                                   {"name": "auto", **light}],
                    "cluster": {"nodes": 4, "devices": 1, "node_link": "none",
                                "nic": {"rate": "400 Gb/s"}}}
        path = os.path.join(self.folder.name, "scenario.json")
        with open(path, "w", encoding="ascii") as out:
            json.dump(scenario, out)
        run = common.weir("fabric", path, "--json")
        self.assertEqual(run.code, 0, run.err)
        self.notes = [note for note in run.json["notes"] if note.startswith("greedy: design")]
        return {c["name"]: c["step_s"] for c in run.json["fabric"]["candidates"]}

    def across(self, **more):
        return {"name": "across", "demand": "across.csv", **more}

    def around(self, compute):
        return {"name": "around", "demand": "around.csv", "compute": compute}

    def test_a_hidden_phase_leaves_its_second_circuits_to_an_exposed_one(self):
        """Each pair has one (3 ends of a node). Across is hidden by 20 ms, 10 ms on one circuit: the
        other two ends double the pairs around, 50 MB on two: 2.5 ms."""
        found = self.play(self.across(overlap=True), self.around("20 ms"))
        self.assertAlmostEqual(found["greedy"], 22.5e-3, delta=3e-9)
        self.assertAlmostEqual(found["auto"], 22.5e-3, delta=3e-9)
        self.assertIn("by what is exposed (0 % of 'across', the least)", self.notes[0])

    def test_what_blocks_counts_by_its_bytes(self):
        """Across gets the fourth ends, 100 MB on two: 5 ms; the fifth ends double two pairs
        around, the others keep one: 5 ms."""
        found = self.play(self.across(), self.around("20 ms"))
        self.assertAlmostEqual(found["greedy"], 30e-3, delta=3e-9)
        self.assertNotIn("exposed", self.notes[0])

    def test_what_would_be_exposed_by_that_keeps_its_circuits(self):
        """2 ms of across would hide behind 3 ms if all ends were its own; on one circuit it takes
        10 ms, the step. By bytes it has two, 5 ms, beside 3 + 5 ms: that is kept."""
        found = self.play(self.across(overlap=True), self.around("3 ms"))
        self.assertAlmostEqual(found["greedy"], 8e-3, delta=3e-9)
        self.assertNotIn("exposed", self.notes[0])


if __name__ == "__main__":
    common.main(needs_data=False)
