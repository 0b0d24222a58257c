"""The section "Training steps" of docs/accuracy.md."""
import math
import re
import statistics

from . import cases, cross, judge, memory, preset, stacks
from .fit import PRIOR

# training-fidelity.md 3: the prototype's median / 90th percentile, half/half and left out.
PROTOTYPE = {"grade A, MFU > 20 %": ((3.3, 12.0), (7.0, 22.0)), "dense": ((3.7, 14.4), (7.4, 24.8)),
             "mixture of experts": ((8.2, 24.3), (5.1, 24.1)),
             "pipeline stages > 1": ((4.2, 15.3), (6.6, 17.8)),
             "≥ 512 GPUs": ((3.8, 15.9), (7.4, 23.5)), "FP8": ((4.2, 14.7), (6.0, 17.5)),
             "FP4": ((6.5, 16.3), (7.3, 15.7)),
             "grade B without vtrain_single": ((5.4, 25.8), (8.3, 26.1)),
             "vtrain_single (launch-bound)": ((7.3, 18.9), (73.2, 105.2))}
PROTOTYPE_CONTRASTS = {"schedule": "2.5 / 7.1", "micro-batch": "6.3 / 22", "layout of TP, PP, DP":
                       "10 / 34", "recomputation": "8.7 / 13", "precision": "5.7 / 16",
                       "GPU count, weak": "1.2 / 4.8", "ZeRO, overlap": "9.6 / 17",
                       "vocabulary": "1.6 / 18", "accelerator": "3.2 / 15"}
EXCEPTED = ("nanotron", "paxml_jax_toolbox", "mcore_h100_weak")


def percent(value, digits=1):
    return "–" if value is None or math.isnan(value) else f"{value * 100:.{digits}f}"


def two(values):
    median, _, p90 = judge.spread(values)
    return f"{percent(median)} / {percent(p90)}"


def goal_text(goal):
    return f"{goal[0]:g} / {goal[1]:g}" if goal else ""


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in r) + " |" for r in rows]) + "\n"


class Result:
    """Configurations with their predictions: fitted (live), cross-validated, null."""

    def __init__(self, timed, other, refused, seconds, crossed):
        self.timed, self.other, self.refused = timed, other, refused
        self.seconds, self.crossed = seconds, crossed
        self.null = judge.null_model(timed)

    def halves(self, configs):
        return [judge.error(c, self.crossed[c.line][f"half{seed}"]) for c in configs
                for seed in range(cross.SEEDS)]

    def left(self, configs):
        return [judge.error(c, self.crossed[c.line]["left_out"]) for c in configs]

    def fitted(self, configs):
        return [judge.error(c, self.seconds[c.line]) for c in configs]

    def datasheet(self, configs):
        """With the left-out constants, kernels from the datasheet: as on an unknown accelerator."""
        found = [(c, self.crossed[c.line]["datasheet"]) for c in configs]
        return [judge.error(c, s) for c, s in found if not math.isnan(s)]

    def unfitted(self, configs):
        return [judge.error(c, self.crossed[c.line]["unfitted"]) for c in configs]

    def nulls(self, configs):
        return [judge.error(c, self.null[c.line]) for c in configs]


def strata_table(result):
    rows = []
    for name, member, half_goal, left_goal in judge.STRATA:
        configs = [c for c in result.timed if member(c)]
        if not configs:
            continue
        before = PROTOTYPE.get(name)
        rows.append((name, len(configs), two(result.halves(configs)), goal_text(half_goal),
                     before and goal_text(before[0]) or "", two(result.left(configs)),
                     goal_text(left_goal), before and goal_text(before[1]) or "",
                     two(result.unfitted(configs)), two(result.nulls(configs))))
    sheet = result.datasheet(result.timed)
    rows.append(("accelerator from its datasheet only", len(sheet), "–", "", "", two(sheet),
                 "15 / 25", "", "", ""))
    return table(("stratum", "runs", "half/half", "goal", "prototype", "left out", "goal",
                  "prototype", "unfitted", "null model"), rows)


def source_table(result):
    rows, medians = [], []
    for source in sorted({c.source for c in result.timed}):
        configs = [c for c in result.timed if c.source == source]
        signed = [result.crossed[c.line]["left_out"] / c.step_s - 1 for c in configs]
        halves = result.halves(configs)
        medians.append((source, statistics.median(halves)))
        rows.append((f"`{source}`", "".join(sorted({c.grade for c in configs})), len(configs),
                     two(result.fitted(configs)), two(halves), two(result.left(configs)),
                     f"{statistics.median(signed) * 100:+.0f}",
                     ", ".join(sorted({result.crossed[c.line]["lender"] for c in configs})),
                     two(result.nulls(configs))))
    mean = sum(m for _, m in medians) / len(medians)
    over = [f"`{s}` {percent(m)} %" for s, m in medians if m > 0.1 and s not in EXCEPTED]
    return (table(("source", "grade", "runs", "fitted", "half/half", "left out", "bias, %",
                   "constants from", "null model"), rows) +
            f"\nMean of the sources' medians, half/half: **{percent(mean)} %** (goal 4.5). Over "
            f"10 % ({', '.join(EXCEPTED)} excepted): {', '.join(over) or 'none'}.\n")


def contrast_table(result):
    predicted = [{c.line: result.crossed[c.line][f"half{seed}"] for c in result.timed}
                 for seed in range(cross.SEEDS)]
    left = [{c.line: result.crossed[c.line]["left_out"] for c in result.timed}]
    rows = []
    for name, columns, goal in judge.CONTRASTS:
        pairs = judge.contrast(name, columns, result.timed)
        if not pairs:
            continue
        effects, errors, nulls, right, apart = judge.judge_contrast(pairs, predicted, None)
        rows.append((name, len(pairs), two(effects), two(errors), goal_text(goal),
                     PROTOTYPE_CONTRASTS.get(name, ""),
                     two(judge.judge_contrast(pairs, left, None)[1]), two(nulls),
                     f"{right / apart * 100:.0f} of {apart // cross.SEEDS}" if apart else "–"))
    return table(("what differs", "pairs", "measured effect", "half/half", "goal", "prototype",
                  "left out", "null model", "right order, % of pairs 5 % apart"), rows)


def rank_table(result):
    rows = []
    for name, member, group, goal in judge.SWEEPS:
        configs = [c for c in result.timed if member(c)]
        cells = []
        if not judge.sweep(configs, result.null, group):
            continue
        for which in ("half0", "left_out"):
            found = judge.sweep(configs, {c.line: result.crossed[c.line][which] for c in configs},
                                group)
            cells.append((f"{statistics.median(found):.2f}, {min(found):.2f}", len(found)))
        rows.append((name, cells[0][1], cells[0][0], goal or "", cells[1][0]))
    return table(("sweep", "groups", "half/half: median, least", "goal", "left out"), rows)


def constant_table(folder):
    rows = []
    for stack, keys in stacks.FITTED.items():
        found = preset.constants(folder, stack)
        cells = [f"`{k}` {found[k]:g} ({PRIOR[k][0]:g})" for k in keys if k in found]
        rows.append((f"`{stack}`", ", ".join(cells)))
    return table(("stack", "fitted constant (its default before the fit)"), rows)


def filled_table(result):
    counts = {}
    for c in result.timed:
        for text in set(c.filled):
            counts.setdefault(text, {}).setdefault(c.file, 0)
            counts[text][c.file] += 1
    rows = [(text, sum(files.values()),
             ", ".join(f"`{f}` {n}" for f, n in sorted(files.items())))
            for text, files in sorted(counts.items())]
    return table(("taken to be", "runs", "of them"), rows)


def account_table(result, left):
    """What became of every row."""
    counts = {}

    def count(kind, grade):
        counts.setdefault(kind, {"A": 0, "B": 0, "C": 0})[grade] += 1
    for c in result.timed:
        for r in c.rows:
            if r["metric"] in memory.METRICS:
                count("memory, compared below", r["grade"])
            elif r["metric"] == c.printed:
                count("step time or tokens/s, run and compared", r["grade"])
            else:
                count("another figure (MFU, FLOP rate ...) of a run that is compared", r["grade"])
    for c in result.other:
        for r in c.rows:
            count(memory.kind_of(r), r["grade"])
    for r in left:
        count("grade C: not run", "C")
    rows = [(kind, *(n[g] or "" for g in "ABC")) for kind, n in sorted(counts.items())]
    return table(("rows", "A", "B", "C"), rows)


def refused_text(result):
    if not result.refused:
        return "Weir refused none of them.\n"
    lines = [f"Weir refuses {len(result.refused)} of them, which are left out of all tables:\n"]
    lines += [f"- row {c.line} (`{c.file}`, {c['model']}): {re.sub(r'.*?: ', '', why, count=1)}"
              for c, why in result.refused]
    return "\n".join(lines) + "\n"


HEAD = """\
Every row of grade A or B of `data/training/calibration.csv`, after the regrades of
`row_notes.csv`, beside the step that `weir train` computes for its plan. Errors are
|Weir / published - 1| of the step time in percent, **median / 90th percentile**. Step times come
from step time, tokens/s or samples/s; printed FLOP rates serve only where a file prints nothing
else and states its formula (`megatron_sc21`, `vocab_parallel`, `nanotron`, `fsdp_misc`, two rows of
`korthikanti`, one of `mbridge_25_09`).

- *half/half*: constants fitted to a random half of the plans (the same plan in two releases is on
  one side), judged on the other; 3 seeds x 2 sides, every prediction counted.
- *left out*: the whole source unseen; constants from the other sources of its stack, else from
  stacks of its family (which: the table of sources), else defaults.
- *accelerator from its datasheet only*: left out, and kernels timed as if nobody had measured the
  accelerator (`cluster.kernels: datasheet`).
- *unfitted*: all constants at their physical defaults.
- *null model*: one FLOP rate for each file, GPU and format, the median of the other rows'.
- *prototype*: `reference/training-fidelity.md`.

Only the constants of stacks are cross-validated. What was looked up beside these same rows is not:
the form of the model; the steady clocks of H100, B200, GB200 and their relatives
(`power: steady` of `presets/kernel-times`); the time of a launch where Python calls every kernel
(`reference/training-model.md` had seen `vtrain_single`); facts such as the unfused attention of
`zero_bubble`. So neither left out nor unfitted foretells runs that nobody has looked at: those will
lie above.
"""


def section(result, left, folder, shown):
    parts = [HEAD, "\n### Strata\n\n", strata_table(result), "\n### Contrasts\n\n",
             "Pairs of runs that differ in one respect; error of the logarithm of the ratio of "
             "step times, x 100.\nNo constant of a stack can fake these. Null model: the ratio of "
             "FLOPs for each GPU.\n\n", contrast_table(result),
             "\n### Ranks inside sweeps\n\nSpearman's coefficient of GPU time for each token.\n\n",
             rank_table(result), "\n### Sources\n\n", source_table(result),
             "\n### Memory\n\n", shown, "\n### Constants\n\n", constant_table(folder),
             "\n### What the rows do not say\n\nFilled in for the runs below; facts of the "
             "software (overlap where the column is blank, attention\nkernels, fusions, bytes of "
             "gradients) come from `presets/stacks`.\n\n", filled_table(result),
             "\n### Every row\n\n", account_table(result, left), "\n", refused_text(result)]
    return "".join(parts)


def run(engine, data, folder):
    """The section, and the result behind it."""
    timed, other, left = cases.load(data)
    crossed = cross.read(folder.parent.parent / "tools" / "training_fit" / "left_out.csv")
    answers = engine.run([preset.as_shipped(folder, c) for c in timed])
    refused = [(c, a.get("error", "")) for c, a in zip(timed, answers) if "step_s" not in a]
    seconds = {c.line: a["step_s"] for c, a in zip(timed, answers) if "step_s" in a}
    for c, a in zip(timed, answers):
        c.answer = a
    kept = [c for c in timed if c.line in seconds and c.line in crossed and
            not math.isnan(crossed[c.line]["left_out"])]
    result = Result(kept, other, refused, seconds, crossed)
    shown = memory.section(engine, folder, timed, other)
    return section(result, left, folder, shown), result
