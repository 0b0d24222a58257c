"""Fits every measured accelerator and writes its preset."""
import numpy as np

from . import attention, gemm, preset, rows
from .machine import Machine

MEMORY = {"a100-sxm-80gb": 0.82, "h100-sxm": 0.89, "b200-sxm": 0.85, "gb200": 0.85}


def charts_of(name, kernel):
    """Both passes of one kernel's charts in one table, or None."""
    found = [dict(r, both=np.full(len(r["s"]), key[2] == "fwd_bwd"))
             for key, r in rows.charts().items() if key[:2] == (name, kernel)]
    return {c: np.concatenate([r[c] for r in found]) for c in found[0]} if found else None


def fit_gemms(machine, measured, memory, made):
    for (name, fmt), found in measured.items():
        if name != machine.name:
            continue
        law, quantise, error, _ = gemm.fitted(machine, fmt, found, memory)
        made.add(("gemm", fmt), law, "aic-gemm", error)
        if quantise:
            made.add(("quantise", fmt), quantise, "aic-gemm")
        print(name, fmt, error, flush=True)


# Products in training / alone. SimuMax rows of B200, one after another without a pause: 1.36.
STEADY = {"b200-sxm": 1.17, "gb200": 1.17}
RATIO = 0.85  # share of a backward kernel / that of the forward one


def fit_attention(machine, measured, memory, made):
    if machine.name in measured:
        law, _, error, _ = attention.fitted_with_writing(machine, measured[machine.name], memory)
        made.add(("attention", "cudnn", "forward"), law, "aic-attention", error)
        made.add(("attention", "cudnn", "backward"), attention.backward_of(law, RATIO), "ratio")
        print(machine.name, "cudnn", error, flush=True)
    for kernel in ("flash2", "flash3"):
        found = charts_of(machine.name, kernel)
        if found is None:
            continue
        told = len(set(found["both"])) == 2
        base = dict(attention.KERNEL, dim_step=32 if kernel == "flash2" else 8)
        forward, backward, error, _ = attention.fitted_charts(machine, found, base,
                                                              None if told else RATIO)
        made.add(("attention", kernel, "forward"), forward, "charts", error)
        made.add(("attention", kernel, "backward"), backward,
                 "charts" if found["both"].any() else "ratio")
        print(machine.name, kernel, error, flush=True)


def write(folder, names):
    gemms, attentions = rows.gemm(), rows.attention()
    for name in sorted(set(key[0] for key in gemms)):
        if names and name not in names:
            continue
        machine, memory = Machine(name), {"share": MEMORY[name], "fixed": 3e-6}
        made = preset.Preset("measured", "datasheet")
        made.source("aic-gemm", "aic_gemm: NVIDIA aiconfigurator, TensorRT-LLM", "fitted")
        made.source("aic-attention", "aic_attention_fwd: NVIDIA aiconfigurator, TensorRT-LLM, the "
                    "writing of Q, K and V split out", "fitted")
        made.source("charts", "bar charts of FlashAttention 2 and 3", "fitted")
        made.source("ratio", "forward, and the ratio of backward to forward of SimuMax rows",
                    "derived")
        made.source("steady", "the multiple of these products that published runs need "
                    "(reference/training-fidelity.md)", "derived")
        made.source("stream", "gemm_peak: BabelStream", "derived")
        fit_gemms(machine, gemms, memory, made)
        fit_attention(machine, attentions, memory, made)
        made.add(("memory",), memory, "stream")
        if name in STEADY:
            made.add(("power",), {"steady": STEADY[name]}, "steady")
        (folder / f"{name}.yaml").write_text(made.text())
