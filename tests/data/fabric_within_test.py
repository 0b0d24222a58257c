#!/usr/bin/env python3
"""Circuits that are set again within a phase, through `weir fabric --json`: row E8 of
shared/reference/network-oracles.md, all-to-all in turn, and where it stops to pay.

No library, cables of 0 m, efficiency 1. One unit of E8 is 50 MB: 1 ms of a circuit of 400 Gb/s. A
job repeats its step, so that the first setting follows the last one: K settings are K delays.
"""
import json
import os
import sys
import tempfile
import unittest

import common

RATE = 50e9  # bytes/s of 400 Gb/s
BARE = {"lengths": ["0 m", "0 m", "0 m"], "efficiency": 1}
E8 = ((0, 10, 1), (1, 0, 10), (10, 1, 0))


def light(name, kind, switching, circulators=False, uplinks=1, **more):
    """Circuits that end at NICs, one for each node."""
    ocs = {"ports": 1000, "switching": switching, "linkup": "0 s", "circulators": circulators}
    return {"name": name, "kind": kind, "blocks": "nic", "ocs": ocs, "uplinks": uplinks, **BARE,
            **more}


class Within(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        with open(os.path.join(self.folder.name, "e8.csv"), "w", encoding="ascii") as out:
            out.writelines(",".join(f"{50 * cell} MB" for cell in row) + "\n" for row in E8)

    def run_weir(self, nodes, traffic, *candidates, rate="400 Gb/s"):
        scenario = {"name": "within", "traffic": traffic, "candidates": list(candidates),
                    "cluster": {"nodes": nodes, "devices": 1, "node_link": "none",
                                "nic": {"rate": rate}}}
        path = os.path.join(self.folder.name, "scenario.json")
        with open(path, "w", encoding="ascii") as out:
            json.dump(scenario, out)
        run = common.weir("fabric", path, "--json")
        self.assertEqual(run.code, 0, run.err)
        self.fabric = run.json["fabric"]
        self.notes = " | ".join(run.json["notes"])
        return {c["name"]: c for c in run.json["fabric"]["candidates"]}

    def play(self, *args, **more):
        found = self.run_weir(*args, **more)
        for c in found.values():
            self.assertIsNone(c["refused"], c["refused"])
        return found

    def expect_s(self, candidate, expected_s):
        self.assertAlmostEqual(candidate["step_s"], expected_s, delta=3e-9 + 1e-12 * expected_s)

    def test_e8_one_phase_by_permutations_or_by_a_ring_that_forwards(self):
        """11 + 2 d against 12: from d = 1/2 on the ring wins where both repeat, and auto keeps it."""
        traffic = {"steps": 3, "phases": [{"name": "e8", "demand": "e8.csv"}]}
        for d in (0, 0.25, 0.4, 0.6, 1, 2, 5):
            with self.subTest(d=d):
                found = self.play(3, traffic,
                                  light("never", "ocs-phase", f"{d} ms"),
                                  light("birkhoff", "ocs-phase", f"{d} ms", within="birkhoff"),
                                  light("auto", "ocs-phase", f"{d} ms", within="auto"))
                self.expect_s(found["never"], 12e-3)
                self.expect_s(found["birkhoff"], (11 + 2 * d) * 1e-3)
                self.assertEqual(found["birkhoff"]["resets"], 2)
                self.assertEqual(found["birkhoff"]["exposed_parts"]["circuit"],
                                 round(3 * 3 * 2 * d * 1e6))
                self.expect_s(found["auto"], min(12, 11 + 2 * d) * 1e-3)
                self.assertEqual(found["auto"]["resets"], 2 if d < 0.5 else 0)
                self.assertIn("design: birkhoff, 2 settings within the phase", self.notes)

    def test_the_break_even_is_the_delay_at_which_forwarding_is_as_fast(self):
        """Cables in a ring of switches take 12; 11 + 2 d = 12 at d = 1/2 (bisection to 2 %)."""
        with open(os.path.join(self.folder.name, "ring.csv"), "w", encoding="ascii") as out:
            out.write("from,to,rate,latency,optical,one_way\n")
            for i in range(3):
                out.write(f"s{i},s{(i + 1) % 3},400 Gb/s,,no,yes\nd{i},s{i},4000 Gb/s,,no,no\n")
        switch = {"ports": 4, "rate": "400 Gb/s", "latency": "0 s", "watts": "0 W"}
        traffic = {"steps": 2, "phases": [{"name": "e8", "demand": "e8.csv"}]}
        for within in ("birkhoff", "auto"):
            with self.subTest(within=within):
                found = self.play(3, traffic,
                                  {"name": "cables", "kind": "list", "cables": "ring.csv",
                                   "switch": switch, "efficiency": 1},
                                  light("set", "ocs-phase", "0.1 ms", within=within))
                self.expect_s(found["cables"], 12e-3)
                self.expect_s(found["set"], 11.2e-3)
                self.assertAlmostEqual(self.fabric["break_even"]["switching_time_s"], 0.5e-3,
                                       delta=0.02 * 0.5e-3)

    def test_uniform_all_to_all_takes_a_setting_for_each_partner(self):
        """(N - 1)(m / B + d), as a pattern and as a collective, and with repetitions."""
        each = 50e6
        for nodes in (3, 4, 8):
            for phase, times in (({"pattern": "all_to_all", "bytes": "50 MB"}, 1),
                                 ({"pattern": "all_to_all", "bytes": "50 MB", "times": 3}, 3),
                                 ({"collective": "all_to_all", "bytes": f"{50 * nodes} MB"}, 1)):
                for d in (0, 0.5, 3):
                    with self.subTest(nodes=nodes, phase=phase, d=d):
                        traffic = {"steps": 2, "phases": [{"name": "a2a", **phase}]}
                        found = self.play(nodes, traffic, *(
                            light(w, "ocs-phase", f"{d} ms", within=w)
                            for w in ("birkhoff", "solstice", "eclipse")))
                        for name in found:
                            self.expect_s(found[name],
                                          times * (nodes - 1) * (each / RATE + d * 1e-3))
                            self.assertEqual(found[name]["resets"], times * (nodes - 1))

    def hybrid(self, name, switching, **more):
        """Circuits of rate 1, packets of 0.1."""
        switch = {"ports": 8, "rate": "400 Gb/s", "latency": "0 s", "watts": "0 W"}
        return light(name, "hybrid", switching, light_share=10 / 11, switch=switch, **more)

    def test_e8_circuits_once_and_the_rest_on_packets(self):
        """Both are done after 10: the one setting stays, whatever it took. On packets alone 110."""
        traffic = {"steps": 2, "phases": [{"name": "e8", "demand": "e8.csv"}]}
        for d in (0, 1, 2, 5):
            with self.subTest(d=d):
                found = self.play(3, traffic, self.hybrid("never", f"{d} ms"),
                                  self.hybrid("solstice", f"{d} ms", within="solstice"),
                                  self.hybrid("auto", f"{d} ms", within="auto"),
                                  self.hybrid("birkhoff", f"{d} ms", within="birkhoff"),
                                  rate="440 Gb/s")
                self.expect_s(found["never"], 110e-3)
                self.expect_s(found["solstice"], 10e-3)
                self.assertEqual(found["solstice"]["resets"], 0)
                self.assertIn("design: solstice, 1 setting within the phase, the rest on packets",
                              self.notes)
                self.expect_s(found["auto"], 10e-3)
                self.expect_s(found["birkhoff"], (11 + 2 * d) * 1e-3)
                self.assertEqual(found["birkhoff"]["resets"], 2)

    def test_e8_circuits_that_a_phase_sets_for_itself(self):
        """max(10 + d, 10): a ring backwards of 2 ms before it, which has circuits of its own (one
        end leads to one partner), so that both settings are made in each step: 2 + d, 10 + d."""
        traffic = {"steps": 3, "phases": [
            {"name": "back", "pattern": "shift", "degree": 2, "bytes": "100 MB", "road": "light"},
            {"name": "e8", "demand": "e8.csv"}]}
        for d in (0, 1, 2, 5):
            with self.subTest(d=d):
                found = self.play(3, traffic, self.hybrid("solstice", f"{d} ms", design="matching",
                                                          within="solstice"), rate="440 Gb/s")
                self.expect_s(found["solstice"], (2 + d + max(10 + d, 10)) * 1e-3)
                self.assertEqual(found["solstice"]["resets"], 2)

    def test_computing_hides_the_first_setting_only(self):
        """Two settings of 1 ms, 0.75 ms computed before: 11 + 1 + 0.25 + 0.75."""
        traffic = {"steps": 2, "phases": [{"name": "e8", "demand": "e8.csv",
                                           "compute": "0.75 ms"}]}
        found = self.play(3, traffic, light("set", "ocs-phase", "1 ms", within="birkhoff"))
        self.expect_s(found["set"], 13e-3)

    def test_a_phase_between_others_comes_back_to_their_setting(self):
        """A ring of 2 ms, E8, d = 0.1: 2 + d, 11 + 2 d."""
        traffic = {"steps": 2, "phases": [{"name": "ring", "pattern": "ring", "bytes": "100 MB"},
                                          {"name": "e8", "demand": "e8.csv"}]}
        found = self.play(3, traffic, light("auto", "ocs-phase", "0.1 ms", within="auto"))
        self.expect_s(found["auto"], (13 + 0.3) * 1e-3)
        self.assertEqual(found["auto"]["resets"], 3)

    def test_circulators_halve_what_is_no_set_of_pairs(self):
        """Two ends, 50 GB/s together. All-to-all of 4 in pairs costs 3 x 1 ms; permutations of E8
        are cycles of three, one end in each direction: 22 ms; one end cannot do that."""
        traffic = {"phases": [{"name": "e8", "demand": "e8.csv"}]}
        found = self.play(3, traffic,
                          light("set", "ocs-phase", "0 s", True, 2, within="birkhoff"))
        self.expect_s(found["set"], 22e-3)
        found = self.run_weir(3, traffic, light("set", "ocs-phase", "0 s", True, 1,
                                                design="matching", within="birkhoff"),
                              light("plain", "ocs-phase", "0 s"))
        self.assertIsNotNone(found["set"]["refused"])

    def test_more_settings_than_there_may_be_are_refused_or_left(self):
        traffic = {"phases": [{"name": "a2a", "pattern": "all_to_all", "bytes": "1 MB"}]}
        found = self.run_weir(70, traffic, light("asked", "ocs-phase", "0 s", within="birkhoff"),
                              light("auto", "ocs-phase", "0 s", within="auto"),
                              light("never", "ocs-phase", "0 s"))
        self.assertIn("sets circuits more than 64 times within phase 'a2a'",
                      found["asked"]["refused"])
        self.assertEqual(found["auto"]["step_s"], found["never"]["step_s"])


if __name__ == "__main__":
    common.main(needs_data=False)
