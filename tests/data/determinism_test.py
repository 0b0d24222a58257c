#!/usr/bin/env python3
"""The same bytes for 1, 2 and 8 threads, for every kind of output and any order of paths."""
import os
import tempfile
import unittest

import common


class Determinism(unittest.TestCase):
    def outputs(self, paths, threads):
        """Everything that weir trace can print or write about paths."""
        found = {}
        for name, extra in (("json", ["--json"]), ("csv", ["--csv"]), ("text", []),
                            ("by rank", ["--by", "rank"]), ("by kernel", ["--by", "kernel"])):
            run = common.weir("trace", "--threads", str(threads), *extra, *paths)
            self.assertEqual(run.code, 0, run.err[:300])
            found[name] = run.out
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.pftrace")
            run = common.weir("trace", "--threads", str(threads), "--perfetto", path, *paths)
            self.assertEqual(run.code, 0, run.err[:300])
            with open(path, "rb") as source:
                found["perfetto"] = source.read()
        return found

    def check(self, paths):
        one = self.outputs(paths, 1)
        for threads in (2, 8):
            other = self.outputs(paths, threads)
            for name, data in one.items():
                self.assertEqual(data == other[name], True, f"{name} with {threads} threads")

    def test_the_sleeping_set(self):
        if not os.path.isdir(common.TRACES):
            self.skipTest("no data")
        self.check(common.torchrec("sst_sleep"))

    def test_one_big_file(self):
        if not os.path.isdir(common.TRACES):
            self.skipTest("no data")
        self.check([os.path.join(common.TRACES, "hta",
                                 "df_index_resolver__df_index_resolver.json.gz")])

    def test_64_ranks_with_cut_files_and_8_clocks(self):
        folder, truth = common.generate("big-mix")
        self.check(common.files_of(folder, truth))

    def test_damaged_files(self):
        folder, _ = common.generate("dirt")
        for name in ("interleaved.json", "unescaped-quotes.json", "truncated.json.gz"):
            with self.subTest(file=name):
                self.check([os.path.join(folder, name)])

    def test_two_runs_are_alike(self):
        folder, truth = common.generate("chain")
        paths = common.files_of(folder, truth)
        self.assertEqual(common.weir("trace", "--json", *paths).out,
                         common.weir("trace", "--json", *paths).out)

    def test_networks_of_packets_and_of_light(self):
        for name, extra in (("small", ["--json", "--series", "links,timeline"]),
                            ("small", ["--traffic"]), ("moe", ["--json"])):
            path = os.path.join(common.SOURCE, "examples", "fabric", name + ".yaml")
            outs = []
            for threads in ("1", "2", "8"):
                run = common.weir("fabric", path, "--threads", threads, *extra)
                self.assertEqual(run.code, 0, run.err[:300])
                outs.append(run.out)
            with self.subTest(scenario=name, extra=extra):
                self.assertTrue(outs[0] == outs[1] == outs[2])


if __name__ == "__main__":
    common.main(needs_data=False)
