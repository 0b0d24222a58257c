"""Laws of matrix products from aic_gemm."""
import numpy as np

from . import laws
from .fit import Knob, both_halves

# Tiles of the libraries' kernels: rows, columns, SMs.
TILES = {
    "ampere": [(256, 128, 1), (128, 256, 1), (128, 128, 1), (256, 64, 1), (128, 64, 1),
               (64, 128, 1), (64, 64, 1)],
    "hopper": [(256, 128, 1), (128, 256, 1), (128, 128, 1), (128, 192, 1), (64, 256, 1),
               (128, 64, 1), (64, 128, 1)],
    "blackwell": [(256, 256, 2), (256, 128, 2), (256, 192, 2), (128, 256, 1), (128, 128, 1),
                  (128, 64, 1), (128, 192, 1)],
}
GENERATION = {"a100-sxm-80gb": "ampere", "h100-sxm": "hopper", "b200-sxm": "blackwell",
              "gb200": "blackwell"}
NAMES = ("depth", "tail", "fixed", "sustained", "burst_over", "heating", "memory",
         "split_traffic", "split")


def knobs_of(tiles):
    return [Knob(0.88, 0.3, 1) for _ in tiles] + [
        Knob(170, 8, 2000, True), Knob(0.5, 0, 1), Knob(3e-6, 0.5e-6, 20e-6, True),
        Knob(0.75, 0.3, 1), Knob(0.5, 0, 1), Knob(5e12, 1e11, 1e15, True), Knob(0.8, 0.4, 1),
        Knob(1.0, 0.05, 20, True), Knob(3e-6, 0.2e-6, 20e-6, True)]


def law_of(tiles, values, accumulate=1.0):
    shares, rest = values[:len(tiles)], dict(zip(NAMES, values[len(tiles):]))
    law = {"tiles": [t + (s,) for t, s in zip(tiles, shares)], "accumulate": accumulate}
    law["burst"] = rest["sustained"] + (1 - rest["sustained"]) * rest.pop("burst_over")
    law.update(rest)
    return law


def quantise_knobs():
    """Bytes of an element and a fixed part."""
    return [Knob(5, 0.5, 30, True), Knob(3e-6, 0.2e-6, 20e-6, True)]


def seconds(values, tiles, machine, fmt, r, memory):
    """Of rows of aic_gemm: those of FP8 and FP4 include quantising A."""
    n = len(values) - (0 if fmt == "bf16" else 2)
    s = laws.gemm_s(law_of(tiles, values[:n]), machine, fmt, r["m"], r["n"], r["k"])
    if fmt == "bf16":
        return s
    return s + values[n + 1] + values[n] * r["m"] * r["k"] / (machine.memory * memory["share"])


def fitted(machine, fmt, rows, memory):
    """(law, quantise or None, errors, guessed)."""
    tiles = TILES[GENERATION[machine.name]]
    knobs = knobs_of(tiles) + ([] if fmt == "bf16" else quantise_knobs())
    values, error, guessed = both_halves(
        knobs, lambda v, r: seconds(v, tiles, machine, fmt, r, memory), rows)
    quantise = None if fmt == "bf16" else {"bytes": values[-2], "fixed": values[-1]}
    return (law_of(tiles, values[:len(tiles) + len(NAMES)]), quantise, error, guessed)


def hot(law, machine, rows):
    """Rows of a hot device: (multiple of the law for plain products, what a 32-bit result
    multiplies the time by besides), as medians."""
    s = laws.gemm_s(dict(law, accumulate=1.0), machine, "bf16", rows["m"], rows["n"], rows["k"],
                    rows["accumulates"])
    ratio = rows["s"] / s
    plain = float(np.median(ratio[rows["accumulates"] == 0]))
    return plain, float(np.median(ratio[rows["accumulates"] == 1])) / plain
