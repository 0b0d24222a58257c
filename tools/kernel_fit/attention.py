"""Laws of fused attention from aic_attention_fwd and the charts of FlashAttention."""
import numpy as np

from . import laws
from .fit import Knob, both_halves, errors


KERNEL = {"tile": 128, "blocks": 1, "dim_step": 8, "memory": 0.8, "traffic": 1.0, "fp8": 0.75}


def knobs_of(dims, start):
    return [Knob(start, 0.05, 1) for _ in dims] + [
        Knob(150, 1, 3000, True), Knob(0.5, 0, 1), Knob(5e-6, 1e-6, 60e-6, True)]


def law_of(dims, values, kernel, diagonal):
    """kernel: the keys that are not fitted."""
    n = len(dims)
    law = {"dims": [(d, s) for d, s in zip(dims, values)], "depth": values[n],
           "diagonal": diagonal, "tail": values[n + 1], "fixed": values[n + 2]}
    law.update(kernel)
    return law


def mean_dim(rows):
    return (rows["qk_dim"] + rows["value_dim"]) / 2


def fitted_fused(machine, written, plain, memory, kernel, handed=None):
    """A forward kernel from two tables at once: causal rows that include a kernel that writes Q, K
    and V (`written`), and rows of the fused kernel alone (`plain`, or None), which count four times:
    they are few. handed: (depth, diagonal) of a relative, where plain rows do not tell them.
    Returns (law, errors of written, errors of plain or None)."""
    written = dict(written, alone=np.zeros(len(written["s"]), bool))
    rows = written if plain is None else {
        key: np.concatenate([written[key], column]) for key, column in
        dict(plain, alone=np.ones(len(plain["s"]), bool)).items() if key in written}
    dims = sorted(set(float(d) for d in mean_dim(rows)))
    knobs = ([Knob(0.55, 0.05, 1) for _ in dims] +
             [Knob(0.9, 0, 1), Knob(4e-6, 1e-6, 20e-6, True), Knob(2, 0.3, 12, True),
              Knob(15e-6, 1e-6, 80e-6, True)] +
             ([] if handed else [Knob(150, 1, 3000, True), Knob(130, 1, 1000, True)]))
    n = len(dims)

    def law(values):
        depth, diagonal = handed or values[n + 4:]
        return dict(kernel, dims=[(int(d), s) for d, s in zip(dims, values)], tail=values[n],
                    fixed=values[n + 1], depth=depth, diagonal=diagonal)

    def seconds(values, r):
        elements = (r["sequences"] * r["queries"] * r["qk_dim"] *
                    (r["heads"] + 2 * r["kv_heads"]))
        writing = (values[n + 3] +
                   values[n + 2] * 2 * elements / (machine.memory * memory["share"]))
        return laws.attention_s(law(values), machine, r) + np.where(r["alone"], 0, writing)

    values, _, guessed = both_halves(knobs, seconds, rows,
                                     weights=np.where(rows["alone"], 4.0, 1.0))
    alone = rows["alone"]
    return (law(values), errors(guessed[~alone], rows["s"][~alone]),
            errors(guessed[alone], rows["s"][alone]) if alone.any() else None)


def backward_of(forward, ratio, fixed_ratio=2.5):
    """The backward kernel reaches `ratio` of the forward one's share; it has more parts."""
    return dict(forward, dims=[(d, min(1, s * ratio)) for d, s in forward["dims"]],
                fixed=forward["fixed"] * fixed_ratio, traffic=2.5)


def fitted_backward(machine, rows, forward):
    """Backward rows: (law, ratio, errors, guessed). The mean of unequal head dimensions (192 and
    128) has a share of its own; depth and the fixed part are the backward kernel's."""
    knobs = [Knob(0.85, 0.3, 1.3), Knob(0.4, 0.05, 1), Knob(forward["depth"], 1, 3000, True),
             Knob(20e-6, 1e-6, 200e-6, True)]
    unequal = float(max((rows["qk_dim"] + rows["value_dim"]) / 2))

    def law(values):
        made = backward_of(forward, values[0])
        dims = sorted(made["dims"] + [(int(unequal), values[1])])
        return dict(made, dims=dims, depth=values[2], fixed=values[3])

    values, error, guessed = both_halves(
        knobs, lambda v, r: laws.attention_s(law(v), machine, r, True), rows)
    return law(values), values[0], error, guessed


def fitted_charts(machine, rows, kernel, ratio):
    """Rows of forward alone and of both passes (`both`). ratio: None where rows of both kinds tell
    it. Returns (forward, backward, errors, guessed)."""
    dims = sorted(set(int(d) for d in rows["qk_dim"]))
    knobs = (knobs_of(dims, 0.6) + [Knob(100, 1, 1000, True)] +
             ([Knob(0.87, 0.5, 1.2)] if ratio is None else []))

    def both(values):
        n = len(dims) + 3
        forward = law_of(dims, values[:n], kernel, values[n])
        return forward, backward_of(forward, values[-1] if ratio is None else ratio)

    def seconds(values, r):
        forward, backward = both(values)
        s = laws.attention_s(forward, machine, r)
        return s + np.where(r["both"], laws.attention_s(backward, machine, r, True), 0)

    values, error, guessed = both_halves(knobs, seconds, rows)
    return both(values) + (values[-1] if ratio is None else ratio, error, guessed)
