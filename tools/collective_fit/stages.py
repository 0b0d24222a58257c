"""What is fitted on what, in which order. A stage names the figures that it moves, the rows that it
sees and where it starts (the donor): with its rows left out, the donor's figures stay, which is what
somebody with such a system would have had. Figures that no row can tell stay at their start.
"""
import copy
import math

import numpy as np
from scipy.optimize import least_squares

from . import rows as data
from .model import bus_factor, predict, straight_line

US = 1e-6
MIB = 1 << 20
# below, above: what a figure may become
BOUNDS = {"base": (2 * US, 60 * US), "hop": (0.1 * US, 600 * US), "message": (0.01 * US, 20 * US), "efficiency": (5e-4, 1.0),
          "between": (0.05, 1.0), "tree": (5e-4, 1.0), "step": (0.05 * US, 1000 * US),
          "fill": (5 * US, 4000 * US), "copy": (1e-13, 5e-12),
          "torch": (1 * US, 1000 * US)}
LL_MOST, LL128_MOST = 0.5, 120 / 128  # flags beside the data: 8 of 16 bytes, 8 of 128 (NCCL)

NODE_START = {
    "ll": {"base": 5 * US, "hop": 0.8 * US, "efficiency": 0.12},
    "ll128": {"base": 6 * US, "hop": 1 * US, "efficiency": 0.5},
    "simple": {"base": 12 * US, "hop": 1 * US, "efficiency": 0.82, "step": 2 * US,
               "fill": 300 * US},
    "exchange": {"base": 8 * US, "efficiency": 0.75, "step": 3 * US, "fill": 300 * US},
    "copy": 1e-12}
REDUCTION_START = {"base": 20 * US, "efficiency": 0.65, "step": 3 * US, "fill": 1000 * US}
NETWORK_START = {
    "base": 4.8 * US,
    "ll": {"hop": 6 * US, "efficiency": 0.1}, "ll128": {"hop": 10 * US, "efficiency": 0.4},
    "simple": {"hop": 20 * US, "efficiency": 0.92, "tree": 0.9, "reduction": 0.49,
               "step": 15 * US, "fill": 300 * US},
    "exchange": {"hop": 14 * US, "message": 2.5 * US, "efficiency": 0.9}}  # hop: NCCL tuning.cc
LATENCIES = [("ll", "hop"), ("ll128", "hop"), ("simple", "hop")]
PIPELINE = [("simple", "step"), ("simple", "fill")]
NETWORK_KEYS = LATENCIES + PIPELINE + [("ll", "tree"), ("ll128", "tree"), ("simple", "tree")]
# two L40S (aic_nccl.csv), read off by hand; more of them share bridges, which the fabric knows
PCIE4 = {"ll": {"base": 4.6 * US, "hop": 0.8 * US, "efficiency": 0.26},
         "simple": {"base": 12 * US, "hop": 1 * US, "efficiency": 0.64, "step": 1 * US,
                    "fill": 100 * US},
         "exchange": {"base": 7 * US, "efficiency": 0.71, "step": 1 * US, "fill": 100 * US}}
ONE_CALL = 25 * US  # what PyTorch's calls cost the host (20 to 30 us: the page of queued.csv)
GIB = 1 << 30
# bus GB/s of rings at large sizes, NVLS off (B200 p6 sweep, H100 sweep and maintainer's figure)
RING_SWEEPS = {"nvlink4": [(2, 4 * GIB, 367), (4, 4 * GIB, 370), (8, 8 * GIB, 370)],
               "nvlink5": [(4, 8 * GIB, 673.2), (5, 8 * GIB, 677.8), (6, 8 * GIB, 677.8),
                           (7, 8 * GIB, 680.5), (8, 8 * GIB, 682.2)], "nvlink3": []}
# p4de 2 x 8: 8-byte latency, and the straight line with its errors (network-oracles 3)
P4DE = {"latency": 162 * US, "start": 370.2 * US, "rate": 37.4e9, "mean": 0.14, "worst": 0.31}


def get(figures, key):
    return figures[key[0]][key[1]] if len(key) == 2 else figures[key[0]]


def put(figures, keys, values):
    made = copy.deepcopy(figures)
    for key, value in zip(keys, values):
        if len(key) == 2:
            made[key[0]][key[1]] = float(value)
        else:
            made[key[0]] = float(value)
    return made


def bounds_of(key):
    low, high = BOUNDS[key[-1]]
    if key[0] in ("ll", "ll128") and key[1] in ("efficiency", "tree"):
        high = LL_MOST if key[0] == "ll" else LL128_MOST
    return math.log(low) + 1e-6, math.log(high) - 1e-6


def fit(start, keys, rows, seconds, prior=0.05, starts=3):
    """Least soft-L1 of log(modelled / measured); the prior holds what the rows do not tell."""
    if not rows:
        return copy.deepcopy(start)
    low, high = np.array([bounds_of(k) for k in keys]).T
    x0 = np.clip(np.log([get(start, k) for k in keys]), low, high)
    weights = np.array([r["weight"] for r in rows])
    logs = np.log([r["s"] for r in rows])

    def residual(x):
        figures = put(start, keys, np.exp(x))
        model = np.log([seconds(figures, r) for r in rows])
        return np.concatenate([weights * (model - logs), prior * (x - x0)])

    draws, best = np.random.default_rng(1), None
    for i in range(starts):
        x = np.clip(x0 + (draws.normal(size=len(x0)) * 0.4 if i else 0), low, high)
        got = least_squares(residual, x, bounds=(low, high), loss="soft_l1", f_scale=0.1,
                            max_nfev=60)
        if best is None or got.cost < best.cost:
            best = got
    return put(start, keys, np.exp(best.x))


def same(rows, **wanted):
    return [r for r in rows if all(r[k] == v for k, v in wanted.items())]


class Fit:
    """The library that is being fitted, and the rows that it may see."""

    def __init__(self, measured, tables, base=None, only=None):
        """base, only: take the figures of base, but fit the transports named in only anew."""
        self.rows = [r for r in measured if r["library"] == "nccl-2.27"]
        self.old = [r for r in measured if r["library"] == "nccl-2.18"]
        self.tables, self.only, self.starts = tables, only, 3
        self.nccl = copy.deepcopy(base.nccl) if base else {
            "nodes": {}, "networks": {}, "callers": {"torch": 16 * US}}
        self.nccl18 = {"nodes": copy.deepcopy(base.nccl18["nodes"]) if base else {},
                       "networks": self.nccl["networks"], "callers": {}}

    def skips(self, name):
        return self.only is not None and name not in self.only

    # --- inside nodes ---

    def rings(self, node, reduction_from):
        if self.skips("rings"):
            return
        rows = [r for r in self.tables[node] if r["kind"] != "all_reduce" or r["n"] < 8 or
                node == "nvlink3" or r["bytes"] < MIB]
        rows = [dict(r, nvls=False) for r in rows]
        rows += [data.one_node("all_reduce", n, node, size, size / (bus * 1e9) *
                               bus_factor("all_reduce", n), "sweep", nvls=False, weight=3.0)
                 for n, size, bus in RING_SWEEPS[node]]
        keys = [(road, k) for road in ("ll", "ll128", "simple", "exchange")
                for k in NODE_START[road]] + [("copy",)]
        made = fit(NODE_START, keys, rows, lambda f, r: self.with_node(node, f, r), 0.02, 5)
        if reduction_from:
            made["reduction_from"] = reduction_from
        self.nccl["nodes"][node] = made

    def with_node(self, node, figures, row):
        return predict(row, {"nodes": {node: figures}, "networks": self.nccl["networks"],
                             "callers": self.nccl["callers"]})

    def switches(self, node, start_share, between):
        if self.skips(node):
            return
        rows = [dict(r, weight=1.5) for r in same(self.rows, node=node, m=1, n=8,
                                                  kind="all_reduce") if r["bytes"] > 4096 or
                r["system"].startswith("AWS")]
        rows = [r for r in rows if "H20 " not in r["system"]]
        rows += same(self.tables[node], n=8, kind="all_reduce")
        start = self.nccl["nodes"][node]
        start["reduction"] = dict(REDUCTION_START, efficiency=start_share)
        keys = [("reduction", k) for k in REDUCTION_START]
        made = fit(start, keys, rows, lambda f, r: self.with_node(node, f, r), 0.05, self.starts)
        made["reduction"]["between"] = between
        self.nccl["nodes"][node] = made

    def racks(self):
        """NVL72: rings of B200 with the hops that 2,840 of them show, switches of their own."""
        if self.skips("nvl72"):
            return
        start = copy.deepcopy(self.nccl["nodes"]["nvlink5"])
        start["simple"].update(hop=1.4 * US, base=20 * US)
        start["reduction"] = {"base": 300 * US, "efficiency": 0.479, "step": 10 * US,
                              "fill": 1000 * US, "between": 0.3}
        self.nccl["nodes"]["nvl72"] = fit(
            start, [("reduction", "efficiency"), ("reduction", "step")],
            same(self.rows, node="nvl72", m=1), lambda f, r: self.with_node("nvl72", f, r), 0.05,
            self.starts)

    # --- between nodes ---

    def network(self, name, keys, start, rows=None, prior=0.05):
        if self.skips(name):
            return
        rows = same(self.rows, network=name) if rows is None else rows

        def seconds(figures, row):
            return predict(row, dict(self.nccl, networks={name: figures}))

        start = copy.deepcopy(start)
        for road in ("ll", "ll128"):
            if road in start:
                start[road].setdefault("tree", start[road]["efficiency"])
        self.nccl["networks"][name] = fit(start, keys, rows, seconds, prior, self.starts * 2)

    def line(self, name, start):
        """From a published line: figures whose times have that line, and its errors."""
        if self.skips(name):
            return
        keys = [("simple", "tree")] + PIPELINE
        start, node = copy.deepcopy(start), self.nccl["nodes"]["nvlink3"]
        for road in ("ll", "simple"):  # the tree: 14 hops inside, 2 between
            inside = node[road]["base"] + 14 * node[road]["hop"]
            start[road]["hop"] = (P4DE["latency"] - inside) / 2
        start["ll128"]["hop"] *= start["ll"]["hop"] / self.nccl["networks"]["efa-v2"]["ll"]["hop"]

        def times(figures, sizes):
            library = dict(self.nccl, networks={name: figures})
            return [(size, predict(data.one_node(
                "all_reduce", 16, "nvlink3", size, 1.0, name, m=2, network=name,
                network_rate=6.25e9), library)) for size in sizes]

        def residual(x):
            got = straight_line(times(put(start, keys, np.exp(x)), [2**k * MIB for k in range(14)]))
            return [math.log(got[0] / P4DE["start"]) / 0.03, math.log(got[1] / P4DE["rate"]) / 0.03,
                    (got[2] - P4DE["mean"]) / 0.06, (got[3] - P4DE["worst"]) / 0.15, *(x - x0)]

        low, high = np.array([bounds_of(k) for k in keys]).T
        x0, best = np.log([get(start, k) for k in keys]), None
        for scale in (1, 1.5, 2, 3):
            x = np.clip(x0 + math.log(scale) * np.array([0, 1, 0]), low, high)
            got = least_squares(residual, x, bounds=(low, high), max_nfev=100)
            best = got if best is None or got.cost < best.cost else best
        self.nccl["networks"][name] = put(start, keys, np.exp(best.x))

    def simple_only(self, **figures):
        start = copy.deepcopy(NETWORK_START)
        del start["ll"], start["ll128"]
        start["simple"].update(figures)
        return start

    def networks(self):
        made = self.nccl["networks"]
        ring = [("simple", "hop"), ("simple", "efficiency")] + PIPELINE
        tree = [("simple", "hop"), ("simple", "tree")] + PIPELINE
        # no InfiniBand row shows a tree that the NICs limit: its share stays at the start
        self.network("ib-ndr", LATENCIES + PIPELINE + [("exchange", "message")], NETWORK_START)
        self.network("ib-hdr", NETWORK_KEYS + [("simple", "efficiency")], made["ib-ndr"], None, 0.1)
        self.network("efa-v2", NETWORK_KEYS, NETWORK_START)
        self.network("roce", tree, made["ib-ndr"],
                     [r for r in same(self.rows, network="roce") if r["node"] == "nvlink5"], 0.1)
        efa3 = copy.deepcopy(made["efa-v2"])
        efa3["simple"].update(efficiency=0.93, tree=0.80)  # p5en: ring 365, NVLS tree 310 GB/s
        if not self.skips("efa-v3"):
            made["efa-v3"] = efa3
        # timed both ways: calls behind each other, and one call on idle devices, whose first sizes
        # (up to 256 KiB) are the start of that run
        self.network("efa-v4", NETWORK_KEYS + [("simple", "efficiency"), ("callers", "torch")],
                     dict(copy.deepcopy(made["efa-v2"]), callers={"torch": ONE_CALL}),
                     [r for r in same(self.rows, network="efa-v4") if not r["caller"] or
                      r["bytes"] >= MIB / 2], 0.1)
        self.line("efa-v1", made["efa-v2"])
        self.network("slingshot-11", NETWORK_KEYS, NETWORK_START)
        self.network("slingshot-11-pcie", tree + [("simple", "efficiency")], made["slingshot-11"])
        own = copy.deepcopy(made["slingshot-11"])
        if same(self.rows, network="slingshot-11-2nic"):
            own["ll128"].update(tree=0.2)
            own["simple"].update(tree=0.3, efficiency=0.3)
        self.network("slingshot-11-2nic", [("simple", "tree")], own)
        has = {name: bool(same(self.rows, network=name)) for name in ("tcpx", "ib-edr", "nvl72-ib")}
        self.network("tcpx", ring, self.simple_only(hop=300 * US, efficiency=0.5, step=1 * US)
                     if has["tcpx"] else made["efa-v2"])
        edr = self.simple_only(efficiency=0.33, tree=0.1)
        self.network("ib-edr", [("simple", "efficiency"), ("exchange", "efficiency")],
                     edr if has["ib-edr"] else made["ib-hdr"])
        racks = dict(self.simple_only(efficiency=0.118, tree=0.01), tree_until=1)
        self.network("nvl72-ib", ring, racks if has["nvl72-ib"] else made["ib-ndr"])

    # --- the generation before ---

    def before(self):
        for node, keys, base in (
                ("nvlink3", [("ll", "base"), ("ll128", "base"), ("simple", "base"),
                             ("simple", "efficiency")] + PIPELINE, (28, 40, 35)),
                ("nvlink4", [("ll", "base"), ("ll", "efficiency"), ("ll128", "base")] +
                 [("reduction", k) for k in REDUCTION_START], (14, 40, 45))):
            if self.skips("before-" + node):
                continue
            start, rows = copy.deepcopy(self.nccl["nodes"][node]), same(self.old, node=node)
            if rows:
                for road, us in zip(("ll", "ll128", "simple"), base):
                    start[road]["base"] = us * US
                start["ll"]["efficiency"] = 0.02
                if "reduction" in start:
                    start["reduction"]["base"] = 40 * US
            self.nccl18["nodes"][node] = fit(
                start, keys, rows, lambda f, r, n=node: self.with_node(n, f, r), 0.03, self.starts)

    def derived(self):
        """Transports without rows of their own: figures of their next of kin, said in the preset."""
        if self.only is not None:
            return
        nodes = self.nccl["nodes"]
        nodes["nvlink-h800"] = copy.deepcopy(nodes["nvlink4"])
        nodes["nvlink2"] = copy.deepcopy(nodes["nvlink3"])
        nodes["pcie4"] = copy.deepcopy(PCIE4)

    def messages(self):
        """A message over EFA takes no less than a step of LL there."""
        for name, network in self.nccl["networks"].items():
            if name.startswith("efa"):
                network["exchange"]["hop"] = max(network["exchange"]["hop"], network["ll"]["hop"])

    def run(self):
        self.rings("nvlink3", 0)
        self.rings("nvlink4", 5)
        self.rings("nvlink5", 6)
        self.switches("nvlink4", 0.68, 0.63)
        self.switches("nvlink5", 0.57, 0.55)
        self.racks()
        self.derived()
        self.networks()
        self.messages()
        self.before()
        return self

    def seconds(self, row):
        return predict(row, self.nccl18 if row["library"] == "nccl-2.18" else self.nccl)
