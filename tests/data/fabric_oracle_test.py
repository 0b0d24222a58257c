#!/usr/bin/env python3
"""Oracles through the front door: scenarios written here, `weir fabric --json`, and the times of a
step, the bill and the break-even that shared/reference/network-oracles.md gives in closed form.

No library (so no latency of steps), cables of 0 m, switches of 0 s, efficiency 1: what is left is
bytes over rates and circuits being set. Times are told to the nanosecond. A job repeats its step:
in S steps that set circuits K times each, K S settings are waited for.
"""
import csv
import json
import os
import sys
import tempfile
import unittest

import common

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(common.SOURCE, "tools"))
from collective_fit import rows  # noqa: E402
from collective_fit.model import straight_line  # noqa: E402

MEASURED = os.path.join(common.DATA, "collectives", "measured.csv")
BARE = {"lengths": ["0 m", "0 m", "0 m"], "efficiency": 1}
RATE = 50e9  # bytes/s of 400 Gb/s


def cluster(nodes, devices=1, node_link="none", rate="400 Gb/s"):
    return {"nodes": nodes, "devices": devices, "node_link": node_link, "nic": {"rate": rate}}


def switch(ports, rate="400 Gb/s", watts="0 W"):
    return {"ports": ports, "rate": rate, "latency": "0 s", "watts": watts}


def light(name, kind, switching="0 s", **more):
    """Circuits of one way that end at NICs, one for each node."""
    ocs = {"ports": 1000, "switching": switching, "linkup": "0 s", "circulators": False}
    return {"name": name, "kind": kind, "blocks": "nic", "ocs": ocs, "uplinks": 1, **BARE, **more}


def all_to_all(nodes, devices, bytes_of_pair, algorithm="direct"):
    return {"phases": [{"name": "a2a", "collective": "all_to_all", "algorithm": algorithm,
                        "bytes": f"{nodes * devices * bytes_of_pair} B"}]}


class Oracles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, lines):
        with open(os.path.join(self.folder.name, name), "w", encoding="ascii") as out:
            out.writelines(line + "\n" for line in lines)

    def play(self, name, machines, traffic, *candidates):
        """Candidates of the result by name, and the result."""
        scenario = {"name": name, "cluster": machines, "traffic": traffic,
                    "candidates": list(candidates)}
        self.write("scenario.json", [json.dumps(scenario)])
        run = common.weir("fabric", os.path.join(self.folder.name, "scenario.json"), "--json")
        self.assertEqual(run.code, 0, run.err)
        fabric = run.json["fabric"]
        found = {c["name"]: c for c in fabric["candidates"]}
        for c in found.values():
            self.assertIsNone(c["refused"], c["refused"])
        return found, fabric

    def expect_s(self, candidate, expected_s):
        self.assertAlmostEqual(candidate["step_s"], expected_s, delta=2e-9 + 1e-12 * expected_s)

    # --- section 1: switches of 8, 16, 32, 64 ports, one cable between each two ---

    def play_tree(self, hosts, ports, phase, *routings):
        """Candidates by routing. Seed 1 draws the oracles' permutation, and their ways for it."""
        tree = {"kind": "clos", "tiers": 3, "trunk": [1, 1], "switch": switch(ports), **BARE}
        found, _ = self.play("tree", cluster(hosts), {"phases": [{"name": "a", **phase}]},
                             *({"name": r, "routing": r, **tree}
                               for r in routings))
        return found

    def test_permutations_on_fat_trees_take_as_long_as_other_solvers_say(self):
        """Spraying is ideal; over 65,536 hosts it has more ways than Weir takes."""
        for hosts, ports, fixed_s, ecmp_s in ((64, 8, 0.006, 0.008), (256, 16, 0.006, 0.010),
                                              (1024, 16, 0.010, 0.012), (4096, 32, 0.014, 0.014),
                                              (65536, 64, 0.016, 0.016)):
            with self.subTest(hosts=hosts):
                spray = ("spray",) if hosts < 65536 else ()
                found = self.play_tree(hosts, ports, {"pattern": "permutation", "bytes": "100 MB"},
                                       "fixed", "ecmp", *spray)
                self.expect_s(found["fixed"], fixed_s)
                self.expect_s(found["ecmp"], ecmp_s)
                if spray:
                    self.expect_s(found["spray"], 0.002)

    def test_regular_traffic_on_fat_trees_takes_its_closed_form(self):
        for hosts, ports in ((64, 8), (256, 16), (1024, 16)):
            for phase, expected_s in (
                    ({"pattern": "ring"}, 0.002),
                    ({"pattern": "incast"}, (hosts - 1) * 0.002),
                    ({"pattern": "all_to_all"}, (hosts - 1) * 0.002),
                    ({"collective": "all_reduce", "algorithm": "ring"},
                     2 * (hosts - 1) / hosts * 0.002)):
                with self.subTest(hosts=hosts, phase=phase):
                    found = self.play_tree(hosts, ports, {**phase, "bytes": "100 MB"},
                                           "fixed", "spray")
                    self.expect_s(found["fixed"], expected_s)
                    self.expect_s(found["spray"], expected_s)

    # --- section 4 ---

    def test_oversubscription_slows_an_all_to_all_as_the_closed_form_says(self):
        """Up to 4:1 the printed rows; 7:1 and 15:1 on leaves that whole cables can be built of."""
        printed = {1: 0.020460, 2: 0.039680, 4: 0.079360}
        for over, hosts, ports, nodes in ((1, 32, 64, 1024), (2, 32, 48, 1024), (4, 32, 40, 1024),
                                          (7, 28, 35, 980), (15, 30, 40, 960)):
            with self.subTest(oversubscription=over):
                found, _ = self.play(
                    "clos", cluster(nodes), all_to_all(nodes, 1, 10**6),
                    {"name": "clos", "kind": "clos", "tiers": 2, "switch": switch(ports),
                     "oversubscription": over, **BARE})
                expected_s = max(nodes - 1, (nodes - hosts) * over) * 1e6 / RATE
                self.assertAlmostEqual(printed.get(over, expected_s), expected_s, delta=1e-12)
                self.expect_s(found["clos"], expected_s)

    def test_bus_bandwidth_of_an_all_to_all_follows_the_nodes(self):
        for nodes, printed in ((2, 100), (4, 66.667), (8, 57.143), (16, 53.333), (128, 50.394)):
            with self.subTest(nodes=nodes):
                found, _ = self.play(
                    "bus", cluster(nodes, 8, {"kind": "switched", "rate": "450 GB/s"}),
                    all_to_all(nodes, 8, 10**6),
                    {"name": "one switch", "kind": "clos", "tiers": 1, "switch": switch(1024),
                     **BARE})
                bus = nodes * 8e6 / found["one switch"]["step_s"] / 1e9
                self.assertAlmostEqual(bus, printed, delta=1e-3)

    def test_rails_alone_cost_the_forwarding_inside_nodes(self):
        """Serial: (R - 1)/R x B_nic/B_nvl more than on the rails; printed to 0.01 %."""
        for rails, nic, link, printed in ((8, 400, 450, 9.72), (256, 400, 450, 11.07),
                                          (72, 800, 900, 10.96), (72, 400, 900, 5.48)):
            with self.subTest(rails=rails, nic=nic, link=link):
                found, _ = self.play(
                    "rails", cluster(4, rails, {"kind": "switched", "rate": f"{link} GB/s"},
                                     f"{nic} Gb/s"),
                    all_to_all(4, rails, 10**6, "rails"),
                    {"name": "rails", "kind": "rail-only", "tiers": 1,
                     "switch": switch(4, f"{nic} Gb/s"), **BARE})
                free_s = 3 * rails * 1e6 / (nic / 8 * 1e9)
                extra = (rails - 1) / rails * nic / 8 / link
                self.assertAlmostEqual(100 * extra, printed, delta=0.0051)
                self.expect_s(found["rails"], free_s * (1 + extra))

    def test_a_twisted_torus_is_faster_by_what_the_loads_say(self):
        """4 x 4 x 8, links of 50 GB/s: 128 and 73.333 bytes a pair on the busiest link."""
        size = {"kind": "torus", "size": [4, 4, 8], **BARE}
        found, _ = self.play("torus", cluster(128, rate="2400 Gb/s"), all_to_all(128, 1, 10**6),
                             {"name": "regular", **size},
                             {"name": "twisted", "twist": [[0, 0, 4], [0, 0, 4], [0, 0, 0]],
                              **size})
        self.expect_s(found["regular"], 128 * 1e6 / RATE)
        self.expect_s(found["twisted"], 220 / 3 * 1e6 / RATE)

    # --- section 6; one unit of E8 is 50 MB, 1 ms of a circuit ---

    def write_e8(self):
        for name, near, far in (("ten", 10, 0), ("one", 0, 1)):
            cells = [["0" if i == j else f"{50 * (near if j == (i + 1) % 3 else far)} MB"
                      for j in range(3)] for i in range(3)]
            self.write(name + ".csv", [",".join(row) for row in cells])

    def test_e8_permutations_and_a_ring_that_forwards(self):
        """Permutations in turn 11 + 2 d, the ring 12 (+ d once, before the run). Played again and
        again permutations lose to the ring from d = 1/2 on, and the candidate then keeps it."""
        self.write_e8()
        steps = 3
        traffic = {"steps": steps, "phases": [{"name": "ten", "demand": "ten.csv"},
                                              {"name": "one", "demand": "one.csv"}]}
        for delay in (0, 0.25, 0.4, 1, 2, 5):
            with self.subTest(d=delay):
                found, _ = self.play(
                    "e8", cluster(3), traffic, light("ring", "ocs-job", design="ring"),
                    light("permutations", "ocs-phase", f"{delay} ms"))
                self.expect_s(found["ring"], 12e-3)
                in_turn = 11 + 2 * delay
                self.expect_s(found["permutations"], (in_turn if delay < 0.5 else 12) * 1e-3)
                self.assertEqual(found["permutations"]["resets"], 2 if delay < 0.5 else 0)

    def test_e8_circuits_beside_packets(self):
        """Circuits of rate 1, packets of 0.1: both done after 10, whatever a setting takes, which
        is made once (max(10 + d, 10) where it is made within the step)."""
        self.write_e8()
        traffic = {"steps": 2, "phases": [
            {"name": "one", "demand": "one.csv", "overlap": True, "road": "packets"},
            {"name": "ten", "demand": "ten.csv", "road": "light"}]}
        for delay in (0, 1, 2, 5):
            with self.subTest(d=delay):
                found, _ = self.play(
                    "e8", cluster(3, rate="440 Gb/s"), traffic,
                    light("hybrid", "hybrid", f"{delay} ms", design="matching",
                          light_share=10 / 11, switch=switch(8)))
                self.expect_s(found["hybrid"], 10e-3)

    def play_e9(self, distance, delay_ms, steps):
        """Each device sends 100 MB to the next, then, with no gap, to distance k. Cables in a ring
        of switches forward, as a standing ring of circuits does."""
        nodes = 128
        self.write("ring.csv", ["from,to,rate,latency,optical,one_way"] + [
            row for i in range(nodes) for row in (f"s{i},s{(i + 1) % nodes},400 Gb/s,,no,yes",
                                                  f"d{i},s{i},4000 Gb/s,,no,no")])
        traffic = {"steps": steps, "phases": [
            {"name": "near", "pattern": "ring", "bytes": "100 MB", "compute": "200 ms"},
            {"name": "far", "pattern": "shift", "degree": distance, "bytes": "100 MB"}]}
        return self.play("e9", cluster(nodes), traffic,
                         {"name": "cables", "kind": "list", "cables": "ring.csv",
                          "switch": switch(4), "efficiency": 1},
                         light("standing", "ocs-job"),
                         light("set again", "ocs-phase", f"{delay_ms} ms"))

    def test_e9_setting_again_pays_below_the_break_even(self):
        for distance, printed_ms in ((2, 2), (4, 6), (8, 14), (64, 126)):
            for delay_ms in (1, printed_ms - 0.5, printed_ms + 0.5):
                with self.subTest(k=distance, d=delay_ms):
                    found, fabric = self.play_e9(distance, delay_ms, 2)
                    static_s = 0.2 + (1 + distance) * 2e-3
                    again_s = 0.2 + 2 * 2e-3 + delay_ms * 1e-3  # before `near` it is hidden
                    self.expect_s(found["standing"], static_s)
                    self.expect_s(found["cables"], static_s)
                    self.expect_s(found["set again"], min(static_s, again_s))
                    self.assertEqual(found["set again"]["resets"] > 0, delay_ms < printed_ms)
                    # bisection to 2 %
                    self.assertAlmostEqual(fabric["break_even"]["switching_time_s"],
                                           printed_ms * 1e-3, delta=0.02 * printed_ms * 1e-3)
                    if delay_ms < printed_ms:  # (k - 1) b / B = d; below it nothing is set again
                        least = delay_ms * 1e-3 * 50e9 / (distance - 1)
                        self.assertAlmostEqual(fabric["break_even"]["message_bytes"], least,
                                               delta=0.02 * least)

    def test_e11_what_the_slack_does_not_hide_is_waited_for(self):
        """Slack 8 ms, d 10 ms, four settings in a step of 5 s: 8 ms, 0.16 %."""
        steps, sends = 3, 5 / 4 - 8e-3
        phases = [{"name": f"phase {i}", "pattern": "shift", "degree": 5 if i % 2 else 1,
                   "bytes": f"{round(sends * RATE)} B", "compute": "8 ms"} for i in range(4)]
        found, _ = self.play("e11", cluster(16), {"steps": steps, "phases": phases},
                             light("set again", "ocs-phase", "10 ms"))
        exposed_s = 4 * steps * (10e-3 - 8e-3)
        self.expect_s(found["set again"], 5 + exposed_s / steps)
        self.assertEqual(found["set again"]["resets"], 4)
        self.assertEqual(found["set again"]["exposed_parts"]["circuit"], 16 * exposed_s * 1e9)
        self.assertAlmostEqual(4 * 2e-3 / 5, 0.0016, delta=1e-15)
        found, _ = self.play("e11", cluster(16), {"steps": steps, "phases": phases},
                             light("set again", "ocs-phase", "8 ms"))
        self.expect_s(found["set again"], 5)

    def test_slack_beyond_computing_is_time_to_set_circuits(self):
        """2 ms each; 1 s before the first hides its setting, none before the second does not."""
        for first, hidden in (({"slack": "1 s"}, 1), ({}, 0), ({"slack": "0.25 ms"}, 0.25)):
            with self.subTest(first=first):
                phases = [{"name": "near", "pattern": "shift", "degree": 1, "bytes": "100 MB",
                           **first},
                          {"name": "far", "pattern": "shift", "degree": 5, "bytes": "100 MB"}]
                found, _ = self.play("slack", cluster(16), {"steps": 2, "phases": phases},
                                     light("set again", "ocs-phase", "1 ms"))
                self.expect_s(found["set again"], (2 + 2 + 1 + 1 - hidden) * 1e-3)

    def test_e12_the_bill_of_a_fat_tree_and_of_one_without_cores(self):
        """64 pods of 1024 ends: a switch of 136 ports takes two ends of each pod (128 ports), so
        that there are 512, where 65,536 ends on 136 ports each would be 482 (circuit_test.c)."""
        parts = {"switch": switch(64, watts="500 W"), "optical_from": "leaf", **BARE,
                 "module": {"like": "400g-dr4", "watts": "15 W"}}
        machines = cluster(65536)
        machines["nic"]["watts"] = "0 W"
        found, _ = self.play(
            "e12", machines, {"phases": [{"name": "a", "pattern": "ring", "bytes": "1 MB"}]},
            {"name": "packets", "kind": "clos", "tiers": 3, **parts},
            {"name": "light", "kind": "ocs-job", "blocks": "pod", "design": "uniform",
             "ocs": {"ports": 136, "circulators": True, "switching": "10 ms", "linkup": "0 s",
                     "watts": "108 W", "loss": "0 dB"}, **parts})
        packets, circuits = found["packets"], found["light"]
        self.assertEqual(packets["switches"], 2048 + 2048 + 1024)
        self.assertEqual(packets["modules"]["pluggable"], 2 * 2 * 65536)
        self.assertEqual(packets["optical_cables"], 2 * 65536)
        self.assertEqual(packets["watts"], 2.56e6 + 3.93216e6)
        self.assertEqual(packets["switches"] - circuits["switches"], 1024)
        self.assertEqual(packets["modules"]["pluggable"] - circuits["modules"]["pluggable"], 65536)
        self.assertEqual(circuits["optical_ports"], 512 * 136)
        self.assertEqual(packets["watts"] - circuits["watts"], 0.512e6 + 0.98304e6 - 512 * 108)


@unittest.skipUnless(os.path.exists(MEASURED), f"no data at {MEASURED} (set WEIR_DATA)")
class StraightLines(unittest.TestCase):
    def test_fits_of_the_measured_rows_are_those_of_section_3(self):
        """t = a + S/b over all-reduces from 1 MiB on; a to 0.1 us, b to 0.1 GB/s, errors to 1 %."""
        with open(MEASURED, encoding="utf-8", newline="") as source:
            measured = list(csv.DictReader(source))
        for system, gpus, start_us, rate, mean, worst in (
                ("Azure ND H100 v5", 8, 40.7, 254.7, None, None),
                ("Azure ND A100 v4", 8, 52.8, 118.9, 14, 28),
                ("Nebius H100 HGX", 16, 96.0, 229.2, 10, 20),
                ("AWS p5.48xlarge H100-80G", 16, 150.3, 228.7, 13, 32)):
            points = [(float(r["size_bytes"]), float(r["time_us"]) * 1e-6) for r in measured
                      if r["system"] == system and r["gpus"] == str(gpus) and r["time_us"] and
                      r["collective"] == "all_reduce" and float(r["size_bytes"]) >= 2**20 and
                      not rows.NOT_TARGETS.search(r["note"].lower())]
            with self.subTest(system=system, rows=len(points)):
                a, b, mean_error, worst_error = straight_line(points)
                self.assertAlmostEqual(a * 1e6, start_us, delta=0.051)
                self.assertAlmostEqual(b / 1e9, rate, delta=0.051)
                if mean:
                    self.assertAlmostEqual(100 * mean_error, mean, delta=0.5)
                    self.assertAlmostEqual(100 * worst_error, worst, delta=0.5)


if __name__ == "__main__":
    common.main(needs_data=False)
