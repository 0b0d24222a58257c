#!/usr/bin/env python3
"""Generated sets: importer, matching and ledger recover what tools/generate-traces knows.

Waits are within 0.1 % (of the wait, or 0.02 % of the window where that is more: a wait of a few
microseconds is no better known than the ends of collectives), clocks within a microsecond, and the
one who is waited for has the right origin and reason.
"""
import gzip
import os
import unittest

import common

RELATIVE = 0.001
OF_WALL = 0.0002
CLOCK_NS = 1000


def cause_sums(causes):
    sums = dict.fromkeys(common.WAITS, 0)
    for cause, ns in causes.items():
        sums[cause.split(".")[0]] += ns
    return sums


def work_factor(truth):
    """How much longer the kernels of the one to blame run than those of the median device.

    Of more work not all kernels have more: the optimizer does not, attention has its square.
    """
    expect = truth["expect"]
    work, late = [], None
    for device in truth["devices"]:
        if "causes" not in device:
            continue
        sums = cause_sums(device["causes"])
        ns = sums["compute"] + sums["cache"]
        if device["rank"] == expect["origin"] and device["device"] == expect.get(
                "device", device["device"]):
            late = ns
        else:
            work.append(ns)
    return late / sorted(work)[len(work) // 2]


def relative_offsets(truth):
    """Range of |offset of a host - offset of the first| over the run, largest host first."""
    first = truth["hosts"][0]

    def at(host, t):
        return host["offset_ns"] + host["drift_ppm"] * t // 1000000

    ranges = []
    for host in truth["hosts"]:
        values = [abs(at(host, t) - at(first, t)) for t in (0, truth["end_ns"])]
        ranges.append((min(values), max(values)))
    return max(ranges)


class Truth(unittest.TestCase):
    def read(self, scenario, *options):
        folder, truth = common.generate(scenario, *options)
        result = common.trace(*common.files_of(folder, truth))
        common.check_conservation(self, result, scenario)
        return truth, result

    # --- what is checked of each set ---

    def check_waits(self, truth, result):
        """Each device's causes in the window, and its collectives over everything recorded."""
        devices = {(d["rank"], d["device"]): d for d in result["devices"]}
        self.assertEqual(len(devices), len(truth["devices"]))
        for want in truth["devices"]:
            got = devices[(want["rank"], want["device"])]
            place = f"rank {want['rank']} device {want['device']}"
            self.check_collectives(want, got, place)
            if "causes" not in want:
                continue
            wall = want["wall_ns"]
            common.near(self, got["wall_ns"], wall, RELATIVE, 2000, f"{place} wall")
            for wait, ns in cause_sums(want["causes"]).items():
                common.near(self, got["waits"][wait], ns, RELATIVE, wall * OF_WALL,
                            f"{place} {wait}")
            for cause in sorted(set(want["causes"]) | set(got["causes"])):
                common.near(self, got["causes"].get(cause, 0), want["causes"].get(cause, 0),
                            RELATIVE, wall * OF_WALL, f"{place} {cause}")

    def check_collectives(self, want, got, place):
        want, got = want["collectives"], got["collectives"]
        self.assertEqual(got["instances"], want["instances"], f"{place} instances")
        # A clock may be wrong by a microsecond in each instance.
        slack = CLOCK_NS * want["instances"]
        common.near(self, got["arrival_wait_ns"], want["arrival_wait_ns"], RELATIVE, slack,
                    f"{place} arrival wait")
        for key in ("transfer_ns", "unsplit_ns"):
            common.near(self, got[key], want[key], RELATIVE, slack, f"{place} {key}")

    def check_clock(self, truth, result):
        clock = result["clock"]
        self.assertTrue(clock["aligned"])
        self.assertEqual(clock["hosts"], len(truth["hosts"]))
        low, high = relative_offsets(truth)
        self.assertGreaterEqual(clock["max_offset_ns"], low - CLOCK_NS)
        self.assertLessEqual(clock["max_offset_ns"], high + CLOCK_NS)
        self.assertLessEqual(clock["residual_ns"], 3000)

    def check_blame(self, truth, result, most=0.8, absent=True):
        """The rows of the right origin hold most of all waiting for others, with the reason.

        absent: waiting for members that were not seen counts, too. A cut file must not hide a
        straggler that was seen: where an instance ended as soon after its last seen member as
        complete ones do, nobody absent was later.
        """
        expect = truth["expect"]
        origins = expect["origin"] if isinstance(expect["origin"], list) else [expect["origin"]]
        # Bubbles of a pipeline's schedule are nobody's fault: they are not what is looked for.
        straggler = expect["wait"] == "dependency.straggler"
        rows = [r for r in result["stragglers"]
                if r["waited_for_ns"] > 0 and not (straggler and r["axis"] == "pipeline")]
        self.assertTrue(rows, "somebody is waited for")
        total = sum(r["waited_for_ns"] for r in rows)
        known = sum(r["waited_for_ns"] for r in rows if absent or r["rank"] is not None)
        right = [r for r in rows if r["origin_rank"] in origins]
        share = sum(r["waited_for_ns"] for r in right) / known
        self.assertGreater(share, most, [(r["rank"], r["origin_rank"], r["reason"],
                                          r["waited_for_ns"]) for r in rows[:6]])
        own = [r for r in right if r["rank"] in origins]
        self.assertTrue(own, "the origin itself has a row")
        self.assertEqual(own[0]["reason"], expect["reason"])
        if "factor" in expect:
            common.near(self, own[0]["factor"], work_factor(truth), 0.1, 0, "factor")
        if "host_cause" in expect:
            self.assertEqual(own[0]["host_cause"], expect["host_cause"])
        # Rows may or may not hold bubbles; what cut ranks waited is in them, not in the truth.
        waited = [w["waited_for_ns"] for w in truth["waited_for"]]
        stragglers = [w["waited_for_ns"] for w in truth["waited_for"] if w["cause"] == "straggler"]
        self.assertGreaterEqual(total, sum(stragglers) * 0.99)
        self.assertLessEqual(total, sum(waited) * (1.01 + len(truth["cut"]) / truth["ranks"]))

    def check_bytes(self, truth, result):
        """Bytes of each group, and its speed where all members were seen.

        The truth counts all that was recorded, the rows what began in the window: whole steps.
        """
        rows = {c["group"]: c for c in result["collectives"] if c["kind"] == "all_reduce"}
        for name, want in truth["collectives"].items():
            label = "default_pg" if name == "0" else name
            if label not in rows:
                continue  # groups of one description may be one row
            steps = len(result["steps"])
            recorded = steps + 1  # late-host records one step more than it marks whole
            self.assertEqual(rows[label]["bytes"] * recorded, want["bytes"] * steps)
            self.assertEqual(rows[label]["instances"] * recorded, want["instances"] * steps)
            n = rows[label]["ranks"]
            mean_ns = rows[label]["transfer_ns"] / n
            bus = rows[label]["bytes"] * 2 * (n - 1) / n / mean_ns * 1e9
            common.near(self, rows[label]["bus_bandwidth_bytes_per_s"], bus, 0.01, 0, label)

    # --- the sets ---

    def test_late_host(self):
        truth, result = self.read("late-host")
        self.check_waits(truth, result)
        self.check_blame(truth, result)
        self.check_bytes(truth, result)
        self.assertEqual(result["verdict"]["cause"], "dependency.straggler")
        self.assertEqual(result["verdict"]["blamed"]["rank"], 2)

    def test_a_folder_is_its_traces_and_not_the_other_files_in_it(self):
        folder, truth = common.generate("late-host")
        by_folder, by_files = common.trace(folder), common.trace(*common.files_of(folder, truth))
        self.assertEqual(by_folder["devices"], by_files["devices"])
        self.assertEqual(by_folder["stragglers"], by_files["stragglers"])

    def test_the_bundled_example_is_what_the_generator_writes(self):
        folder, truth = common.generate("late-host")
        for path in common.files_of(folder, truth):
            with open(path, "rb") as new, open(os.path.join(
                    common.SOURCE, "examples", "late-host", os.path.basename(path)), "rb") as old:
                self.assertTrue(gzip.decompress(new.read()) == gzip.decompress(old.read()), path)

    def test_sleeper_among_4_16_and_64(self):
        for ranks in ("4", "16", "64"):
            with self.subTest(ranks=ranks):
                truth, result = self.read("sleeper", "--ranks", ranks)
                self.check_waits(truth, result)
                self.check_blame(truth, result)

    def test_more_work(self):
        truth, result = self.read("more-work")
        self.check_waits(truth, result)
        self.check_blame(truth, result)

    def test_slow_device(self):
        truth, result = self.read("slow-device")
        self.check_waits(truth, result)
        self.check_blame(truth, result)

    def test_slow_link(self):
        truth, result = self.read("slow-link")
        self.check_waits(truth, result)
        self.check_blame(truth, result)

    def test_absent(self):
        truth, result = self.read("absent")
        self.check_waits(truth, result)
        self.assertIsNone(result["verdict"]["blamed"])
        for row in result["stragglers"]:
            self.assertIsNone(row["rank"], "nobody who is present is blamed")

    def test_chain(self):
        truth, result = self.read("chain")
        self.check_waits(truth, result)
        self.check_blame(truth, result, most=0.95)
        between = [r for r in result["stragglers"] if r["rank"] == truth["expect"]["blamed"]]
        self.assertTrue(between, "rank 2 is waited for, too")
        self.assertEqual(between[0]["origin_rank"], truth["expect"]["origin"])

    def test_bubble(self):
        truth, result = self.read("bubble")
        self.check_waits(truth, result)
        total = result["total"]["causes"]
        want = sum(d["causes"].get("dependency.bubble", 0) for d in truth["devices"])
        common.near(self, total["dependency.bubble"], want, RELATIVE, 0, "bubble")

    def test_clocks_of_8_hosts(self):
        for seed in ("1", "2"):
            with self.subTest(seed=seed):
                truth, result = self.read("clocks", "--seed", seed)
                self.check_clock(truth, result)
                self.check_waits(truth, result)
                self.check_blame(truth, result)

    def test_unequal_captures(self):
        for seed in ("1", "2", "3"):
            with self.subTest(seed=seed):
                truth, result = self.read("unequal-captures", "--seed", seed)
                self.check_clock(truth, result)
                self.check_waits(truth, result)
                # At the edges of the captures it is right not to know who was last.
                self.check_blame(truth, result, most=0.95, absent=False)

    def test_two_devices_of_one_process(self):
        truth, result = self.read("two-devices")
        self.check_waits(truth, result)
        self.check_blame(truth, result)
        blamed = result["verdict"]["blamed"]
        if blamed:  # else the verdict is about something larger
            self.assertEqual(blamed["device"], truth["expect"]["device"])

    def test_cut_files(self):
        truth, result = self.read("cut")
        self.check_waits(truth, result)
        self.check_blame(truth, result)
        text = " ".join(result["notes"]) + " ".join(k["kind"] for k in result["dropped"]["kinds"])
        self.assertRegex(text, r"(?i)cut|truncated")

    def test_64_ranks_on_8_hosts_with_3_cut_files(self):
        for reason in ("late_host", "more_work", "slow_device", "slow_link"):
            with self.subTest(reason=reason):
                truth, result = self.read("big-mix", "--reason", reason)
                self.check_clock(truth, result)
                self.check_waits(truth, result)
                self.check_blame(truth, result)

    def test_cut_files_that_lost_their_base_time(self):
        """Files of 2024 and 2025 end with baseTimeNanoseconds: a cut one has it no more, and its
        times are nobody's epoch. The other files of the set have the same base."""
        truth, result = self.read("big-mix", "--header", "last")
        self.check_clock(truth, result)
        self.check_waits(truth, result)
        self.check_blame(truth, result)

    def test_64_ranks_with_the_straggler_absent(self):
        _, result = self.read("big-mix", "--reason", "absent")
        rows = result["stragglers"]
        for row in rows:
            self.assertNotEqual(row["rank"], 41)
            self.assertNotEqual(row["origin_rank"], 41)
        total = sum(r["waited_for_ns"] for r in rows)
        unknown = sum(r["waited_for_ns"] for r in rows if r["reason"] in ("absent", "unknown"))
        self.assertGreater(unknown, 0.8 * total, "no present rank has a reason of its own")


if __name__ == "__main__":
    common.main(needs_data=False)
