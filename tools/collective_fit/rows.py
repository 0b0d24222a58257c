"""The measured collectives, and what their text says about the system: by rules over accelerator,
NICs and library, never by a table of systems, so that rows that nobody has seen yet fall somewhere.
"""
import csv
import re
from pathlib import Path

GB = 1e9
# accelerator named in the text -> transport of its node's links; the first that occurs
ACCELERATORS = (
    ("gb200", "nvlink5"), ("gb300", "nvlink5"), ("b200", "nvlink5"), ("b300", "nvlink5"),
    ("sm100", "nvlink5"), ("gh200", "nvlink4"), ("h800", "nvlink-h800"), ("h200", "nvlink4"),
    ("h100", "nvlink4"), ("h20", "nvlink4"), ("sm90", "nvlink-h800"), ("hopper", "nvlink4"),
    ("a100", "nvlink3"), ("v100", "nvlink2"), ("mi100", "pcie4"), ("mi2", "xgmi-mi300x"),
    ("mi3", "xgmi-mi300x"), ("l40", "pcie4"), ("rtx", "pcie4"),
    ("gb10", "nvlink4"))
RATES = {"nvlink2": 150 * GB, "nvlink3": 300 * GB, "nvlink4": 450 * GB, "nvlink5": 900 * GB,
         "nvl72": 900 * GB, "nvlink-h800": 200 * GB, "xgmi-mi300x": 448 * GB, "pcie4": 31.5 * GB}
WITH_REDUCTION = ("nvlink4", "nvlink5", "nvl72", "nvlink-h800")
EFA = {"nvlink3": "efa-v1", "nvlink5": "efa-v4"}
KINDS = {"alltoall": "all_to_all", "sendrecv": "send_recv", "moe_dispatch": "all_to_all",
         "moe_combine": "all_to_all"}
NOT_TARGETS = re.compile(r"degraded|misconfigured|anomalous")


def network_of(nic, accelerator, node):
    """The transport between nodes, and whether it had to be assumed."""
    if "efa" in nic:
        version = re.search(r"v\d", nic)
        if version:
            return "efa-" + version.group(), False
        return "efa-v3" if accelerator == "h200" else EFA.get(node, "efa-v2"), True
    if "slingshot" in nic:
        if accelerator == "gh200":
            return "slingshot-11", False
        return ("slingshot-11-2nic" if nic.startswith("2x") else "slingshot-11-pcie"), False
    if "tcpx" in nic:
        return "tcpx", False
    if "nvl72" in nic:
        return "nvl72-ib", False
    if "roce" in nic and "ib" not in nic:
        return "roce", False
    generation = {"nvlink2": "ib-edr", "nvlink3": "ib-hdr"}.get(node, "ib-ndr")
    return generation, not re.search(r"\bib\b|infiniband|ndr|hdr|edr", nic)


def node_rate(nic, node, devices):
    """Raw bytes/s of all NICs of a node, or 0 where the text does not say."""
    named = re.search(r"(?:(\d+)x)?(\d+)g\b", nic)
    if "nvl72" in nic:
        return float(named.group(2)) * GB / 8 * 72
    if not named:
        return 0.0
    # "400G CX7" is each device's; a V100 node of "100G IB" has one
    count = named.group(1) or (1 if node == "nvlink2" else devices)
    return float(named.group(2)) * GB / 8 * float(count)


def classify(row):
    """A row of measured.csv as a shape, the transports, and what was assumed about it."""
    text, nic = (row["system"] + " " + row["nic"]).lower(), row["nic"].lower()
    accelerator = next((a for a, _ in ACCELERATORS if a in text), None)
    node = dict(ACCELERATORS).get(accelerator)
    ranks = int(re.match(r"\d+", row["gpus"]).group())
    nodes = int(row["nodes"]) if row["nodes"].isdigit() else 0
    assumed = []
    if "nvl72" in nic:
        node, nodes = "nvl72", max(1, ranks // 72)
    if nodes == 0:
        nodes = max(2, ranks // 4 if "slingshot" in nic else ranks // 8)
        assumed.append(f"{nodes} nodes")
    if node is None:
        node = "nvlink4" if nodes in (1, ranks) else "nvlink3"
        if nodes != ranks:
            assumed.append(node)
    network, rate = None, 0.0
    if nodes > 1:
        network, guessed = network_of(nic, accelerator, node)
        rate = node_rate(nic, node, ranks / nodes)
        if rate == 0:
            rate = 50 * GB if nodes == ranks else (400 if node in WITH_REDUCTION else 100) * GB
            assumed.append(f"{rate / GB:.0f} GB/s a node")
        if guessed:
            assumed.append(network)
    kind = re.sub(r"\(.*|\s.*", "", row["collective"])
    is_moe = kind.startswith("moe")
    return {
        "system": row["system"], "row": kind, "kind": KINDS.get(kind, kind),
        "n": ranks, "m": nodes, "bytes": float(row["size_bytes"]),
        "s": float(row["time_us"]) * 1e-6, "node": node, "network": network,
        # XGMI is a mesh: two devices have one of its seven links between them
        "node_rate": 64 * GB * (ranks / nodes - 1) if node == "xgmi-mi300x" else RATES[node],
        "network_rate": rate / (ranks / nodes) if nodes > 1 else 0.0,
        "nvls": node in WITH_REDUCTION and accelerator not in ("gh200", "gb10"),
        "sharp": "sharp" in text and nodes > 1,
        "caller": "torch" if "torch" in text + row["collective"] else None,
        # Azure's pages of 2021 to 2023 name no version; the same nodes elsewhere are faster
        "library": "deepep" if is_moe else
                   "nccl-2.18" if "azure" in text and node in ("nvlink3", "nvlink4") else
                   "rccl" if (accelerator or "").startswith("mi") else "nccl-2.27",
        "assumed": ", ".join(assumed), "weight": 1.0}


def measured(path):
    """Rows with size and time that the note does not mark degraded."""
    with open(path, encoding="utf-8", newline="") as source:
        return [classify(r) for r in csv.DictReader(source)
                if r["size_bytes"] and r["gpus"][:1].isdigit() and r["time_us"] and float(r["time_us"]) > 0 and
                not NOT_TARGETS.search(r["note"])]


def queued():
    """Timings beside measured.csv, of the same nodes as some of its rows (queued.csv)."""
    return measured(Path(__file__).parent / "queued.csv")


def one_node(kind, ranks, node, size, seconds, system, **other):
    """A measurement inside one node, as classify returns it."""
    made = {"system": system, "row": kind, "kind": kind, "n": ranks, "m": 1, "bytes": float(size),
            "s": seconds, "node": node, "network": None, "node_rate": RATES[node],
            "network_rate": 0.0, "nvls": node in WITH_REDUCTION, "sharp": False, "caller": None,
            "library": "nccl-2.27", "assumed": "", "weight": 1.0}
    made.update(other)
    return made


def operator_tables(path, gpus, node):
    """aic_nccl.csv: message_size_printed counts elements; the median of like rows."""
    like = {}
    with open(path, encoding="utf-8", newline="") as source:
        for r in csv.DictReader(source):
            if r["gpu"] in gpus:
                size = int(r["message_size_printed"]) * (2 if r["dtype"] == "half" else 1)
                kind = KINDS.get(r["op"], r["op"])
                like.setdefault((kind, int(r["n_gpus"]), size, r["dtype"]), []).append(
                    float(r["latency_ms"]) * 1e-3)
    return [one_node(kind, n, node, size, sorted(v)[len(v) // 2], "aic_nccl " + gpus[0])
            for (kind, n, size, _), v in sorted(like.items())]


def kaist(folder):
    """nccl_a100: powers of two from 16 MiB on; below, one process launches for all devices in turn
    (11 us each), which is that program's time."""
    rows = []
    for n in range(2, 9):
        with open(f"{folder}/a100_AR_GPU{n}_1M_1024M_LUT", encoding="utf-8", newline="") as source:
            for r in csv.reader(source):
                if r[0].isdigit() and int(r[0]) in [2**k << 20 for k in range(4, 11)]:
                    rows.append(one_node("all_reduce", n, "nvlink3", int(r[0]), float(r[3]) * 1e-9,
                                         "nccl_a100"))
    return rows
