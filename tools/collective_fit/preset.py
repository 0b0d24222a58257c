"""Writes fitted figures as presets/collectives/nccl-*.yaml."""
import math

from .rows import GB, RATES

MIB = 1 << 20
NODE_ORDER = ("nvlink4", "nvlink3", "nvlink5", "nvl72", "nvlink-h800", "nvlink2", "pcie4")
NETWORK_ORDER = ("ib-ndr", "ib-hdr", "ib-edr", "roce", "efa-v1", "efa-v2", "efa-v3", "efa-v4",
                 "slingshot-11", "slingshot-11-pcie", "slingshot-11-2nic", "tcpx", "nvl72-ib")
# found by rate where nobody names a transport; the others have to be named
BY_RATE = {"ib-ndr": 50 * GB, "ib-hdr": 25 * GB}
BY_NAME_ONLY = ("nvl72",)
# ids of presets/links and presets/nics that a transport stands for beside its own name
PARTS = {"pcie4": ("pcie4-x16",), "ib-hdr": ("cx6-200g", "cx7-200g"), "efa-v1": ("efa-p4d",),
         "efa-v2": ("efa-p5",), "efa-v3": ("efa-p5en",), "efa-v4": ("efa-p6-b200", "efa-p6-b300"),
         "tcpx": ("gcp-a3-high",)}
ROADS = ("ll", "ll128", "simple", "reduction", "exchange")
TAKES = """\
takes:                  # what it picks from of its own accord
  all_reduce: [ring, tree, nvls, nvls_tree, sharp]
  all_gather: [ring]
  reduce_scatter: [ring]
  broadcast: [ring]
  reduce: [ring]
  all_to_all: [direct]
  send_recv: [direct]
"""
SOURCES = {
    "rings-nvlink3": "rings and all-to-all of 2, 4, 8 A100 (NCCL 2.27.3, aic_nccl.csv) and of 2 to 8"
                     " (nccl_a100)",
    "rings-nvlink4": "rings and all-to-all of 2, 4, 8 H100 (NCCL 2.27.3, 2.29.2, aic_nccl.csv); ring"
                     " peaks of H100 sweeps; NVLS of AWS p5 and a Mooncake pull request",
    "rings-nvlink5": "rings and all-to-all of 2, 4, 8 B200 and 2, 4 GB200 (NCCL 2.23, 2.29.2,"
                     " aic_nccl.csv); ring peaks of an AWS p6 sweep; NVLS of AWS p6",
    "racks": "CoreWeave GB200 NVL72, one rack (NVLS) and 20 racks (hops of rings)",
    "as-nvlink4": "the figures of nvlink4 (no rows of its own; NVLS of H800 peaks at 215 GB/s,"
                  " SimAI, as its share of 200 GB/s says)",
    "as-nvlink3": "the figures of nvlink3 (no rows of its own inside a node)",
    "l40s": "two L40S (NCCL 2.27.3, aic_nccl.csv), read off by hand",
    "ib-ndr": "Nebius 2 x 8 H100, nccl-tests#293 (2 ranks), CoreWeave SHARP 12 x 8 H100, H800 8 x 8"
              " all-to-all",
    "ib-hdr": "2 x 8 A100 (NCCL 2.14.3) and a page of ml-engineering with 4 nodes whose hardware is"
              " not named: 100 GB/s a node assumed for both",
    "ib-edr": "8 x 8 V100 with one 100 Gb/s port a node, staged through the host",
    "roce": "GCP A4 2 x 8 B200; where it says nothing, ib-ndr",
    "efa-v1": "straight line and latency published for AWS p4de 2 x 8 A100",
    "efa-v2": "AWS p5 2 x 8 H100",
    "efa-v3": "efa-v2 with the peaks of AWS p5en 4 x 8 H200 (ring 365, NVLS tree 310 GB/s)",
    "efa-v4": "AWS p6 2 x 8 (latencies) and 4 x 8 B200: calls behind each other (ml-engineering,"
              " network/benchmarks) and one at a time, from 512 KiB on; callers: what the second way"
              " of timing adds to the first",
    "slingshot-11": "CSCS Alps 2 x 4 GH200, libfabric plugin",
    "slingshot-11-pcie": "HPE hpc-ai-envs, 16 ranks, hardware not named: 4 nodes of 4 NICs assumed",
    "slingshot-11-2nic": "Polaris 2 x 4 A100 with 2 NICs a node",
    "tcpx": "GCP A3 High 2 x 8 H100, all-gather",
    "nvl72-ib": "CoreWeave GB200 NVL72, 20 racks; a ring crosses on few of the 72 NICs",
    "before-nvlink3": "Azure ND A100 v4 (the page names no version)",
    "before-nvlink4": "Azure ND H100 v5 (the page names no version)"}
NODE_SOURCE = {"nvlink3": "rings-nvlink3", "nvlink4": "rings-nvlink4", "nvlink5": "rings-nvlink5",
               "nvl72": "racks", "nvlink-h800": "as-nvlink4", "nvlink2": "as-nvlink3", "pcie4": "l40s"}


def digits(value):
    """Three digits, never as a power of ten."""
    decimals = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def figure(key, value):
    if key in ("efficiency", "between", "tree", "reduction"):
        return f"{key}: {digits(value)}"
    return f"{key}: {digits(value * 1e6)} us"


def road_lines(figures):
    lines = []
    for road in ROADS:
        if road in figures:
            cells = ", ".join(figure(k, v) for k, v in figures[road].items())
            lines.append(f"    {road}: {{{cells}}}")
    return lines


def part_lines(name):
    return [f"    parts: [{', '.join(PARTS[name])}]"] if name in PARTS else []


def node_lines(name, figures, source):
    lines = [f"  {name}:"] + part_lines(name)
    if name not in BY_NAME_ONLY:
        lines.append(f"    rate: {digits(RATES[name] / GB)} GB/s")
    if figures.get("reduction_from"):
        lines.append(f"    reduction_from: {figures['reduction_from']}")
    if "copy" in figures:
        lines.append(f"    copy: {digits(1 / figures['copy'] / GB)} GB/s")
    return lines + road_lines(figures) + [f"    source: {source}"]


def network_lines(name, figures):
    lines = [f"  {name}:"] + part_lines(name)
    if name in BY_RATE:
        lines.append(f"    rate: {digits(BY_RATE[name] / GB)} GB/s")
    lines.append(f"    {figure('base', figures['base'])}")
    if "tree_until" in figures:
        lines.append(f"    tree_until: {figures['tree_until']}")
    callers = ", ".join(f"{who}: {digits(s * 1e6)} us"
                        for who, s in figures.get("callers", {}).items())
    lines += [f"    callers: {{{callers}}}"] if callers else []
    return lines + road_lines(figures) + [f"    source: {name}"]


def residue_lines(rows, seconds):
    classes = {}
    for row in rows:
        classes.setdefault((row["node"], row["network"]), ([], []))[row["bytes"] < MIB].append(
            abs(seconds(row) / row["s"] - 1))
    lines = []
    for (node, network), (large, small) in sorted(classes.items(), key=str):
        cells = [f"node: {node}"] + ([f"network: {network}"] if network else [])
        cells += [f"{k}: {digits(max(0.001, sum(v) / len(v)))}"
                  for k, v in (("large", large), ("small", small)) if v]
        lines.append("  - {" + ", ".join(cells) + "}")
    return lines


def source_lines(keys):
    lines = ["sources:"]
    for key in keys:
        derived = key.startswith("as-")
        lines.append(f"  {key}: {{what: '{SOURCES[key]}', confidence: "
                     f"{'derived' if derived else 'fitted'}}}")
    return lines


def document(head, nodes, networks, residues, callers, sources):
    lines = head + [TAKES.rstrip("\n")]
    if callers:
        lines.append("callers:                # what a launch by them adds")
        lines += [f"  {name}: {digits(s * 1e6)} us" for name, s in callers.items()]
    lines += ["nodes:"] + nodes + ["networks:"] + networks
    lines += ["left:                   # mean error that the fit left, from 1 MiB on and below"]
    return "\n".join(lines + residues + source_lines(sources)) + "\n"


def write(folder, fit, measured, tables):
    networks = [line for name in NETWORK_ORDER for line in
                network_lines(name, fit.nccl["networks"][name])]
    comment = ("# Written by tools/fit-collectives: docs/model/collective.md says what the figures "
               "stand for.\n")
    seen = [r for r in measured if r["library"] == "nccl-2.27"]
    nodes = [line for name in NODE_ORDER for line in
             node_lines(name, fit.nccl["nodes"][name], NODE_SOURCE[name])]
    sources = list(dict.fromkeys(list(NODE_SOURCE.values()) + list(NETWORK_ORDER)))
    text = document([comment + "name: NCCL 2.19 to 2.31"], nodes, networks,
                    residue_lines(seen, fit.seconds), fit.nccl["callers"], sources)
    (folder / "nccl-2.27.yaml").write_text(text, encoding="utf-8")
    seen = [r for r in measured if r["library"] == "nccl-2.18"]
    nodes = [line for name in ("nvlink4", "nvlink3") for line in
             node_lines(name, fit.nccl18["nodes"][name], "before-" + name)]
    text = document([comment + "# Stacks of 2021 to 2023: higher latencies, and NVLS from small "
                     "sizes on.\nname: NCCL up to 2.18"], nodes, networks,
                    residue_lines(seen, fit.seconds), {},
                    ["before-nvlink4", "before-nvlink3"] + list(NETWORK_ORDER))
    (folder / "nccl-2.18.yaml").write_text(text, encoding="utf-8")
