"""Which software stack ran a configuration, and what its row says over the preset.

A stack's constants are fitted to its rows; FAMILIES says which stacks are near enough to lend
theirs where its own rows are left out: the same attention kernels, tier of network and host.
"""
import re

# X: stacks by file; "/moe", "/jax" and ZeRO-3 rows as in rows.source_of
BY_SOURCE = {
    "bigscience_tr11": "megatron-deepspeed-2022", "vtrain_multi": "megatron-deepspeed-2023",
    "vtrain_single": "megatron-deepspeed-2023", "korthikanti": "megatron-2022-selective",
    "calculon_seqsel_memory": "megatron-2022-selective",
    "llm_foundry": "fsdp-torch-2.1", "zero_bubble": "megatron-zero-bubble-2023",
    "vocab_parallel": "megatron-flash-2023", "nanotron": "nanotron-0.5",
    "torchtitan": "torchtitan-2025", "nemo_24_07": "nemo-24.07", "dgxc_benchmarking": "nemo-24.12",
    "dgxc_benchmarking_gb200": "nemo-25.05", "dgxc_benchmarking/jax": "maxtext-2024",
    "paxml_jax_toolbox": "paxml-2023", "mcore_moe_report": "megatron-bridge-26"}
GRAPH_SHARE = 0.4  # of launches, left where parts of layers are captured (training-fidelity 0)
ROWWISE = 1.6  # FP8 scaled by rows without a fast kernel (torchtitan's note, training-fidelity 0)
FAMILIES = (  # stacks whose constants are pooled for one that is left out
    ("megatron-2021", "megatron-2022-selective", "megatron-zero-bubble-2023",
     "megatron-flash-2023"),
    ("megatron-deepspeed-2023", "megatron-deepspeed-2022", "deepspeed-zero3-2021"),
    ("fsdp-torch-2.1", "fsdp-compiled", "torchtitan-2025"),
    ("deepspeed-zero3-hf", "deepspeed-offload"),
    ("nemo-24.07", "nemo-24.12", "nemo-mlperf-2023", "nemo-mlperf-2024"),
    ("nemo-25.05", "megatron-bridge-26"),
    ("maxtext-2024", "paxml-2023"))


def stack_of(config):
    source, framework = config.source, config["framework"]
    if source == "megatron_sc21":
        return "deepspeed-zero3-2021" if config["zero_stage"] == "3" else "megatron-2021"
    if source == "fsdp_misc":
        if "HF" in framework:
            return "deepspeed-offload" if "CPU AdamW" in config.note else "deepspeed-zero3-hf"
        return "deepspeed-zero3-2021" if "DeepSpeed" in framework else "fsdp-compiled"
    if source.startswith("mlperf"):
        return "nemo-mlperf-2023" if source < "mlperf_v4" else "nemo-mlperf-2024"
    if source.startswith("mbridge") or source == "dgxc_benchmarking_late":
        return "megatron-bridge-26"
    if source == "dgxc_benchmarking/jax" and "Pax" in framework:
        return "paxml-2023"
    return BY_SOURCE.get(source) or by_name(framework, config["date"])


BY_NAME = (  # what the column framework says -> stack; the first that fits
    (r"(?i)torchtitan", "torchtitan-2025"), (r"(?i)nanotron", "nanotron-0.5"),
    (r"(?i)llm-foundry|composer|mosaic", "fsdp-torch-2.1"),
    (r"(?i)megatron.?bridge", "megatron-bridge-26"),
    (r"(?i)nemo.*24\.0", "nemo-24.07"), (r"(?i)nemo", "nemo-24.12"),
    (r"(?i)maxtext", "maxtext-2024"), (r"(?i)pax", "paxml-2023"), (r"(?i)jax|xla|tpu", "jax"),
    (r"(?i)fsdp|fairscale", "pytorch-fsdp"),
    (r"(?i)megatron-deepspeed", "megatron-deepspeed-2023"),
    (r"(?i)deepspeed|zero|colossal|hugging", "deepspeed"))
UNFUSED = (("2022-05", "megatron-2021"), ("2023-01", "megatron-2022-selective"))  # until


def by_name(framework, date):
    """For a file that no table here knows."""
    for pattern, stack in BY_NAME:
        if re.search(pattern, framework):
            return stack
    for until, stack in UNFUSED:
        if date and date < until:
            return stack
    return "megatron-core"


def overlaps(text):
    """The column overlap, where it is not blank."""
    parts = set(text.split(","))
    made = {"overlaps_gradients": bool(parts & {"grad_reduce", "dp", "fsdp prefetch"}),
            "overlaps_parameters": bool(parts & {"param_gather", "fsdp prefetch"}),
            "overlaps_pipeline": bool(parts & {"p2p", "pp"})}
    return {key: True for key, value in made.items() if value}


def facts(config):
    """What the row says about its software, over the preset."""
    made, note, text = {}, config.note, config["overlap"]
    made.update(overlaps(text))
    if "tp_userbuffers" in text or "async_tp" in text:
        made.update(overlaps_tensor=True, fused_tensor_overlap=True)
    elif config.file in ("torchtitan", "nemo_24_07"):  # the column is filled in where it is on
        made["overlaps_tensor"] = False
    if config.stack == "megatron-bridge-26" and (config.number("vpp", 1) or 1) == 1:
        made["overlaps_pipeline"] = False  # Megatron Core: only beside interleaved stages
    if config.source.startswith("mbridge") and config["gpu"].startswith("GB") and config.is_moe:
        made["expert_deepep"] = "tokendrop" not in note  # recipes for racks: HybridEP, all of them
        if "dispatcher" not in note:
            config.filled.append("dispatcher: HybridEP")
    if is_far(config):
        return made
    if "ep_a2a_1f1b" in text:
        made["overlaps_experts"] = True
    if re.search(r"full_iteration|; CUDA graphs;", note):
        made["graphs"] = True
    scope = re.search(r"CUDA graph transformer_engine \[(.*?)\]", note)
    if scope:
        made.update(graphs_attention="'attn'" in scope[1], graphs_router="router" in scope[1])
    if "CUDA graph full_iteration" in note:
        made["grouped_experts"] = True  # CuTeDSL (Megatron Bridge 0.5.1's release notes)
    if re.search(r"dispatcher (hybridep|deepep)", note) and "tokendrop" not in note:
        made["expert_deepep"] = True
    if "fp8_rowwise" in config["precision"]:
        made["gathers_quantised"] = False  # only tensorwise scales are known before gathering
    if "mixed_precision=PURE" in note:
        made.update(reduced_bytes=2)
    if config.file == "paxml_jax_toolbox" and config["precision"] == "bf16":
        made["attention"] = "unfused"  # without Transformer Engine XLA writes the scores
    if config.file == "nemo_24_07" and "SFT" in config["model"]:
        made["state_bytes"] = 10  # distributed_fused_adam keeps remainders of master weights
    if "; eager;" in note:
        made.update(fused_add=False, fused_activation=False, fused_rope=False, fused_loss=False,
                    fused_quantise=False)
    return made


RELEASES = ("25_09", "25_11", "26_02", "26_04", "26_06", "26_08")
TAGS = {"v0.2.0": 1, "v0.3.0": 2, "v0.4.0": 3, "v0.5.0": 4}  # their place among the releases


def is_far(config):
    """The settings were joined from a tag two and more releases away."""
    tag = re.search(r"@(v[\d.]+) \(config from a neighbouring", config.note)
    release = next((i for i, r in enumerate(RELEASES) if r in config.file), None)
    return bool(tag and release is not None and abs(TAGS[tag.group(1)] - release) > 1)


def shares(config):
    """What multiplies constants of the stack in this run alone."""
    made = {}
    if "CUDA graph transformer_engine mlp" in config.note and not is_far(config):
        made["launch"] = GRAPH_SHARE
    if "fp8_rowwise" in config["precision"]:
        made["gemm_factor"] = ROWWISE
    return made


# Stacks without rows of their own: constants as the geometric mean of what these were fitted to.
GENERIC = {"megatron-core": ("nemo-24.07", "nemo-24.12", "nemo-mlperf-2024",
                             "megatron-bridge-26"),
           "pytorch-fsdp": ("fsdp-torch-2.1", "fsdp-compiled", "torchtitan-2025"),
           "deepspeed": ("megatron-deepspeed-2022", "megatron-deepspeed-2023",
                         "deepspeed-zero3-hf"),
           "jax": ("maxtext-2024", "paxml-2023")}


def pooled(stack):
    """The other stacks of its family."""
    for family in FAMILIES:
        if stack in family:
            return [other for other in family if other != stack]
    return []


# At most six constants of each stack, those that its rows can tell apart.
FITTED = {
    "megatron-2021": ("gemm_factor", "memory_factor", "tensor_factor", "data_factor", "step_time"),
    "megatron-2022-selective": ("gemm_factor", "memory_factor", "tensor_factor", "step_time"),
    "megatron-deepspeed-2022": ("gemm_factor", "memory_factor", "tensor_factor", "data_factor",
                                "micro_batch_time", "step_time"),
    "megatron-deepspeed-2023": ("gemm_factor", "memory_factor", "tensor_factor", "data_factor",
                                "launch", "step_time"),
    "deepspeed-zero3-2021": ("gemm_factor", "memory_factor", "data_factor", "overlap_slowdown"),
    "megatron-flash-2023": ("gemm_factor", "attention_factor", "memory_factor",
                            "micro_batch_time"),
    "megatron-zero-bubble-2023": ("gemm_factor", "memory_factor", "micro_batch_time", "step_time"),
    "fsdp-torch-2.1": ("gemm_factor", "attention_factor", "memory_factor", "data_factor", "launch",
                       "overlap_slowdown"),
    "fsdp-compiled": ("gemm_factor", "memory_factor", "data_factor", "overlap_slowdown"),
    "torchtitan-2025": ("gemm_factor", "attention_factor", "tensor_factor",
                        "overlap_slowdown"),
    "deepspeed-zero3-hf": ("gemm_factor", "attention_factor"),
    "deepspeed-offload": ("gemm_factor", "attention_factor", "memory_factor", "step_time"),
    "nanotron-0.5": ("gemm_factor", "tensor_factor", "data_factor", "launch"),
    "nemo-24.07": ("gemm_factor", "memory_factor", "tensor_factor", "data_factor", "step_time"),
    "nemo-24.12": ("gemm_factor", "attention_factor", "memory_factor", "tensor_factor",
                   "data_factor", "step_time"),
    "nemo-25.05": ("gemm_factor", "tensor_factor"),
    "nemo-mlperf-2023": ("gemm_factor", "memory_factor", "tensor_factor", "data_factor",
                         "step_time"),
    "nemo-mlperf-2024": ("gemm_factor", "memory_factor", "tensor_factor", "data_factor",
                         "step_time"),
    "megatron-bridge-26": ("gemm_factor", "attention_factor", "memory_factor", "tensor_factor",
                           "expert_sync", "launch"),
    "maxtext-2024": ("gemm_factor", "data_factor"),
    "paxml-2023": ("gemm_factor", "data_factor"),
}
