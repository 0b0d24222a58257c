"""Fits every measured accelerator and writes its preset."""
import numpy as np

from . import attention, datasheet, gemm, preset, rows
from .fit import select
from .machine import Machine

VIDUR = {"a100-sxm-80gb": "a100", "h100-sxm": "h100"}
HOT = {"a100-sxm-80gb": "a100-pcie-80gb", "b200-sxm": "b200-sxm"}  # measured by SimuMax
# Products and attention in training / alone, where power binds. SimuMax's rows of B200, products one
# after another without a pause, take 1.36; its attention takes what it takes alone.
STEADY = {"a100-sxm-80gb": (1, 1), "h100-sxm": (1.18, 1.18),
          "b200-sxm": (1.17, 1), "gb200": (1.17, 1)}
SOURCES = {
    "aic-gemm": ("aic_gemm: NVIDIA aiconfigurator, TensorRT-LLM, quantising split out", "fitted"),
    "aic-attention": ("aic_attention_fwd: NVIDIA aiconfigurator, TensorRT-LLM, the writing of Q, "
                      "K and V split out", "fitted"),
    "fused": ("aic_attention_fwd (TensorRT-LLM, the writing of Q, K and V split out) and cuDNN alone: "
              "its chart on H100, SimuMax on B200", "fitted"),
    "charts": ("bar charts of FlashAttention 2 and 3", "fitted"),
    "simumax": ("SimuMax: backward kernels of cuDNN on B200", "fitted"),
    "ratio": ("the forward kernel, and the ratio of backward to forward of the next kernel that "
              "has both", "derived"),
    "older": ("FlashAttention-2 (arXiv 2307.08691): Triton takes 1.3 to 1.5 times as long forward "
              "and 2 backward on A100, FlashAttention 2; runs of LLM Foundry on H100 at 16k tokens "
              "and more: Triton 1.5", "memory"),
    "absolute": ("the FLOP/s of H100: kernels written for its predecessor", "derived"),
    "successor": ("the newest kernel that is measured here stands for it", "derived"),
    "stream": ("gemm_peak: BabelStream; vidur: additions of up to eight rows", "fitted"),
    "as-products": ("the share that memory-bound products of aic_gemm reach", "derived"),
    "steady": ("the multiple that published runs need: none on A100, 195 of H100 (dgxc), "
               "Megatron-Bridge on B200 and GB200", "fitted"),
}
FUSED_TILE = {"a100-sxm-80gb": 128, "h100-sxm": 64, "b200-sxm": 128, "gb200": 128}
# Forward and backward, in multiples of FlashAttention 2.
OLDER = {"ampere": {"triton": (1.4, 2.0), "flash1": (2.0, 2.0)},
         "later": {"triton": (1.5, 1.5), "flash1": (2.0, 2.0)}}


def charts_of(name, kernel):
    """Both passes of one kernel's charts in one table, or None."""
    found = [dict(r, both=np.full(len(r["s"]), key[2] == "fwd_bwd"))
             for key, r in rows.charts().items() if key[:2] == (name, kernel)]
    return {c: np.concatenate([r[c] for r in found]) for c in found[0]} if found else None


def slower(law, times):
    return dict(law, dims=[(d, s / times) for d, s in law["dims"]])


class Fits:
    """What fits of one accelerator hand on to the next."""

    def __init__(self):
        self.ratio, self.accumulate, self.small_s = 0.85, 1.05, 2e-6
        self.flash2, self.handed = None, {}  # handed: depth and diagonal of attention


def fit_memory(machine, made, fits):
    stream = rows.stream().get(machine.name)
    if stream:
        fits.small_s = float(np.median(rows.small_additions(VIDUR[machine.name])))
        law = {"share": float(np.mean(stream)) / machine.memory, "fixed": fits.small_s}
    else:
        law = {"share": 0.8, "fixed": fits.small_s}
    made.add(("memory",), law, "stream")
    return law


def fit_gemms(machine, memory, made, fits):
    for (name, fmt), found in rows.gemm().items():
        if name != machine.name:
            continue
        law, quantise, error, _ = gemm.fitted(machine, fmt, found, memory)
        if fmt == "bf16" and name in HOT:
            hot, fits.accumulate = gemm.hot(law, Machine(HOT[name]), rows.simumax_gemm(HOT[name]))
            print(name, f"hot {hot:.3f}, with a 32-bit result {fits.accumulate:.3f}", flush=True)
        made.add(("gemm", fmt), dict(law, accumulate=fits.accumulate), "aic-gemm", error)
        if quantise:
            made.add(("quantise", fmt), quantise, "aic-gemm")
        if fmt == "bf16" and machine.name not in rows.stream():
            memory["share"] = law["memory"]
            made.add(("memory",), memory, "as-products")
        print(name, fmt, error, flush=True)


def add_older(made, machine, forward, backward):
    older = OLDER["ampere" if machine.name.startswith("a100") else "later"]
    for kernel, times in older.items():
        made.add(("attention", kernel, "forward"), slower(forward, times[0]), "older")
        made.add(("attention", kernel, "backward"), slower(backward, times[1]), "older")


def fit_charts(machine, made, fits):
    """FlashAttention; True where there is a third generation."""
    found3 = False
    for kernel in ("flash2", "flash3"):
        found = charts_of(machine.name, kernel)
        if found is None:
            continue
        told = len(set(found["both"])) == 2
        base = dict(attention.KERNEL, dim_step=32 if kernel == "flash2" else 8)
        forward, backward, ratio, error, _ = attention.fitted_charts(
            machine, found, base, None if told else fits.ratio)
        fits.ratio = ratio
        fits.handed[machine.name] = forward["depth"], forward["diagonal"]
        made.add(("attention", kernel, "forward"), forward, "charts", error)
        made.add(("attention", kernel, "backward"), backward,
                 "charts" if found["both"].any() else "ratio")
        print(machine.name, kernel, error, f"ratio {ratio:.3f}", flush=True)
        found3 = kernel == "flash3"
        if kernel == "flash2":
            fits.flash2 = fits.flash2 or (machine.peaks["bf16"], forward, backward)
            add_older(made, machine, forward, backward)
    return found3


def plain_rows(name):
    """Forward rows of cuDNN alone: its chart on H100; on B200 SimuMax, where there are heads enough
    for the kernel to outlast its launch, and equal head dimensions (192 and 128 have a kernel of
    their own, which long sequences slow down)."""
    if name in rows.SIMUMAX:
        found = rows.simumax_attention(name, False)
        return select(found, (found["heads"] >= 16) & (found["qk_dim"] == found["value_dim"]))
    return charts_of(name, "cudnn")


def fit_fused(machine, memory, made, fits):
    """The kernel of TensorRT-LLM and cuDNN, which reach the same shares."""
    plain = plain_rows(machine.name)
    kernel = dict(attention.KERNEL, tile=FUSED_TILE[machine.name])
    handed = None if plain else fits.handed[machine.name]
    law, error, of_plain = attention.fitted_fused(
        machine, rows.attention()[machine.name], plain, memory, kernel, handed)
    made.add(("attention", "cudnn", "forward"), law, "fused" if plain else "aic-attention", error)
    print(machine.name, "cudnn", error, "alone", of_plain, flush=True)
    backward, source, left = attention.backward_of(law, fits.ratio), "ratio", None
    if machine.name in rows.SIMUMAX:
        backward, fits.ratio, left, _ = attention.fitted_backward(
            machine, rows.simumax_attention(machine.name, True), law)
        fits.handed["gb200"] = law["depth"], law["diagonal"]
        source = "simumax"
        print(machine.name, "cudnn backward", left, f"ratio {fits.ratio:.3f}", flush=True)
    made.add(("attention", "cudnn", "backward"), backward, source, left)


def fit_attention(machine, memory, made, fits):
    found3 = fit_charts(machine, made, fits)
    fit_fused(machine, memory, made, fits)
    if charts_of(machine.name, "flash2") is None:
        peak, forward2, backward2 = fits.flash2
        times = machine.peaks["bf16"] / peak
        add_older(made, machine, slower(forward2, times), slower(backward2, times))
        made.add(("attention", "flash2", "forward"), slower(forward2, times), "absolute")
        made.add(("attention", "flash2", "backward"), slower(backward2, times), "absolute")
    if not found3:
        newest = "cudnn" if charts_of(machine.name, "flash2") is None else "flash2"
        for direction in ("forward", "backward"):
            made.add(("attention", "flash3", direction),
                     made.sections["attention", newest, direction][0], "successor")


def write(folder, names):
    fits, made, memory = Fits(), {}, {}
    # A100 first: its rows tell what a 32-bit result costs; for H100 there are none.
    for name in ("a100-sxm-80gb", "h100-sxm", "b200-sxm", "gb200"):
        made[name] = preset.Preset("measured", "datasheet")
        for key, (what, confidence) in SOURCES.items():
            made[name].source(key, what, confidence)
        memory[name] = fit_memory(Machine(name), made[name], fits)
        fit_gemms(Machine(name), memory[name], made[name], fits)
    # H100 first: its rows tell the ratio of both passes. B200's tell it for what follows.
    for name in ("h100-sxm", "a100-sxm-80gb", "b200-sxm", "gb200"):
        fit_attention(Machine(name), memory[name], made[name], fits)
        made[name].add(("power",), dict(zip(("steady", "attention"), STEADY[name])), "steady")
        if not names or name in names:
            (folder / f"{name}.yaml").write_text(made[name].text(), encoding="utf-8")
    if not names or "datasheet" in names:
        datasheet.write(folder / "datasheet.yaml", memory)
