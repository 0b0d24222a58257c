"""What the data tests share: running weir, and a plain reference reader of Kineto files.

The reader loads a whole document with Python's json, keeps the text of every number, and turns
times into int nanoseconds digit by digit; unions of intervals are computed by sorting. Expected
values come from here or from the index files beside the data, never from weir itself.

Environment: WEIR_BIN (the binary), WEIR_SOURCE (the project's root), WEIR_DATA (the data folder).
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from decimal import ROUND_HALF_UP, Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("WEIR_SOURCE") or os.path.dirname(os.path.dirname(HERE))
BIN = os.environ.get("WEIR_BIN") or os.path.join(SOURCE, "build", "release", "weir")
DATA = os.environ.get("WEIR_DATA") or os.path.join(SOURCE, "..", "shared", "data")
TRACES = os.path.join(DATA, "traces")
SKIP = 77

COMMUNICATION = re.compile(
    r"^nccl|ncclKernel|ncclDevKernel|^rccl|deep_ep::|\bep::(internode|intranode|layout)|nvshmem|"
    r"cross_device_reduce|multimem_all_|^hccl")
DEVICE_CATEGORIES = {"kernel": "kernel", "mtia_ccp_events": "kernel",
                     "gpu_memcpy": "copy", "gpu_memset": "copy", "memcpy": "copy",
                     "memset": "copy"}


def main(needs_data=True):
    """Runs the tests of the calling file; exits 77, with the reason, where nothing can be run."""
    if not os.path.exists(BIN):
        print(f"skipped: no binary at {BIN} (set WEIR_BIN)")
        sys.exit(SKIP)
    if needs_data and not os.path.isdir(TRACES):
        print(f"skipped: no data at {TRACES} (set WEIR_DATA)")
        sys.exit(SKIP)
    unittest.main(verbosity=1)


# --- running ---

class Run:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr.decode("utf-8", "replace")

    @property
    def json(self):
        return json.loads(self.out)


def weir(*arguments, **options):
    """Runs weir; never raises on its exit code."""
    command = [BIN, *arguments]
    environment = dict(os.environ, NO_COLOR="1", LC_ALL="C")
    return Run(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env=environment, timeout=options.pop("timeout", 600), **options))


def trace(*paths, extra=()):
    """The object of weir trace --json PATHS. Raises, with the message, unless it exits with 0."""
    run = weir("trace", "--json", *extra, *paths)
    if run.code != 0:
        raise AssertionError(f"weir trace exited with {run.code}: {run.err.strip()[:400]}")
    return run.json


_generated = {}


def generate(scenario, *options):
    """The folder of a generated scenario and its truth; made once for each set of options."""
    key = (scenario, *options)
    if key not in _generated:
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        subprocess.run([sys.executable, os.path.join(SOURCE, "tools", "generate-traces"), scenario,
                        "-o", folder.name, *options], check=True, stderr=subprocess.DEVNULL)
        _generated[key] = folder  # removed when the process ends
    folder = _generated[key].name
    truth = os.path.join(folder, "truth.json")
    if not os.path.exists(truth):
        return folder, None
    with open(truth, encoding="utf-8") as source:
        return folder, json.load(source)


def files_of(folder, truth):
    return [os.path.join(folder, name) for _, name in
            sorted(truth["files"].items(), key=lambda i: int(i[0]))]


def index():
    """The rows of INDEX.tsv as dictionaries."""
    with open(os.path.join(TRACES, "INDEX.tsv"), encoding="utf-8") as source:
        rows = [line.rstrip("\n").split("\t") for line in source]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def kineto_files():
    """Paths, relative to TRACES, of all files that INDEX.tsv calls Kineto."""
    return [row["file"] for row in index() if row["format"] == "kineto"]


def torchrec(pattern):
    """The files of a torchrec set in order of rank."""
    folder = os.path.join(TRACES, "torchrec")
    return sorted(os.path.join(folder, n) for n in os.listdir(folder) if pattern in n)


# --- the reference reader ---

def nanoseconds(text):
    """Microseconds as text (or int) -> int ns, without a float on the way."""
    if isinstance(text, int):
        return text * 1000
    match = re.fullmatch(r"(-?)(\d+)(?:\.(\d{1,3}))?", text)
    if match:
        ns = int(match[2]) * 1000 + int((match[3] or "0").ljust(3, "0"))
        return -ns if match[1] else ns
    return int((Decimal(text) * 1000).to_integral_value(ROUND_HALF_UP))


def load(path):
    """The document; floats stay text."""
    with open(path, "rb") as source:
        data = source.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode("utf-8", "replace")
    return json.loads(text, strict=False, parse_float=str, parse_constant=str)


class Event:
    """A device event."""

    __slots__ = ("device", "stream", "name", "start", "end", "kind", "correlation", "external")


def events(document):
    return document["traceEvents"] if isinstance(document, dict) else document


def device_events(document):
    """The device events of a loaded document; kind is compute, communication or copy."""
    found = []
    for raw in events(document):
        category = str(raw.get("cat", "")).lower()
        if raw.get("ph") != "X" or category not in DEVICE_CATEGORIES:
            continue
        event = Event()
        arguments = raw.get("args") or {}
        event.device = arguments.get("device", raw.get("pid"))
        event.stream = raw.get("tid")
        event.name = str(raw.get("name", ""))
        event.start = nanoseconds(raw["ts"])
        event.end = event.start + nanoseconds(raw.get("dur", 0))
        event.kind = DEVICE_CATEGORIES[category]
        if event.kind == "kernel":
            event.kind = "communication" if COMMUNICATION.search(event.name) else "compute"
        event.correlation = arguments.get("correlation")
        event.external = arguments.get("External id", arguments.get("external id"))
        found.append(event)
    return found


def step_marks(document):
    """[(number, start, end)] of the ProfilerStep annotations of the host."""
    marks = []
    for raw in events(document):
        match = re.match(r"ProfilerStep\s*#\s*(\d+)", str(raw.get("name", "")))
        if match and raw.get("ph") == "X" and raw.get("cat") in ("user_annotation", "cpu_op",
                                                                 "Operator"):
            start = nanoseconds(raw["ts"])
            marks.append((int(match[1]), start, start + nanoseconds(raw["dur"])))
    return sorted(marks)


def launches(document):
    """correlation -> (start, end) of the runtime call."""
    calls = {}
    for raw in events(document):
        category = str(raw.get("cat", "")).lower()
        if raw.get("ph") == "X" and category in ("cuda_runtime", "cuda_driver", "runtime"):
            correlation = (raw.get("args") or {}).get("correlation")
            if correlation:
                start = nanoseconds(raw["ts"])
                calls[correlation] = (start, start + nanoseconds(raw.get("dur", 0)))
    return calls


# --- intervals ---

def merge(intervals):
    """Sorted, disjoint intervals that cover the same points."""
    merged = []
    for start, end in sorted(i for i in intervals if i[1] > i[0]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(merged):
    return sum(end - start for start, end in merged)


def union_ns(found, *kinds):
    return length(merge((e.start, e.end) for e in found if not kinds or e.kind in kinds))


def intersect(a, b):
    """Of two merged lists."""
    result, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            result.append([start, end])
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return result


def subtract(a, b):
    """What of merged a is not in merged b."""
    result = []
    for start, end in a:
        for other_start, other_end in b:
            if other_end <= start or other_start >= end:
                continue
            if other_start > start:
                result.append([start, other_start])
            start = max(start, other_end)
            if start >= end:
                break
        if start < end:
            result.append([start, end])
    return result


def interval_sums(found):
    """The figures of exact.json for a list of device events."""
    busy = union_ns(found)
    compute = merge((e.start, e.end) for e in found if e.kind == "compute")
    communication = merge((e.start, e.end) for e in found if e.kind == "communication")
    span = max(e.end for e in found) - min(e.start for e in found)
    return {"span_ns": span, "busy_ns": busy, "compute_ns": length(compute),
            "communication_ns": length(communication), "copy_ns": union_ns(found, "copy"),
            "communication_under_compute_ns": length(intersect(compute, communication))}


INTERVALS = ("span_ns", "busy_ns", "compute_ns", "communication_ns", "copy_ns",
             "communication_under_compute_ns")
WAITS = ("compute", "communication", "dependency", "cache")


# --- assertions that every result has to pass ---

def check_conservation(test, result, name=""):
    """Σ causes = Σ waits = wall of every device; total = Σ devices; control parts add up."""
    total, total_causes = 0, {}
    for device in result["devices"]:
        place = f"{name} rank {device['rank']} device {device['device']}"
        check_account(test, device, place)
        total += device["wall_ns"] * device["multiplicity"]
        for cause, ns in device["causes"].items():
            total_causes[cause] = total_causes.get(cause, 0) + ns * device["multiplicity"]
    test.assertEqual(result["total"]["wall_ns"], total, f"{name}: total wall")
    check_account(test, result["total"], f"{name} total")
    test.assertEqual(result["total"]["causes"],
                     {c: v for c, v in total_causes.items() if v}, f"{name}: total causes")
    control, parts = result["total"]["control"], {}
    for part in ("planned", "steady", "erratic", "unknown"):
        for cause, ns in control[part].items():
            test.assertGreaterEqual(ns, 0, f"{name}: {part} {cause}")
            parts[cause] = parts.get(cause, 0) + ns
    test.assertEqual({c: v for c, v in parts.items() if v}, result["total"]["causes"],
                     f"{name}: control parts")


def check_account(test, account, place):
    wall = account["wall_ns"]
    test.assertEqual(sorted(account["waits"]), sorted(WAITS), place)
    test.assertEqual(sum(account["waits"].values()), wall, f"{place}: waits")
    test.assertEqual(sum(account["causes"].values()), wall, f"{place}: causes")
    for wait in WAITS:
        of_wait = sum(v for c, v in account["causes"].items() if c.split(".")[0] == wait)
        test.assertEqual(of_wait, account["waits"][wait], f"{place}: {wait}")
    for cause, ns in account["causes"].items():
        test.assertGreater(ns, 0, f"{place}: {cause}")


def near(test, got, want, relative, absolute, message=""):
    """|got - want| within relative of want or absolute, whichever is larger."""
    allowed = max(abs(want) * relative, absolute)
    test.assertLessEqual(abs(got - want), allowed,
                         f"{message}: got {got}, want {want}, allowed {allowed:.0f}")
