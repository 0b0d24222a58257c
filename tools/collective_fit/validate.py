"""Weir's times of collectives beside measured ones: runs the C library on every row.

tests/data/collective_estimate.c is compiled against the libweir.a that lies beside the weir command.
"""
import csv
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import rows as data
from .model import bus_factor, straight_line

ROOT = Path(__file__).resolve().parent.parent.parent
MIB = 1 << 20
LARGE_LIMIT, SMALL_LIMIT = 0.12, 0.35
ANCHORS = (  # published without their rows (network-oracles 3): latency of 8 bytes, a + bytes / b
    # and mean and largest error of the line on its rows, percent
    ("Lambda B200 HGX", 16, 2, "8x400G IB", 36.2e-6, 116.7e-6, 341.2e9, "8, 16"),
    ("Azure ND H200 v5", 8, 1, "NVLink4 NVLS", None, 35.0e-6, 254.6e9, "7, 17"),
    ("AWS p4de A100-80G (fitted on)", 16, 2, "4x100G EFA", 162e-6, 370.2e-6, 37.4e9, "14, 31"))
NO_PEAKS = re.compile(r"degraded|misconfigured|anomalous|bad pair|good pair|only|about|crossing|"
                      r"user expects|unstable|600 Gb/s|drops|NVLS_ENABLE")


def build(folder, weir):
    """The path of the estimator, or None and why it cannot be built."""
    library = Path(weir).parent / "libweir.a"
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if not compiler or not library.exists():
        return None, f"no compiler, or no {library}"
    program = Path(folder) / "collective_estimate"
    command = [compiler, "-std=gnu11", "-O1", "-I", str(ROOT / "include"), "-I", str(ROOT / "src"),
               str(ROOT / "tests/data/collective_estimate.c"), str(library), "-lfyaml", "-lm",
               "-lpthread", "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:  # a library that was built with the sanitizers needs them here too
        done = subprocess.run(command + ["-fsanitize=address,undefined"], capture_output=True,
                              text=True, check=False)
    return (str(program), "") if done.returncode == 0 else (None, done.stderr[-2000:])


def line_of(row, by_rate=False):
    """by_rate: name no transports (one that the library does not know is found by its rate)."""
    if by_rate:
        row = dict(row, node=row["node"] and "-", network=None)
    return " ".join(str(v) for v in (
        row["library"], row["kind"], repr(row["bytes"]), row["n"], row["m"], row["node_rate"],
        row["network_rate"], int(row["nvls"]), int(row["sharp"]), row["node"] if row["n"] > row["m"]
        else "-", row["network"] or "-", row["caller"] or "-", row.get("algorithm", "auto")))


def ask(program, lines):
    done = subprocess.run([program], input="".join(line + "\n" for line in lines),
                          capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def estimate(program, rows):
    """Adds model_s, error and algorithm_used to each row."""
    for row, answer in zip(rows, ask(program, [line_of(r) for r in rows])):
        if "knows no transport" in answer:
            answer = ask(program, [line_of(row, True)])[0]
            row["assumed"] = (row["assumed"] + ", transport by rate").lstrip(", ")
        if answer.startswith("error"):
            raise ValueError(f"{row['system']}: {answer}")
        seconds, algorithm, protocol, _ = answer.split()
        row["model_s"], row["algorithm_used"] = float(seconds), f"{algorithm} {protocol}"
        row["error"] = abs(row["model_s"] / row["s"] - 1)
    return rows


def mean(values):
    return sum(values) / len(values) if values else None


def left_out():
    with open(ROOT / "tools/collective_fit/left_out.csv", encoding="utf-8", newline="") as source:
        return {(r["system"], r["collective"], int(r["ranks"])): r for r in csv.DictReader(source)}


def line_error(rows):
    """Mean error of the best straight line; None under 3 rows."""
    return straight_line([(r["bytes"], r["s"]) for r in rows])[2] if len(rows) >= 3 else None


def systems(rows):
    """One summary for each system, collective and number of ranks, in the order of the data."""
    groups = {}
    for row in rows:
        groups.setdefault((row["system"], row["row"], row["n"]), []).append(row)
    unseen, made = left_out(), []
    for key, members in groups.items():
        large = [r for r in members if r["bytes"] >= MIB]
        small = [r for r in members if r["bytes"] < MIB]
        worst = max(members, key=lambda r: r["error"])
        without = unseen.get(key, {})
        made.append({"system": key[0], "collective": key[1], "ranks": key[2],
                     "nodes": members[0]["m"], "first": members[0], "large_rows": len(large),
                     "small_rows": len(small), "large": mean([r["error"] for r in large]),
                     "small": mean([r["error"] for r in small]), "line": line_error(large),
                     "worst": worst["error"], "worst_bytes": worst["bytes"],
                     **{k: without.get(k, "") for k in ("system_large", "system_small",
                                                        "size_large", "size_small")}})
    return made


def percent(value):
    return "–" if value in (None, "") else f"{float(value) * 100:.1f}"


def size(value):
    for unit, name in ((1 << 30, "GiB"), (MIB, "MiB"), (1 << 10, "KiB")):
        if value >= unit:
            return f"{value / unit:g} {name}"
    return f"{value:g} B"


def short(text):
    return re.sub(r" \((manifest|batch|hardware|factor|CXI).*", "", text).replace("|", "/")


def table(head, lines):
    body = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(body + ["| " + " | ".join(str(c) for c in line) + " |" for line in lines]) + "\n"


def system_table(summaries):
    lines = []
    for s in summaries:
        first = s["first"]
        transport = first["network"] or first["node"]
        lines.append((short(s["system"]), s["collective"], f"{s['ranks']} / {s['nodes']}",
                      f"`{first['library']}` `{transport}`", s["large_rows"], percent(s["large"]),
                      percent(s["line"]), s["small_rows"], percent(s["small"]),
                      f"{percent(s['worst'])} at {size(s['worst_bytes'])}",
                      f"{percent(s['system_large'])}, {percent(s['system_small'])}",
                      f"{percent(s['size_large'])}, {percent(s['size_small'])}",
                      first["assumed"] or ""))
    return table(("system", "collective", "ranks / nodes", "library, transport", "rows from 1 MiB",
                  "error", "straight line", "rows below", "error", "worst", "system unseen",
                  "sizes unseen", "assumed"), lines)


def line_text(start, rate, errors):
    return f"{start * 1e6:.1f} µs + bytes / {rate / 1e9:.1f} GB/s; {errors}"


def anchor_table(program):
    lines = []
    for system, gpus, nodes, nic, latency, start, rate, errors in ANCHORS:
        base = {"system": system, "nic": nic, "gpus": str(gpus), "nodes": str(nodes),
                "collective": "all_reduce", "note": "", "time_us": "1"}
        rows = estimate(program, [data.classify(dict(base, size_bytes=str(b)))
                                  for b in [8] + [2**k * MIB for k in range(14)]])
        ours = straight_line([(r["bytes"], r["model_s"]) for r in rows[1:]])
        small = f"{latency * 1e6:.1f}, {rows[0]['model_s'] * 1e6:.1f}" if latency else "–"
        lines.append((system, f"{gpus} / {nodes}", line_text(start, rate, errors),
                      line_text(ours[0], ours[1], f"{ours[2] * 100:.0f}, {ours[3] * 100:.0f}"),
                      small))
    return table(("system", "ranks / nodes", "published line; its mean and largest error, %",
                  "line through Weir's times of 1 MiB to 8 GiB", "8 bytes, µs: published, Weir"),
                 lines)


def peak_rows(path):
    """Rows with size and bus bandwidth but no time: peaks, some with the algorithm forced."""
    made = []
    with open(path, encoding="utf-8", newline="") as source:
        for raw in csv.DictReader(source):
            if raw["time_us"] or not raw["size_bytes"] or not raw["busbw_GBps"] or \
                    not raw["nodes"].isdigit() or NO_PEAKS.search(raw["note"]):
                continue
            row = data.classify(dict(raw, time_us="1"))
            row["bus"] = float(raw["busbw_GBps"])
            row["s"] = row["bytes"] * bus_factor(row["kind"], row["n"]) / (row["bus"] * 1e9)
            forced = re.search(r"\b(ring|nvlstree)\b", f"{raw['collective']} {raw['system']}".lower())
            if forced:
                row["algorithm"] = {"ring": "ring", "nvlstree": "nvls_tree"}[forced.group(1)]
            made.append(row)
    return made


def peak_table(program, path):
    lines = []
    for row in estimate(program, peak_rows(path)):
        lines.append((short(row["system"]), row["row"], f"{row['n']} / {row['m']}", size(row["bytes"]),
                      f"{row['bus']:g}", f"{row['bus'] * row['s'] / row['model_s']:.1f}",
                      percent(row["error"]), row["algorithm_used"]))
    return table(("system", "collective", "ranks / nodes", "size", "bus GB/s", "Weir", "error of time, %",
                  "algorithm"), lines)


def of_name(summaries, system):
    """The mean error from 1 MiB on and below over all rows of a system's name; None: no rows."""
    def over(part):
        found = [(s[part + "_rows"], s[part]) for s in summaries
                 if s["system"] == system and s[part + "_rows"]]
        return sum(n * e for n, e in found) / sum(n for n, _ in found) if found else None
    return over("large"), over("small")


def over_text(summaries):
    """What lies over the limits in a line of the table, and over all lines of its system."""
    lines = ["Limits: 12 % from 1 MiB on, 35 % below."]
    for system, collective, ranks, large, small in misses(summaries):
        whole = of_name(summaries, system)
        lines.append(f"Over them: {short(system)}, {collective} of {ranks}, with {percent(large)} %"
                     f" and {percent(small)} %;\nall rows of that system together (each number of "
                     f"ranks) have {percent(whole[0])} % and {percent(whole[1])} %.")
    return "\n".join(lines) + "\n"


def queued_text(program):
    """The timings beside measured.csv, and why some rows of measured.csv cannot be met."""
    rows = estimate(program, data.queued())
    first, last = rows[0], max((r for r in rows if r["bytes"] <= MIB), key=lambda r: r["bytes"])
    return (
        "\nThe five rows below 1 MiB of 4 × 8 B200 are the first sizes of a run that timed one call "
        "at a time on idle\ndevices: 6.3, 3.2, 0.56, 0.38 and 0.36 ms. No times that do not fall with "
        "size have a mean error under 44 % on\nthem (0.38 ms for all five). The author's later run on "
        "such nodes, after 5 warm-ups and with up to 10 calls queued\nbehind each other, has "
        f"{first['s'] * 1e6:.0f} µs at 32 KiB and {last['s'] * 1e6:.0f} at 1 MiB\n"
        "([its page](https://github.com/stas00/ml-engineering/blob/HEAD/network/benchmarks/README.md) "
        "names neither\ncloud nor NICs, and compares itself with the section on AWS P6-B200). One set "
        "of figures gives both runs from 512 KiB\non, with what a call of its own adds (`callers` of "
        "`efa-v4`). The later run, which is not in `measured.csv`:\n\n" +
        system_table(systems(rows)))


def report(program, path):
    """The section of docs/accuracy.md, and the summaries of its first table."""
    rows = estimate(program, data.measured(path))
    summaries = systems(rows)
    nccl = [s for s in summaries if s["first"]["library"] != "deepep"]
    moe = [s for s in summaries if s["first"]["library"] == "deepep"]
    text = (
        f"Mean error of the time, in percent, over the {len(rows)} rows of `collectives/measured.csv` "
        "that have a size and a\ntime and whose note does not say degraded, misconfigured or "
        "anomalous. Parameters are those of\n`presets/collectives`, for each library generation and "
        "transport ([collective.md](model/collective.md)).\nWhat the rows are (transport, NICs) is "
        "read off their text by rules; what had to be assumed is in the last\ncolumn. \"Straight "
        "line\" is the best a + b bytes for that system alone, from 1 MiB on. \"System unseen\" and "
        "\"sizes\nunseen\" are errors, from 1 MiB on and below it, of fits that did not see the "
        "system, or every fifth power of two;\na transport that only this system shows then falls "
        "back to its donor, so a large figure there says that such a\ntransport cannot be foretold "
        "from another.\n\n" + system_table(nccl) + "\n" + over_text(nccl) + queued_text(program) +
        "\nDeepEP's low-latency kernels, as all-to-all of the bytes that a rank sends:\n\n" +
        system_table(moe) +
        "\nStraight lines (least squares of relative errors) that were published without their rows; nothing was\nfitted on the first two systems:\n\n" +
        anchor_table(program) +
        "\nPeaks that were published without a time (part of those of one node were fitted on):\n\n" +
        peak_table(program, path))
    return text, summaries


def misses(summaries):
    """What lies over the limits of 12 % from 1 MiB on and 35 % below."""
    return [(s["system"], s["collective"], s["ranks"], s["large"], s["small"]) for s in summaries
            if (s["large"] or 0) > LARGE_LIMIT or (s["small"] or 0) > SMALL_LIMIT]
