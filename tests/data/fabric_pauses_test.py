#!/usr/bin/env python3
"""`pfc: yes` through the front door: the victim of an incast (oracle A9) loses with pauses.

Three hosts send 50 MB each to a fourth; the third also sends 125 MB to a fifth, all at once over
links of 50 GB/s. A fluid: 50/3 GB/s each into the fourth, the victim gets the other 100/3; after
3 ms it has 25 MB left, alone: 3.5 ms. With pauses the third host's 175 MB advance together with two
shares: of the fourth's link r + r + 2 r 50/175 = 50 GB/s, r = 19.44; after 50 MB / r = 2.571 ms
100 MB of the 175 are there, the rest takes 75 MB / 50 GB/s: 4.0714 ms.
"""
import os
import sys
import tempfile
import unittest

import common

sys.dont_write_bytecode = True

SCENARIO = """
cluster: {nodes: 5, devices: 1, nic: {rate: 400 Gb/s}}
traffic: {phases: [{name: incast, demand: a9.csv}]}
candidates:
  - {name: fluid, kind: clos, tiers: 1, switch: {ports: 8, rate: 400 Gb/s, latency: 0 s},
     efficiency: 1, lengths: [0 m, 0 m, 0 m]}
  - {name: pauses, kind: clos, tiers: 1, switch: {ports: 8, rate: 400 Gb/s, latency: 0 s},
     efficiency: 1, lengths: [0 m, 0 m, 0 m], pfc: yes}
"""
DEMAND = "0,0,0,50e6,0\n0,0,0,50e6,0\n0,0,0,50e6,125e6\n0,0,0,0,0\n0,0,0,0,0\n"


class Pauses(unittest.TestCase):
    def test_the_victim_of_an_incast_loses_with_pauses(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("s.yaml", SCENARIO), ("a9.csv", DEMAND)):
                with open(os.path.join(folder, name), "w", encoding="ascii") as out:
                    out.write(text)
            run = common.weir("fabric", os.path.join(folder, "s.yaml"), "--json")
        self.assertEqual(run.code, 0, run.err)
        rows = run.json["fabric"]["candidates"]
        steps = {row["name"]: row["step_s"] for row in rows}
        self.assertAlmostEqual(steps["fluid"], 3.5e-3, delta=1e-9)
        self.assertAlmostEqual(steps["pauses"], 1e-3 * (50 / (50 / (2 + 100 / 175)) + 75 / 50),
                               delta=1e-9)


if __name__ == "__main__":
    common.main(needs_data=False)
