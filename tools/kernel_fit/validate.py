"""Times of bench/kernel_times.c beside measured ones, as docs/validation/kernels.md."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np

from . import rows
from .machine import ROOT, Machine

NAMES = {"a100-sxm-80gb": "A100", "h100-sxm": "H100", "b200-sxm": "B200", "gb200": "GB200"}

HEAD = """<!-- Written by `scripts/with-data tools/validate-kernels`. Do not edit. -->
# Kernels beside measured ones

The model is in [kernels.md](../model/kernels.md), its figures are in `presets/kernel-times`, the measurements
in `../shared/data/kernels` (its `INDEX.md` says where they are from). Errors are of the seconds of a kernel,
absolute, median / 90th percentile in percent. *Half/half*: fitted on half of the shapes, judged on the
other, both ways round; every other column is the law of the preset, computed by the C code.
"""


def build(folder, weir):
    """The path of the program, or None and why it cannot be built."""
    library = Path(weir).parent / "libweir.a"
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if not compiler or not library.exists():
        return None, f"no compiler, or no {library}"
    program = Path(folder) / "kernel_times"
    command = [compiler, "-std=gnu11", "-O2", "-I", str(ROOT / "include"), "-I", str(ROOT / "src"),
               str(ROOT / "bench/kernel_times.c"), str(library), "-lfyaml", "-lm", "-lpthread",
               "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:  # a library that was built with the sanitizers needs them here too
        done = subprocess.run(command + ["-fsanitize=address,undefined"], capture_output=True,
                              text=True, check=False)
    return (str(program), "") if done.returncode == 0 else (None, done.stderr[-2000:])


def ask(program, accelerator, lines):
    done = subprocess.run([program, accelerator], input="".join(line + "\n" for line in lines),
                          capture_output=True, text=True, check=True)
    return np.array([float(line) for line in done.stdout.split()])


def gemm_s(program, accelerator, fmt, r):
    kept = r.get("accumulates", np.zeros(len(r["m"]), bool))
    return ask(program, accelerator, [f"gemm {fmt} {m:.0f} {n:.0f} {k:.0f} 1 {int(a)}"
                                      for m, n, k, a in zip(r["m"], r["n"], r["k"], kept)])


def grouped_s(program, accelerator, fmt, m, n, k, groups):
    return ask(program, accelerator, [f"grouped {fmt} {a:.0f} {b:.0f} {c:.0f} {g:.0f} 1"
                                      for a, b, c, g in zip(m, n, k, groups)])


def attention_s(program, accelerator, kernel, direction, r):
    names = rows.ATTENTION[:8]
    return ask(program, accelerator, [
        f"attention {kernel} {direction} " + " ".join(f"{v:.17g}" for v in row)
        for row in zip(*(r[name] for name in names))])


# --- errors ---

def both(guessed, measured):
    wrong = 100 * np.abs(guessed / measured - 1)
    return f"{np.median(wrong):.1f} / {np.percentile(wrong, 90):.1f}"


def other_half(r, guess):
    """guess(seen, unseen) -> times of unseen; for both halves."""
    guessed = np.zeros(len(r["s"]))
    for side in (0, 1):
        seen, unseen = r["half"] == side, r["half"] != side
        guessed[unseen] = guess({k: v[seen] for k, v in r.items()},
                                {k: v[unseen] for k, v in r.items()})
    return both(guessed, r["s"])


def constant_share(flop):
    """The null model: so many FLOP/s, whatever the shape."""
    return lambda seen, unseen: flop(unseen) * np.median(seen["s"] / flop(seen))


def interpolated(seen, unseen):
    """Linear between measured shapes, on logarithms; beyond them that of the nearest."""
    from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator
    points = lambda r: np.log(np.stack([r["m"], r["n"], r["k"]], 1).astype(float))
    value = np.log(seen["s"])
    found = LinearNDInterpolator(points(seen), value)(points(unseen))
    near = NearestNDInterpolator(points(seen), value)(points(unseen))
    return np.exp(np.where(np.isnan(found), near, found))


def left(accelerator, *path):
    """The error that a preset says its fit left: 'median / p90'."""
    text = (ROOT / "presets" / "kernel-times" / f"{accelerator}.yaml").read_text(encoding="utf-8")
    for depth, key in enumerate(path):
        text = re.split(rf"^{'  ' * depth}{re.escape(key)}:", text, maxsplit=1, flags=re.M)[1]
        text = re.split(rf"^{'  ' * depth}\S", text, maxsplit=1, flags=re.M)[0]
    found = re.search(r"left: {rows: \d+, median: ([\d.]+), p90: ([\d.]+)}", text)
    return " / ".join(f"{100 * float(v):.1f}" for v in found.groups()) if found else "–"


def quantised(program, accelerator, fmt, r):
    """What rows of FP8 and FP4 include: turning A into the format."""
    return ask(program, accelerator, [f"quantise {fmt} {m * k:.0f}" for m, k in zip(r["m"], r["k"])])


def cell(text):
    return " | ".join(text)


# --- sections ---

def products(program):
    lines = ["## Products", "",
             "`aic_gemm`: TensorRT-LLM, m from 256 to 32,768, n and k from 1,024. Rows of FP8 and FP4 include "
             "quantising A, which is a kernel of its own here and added for the comparison.", "",
             "| accelerator | format | rows | half/half | all rows | interpolated | one rate |",
             "|---|---|---|---|---|---|---|"]
    flop = lambda r: 2.0 * r["m"] * r["n"] * r["k"]
    for (name, fmt), r in sorted(rows.gemm().items()):
        guessed = gemm_s(program, name, fmt, r)
        if fmt != "bf16":
            guessed = guessed + quantised(program, name, fmt, r)
        lines.append("| " + cell([
            NAMES[name], fmt, str(len(r["s"])), left(name, "gemm", fmt), both(guessed, r["s"]),
            other_half(r, interpolated), other_half(r, constant_share(flop))]) + " |")
    lines += ["", "One law for all, which accelerators have of which only the datasheet is known, judged on the generation that "
              "its fit left out (A100, H100, Blackwell in turn): " +
              "; ".join(f"{fmt} {left('datasheet', 'gemm', fmt)}"
                        for fmt in ("bf16", "fp8", "fp8-block")) + "."]
    return lines


def writing_s(r, s, memory):
    """What writes Q, K and V: bytes and a fixed part, by least squares on what the law leaves."""
    from scipy.optimize import nnls
    elements = r["sequences"] * r["queries"] * r["qk_dim"] * (r["heads"] + 2 * r["kv_heads"])
    columns = np.stack([elements / memory, np.full(len(s), 1e-5)], 1)
    found, _ = nnls(columns / r["s"][:, None], (r["s"] - s) / r["s"])
    return columns @ found


def attention(program):
    lines = ["## Attention", "",
             "`aic_attention_fwd`: TensorRT-LLM's kernels, causal, BF16, with the kernel that writes Q, K and V (its bytes "
             "and a fixed part are the benchmark's, fitted beside the law). Charts: what FlashAttention publishes, "
             "forward alone or both passes. SimuMax: kernels of B200 on a hot device.", "",
             "| accelerator | kernel | rows | half/half | all rows | one rate |",
             "|---|---|---|---|---|---|"]
    flop = lambda r: 2.0 * r["pairs"] * (r["qk_dim"] + r["value_dim"]) * r["heads"] * r["sequences"]
    for name, r in sorted(rows.attention().items()):
        s = attention_s(program, name, "cudnn", "forward", r)
        guessed = s + writing_s(r, s, Machine(name).memory)
        lines.append("| " + cell([
            NAMES[name], "cudnn, aic", str(len(r["s"])), left(name, "attention", "cudnn", "forward"),
            both(guessed, r["s"]), other_half(r, constant_share(flop))]) + " |")
    for (name, kernel, passes), r in sorted(rows.charts().items()):
        guessed = attention_s(program, name, kernel, "forward", r)
        if passes == "fwd_bwd":
            guessed = guessed + attention_s(program, name, kernel, "backward", r)
        # The preset of cuDNN says what is left of the aic rows, fitted together with this chart.
        fitted = left(name, "attention", kernel, "forward") if kernel != "cudnn" else "–"
        lines.append("| " + cell([
            NAMES[name], f"{kernel}, chart, " + ("both passes" if passes == "fwd_bwd" else
                                                 "forward"),
            str(len(r["s"])), fitted, both(guessed, r["s"]),
            other_half(r, constant_share(flop))]) + " |")
    r = rows.simumax_attention("b200-sxm", True)
    guessed = attention_s(program, "b200-sxm", "cudnn", "backward", r)
    lines.append("| " + cell(["B200", "cudnn, SimuMax, backward", str(len(r["s"])),
                              left("b200-sxm", "attention", "cudnn", "backward"),
                              both(guessed, r["s"]),
                              other_half(r, constant_share(flop))]) + " |")
    return lines


def benchmark_parts(seen, s, memory):
    """Least squares of what aic_moe_fwd measures beside two products: bytes for each value of the
    hidden and of the inner dimension, a fixed part, and a scale of the products."""
    from scipy.optimize import nnls
    def columns(r, t):
        return np.stack([2 * r["m"] * r["hidden"] / memory, 2 * r["m"] * r["inter"] / memory,
                         np.full(len(t), 1e-5), t], 1)
    found, _ = nnls(columns(seen, s) / seen["s"][:, None], np.ones(len(s)))
    # Twice more with outliers (10 times too slow in a few shapes of one library) held down.
    for _ in range(5):
        wrong = np.abs(columns(seen, s) @ found / seen["s"] - 1)
        weight = 1 / np.maximum(wrong, 0.05)
        found, _ = nnls(columns(seen, s) / seen["s"][:, None] * weight[:, None], weight)
    return found[3], lambda r, t: columns(r, t) @ found


def grouped(program):
    lines = ["## Grouped products", "",
             "Experts use the law of the dense product, rows rounded to tiles for each; nothing of it was fitted here. "
             "`aic_moe_fwd` (balanced) measures two products with permutation and activation: their bytes, a fixed "
             "part and a scale of the products are fitted on one half and judged on the other. Where devices share the "
             "experts, the table does not say how many rows fell to the one that was measured; an equal part is "
             "taken, and the worst tenth shows that it was not always so.", "",
             "| accelerator | format | experts | rows | half/half | scale |", "|---|---|---|---|---|---|"]
    for (name, fmt), every in sorted(rows.moe().items()):
        memory = Machine(name).memory
        for what, which in (("all on the device", every["parts"] == 1),
                            ("shared", every["parts"] > 1)):
            r = {key: column[which] for key, column in every.items()}
            r["products"] = (
                grouped_s(program, name, fmt, r["m"], r["up"], r["hidden"], r["groups"]) +
                grouped_s(program, name, fmt, r["m"], r["hidden"], r["inter"], r["groups"]))
            guess = lambda seen, unseen: benchmark_parts(seen, seen["products"], memory)[1](
                unseen, unseen["products"])
            scale, _ = benchmark_parts(r, r["products"], memory)
            lines.append("| " + cell([NAMES[name], fmt, what, str(len(r["s"])),
                                      other_half(r, guess), f"{scale:.2f}"]) + " |")
    return lines


PUBLISHED = {"NVIDIA A100 SXM": "a100-sxm-80gb", "NVIDIA A100 PCIe": "a100-pcie-80gb",
             "NVIDIA H100 SXM": "h100-sxm", "NVIDIA H200 SXM": "h200-sxm",
             "NVIDIA GH200 SXM": "gh200", "NVIDIA B200 SXM": "b200-sxm",
             "NVIDIA B300 SXM": "b300-sxm", "NVIDIA GB200 SXM": "gb200",
             "A100-80GB": "a100-sxm-80gb", "H100-80GB": "h100-sxm", "H200": "h200-sxm"}


def published():
    """(what, accelerator, format) -> m, n, k, s of gemm_peak."""
    found = {}
    for r in rows.read("gemm_peak.csv"):
        if r["op"] == "gemm" and r["gpu"] in PUBLISHED:
            what = "fastest shape, ml-engineering" if "MAMF" in r["source"] else "warm, Azure"
            m, n, k = int(r["m"]), int(r["n"]), int(r["k"])
            fmt = "fp8" if r["dtype"] == "fp8" else "bf16"
            found.setdefault((what, PUBLISHED[r["gpu"]], fmt), []).append(
                (m, n, k, 2.0 * m * n * k / (float(r["value"]) * 1e12)))
    return {key: rows.columns(v, ("m", "n", "k", "s")) for key, v in found.items()}


def unseen(program):
    lines = ["## Kernels from elsewhere", "",
             "Measured / Weir: above 1 the device was slower than the law says. No fit has seen these rows, except that "
             "SimuMax's tell `accumulate`, the `power` of A100 PCIe and, with others, attention on B200. A hot device "
             "(rows one after another without a pause) has a lower clock where power binds: the preset's `power` is for "
             "that, and is not applied here.", "",
             "| rows | accelerator | format | rows | measured / Weir, median | 10th to 90th percentile |",
             "|---|---|---|---|---|---|"]

    def line(what, name, fmt, ratio):
        lines.append("| " + cell([what, name, fmt, str(len(ratio)), f"{np.median(ratio):.2f}",
                                  f"{np.percentile(ratio, 10):.2f} to "
                                  f"{np.percentile(ratio, 90):.2f}"]) + " |")

    r = rows.deepgemm()
    for what, which in (("DeepGEMM, 64 and 128 rows", (r["groups"] == 0) & (r["m"] < 4096)),
                        ("DeepGEMM, 4,096 rows", (r["groups"] == 0) & (r["m"] >= 4096)),
                        ("DeepGEMM, grouped", r["groups"] > 0)):
        q = {k: v[which] for k, v in r.items()}
        s = (grouped_s(program, "h800-sxm", "fp8-block", q["m"], q["n"], q["k"], q["groups"])
             if q["groups"][0] else gemm_s(program, "h800-sxm", "fp8-block", q))
        line(what, "h800-sxm", "fp8-block", q["s"] / s)
    for (what, name, fmt), q in sorted(published().items()):
        line(what, name, fmt, q["s"] / gemm_s(program, name, fmt, q))
    for name in rows.SIMUMAX:
        q = rows.simumax_gemm(name)
        ratio = q["s"] / gemm_s(program, name, "bf16", q)
        line("hot, SimuMax", name, "bf16", ratio[q["accumulates"] == 0])
        line("hot, SimuMax, 32-bit result", name, "bf16", ratio[q["accumulates"] == 1])
        q = rows.simumax_grouped(name)
        line("hot, SimuMax, one product per expert", name, "bf16",
             q["s"] / grouped_s(program, name, "bf16", q["m"], q["n"], q["k"], q["groups"]))
        q = rows.simumax_attention(name, False)
        kernel = "flash2" if name.startswith("a100") else "cudnn"
        line(f"hot, SimuMax, {kernel} forward", name, "bf16",
             q["s"] / attention_s(program, name, kernel, "forward", q))
    return lines


def page(program):
    parts = [HEAD.rstrip("\n").split("\n"), products(program), attention(program),
             grouped(program), unseen(program)]
    return "\n".join("\n".join(part) + "\n" for part in parts)
