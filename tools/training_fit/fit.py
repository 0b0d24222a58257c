"""Least squares on the logarithm of step times, over at most six constants of a stack.

A step is nearly linear in each constant, so Weir is asked once at the constants and once with each
of them a little larger; the sum of squares is then minimised on those straight lines, and the whole
is repeated from where it ended. Residuals count like Huber's, and constants are drawn to their
physical defaults: a constant that the rows do not determine stays there.
"""
import math

STEP = 0.1  # by how much a constant is enlarged for its slope
SIGMA = 0.05  # of a measured step time against a right model, in log
HUBER = 2.0  # residuals beyond so many sigma count linearly
# default, and how far (in log) a constant may wander from it at the cost of one sigma
PRIOR = {"gemm_factor": (1.0, 0.08), "attention_factor": (1.0, 0.15), "memory_factor": (1.0, 0.35),
         "tensor_factor": (1.0, 0.35), "data_factor": (1.0, 0.35), "expert_factor": (1.0, 0.35),
         "overlap_slowdown": (0.1, 0.7), "jitter": (0.004, 0.7), "launch": (6.0, 0.5),
         "micro_batch_time": (1.0, 1.0), "step_time": (10.0, 1.0), "expert_sync": (100.0, 0.4)}
# us: where Python calls every kernel one by one, an operation of the list is three to five kernels
# of 10 to 12 us (training-model.md 4.4: 57 us forward and 68 backward for each group of fused ones)
EAGER = {"megatron-deepspeed-2022": 70.0, "megatron-deepspeed-2023": 70.0,
         "deepspeed-zero3-2021": 70.0, "nanotron-0.5": 30.0, "fsdp-torch-2.1": 20.0,
         "deepspeed-zero3-hf": 20.0, "deepspeed-offload": 20.0, "megatron-bridge-26": 20.0}
# ms: AdamW on the host moves 28 bytes of a parameter through its memory, for all devices of a node
OFFLOADED = {"deepspeed-offload": 1500.0}


def solve(matrix, right):
    """Gaussian elimination with pivoting; matrix is positive definite here."""
    n = len(right)
    rows = [list(matrix[i]) + [right[i]] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, n):
            share = rows[k][i] / rows[i][i]
            for j in range(i, n + 1):
                rows[k][j] -= share * rows[i][j]
    found = [0.0] * n
    for i in range(n - 1, -1, -1):
        found[i] = (rows[i][n] - sum(rows[i][j] * found[j] for j in range(i + 1, n))) / rows[i][i]
    return found


class Lines:
    """Step times of configurations as straight lines in the constants around `at`."""

    def __init__(self, engine, configs, keys, at):
        self.configs, self.keys, self.at = configs, keys, dict(at)
        jobs = [(c, self.at) for c in configs]
        for key in keys:
            jobs += [(c, dict(self.at, **{key: self.at[key] * (1 + STEP)})) for c in configs]
        seconds, n = engine.steps(jobs), len(configs)
        self.base = dict(zip((c.line for c in configs), seconds[:n]))
        self.slope = {}
        for i, c in enumerate(configs):
            self.slope[c.line] = [(seconds[(k + 1) * n + i] - seconds[i]) / (STEP * self.at[key])
                                  for k, key in enumerate(keys)]

    def seconds(self, config, constants):
        """Constants that are not given stay where the lines were taken."""
        base = self.base[config.line]
        moved = base + sum(s * (constants.get(k, self.at[k]) - self.at[k])
                           for s, k in zip(self.slope[config.line], self.keys))
        return max(moved, base * 0.2)


def weights(configs):
    """Sources of one stack count alike up to the root of their rows."""
    counts = {}
    for c in configs:
        counts[c.source] = counts.get(c.source, 0) + 1
    return {c.line: 1 / math.sqrt(counts[c.source]) for c in configs}


def minimise(rows, lines, keys, start, centre, rounds=12):
    """Constants that fit rows [(config, lines)] on their straight lines."""
    weight = weights([c for c, _ in rows])
    scale = len(rows) / max(sum(weight.values()), 1e-9) if rows else 1
    found = dict(start)
    for _ in range(rounds):
        n = len(keys)
        normal = [[0.0] * n for _ in range(n)]
        right = [0.0] * n
        for i, key in enumerate(keys):
            spread = PRIOR[key][1]
            normal[i][i] += 1 / spread ** 2
            right[i] += math.log(centre[key] / found[key]) / spread ** 2
        for c, line in rows:
            seconds = line.seconds(c, found)
            residual = math.log(c.step_s / seconds) / SIGMA
            pull = min(1.0, HUBER / abs(residual)) if residual else 1.0
            pull *= weight[c.line] * scale * (0.2 if c.suspect() else 1.0)
            position = {k: s for k, s in zip(line.keys, line.slope[c.line])}
            gradient = [position.get(k, 0.0) * found[k] / seconds / SIGMA for k in keys]
            for i in range(n):
                if gradient[i]:
                    right[i] += pull * gradient[i] * residual
                    for j in range(n):
                        normal[i][j] += pull * gradient[i] * gradient[j]
        move = solve(normal, right)
        for key, step in zip(keys, move):
            found[key] *= math.exp(max(-0.4, min(0.4, step)))
        if max(abs(m) for m in move) < 1e-4:
            break
    return found


def objective(configs, lines, centre):
    """What minimise makes small, at the point where the lines were taken."""
    weight = weights(configs)
    scale = len(configs) / sum(weight.values())
    loss = sum((math.log(lines.at[k] / centre[k]) / PRIOR[k][1]) ** 2 for k in lines.keys)
    for c in configs:
        x = abs(math.log(c.step_s / lines.base[c.line]) / SIGMA)
        rho = x * x if x < HUBER else HUBER * (2 * x - HUBER)
        loss += weight[c.line] * scale * (0.2 if c.suspect() else 1.0) * rho
    return loss


def defaults(keys, stack=""):
    """Physical defaults; eager frameworks launch more slowly."""
    found = {key: PRIOR[key][0] for key in keys}
    if "launch" in found:
        found["launch"] = EAGER.get(stack, found["launch"])
    if "step_time" in found:
        found["step_time"] = OFFLOADED.get(stack, found["step_time"])
    return found


def fit_stack(engine, configs, keys, stack, rounds=3):
    """(constants, lines around them) of one stack's configurations."""
    centre = defaults(keys, stack)
    lines = Lines(engine, configs, keys, centre)
    best = objective(configs, lines, centre)
    for _ in range(rounds):
        found = lines.at
        new = minimise([(c, lines) for c in configs], lines, keys, found, centre)
        moved = max(abs(math.log(new[k] / found[k])) for k in keys)
        for share in (1.0, 0.4, 0.1):  # where a step bends, the lines lead too far
            there = {k: found[k] * (new[k] / found[k]) ** share for k in keys}
            tried = Lines(engine, configs, keys, there)
            loss = objective(configs, tried, centre)
            if loss < best:
                lines, best = tried, loss
                break
        if moved < 0.02 or lines.at == found:
            break
    return lines.at, lines
