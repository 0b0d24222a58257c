"""What other papers found, played again: examples/fabric/headlines against the published figures
(network-oracles.md section 7, tag P). Bands are those of the abstracts where our setting is theirs
(the all-to-all of Rail-only); elsewhere direction and order of magnitude. docs/validation/headlines.md
says why not more."""
import functools
import os
import unittest

import common

FOLDER = os.path.join(common.SOURCE, "examples", "fabric", "headlines")
PAPER = ("--prices", os.path.join(FOLDER, "paper-table.csv"))


@functools.lru_cache(maxsize=None)
def play(name, *options):
    """{candidate: its object} of a scenario."""
    run = common.weir("fabric", os.path.join(FOLDER, name), "--json", *options)
    if run.code != 0:
        raise AssertionError(f"weir fabric {name} exited with {run.code}: {run.err.strip()}")
    found = {c["name"]: c for c in run.json["fabric"]["candidates"]}
    for candidate in found.values():
        if candidate["refused"]:
            raise AssertionError(f"{name}: {candidate['refused']}")
    return found


def network(candidate, key):
    """Of the bill without NICs: switches, modules, fibre, optical switches."""
    return sum(row[key] for row in candidate["bill"] if row["item"] != "nic")


def saving(first, other, key):
    return 1 - network(other, key) / network(first, key)


class RailOnly(unittest.TestCase):
    """arXiv 2307.12169: all-to-all +8.2 to 11.2 %, cost -38 to 77 %, power -37 to 75 %."""

    def forwarding(self, *options):
        """What forwarding before the network adds to the all-to-all of any to any."""
        direct = play("rail-only-all-to-all.yaml", "--set", "traffic.phases.0.algorithm=direct",
                      *options)
        rails = play("rail-only-all-to-all.yaml", *options)
        return rails["rail-only"]["step_s"] / direct["any to any"]["step_s"] - 1

    def test_the_all_to_all_takes_as_much_longer_as_published(self):
        domains = {
            "8": (),
            "256": ("--set", "cluster.devices=256"),
            "NVL72 with 800G": ("--set", "cluster.devices=72", "--set", "cluster.node_link=nvl72",
                                "--set", "cluster.nic=cx8-800g",
                                "--set", "candidates.0.switch=tomahawk5-800g",
                                "--set", "candidates.1.switch=tomahawk5-800g",
                                "--set", "candidates.0.module=800g-dr8",
                                "--set", "candidates.1.module=800g-dr8"),
        }
        for name, options in domains.items():
            with self.subTest(domain=name):
                extra = self.forwarding(*options)
                self.assertGreaterEqual(extra, 0.082)
                self.assertLessEqual(extra, 0.112)

    def test_without_losses_of_transport_it_is_the_closed_form(self):
        for devices in (8, 256):
            extra = self.forwarding("--set", f"cluster.devices={devices}",
                                    "--set", "candidates.0.efficiency=1",
                                    "--set", "candidates.1.efficiency=1")
            want = (devices - 1) / devices * 50 / 450
            common.near(self, extra, want, 0.01, 0, f"domains of {devices}")

    def test_parts_are_those_of_the_two_radices(self):
        # k-ary trees of 32,768 hosts: 5/k switches a host with three tiers, 3/k with two, 1/k
        found = play("rail-only-cost.yaml")
        parts = {name: (c["switches"], c["modules"]["pluggable"]) for name, c in found.items()}
        hosts = 32768
        self.assertEqual(parts, {"clos, 64 ports": (5 * hosts // 64, 6 * hosts),
                                 "rail-only, 64 ports": (3 * hosts // 64, 4 * hosts),
                                 "clos, 128 ports": (5 * hosts // 128, 6 * hosts),
                                 "rail-only, 128 ports": (hosts // 128, 2 * hosts)})

    def test_savings_span_what_is_published(self):
        """Two percentage points at either end: prices and watts are ours."""
        for options in ((), PAPER):
            found = play("rail-only-cost.yaml", *options)
            for key, low, high in (("usd", 0.38, 0.77), ("watts", 0.37, 0.75)):
                for ports in (64, 128):
                    share = saving(found[f"clos, {ports} ports"],
                                   found[f"rail-only, {ports} ports"], key)
                    with self.subTest(key=key, ports=ports, prices=options):
                        self.assertGreater(share, low - 0.02)
                        self.assertLess(share, high + 0.02)

    def test_training_is_not_slower(self):
        found = play("rail-only-cost.yaml")
        for ports in (64, 128):
            self.assertLessEqual(found[f"rail-only, {ports} ports"]["step_s"],
                                 found[f"clos, {ports} ports"]["step_s"])


class Jupiter(unittest.TestCase):
    """SIGCOMM 2022: capital -30 %, power -41 %; 60 % direct, paths of 1.4 on average."""

    def test_price_and_power_fall_by_about_as_much(self):
        found = play("jupiter.yaml")
        price = saving(found["spines"], found["optical switches"], "usd")
        power = saving(found["spines"], found["optical switches"], "watts")
        self.assertTrue(0.2 < price < 0.4, price)
        self.assertTrue(0.3 < power < 0.5, power)
        self.assertLess(price, power)

    def test_paths_cross_as_many_circuits(self):
        light = play("jupiter.yaml")["optical switches"]
        # each circuit is one conversion there and one back; 32 of 53 partners are direct
        common.near(self, light["conversions_per_byte"] / 2, (32 + 2 * 21) / 53, 1e-9, 0)
        common.near(self, light["conversions_per_byte"] / 2, 1.4, 0.01, 0)


class MixNet(unittest.TestCase):
    """SIGCOMM 2025: the time of a fat-tree, 1.2 to 1.5 (100G) and 1.9 to 2.3 (400G) times the
    performance for the price."""

    def worth(self, name):
        """(time beside the fat-tree, performance for the price beside it) of each hybrid."""
        found = play(name, *PAPER)
        tree = found["fat-tree"]
        return [(c["step_s"] / tree["step_s"],
                 tree["usd"] * tree["step_s"] / (c["usd"] * c["step_s"]))
                for c in found.values() if c is not tree]

    def test_at_400g_light_is_as_fast_and_worth_twice_as_much(self):
        for time, worth in self.worth("mixnet-400g.yaml"):
            self.assertTrue(1 <= time < 1.05, time)
            self.assertTrue(1.7 < worth < 2.5, worth)

    def test_at_100g_it_is_worth_less_than_at_400g(self):
        fast = min(worth for _, worth in self.worth("mixnet-400g.yaml"))
        for time, worth in self.worth("mixnet-100g.yaml"):
            self.assertTrue(1 <= time < 1.25, time)
            self.assertTrue(0.95 < worth < 1.5, worth)
            self.assertLess(worth, fast)


class Opus(unittest.TestCase):
    """arXiv 2602.12521: power / 23, cost / 4, less than 6 % overhead up to 2,048 GPUs."""

    def test_steps_are_less_than_six_percent_longer(self):
        for switching in ("1 ms", "25 ms", "50 ms"):
            found = play("opus.yaml", "--set", f"candidates.1.switching={switching}")
            extra = found["photonic rails"]["step_s"] / found["rail switches"]["step_s"] - 1
            with self.subTest(switching=switching):
                self.assertTrue(0 <= extra < 0.06, extra)

    def test_price_and_power_fall_by_that_order(self):
        found = play("opus.yaml")
        rails, light = found["rail switches"], found["photonic rails"]
        price = network(rails, "usd") / network(light, "usd")
        power = network(rails, "watts") / network(light, "watts")
        self.assertTrue(2 < price < 8, price)
        self.assertTrue(23 / 10 ** 0.5 < power < 23 * 10 ** 0.5, power)
        self.assertGreater(power, price)

    def test_links_that_take_seconds_to_come_up_undo_it(self):
        found = play("opus.yaml", "--set", "candidates.1.linkup=9 s")
        self.assertGreater(found["photonic rails"]["step_s"],
                           1.5 * found["rail switches"]["step_s"])


if __name__ == "__main__":
    common.main(needs_data=False)
