"""Constants judged on what they were not fitted to: half and half, and with a source left out."""
import csv
import hashlib
import math

from . import fit, stacks

SEEDS = 3
FIELDS = ("row", "fitted") + tuple(f"half{s}" for s in range(SEEDS)) + ("left_out", "datasheet",
                                                                        "unfitted", "lender")
FEW = 4  # rows of other sources of a stack that are enough to stand for it
MANY = 100  # rows above which straight lines around the fit to all rows do for a part of them


def side(config, seed):
    """Of the plan, so that the same plan in two releases is on one side."""
    return int(hashlib.sha256(f"{seed}:{config.hash}".encode()).hexdigest(), 16) & 1


def by_stack(configs):
    groups = {}
    for c in configs:
        groups.setdefault(c.stack, []).append(c)
    return groups


def fit_all(engine, configs, say):
    """stack -> (constants, straight lines)."""
    made = {}
    for stack, members in sorted(by_stack(configs).items()):
        made[stack] = fit.fit_stack(engine, members, stacks.FITTED[stack], stack)
        say(stack, members, made[stack][0])
    return made


def usable(rows, lines):
    return [(c, lines) for c in rows if c.line in lines.base and lines.base[c.line] > 0]


def fit_part(engine, part, stack, fitted):
    """Constants of a stack from a part of its rows."""
    keys = stacks.FITTED[stack]
    if len(part) <= MANY:
        return fit.fit_stack(engine, part, keys, stack)[0] if part else fit.defaults(keys, stack)
    found, lines = fitted[stack]
    return fit.minimise([(c, lines) for c in part], lines, keys, found, fit.defaults(keys, stack))


def halves(engine, configs, fitted):
    """[(config, seed, constants)]: each configuration with constants from the other half."""
    jobs = []
    for stack, members in sorted(by_stack(configs).items()):
        for seed in range(SEEDS):
            for half in (0, 1):
                seen = [c for c in members if side(c, seed) != half]
                constants = fit_part(engine, seen, stack, fitted)
                jobs += [(c, seed, constants) for c in members if side(c, seed) == half]
    return jobs


def left_out(engine, configs, fitted):
    """[(config, lender, constants)]: each source with constants of its stack's other sources, else
    of its family's stacks, else the defaults."""
    groups, jobs = by_stack(configs), []
    for stack, members in sorted(groups.items()):
        for source in sorted({c.source for c in members}):
            gone = [c for c in members if c.source == source]
            rest = [c for c in members if c.source != source]
            lender = "the same stack"
            if len(rest) >= FEW:
                constants = fit_part(engine, rest, stack, fitted)
            else:
                lender, constants = borrowed(stack, source, groups, fitted)
            jobs += [(c, lender, constants) for c in gone]
    return jobs


def borrowed(stack, source, groups, fitted):
    """Constants that the stacks of the family have in common."""
    others = [s for s in stacks.pooled(stack) if s in groups]
    keys = tuple(k for k in stacks.FITTED[stack] if any(k in stacks.FITTED[s] for s in others))
    plain = fit.defaults(stacks.FITTED[stack], stack)  # the preset's own have seen the source
    if not others or not keys:
        return "defaults", plain
    rows = []
    for other in others:
        rows += usable([c for c in groups[other] if c.source != source], fitted[other][1])
    lines = fitted[others[0]][1]
    start = fit.defaults(keys, stack)
    common = fit.minimise(rows, lines, keys, start, fit.defaults(keys, stack), 30)
    return ", ".join(others), dict(plain, **common)


def judge(engine, configs, say):
    """Rows of left_out.csv, and the fitted constants."""
    fitted = fit_all(engine, configs, say)
    table = {c.line: {"row": c.line, "fitted": fitted[c.stack][1].base[c.line]} for c in configs}
    half, left = halves(engine, configs, fitted), left_out(engine, configs, fitted)
    plain = [(c, {}) for c in configs]
    unfitted = [(c, fit.defaults(stacks.FITTED[c.stack], c.stack)) for c, _ in plain]
    seconds = engine.steps([(c, k) for c, _, k in half] + [(c, k) for c, _, k in left] + unfitted)
    for (c, seed, _), s in zip(half, seconds):
        table[c.line][f"half{seed}"] = s
    for (c, lender, _), s in zip(left, seconds[len(half):]):
        table[c.line].update(left_out=s, lender=lender)
    for (c, _), s in zip(unfitted, seconds[len(half) + len(left):]):
        table[c.line]["unfitted"] = s
    sheets = engine.steps([(c, k) for c, _, k in left if c.file != "vtrain_single"], True)
    for (c, _, _), s in zip([job for job in left if job[0].file != "vtrain_single"], sheets):
        table[c.line]["datasheet"] = s
    return table, {stack: found for stack, (found, _) in fitted.items()}


def write(path, table):
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        writer.writeheader()
        for line in sorted(table):
            writer.writerow({k: f"{v:.5g}" if isinstance(v, float) else v
                             for k, v in table[line].items()})


def read(path):
    with open(path, encoding="utf-8", newline="") as source:
        return {int(r["row"]): {k: v if k == "lender" else (float(v) if v else math.nan)
                                for k, v in r.items()} for r in csv.DictReader(source)}
