"""presets/training-bands.yaml: the error that a headline of `weir train` names.

A stratum is the rows that share some of these respects; a headline carries that of the most
respects among those with enough rows. Errors are of a whole source left out (left_out.csv).
"""
import itertools

from . import judge
from .scenario import accelerator

FEWEST = 15  # rows whose 90th percentile means something
PRECISIONS = {"fp8": "FP8", "fp4": "FP4"}
RESPECTS = {  # key -> row -> what a report says of it; study/train_band.c says the same of a plan
    "model": lambda c: "moe" if c.is_moe else "dense",
    "precision": lambda c: PRECISIONS.get(judge.precision_of(c)[:3], "16-bit"),
    "stages": lambda c: "pipeline" if c.number("pp", 1) > 1 else "one stage",
    "devices": lambda c: ">= 512 GPUs" if c.gpus >= 512 else "< 512 GPUs",
}
LOW_MFU = 0.2


def strata(runs, error):
    """respects -> (rows, 90th percentile) of every choice of respects that has enough rows."""
    found = {}
    for count in range(len(RESPECTS) + 1):
        for keys in itertools.combinations(RESPECTS, count):
            groups = {}
            for c in runs:
                groups.setdefault(tuple((k, RESPECTS[k](c)) for k in keys), []).append(error(c))
            found.update({respects: (len(errors), judge.quantile(errors, 0.9))
                          for respects, errors in groups.items() if len(errors) >= FEWEST})
    return found


def nearest(found, plan):
    """The stratum of the most respects that the plan has, first of all the kind of model; of several
    the one of most error."""
    fits = [respects for respects in found if set(respects) <= set(plan)]
    return max(fits, key=lambda r: ("model" in dict(r), len(r), found[r][1]))


def chosen(runs, error):
    """The strata that some plan has."""
    found = strata(runs, error)
    words = [sorted({(k, of(c)) for c in runs}) for k, of in RESPECTS.items()]
    kept = {nearest(found, plan) for plan in itertools.product(*words)} | {()}
    return [(dict(r), *found[r]) for r in sorted(kept, key=lambda r: (-len(r), r))]


def whole(runs, error):
    return [({}, len(runs), judge.quantile([error(c) for c in runs], 0.9))]


def make(timed, table):
    """(regime -> strata, accelerators of the rows, most devices of a row)."""
    runs = [c for c in timed if not judge.is_vtrain_single(c)]
    low = [c for c in runs if c.mfu <= LOW_MFU]
    sheets = [c for c in runs if table[c.line]["datasheet"] == table[c.line]["datasheet"]]

    def error(which):
        return lambda c: judge.error(c, table[c.line][which])

    known = chosen(runs, error("left_out"))
    least = {tuple(respects.items()): p90 for respects, _, p90 in known}
    unknown = [(respects, rows, max(p90, least.get(tuple(respects.items()), 0)))
               for respects, rows, p90 in chosen(sheets, error("datasheet"))]
    return ({"all": known, "low-mfu": whole(low, error("left_out")), "datasheet": unknown},
            sorted({accelerator(c) for c in runs}), max(c.gpus for c in runs))


HEAD = """\
# How far published steps are from those that Weir calculates: the error that 90 % of the rows of a
# stratum stay within, a whole source left out (docs/accuracy.md). A headline carries the stratum of
# the most respects that its plan shares (a model's kind before all), of its regime: `low-mfu` of a step at no more than that
# share of the 16-bit peak; `datasheet` of kernels or an accelerator that no row was run on (never
# narrower than with measured kernels); else `all`. Strata of fewer than {fewest} rows are left out.
# `devices`: the most that a row has; beyond twice of them a step is outside of what was validated.
# Written by tools/fit-training and tools/validate-training --bands.
"""


def write(path, made):
    regimes, accelerators, devices = made
    lines = [HEAD.format(fewest=FEWEST) +
             f"accelerators: [{', '.join(accelerators)}]", f"devices: {devices}",
             f"low_mfu: {LOW_MFU:g}", "strata:"]
    for regime, rows in regimes.items():
        lines += ["  - {" + "".join(f'{k}: "{v}", ' for k, v in respects.items()) +
                  f"regime: {regime}, error_p90: {p90:.3f}, rows: {count}}}"
                  for respects, count, p90 in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
