#!/usr/bin/env python3
"""Kernel families on real traces: communication is what the reference's rule says, extra families
are tried first, and a bad families file is refused with the place."""
import os
import tempfile
import unittest

import common


def kernel_rows(file, *extra):
    return common.trace(file, extra=("--by", "kernel", *extra))["series"]["kernels"]


def write(text):
    handle, path = tempfile.mkstemp(suffix=".yaml")
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
    return path


class Families(unittest.TestCase):
    def test_communication_is_what_the_rule_of_the_reference_says(self):
        for name in common.kineto_files():
            file = os.path.join(common.TRACES, name)
            events = common.device_events(common.load(file))
            kinds = {e.name: e.kind for e in events}
            if not events:
                continue
            with self.subTest(file=name):
                for row in kernel_rows(file):
                    if row["name"] not in kinds:  # repaired while reading
                        continue
                    found = row["class"] == "communication"
                    expected = kinds[row["name"]] == "communication"
                    self.assertEqual(found, expected, row["name"])

    def test_an_extra_file_is_tried_first(self):
        file = os.path.join(common.TRACES, "kineto_tb/docs__traces__after_fix_trace.json.gz")
        self.assertEqual([row["family"] for row in kernel_rows(file)], [None])
        extra = write("families:\n  - name: lost-name\n    class: memory\n"
                      "    cause: cache.activations\n    patterns: ['^Kernel$']\n")
        try:
            row = kernel_rows(file, "--kernels", extra)[0]
        finally:
            os.unlink(extra)
        self.assertEqual((row["family"], row["class"], row["cause"]),
                         ("lost-name", "memory", "cache.activations"))

    def test_a_bad_extra_file_is_refused_with_the_place(self):
        file = os.path.join(common.TRACES, "kineto_tb/docs__traces__after_fix_trace.json.gz")
        extra = write("families:\n  - name: x\n    pattern: [a]\n")
        try:
            run = common.weir("trace", "--kernels", extra, file)
        finally:
            os.unlink(extra)
        self.assertEqual(run.code, 2)
        self.assertIn(":3:5: found unknown key 'pattern', expected 'patterns'", run.err)


if __name__ == "__main__":
    common.main()
