"""Least squares on the logarithm of times, on both halves, each judged on the other."""
import numpy as np
from scipy.optimize import least_squares


class Knob:
    """A number of a law that is fitted: between low and high, on a scale of shares or of powers."""

    def __init__(self, start, low, high, logarithmic=False):
        self.low, self.high, self.logarithmic = low, high, logarithmic
        self.start = self.inverse(start)

    def inverse(self, value):
        lo, hi, v = (np.log(x) if self.logarithmic else x for x in (self.low, self.high, value))
        share = min(max((v - lo) / (hi - lo), 1e-3), 1 - 1e-3)
        return np.log(share / (1 - share))

    def value(self, x):
        lo, hi = (np.log(x) if self.logarithmic else x for x in (self.low, self.high))
        v = lo + (hi - lo) / (1 + np.exp(-x))
        return float(np.exp(v) if self.logarithmic else v)


def fit(knobs, seconds, measured, weights=1.0, evaluations=80):
    """seconds: values of the knobs -> times. Returns the values."""
    start = np.array([k.start for k in knobs])

    def values(x):
        return [k.value(v) for k, v in zip(knobs, x)]

    def misses(x):
        wrong = weights * np.log(seconds(values(x)) / measured)
        return np.concatenate([wrong, 0.01 * (x - start)])  # knobs that nothing moves stay

    found = least_squares(misses, start, loss="soft_l1", f_scale=0.05, max_nfev=evaluations,
                          diff_step=1e-3)
    return values(found.x)


def errors(guessed, measured):
    wrong = np.abs(guessed / measured - 1)
    return {"rows": len(measured), "median": float(np.median(wrong)),
            "p90": float(np.percentile(wrong, 90))}


def both_halves(knobs, seconds, rows, evaluations=80, weights=1.0):
    """seconds(values, rows) -> times. Errors of each half by the knobs of the other, and the knobs
    of all rows."""
    guessed = np.zeros(len(rows["s"]))
    weights = np.broadcast_to(weights, guessed.shape)
    for side in (0, 1):
        seen = select(rows, rows["half"] == side)
        values = fit(knobs, lambda v: seconds(v, seen), seen["s"],
                     weights[rows["half"] == side], evaluations)
        unseen = rows["half"] != side
        guessed[unseen] = seconds(values, select(rows, unseen))
    values = fit(knobs, lambda v: seconds(v, rows), rows["s"], weights, evaluations)
    return values, errors(guessed, rows["s"]), guessed


def select(rows, which):
    return {name: column[which] for name, column in rows.items()}
