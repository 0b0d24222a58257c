#!/usr/bin/env python3
"""One sleeper among 4, 16 and 64 ranks: the same control shares (never pooled over ranks).

Twenty steps, because under eleven the steady part is the minimum over steps, and on the sleeper
that minimum is always nothing: by DESIGN 2.1 what a device idles before its first span of a step
belongs to the step before, and after the last step there is none. Its wait for its own host would
be called erratic, with a weight of one rank among 4, 16 or 64.
"""
import unittest

import common

PARTS = ("planned", "steady", "erratic", "unknown")
SHARE = 0.01


class Control(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = {}
        for ranks in (4, 16, 64):
            folder, truth = common.generate("sleeper", "--ranks", str(ranks), "--steps", "20")
            cls.results[ranks] = common.trace(*common.files_of(folder, truth))

    def shares(self, ranks):
        """Parts of all waiting (what is not compute) of a set."""
        control = self.results[ranks]["total"]["control"]
        parts = {part: sum(ns for cause, ns in control[part].items()
                           if not cause.startswith("compute.")) for part in PARTS}
        total = sum(parts.values())
        return {part: ns / total for part, ns in parts.items()}

    def test_parts_add_up(self):
        for ranks, result in self.results.items():
            common.check_conservation(self, result, f"{ranks} ranks")

    def test_the_shares_do_not_depend_on_the_number_of_ranks(self):
        four = self.shares(4)
        for ranks in (16, 64):
            for part, share in self.shares(ranks).items():
                self.assertAlmostEqual(share, four[part], delta=SHARE,
                                       msg=f"{part} with {ranks} ranks")

    def test_a_sleep_of_every_step_is_steady_not_erratic(self):
        for ranks, result in self.results.items():
            control = result["total"]["control"]
            steady = control["steady"].get("dependency.straggler", 0)
            erratic = control["erratic"].get("dependency.straggler", 0)
            self.assertGreater(steady, 3 * erratic, f"{ranks} ranks")

    def test_the_sleeper_waits_steadily_for_its_host(self):
        for ranks, result in self.results.items():
            control = result["total"]["control"]
            self.assertGreater(control["steady"]["dependency.host"],
                               10 * control["erratic"].get("dependency.host", 0), f"{ranks} ranks")

    def test_the_sleeper_is_named_in_each(self):
        for ranks, result in self.results.items():
            self.assertEqual(result["stragglers"][0]["rank"], 2, f"{ranks} ranks")
            self.assertEqual(result["stragglers"][0]["reason"], "late_host", f"{ranks} ranks")


if __name__ == "__main__":
    common.main(needs_data=False)
