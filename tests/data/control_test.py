#!/usr/bin/env python3
"""One sleeper among 4, 16 and 64 ranks: the same control shares (never pooled over ranks)."""
import unittest

import common

PARTS = ("planned", "steady", "erratic", "unknown")
SHARE = 0.01


class Control(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = {}
        for ranks in (4, 16, 64):
            folder, truth = common.generate("sleeper", "--ranks", str(ranks))
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

    def test_the_sleeper_is_named_in_each(self):
        for ranks, result in self.results.items():
            self.assertEqual(result["stragglers"][0]["rank"], 2, f"{ranks} ranks")
            self.assertEqual(result["stragglers"][0]["reason"], "late_host", f"{ranks} ranks")


if __name__ == "__main__":
    common.main(needs_data=False)
