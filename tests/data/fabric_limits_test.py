#!/usr/bin/env python3
"""What is too large, too small or not meant: weir fabric answers, or refuses in one sentence.

Each run is under a time limit and, without sanitizers (they reserve terabytes of addresses), under
`ulimit -v`: it must neither hang nor meet the OOM killer. Each row: what must come out.
"""
import json
import os
import resource
import subprocess
import tempfile
import unittest

import common

SECONDS = 120
BYTES = 6 << 30
NODES = "{nodes: 8, devices: 8, nic: cx7-400g, node_link: nvlink4}"
PHASE = "{collective: all_reduce, bytes: 1 MiB}"
CLOS = "{name: a, kind: clos, tiers: 2, switch: tomahawk5-400g}"
CIRCUITS = ("{name: a, kind: %s, switch: tomahawk5-400g, blocks: nic, ocs: palomar, "
            "module: 400g-lr8%s}")


def scenario(cluster=NODES, phases=PHASE, candidates=CLOS, more=""):
    return (f"cluster: {cluster}\ntraffic: {{{more} phases: [{phases}]}}\n"
            f"candidates: [{candidates}]\n")


def has_sanitizers():
    with open(common.BIN, "rb") as binary:
        return b"__asan_init" in binary.read()


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sanitized = has_sanitizers()
        cls.folder = tempfile.TemporaryDirectory(prefix="weir-limits-")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def write(self, name, data):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as out:
            out.write(data if isinstance(data, bytes) else data.encode())
        return path

    def weir(self, text, *arguments):
        path = self.write("job.yaml", text)

        def limit():
            if not self.sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        return subprocess.run([common.BIN, "fabric", path, "--json", *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=SECONDS, preexec_fn=limit)

    def refused(self, words, text, *arguments):
        """Exit 2, one line that has these words, nothing on the output."""
        run = self.weir(text, *arguments)
        err = run.stderr.decode("utf-8", "strict")
        self.assertEqual(run.returncode, 2, err[:400])
        self.assertEqual(run.stdout, b"")
        self.assertIn(words, err)
        self.assertLessEqual(err.count("\n"), 1, err[:400])

    def answered(self, text, *arguments):
        """Exit 0; the document, in which there is no number that JSON does not have."""
        run = self.weir(text, *arguments)
        self.assertEqual(run.returncode, 0, run.stderr.decode()[:400])

        def no_constant(word):
            raise AssertionError(f"{word} in the document")
        return json.loads(run.stdout, parse_constant=no_constant)

    def step_s(self, document):
        return document["fabric"]["candidates"][0]["step_s"]

    # --- sizes ---

    def test_more_devices_than_switches_can_join_are_refused(self):
        for phase in (PHASE, "{collective: all_to_all, bytes: 1 GiB}",
                      "{pattern: permutation, bytes: 1 MB}"):
            with self.subTest(phase=phase):
                self.refused("no candidate can be built", scenario(
                    "{nodes: 131072, devices: 8, nic: cx7-400g}", phase,
                    CLOS.replace("tiers: 2", "tiers: 3")))

    def test_clusters_beyond_the_limit_are_refused(self):
        self.refused("expected a whole number from 1 to 1048576",
                     scenario("{nodes: 4294967295, devices: 8, nic: cx7-400g}"))
        self.refused("expected a whole number from 1 to 4096",
                     scenario("{nodes: 1, devices: 32768, nic: cx7-400g}"))

    def test_jitter_unfolds_16k_devices(self):
        if self.sanitized:
            self.skipTest("takes a minute with sanitizers")
        document = self.answered(scenario(
            "{nodes: 2048, devices: 8, nic: cx7-400g, node_link: nvlink4}",
            "{compute: 1 ms, collective: all_reduce, bytes: 1 GiB}",
            CLOS.replace("tiers: 2", "tiers: 3"), "jitter: 0.05,"))
        self.assertGreater(self.step_s(document), 1e-3)

    def test_more_repetitions_than_a_run_may_have_are_refused(self):
        self.refused("a device may have at most 4194304 operations in a run",
                     scenario(phases="{collective: all_reduce, bytes: 1 MiB, times: 1000000}"),
                     "--set", "traffic.steps=1000")

    def test_a_hundred_thousand_repetitions_take_that_many_times_as_long(self):
        one = self.step_s(self.answered(scenario(
            phases="{compute: 1 us, collective: all_reduce, bytes: 1 MiB}")))
        many = self.step_s(self.answered(scenario(
            phases="{compute: 1 us, collective: all_reduce, bytes: 1 MiB, times: 100000}")))
        # Each repetition is rounded to a nanosecond once.
        self.assertAlmostEqual(many / 1e5, one, delta=1e-9)

    def test_a_thousand_candidates_and_phases_are_played(self):
        many = ", ".join(CLOS.replace("name: a", f"name: c{i}") for i in range(1000))
        document = self.answered(scenario(candidates=many))
        self.assertEqual(len(document["fabric"]["candidates"]), 1000)
        many = ", ".join(f"{{collective: all_reduce, bytes: {i + 1} kB}}" for i in range(1000))
        self.assertGreater(self.step_s(self.answered(scenario(phases=many))), 0)

    def test_sweeps_are_bounded(self):
        values = ",".join(str(i) for i in range(1, 1001))
        self.refused("more than 100000 combinations", scenario(), "--sweep", "seed=" + values,
                     "--sweep", f"cluster.nodes={values}")
        document = self.answered(scenario(), "--sweep",
                                 "seed=" + ",".join(str(i) for i in range(1, 301)))
        self.assertEqual(len(document["sweep"]["points"]), 300)

    # --- figures at the edges of double and int64 ---

    def test_bytes_at_the_edges(self):
        self.refused("expected more than 0 B",
                     scenario(phases="{collective: all_reduce, bytes: 0 B}"))
        for size in ("1e-300 B", "1 B", "9.3e18 B"):
            with self.subTest(bytes=size):
                self.assertGreaterEqual(self.step_s(self.answered(scenario(
                    phases=f"{{collective: all_reduce, bytes: {size}}}"))), 0)
        self.refused("more than can be added up",
                     scenario(phases="{collective: all_reduce, bytes: 1e300 B}"))

    def test_times_at_the_edges(self):
        for time in ("1e9 s", "9.3e9 s", "1e300 s"):
            with self.subTest(compute=time):
                self.refused("", scenario(
                    phases=f"{{compute: {time}, times: 2, collective: all_reduce, bytes: 1 MiB}}"))

    def test_rates_at_the_edges(self):
        for rate in ("0", "1e-320", "1e-300", "1e300", "inf", "nan", "-1"):
            with self.subTest(rate=rate):
                self.refused("", scenario(), "--set",
                             f"cluster.nic={{like: cx7-400g, rate: {rate} Gb/s}}")

    def test_prices_without_bounds_are_written(self):
        for usd in ("1e15", "1e300"):
            with self.subTest(gpu_hour=usd):
                self.answered(scenario() + f"economics: {{gpu_hour: {usd} USD}}\n")

    def test_switching_times_and_slots_at_the_edges(self):
        all_to_all = "{collective: all_to_all, bytes: 1 MiB}"
        for more in (", switching: 0 s, linkup: 0 s", ", switching: 1e9 s", ", switching: 1e300 s"):
            with self.subTest(more=more):
                document = self.answered(scenario(
                    phases=all_to_all, candidates=CIRCUITS % ("ocs-phase", more)))
                # Nothing forces it to set circuits again: one setting for the job is enough.
                self.assertLess(self.step_s(document), 1)
        self.refused("expected more than 0 s", scenario(
            phases=all_to_all, candidates=CIRCUITS % ("rotor", ", slot: 0 s")))
        for slot in ("1e-300 s", "1e9 s"):
            with self.subTest(slot=slot):
                self.refused("", scenario(phases=all_to_all, candidates=CIRCUITS %
                                          ("rotor", f", slot: {slot}")))

    def test_one_node_one_device_and_groups_of_one(self):
        one_node = NODES.replace("nodes: 8", "nodes: 1")
        self.assertGreater(self.step_s(self.answered(scenario(one_node))), 0)
        computing = "{compute: 1 ms, collective: all_reduce, bytes: 1 MiB%s}"
        for cluster, group in ((one_node.replace("devices: 8", "devices: 1"), ""),
                               (NODES, ", group: {size: 1}")):
            with self.subTest(cluster=cluster, group=group):
                document = self.answered(scenario(cluster, computing % group))
                self.assertEqual(self.step_s(document), 1e-3)

    def test_nothing_to_play_or_to_play_on_is_refused(self):
        self.refused("at least one phase", scenario(phases=""))
        self.refused("at least one network", scenario(candidates=""))
        self.refused("nothing in traffic.phases takes time", scenario(
            phases="{collective: all_reduce, bytes: 1 MiB, group: {size: 1}}"))

    # --- files ---

    def test_names_of_a_mebibyte_and_of_control_bytes(self):
        long = "x" * (1 << 20)
        self.answered(f"name: {long}\n" + scenario(
            phases=PHASE.replace("{", f"{{name: {long}, "), candidates=CLOS.replace("a,", long + ",")))
        document = self.answered('name: "a\\nb\\x01\\x1b[31m"\n' + scenario(
            candidates=CLOS.replace("name: a", 'name: "c\\n\\x1b[2J\\""')))
        self.assertEqual(document["fabric"]["candidates"][0]["name"], 'c\n\x1b[2J"')
        path = self.write("names.yaml", 'name: "a\\nb\\x01\\x1b[31m"\n' + scenario(
            candidates=CLOS.replace("name: a", 'name: "c\\n\\x1b[2J\\""')))
        run = subprocess.run([common.BIN, "fabric", path], stdout=subprocess.PIPE, check=True,
                             timeout=SECONDS)
        self.assertNotIn(b"\x1b", run.stdout)
        self.assertNotIn(b"\x01", run.stdout)

    def test_bombs_depths_and_bytes_that_are_no_text_are_refused(self):
        bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
        for i in range(1, 10):
            bomb += f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n"
        self.refused("aliases are not supported", bomb + scenario())
        self.refused("more than 64 levels", "[" * 100000)
        self.refused("no UTF-8 text", bytes(range(256)) * 100)

    def test_demands_of_thousands_of_devices(self):
        cluster = "{nodes: %d, devices: 1, nic: cx7-400g}"
        self.write("wide.csv", ",".join(["1"] * 8193) + "\n")
        self.refused("expected at most 8192", scenario(cluster % 8193, "{demand: wide.csv}"))
        self.write("wide.csv", ",".join(["1"] * 8192) + "\n")
        self.refused("wide.csv", scenario(cluster % 8192, "{demand: wide.csv}"))
        if self.sanitized:
            return
        self.write("full.csv", (",".join(["1"] * 8192) + "\n") * 8192)
        self.refused("smaller groups or a collective are due", scenario(
            cluster % 8192, "{demand: full.csv}", CLOS.replace("tiers: 2", "tiers: 3")))

    def test_a_list_of_a_hundred_thousand_cables_is_read(self):
        lines = ["from,to,rate\n"] + [f"d{i},sw{i},1 GB/s\n" for i in range(64)]
        lines += [f"sw{i},sw{i + 1},1 GB/s\n" for i in range(100000)]
        self.write("cables.csv", "".join(lines))
        self.answered(scenario(candidates="{name: a, kind: list, cables: cables.csv}"))

    # --- memory ---

    def test_max_memory_ends_in_an_error(self):
        self.refused("more memory than --max-memory allows", scenario(
            phases="{compute: 1 us, collective: all_reduce, bytes: 1 MiB, times: 30000}"),
            "--max-memory", "1MiB")


if __name__ == "__main__":
    common.main(needs_data=False)
