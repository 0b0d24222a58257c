#!/usr/bin/env python3
"""devices[].intervals against exact.json, to the nanosecond, for every file and device there.

The class rule of exact.json: communication by name, copies are memcpy and memset, all other device
events are computation. BETTER names the files where Weir classes a kernel better, and why; there
only what does not depend on the class is compared.
"""
import json
import os
import unittest

import common

BETTER = {
    # "folder/file": "kernel, and why Weir's class is better"
}
ANY_CLASS = ("span_ns", "busy_ns")


class Exact(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(common.TRACES, "exact.json"), encoding="utf-8") as source:
            cls.exact = json.load(source)

    def test_the_reference_reader_agrees_with_the_index_on_the_sleeping_set(self):
        for path in common.torchrec("sst_sleep"):
            name = "torchrec/" + os.path.basename(path)
            sums = common.interval_sums(common.device_events(common.load(path)))
            want = self.exact[name]["device"]["0" if "19488" in name else
                                              next(iter(self.exact[name]["device"]))]
            self.assertEqual(sums, {k: want[k] for k in common.INTERVALS})

    def test_every_device_of_every_file(self):
        for name, want in self.exact.items():
            with self.subTest(file=name):
                self.check_file(name, want)

    def check_file(self, name, want):
        path = os.path.join(common.TRACES, name)
        if want is None:
            run = common.weir("trace", "--json", path)
            self.assertEqual(run.code, 2, "no device activity: an error, not a result")
            self.assertTrue(run.err.strip())
            return
        devices = {str(d["device"]): d["intervals"] for d in common.trace(path)["devices"]}
        self.assertEqual(sorted(devices), sorted(want["device"]))
        keys = ANY_CLASS if name in BETTER else common.INTERVALS
        for device, sums in want["device"].items():
            self.assertEqual({k: devices[device][k] for k in keys}, {k: sums[k] for k in keys},
                             f"device {device} {BETTER.get(name, '')}")


if __name__ == "__main__":
    common.main()
