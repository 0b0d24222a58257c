#!/usr/bin/env python3
"""The generator itself: its files are what its truth says, read by the plain reference reader."""
import filecmp
import os
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict

import common


def arrival_waits(folder, truth):
    """rank -> ns of waiting for the last member, from the JSON alone and the true clocks."""
    hosts = {h["name"]: h for h in truth["hosts"]}
    base, members = None, defaultdict(list)
    for rank, name in sorted(truth["files"].items(), key=lambda i: int(i[0])):
        host = hosts[name.rsplit("_", 1)[0]]
        document = common.load(os.path.join(folder, name))
        order = defaultdict(int)
        for raw in common.events(document):
            arguments = raw.get("args") or {}
            if raw.get("cat") != "kernel" or "Collective name" not in arguments:
                continue
            base = base if base is not None else common.nanoseconds(raw["ts"])
            group = arguments["Process Group Name"]
            source = arguments.get("Src Rank", "")
            key = (group, source, arguments.get("Dst Rank", ""))
            start = common.nanoseconds(raw["ts"]) - host["offset_ns"]
            members[(*key, order[key])].append((int(rank), start))
            order[key] += 1
    waits = defaultdict(int)
    for spans in members.values():
        last = max(start for _, start in spans)
        for rank, start in spans:
            waits[rank] += last - start
    return waits


class Generator(unittest.TestCase):
    def test_the_truth_conserves_time(self):
        for scenario in ("late-host", "chain", "bubble", "clocks", "two-devices", "absent"):
            _, truth = common.generate(scenario)
            for device in truth["devices"]:
                self.assertEqual(sum(device["causes"].values()), device["wall_ns"], scenario)
                self.assertEqual(sum(s["wall_ns"] for s in device["steps"]), device["wall_ns"])

    def test_the_files_hold_the_waits_of_the_truth(self):
        for scenario in ("late-host", "sleeper", "more-work", "slow-device", "slow-link", "chain"):
            folder, truth = common.generate(scenario)
            waits = arrival_waits(folder, truth)
            for device in truth["devices"]:
                self.assertEqual(waits[device["rank"]],
                                 device["collectives"]["arrival_wait_ns"], scenario)

    def test_equal_options_give_equal_bytes(self):
        folder, truth = common.generate("unequal-captures", "--seed", "7")
        with tempfile.TemporaryDirectory() as other:
            subprocess.run([sys.executable,
                            os.path.join(common.SOURCE, "tools", "generate-traces"),
                            "unequal-captures", "--seed", "7", "-o", other], check=True,
                           stderr=subprocess.DEVNULL)
            for name in [*truth["files"].values(), "truth.json"]:
                self.assertTrue(filecmp.cmp(os.path.join(folder, name),
                                            os.path.join(other, name), shallow=False), name)

    def test_bundled_files_stay_small(self):
        folder = os.path.join(common.SOURCE, "examples", "late-host")
        for name in os.listdir(folder):
            self.assertLessEqual(os.path.getsize(os.path.join(folder, name)), 60000, name)


if __name__ == "__main__":
    unittest.main()
