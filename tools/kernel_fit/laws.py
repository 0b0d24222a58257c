"""The formulas of docs/model/kernels.md on arrays; src/machine/kernel_time_*.c in Python.

A law is a dict with the keys of the presets, so that what is fitted is what is written.
tools/validate-kernels computes with the C code and compares.
"""
import numpy as np

from .machine import OPERAND_BYTES


def waves(tiles, slots, tail):
    count = tiles / slots
    whole = np.floor(count)
    rest = count - whole
    return np.where(count <= 1, 1, whole + np.where(rest > 0, tail + (1 - tail) * rest, 0))


def _math_s(law, machine, peak, p):
    best = np.full(np.broadcast(p["m"], p["n"]).shape, np.inf)
    for rows, columns, sms, share in law["tiles"]:
        sms = min(sms, machine.sms)
        slots = max(1, machine.sms // sms)
        s_per_depth = 2 * rows * columns / (peak * sms / machine.sms * share)
        tiles = p["row_tiles"](rows) * np.ceil(p["n"] / columns)
        best = np.minimum(best, waves(tiles, slots, law["tail"]) * (p["k"] + law["depth"]) *
                          s_per_depth)
        for splits in (2, 4, 8) if p["groups"] is None else ():
            sums = 4 * splits * p["m"] * p["n"]
            split = (waves(tiles * splits, slots, law["tail"]) *
                     (p["k"] / splits + law["depth"]) * s_per_depth +
                     law["split_traffic"] * sums / machine.memory + law["split"])
            best = np.where(tiles < slots, np.minimum(best, split), best)
    return best


def _product_s(law, machine, fmt, p, accumulates):
    peak = machine.peaks[fmt]
    groups = 1 if p["groups"] is None else p["groups"]
    operand = OPERAND_BYTES[fmt]
    result = np.where(accumulates, 8, 4 if operand > 2 else 2)
    memory = ((operand * (p["m"] * p["k"] + groups * p["n"] * p["k"]) +
               result * p["m"] * p["n"]) / (machine.memory * law["memory"]))
    flop = 2 * p["m"] * p["n"] * p["k"]
    power = flop / (peak * (law["sustained"] + (law["burst"] - law["sustained"]) /
                            (1 + flop / law["heating"])))
    math = _math_s(law, machine, peak, p) * np.where(accumulates, law["accumulate"], 1)
    return (math**4 + memory**4 + power**4)**0.25 + law["fixed"]


def gemm_s(law, machine, fmt, m, n, k, accumulates=False):
    p = {"m": m, "n": n, "k": k, "groups": None, "row_tiles": lambda rows: np.ceil(m / rows)}
    return _product_s(law, machine, fmt, p, accumulates)


def grouped_s(law, machine, fmt, m, n, k, groups, load):
    def row_tiles(rows):
        equal = groups * np.ceil(m / groups / rows)
        return np.where(load <= 1, equal, np.maximum(m / rows + groups / 2, groups))
    p = {"m": m, "n": n, "k": k, "groups": groups, "row_tiles": row_tiles}
    return _product_s(law, machine, fmt, p, False)


def memory_s(law, machine, moved):
    return law["fixed"] + moved / (machine.memory * law["share"])


def attention_s(law, machine, shape, backward=False):
    """shape: arrays sequences, heads, kv_heads, queries, keys, qk_dim, value_dim, pairs."""
    step, tile = law["dim_step"], law["tile"]
    qk = np.ceil(shape["qk_dim"] / step) * step
    value = np.ceil(shape["value_dim"] / step) * step
    pair = 6 * qk + 4 * value if backward else 2 * (qk + value)
    dims = np.array(law["dims"])
    share = np.interp((qk + value) / 2, dims[:, 0], dims[:, 1])
    slots = machine.sms * law["blocks"]
    tile_s = tile * pair / (machine.peaks["bf16"] * share / slots)
    blocks = shape["sequences"] * shape["heads"] * np.ceil(shape["queries"] / tile)
    keys = shape["pairs"] / shape["queries"]
    masked = keys < shape["keys"]
    depth = law["depth"] + np.where(masked, law["diagonal"], 0)
    math = waves(blocks, slots, law["tail"]) * (keys + depth) * tile_s
    longest = (np.minimum(shape["keys"], 2 * keys) + depth) * tile_s
    math = np.maximum(math, np.where(masked, longest, 0))
    moved = (law["traffic"] * 2 * (shape["qk_dim"] + shape["value_dim"]) * shape["sequences"] *
             (shape["queries"] * shape["heads"] + shape["keys"] * shape["kv_heads"]))
    return np.maximum(math, moved / (machine.memory * law["memory"])) + law["fixed"]
