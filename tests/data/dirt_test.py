#!/usr/bin/env python3
"""Damaged files: what can be read is read, each loss is counted, nothing crashes.

The files and what must be left of them come from tools/generate-traces dirt.
"""
import json
import os
import re
import shutil
import tempfile
import unittest

import common


class Dirt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder, _ = common.generate("dirt")
        with open(os.path.join(cls.folder, "expect.json"), encoding="utf-8") as source:
            cls.expected = json.load(source)

    def test_every_kind_of_damage(self):
        for name, expect in self.expected.items():
            with self.subTest(file=name):
                self.check(name, expect)

    def check(self, name, expect):
        run = common.weir("trace", "--json", os.path.join(self.folder, name))
        self.assertIn(run.code, expect["exit"], run.err[:300])
        if run.code == 2:
            self.assertIn(name, run.err, "the sentence names the file")
            self.assertNotRegex(run.err, r"[\x00-\x08\x0b-\x1f]", "no raw control bytes")
            return
        result = run.json
        common.check_conservation(self, result, name)
        busy = sum(d["intervals"]["busy_ns"] for d in result["devices"])
        if "busy_ns" in expect:
            self.assertEqual(busy, expect["busy_ns"])
        self.assertGreaterEqual(busy, expect.get("at_least_ns", 0))
        self.assertLessEqual(busy, expect.get("at_most_ns", busy))
        if "span_ns" in expect:
            self.assertEqual(result["devices"][0]["intervals"]["span_ns"], expect["span_ns"])
        self.check_losses(result["dropped"], name, expect["lost"])

    def check_losses(self, dropped, name, lost):
        if lost is True:
            self.assertTrue(dropped["kinds"], "something has to be counted")
        if lost is False:
            self.assertEqual(dropped["events"], 0)
            self.assertLessEqual({kind["kind"] for kind in dropped["kinds"]},
                                 {"rank-not-recorded"})
        for kind in dropped["kinds"]:
            self.assertGreater(kind["count"], 0)
            self.assertRegex(kind["kind"], r"^[a-z0-9-]+$")
            self.assertIn(name, kind["first"], "the first place names the file")

    def test_the_first_lines_of_the_report_say_what_was_lost(self):
        run = common.weir("trace", os.path.join(self.folder, "truncated.json.gz"))
        self.assertEqual(run.code, 0)
        self.assertRegex(run.out.decode(), r"(?i)cut|lost|dropped")

    def test_terminal_escapes_are_shown_not_sent(self):
        run = common.weir("trace", "--by", "kernel",
                          os.path.join(self.folder, "control-bytes.json"))
        self.assertEqual(run.code, 0)
        self.assertIsNone(re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", run.out + run.err.encode()))

    def test_reads_standard_input(self):
        for name in ("good.json", "members.json.gz"):
            with self.subTest(file=name), open(os.path.join(self.folder, name), "rb") as source:
                run = common.weir("trace", "--json", "-", stdin=source)
                self.assertEqual(run.code, 0, run.err[:300])
                self.assertEqual(run.json["devices"][0]["intervals"]["busy_ns"],
                                 self.expected["good.json"]["busy_ns"])

    def test_reads_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(self.folder, "good.json"),
                        os.path.join(folder, "rank0.pt.trace.json"))
            run = common.weir("trace", "--json", folder)
            self.assertEqual(run.code, 0, run.err[:300])

    def test_a_missing_file_is_an_error_that_names_it(self):
        run = common.weir("trace", os.path.join(self.folder, "nowhere.json"))
        self.assertEqual(run.code, 2)
        self.assertIn("nowhere.json", run.err)


if __name__ == "__main__":
    common.main(needs_data=False)
