"""One law for all: what an accelerator gets of which only the datasheet is known.

Each format's law is fitted to all measured accelerators together, the same weight each, and judged
on the generation that was left out (`left` in the preset). Attention and memory are the means of the measured laws.
"""
import numpy as np

from . import gemm, laws, preset, rows
from .fit import errors, fit
from .machine import Machine

TILES = [(256, 128, 1), (128, 256, 1), (128, 128, 1), (128, 64, 1), (64, 128, 1)]
MISALIGNED = {"misaligned": 2.5}
STEADY = 1.1
HEAD = ["Shares of peaks and bandwidth for accelerators without measured kernels, and the ground that the",
        "other presets of this folder stand on."]


def pooled(fmt, measured, names, memory):
    """The law of these accelerators together, and what quantising costs."""
    knobs = gemm.knobs_of(TILES) + (gemm.quantise_knobs() if fmt != "bf16" else [])
    tables = [(Machine(name), measured[name, fmt]) for name in names]
    weights = np.concatenate([np.full(len(r["s"]), len(r["s"])**-0.5) for _, r in tables])

    def seconds(values):
        return np.concatenate([gemm.seconds(values, TILES, machine, fmt, r, memory[machine.name])
                               for machine, r in tables])

    values = fit(knobs, seconds, np.concatenate([r["s"] for _, r in tables]),
                 weights / weights.mean(), evaluations=60)
    return values


def relatives(names):
    """Without one generation: (left out, the others). B200 and GB200 are one."""
    for left in ("a100-sxm-80gb", "h100-sxm", "b200-sxm"):
        others = [n for n in names if n != left and not (left == "b200-sxm" and n == "gb200")]
        if left in names and others:
            yield left, others


def fit_products(made, memory):
    measured, accumulate = rows.gemm(), 1.05
    for fmt in ("bf16", "fp8", "fp8-block", "fp4"):
        names = [n for n in ("a100-sxm-80gb", "h100-sxm", "b200-sxm", "gb200")
                 if (n, fmt) in measured]
        guesses = []
        for left, others in relatives(names):
            values = pooled(fmt, measured, others, memory)
            machine, r = Machine(left), measured[left, fmt]
            guesses.append((gemm.seconds(values, TILES, machine, fmt, r, memory[left]), r["s"]))
            print("datasheet", fmt, "without", left, errors(*guesses[-1]), flush=True)
        error = errors(*(np.concatenate(part) for part in zip(*guesses))) if guesses else None
        values = pooled(fmt, measured, names, memory)
        law = dict(gemm.law_of(TILES, values, accumulate), **MISALIGNED)
        made.add(("gemm", fmt), law, "pooled", error)
        if fmt == "bf16":
            for wider in ("fp32", "tf32"):
                made.add(("gemm", wider), law, "as-bf16")
        else:
            made.add(("quantise", fmt), {"bytes": values[-2], "fixed": values[-1]}, "pooled")


ATTENTION = {"unfused": (0.35, 0.3), "flash1": (0.25, 0.21), "triton": (0.34, 0.25),
             "flash2": (0.5, 0.42), "flash3": (0.58, 0.48), "cudnn": (0.55, 0.46)}


def add_attention(made):
    for kernel, shares in ATTENTION.items():
        for direction, share in zip(("forward", "backward"), shares):
            law = {"dims": [(64, 0.85 * share), (128, share)], "depth": 160.0, "diagonal": 120.0,
                   "tail": 0.7, "tile": 128, "blocks": 1, "dim_step": 8, "memory": 0.8,
                   "traffic": 1.0 if direction == "forward" else 2.5, "fp8": 0.75,
                   "fixed": 4e-6 if direction == "forward" else 10e-6}
            made.add(("attention", kernel, direction), law, "between")


def write(path, memory):
    made = preset.Preset("datasheet", about=HEAD)
    made.source("pooled", "aic_gemm: one law for A100, H100, B200 and GB200 together", "derived")
    made.source("as-bf16", "the shares of bf16", "derived")
    made.source("between", "between the shares that kernels measured on A100, H100 and B200 reach",
                "derived")
    fit_products(made, memory)
    add_attention(made)
    made.add(("memory",), {"share": 0.82, "fixed": 2e-6}, "between")
    made.add(("power",), {"steady": STEADY, "attention": STEADY}, "between")
    path.write_text(made.text(), encoding="utf-8")
