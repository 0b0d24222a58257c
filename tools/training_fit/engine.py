"""`weir train --lines -`: many scenarios in, their step times out; and constants put into them."""
import json
import math
import subprocess

# What may be fitted: key of the stack -> the unit in which it is written.
CONSTANTS = {
    "gemm_factor": "", "attention_factor": "", "memory_factor": "", "tensor_factor": "",
    "data_factor": "", "expert_factor": "", "overlap_slowdown": "", "jitter": "",
    "launch": "us", "micro_batch_time": "ms", "step_time": "ms", "expert_sync": "us"}


def text_of(key, value):
    unit = CONSTANTS[key]
    return f"{value:.6g} {unit}" if unit else float(f"{value:.6g}")


class Engine:
    """Runs `weir`; counts what it was asked."""

    def __init__(self, weir):
        self.weir = str(weir)
        self.asked = 0

    def run(self, scenarios):
        """An answer for each scenario, as weir printed it; with `error` where it refused."""
        if not scenarios:
            return []
        self.asked += len(scenarios)
        text = "".join(json.dumps(s, separators=(",", ":")) + "\n" for s in scenarios)
        done = subprocess.run([self.weir, "train", "--lines", "-"], input=text, text=True,
                              capture_output=True, check=False)
        answers = {}
        for line in done.stdout.splitlines():
            answer = json.loads(line)
            answers[answer["line"]] = answer
        missing = {"error": "no answer: " + done.stderr.strip()[-300:]}
        return [answers.get(n, missing) for n in range(1, len(scenarios) + 1)]

    def steps(self, jobs, datasheet=False):
        """Seconds of each (configuration, constants); NAN where weir refuses. datasheet: as if
        nobody had measured kernels on the accelerator."""
        asked = [with_constants(config, constants) for config, constants in jobs]
        if datasheet:
            asked = [dict(s, cluster=dict(s["cluster"], kernels="datasheet")) for s in asked]
        answers = self.run(asked)
        return [a.get("step_s", math.nan) for a in answers]


def with_constants(config, constants):
    """The configuration's scenario; constants: key -> number, over its stack's preset."""
    stack = dict({"preset": config.stack}, **config.facts)
    for key, value in constants.items():
        stack[key] = text_of(key, value * config.shares.get(key, 1))
    return dict(config.scenario, stack=stack)
