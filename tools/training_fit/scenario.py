"""A configuration as a scenario of `weir train`: model, cluster and plan; the stack is stacks.py's.

What the columns leave blank is filled in here or by the stack and named in config.filled.
"""
import math
import re

ACCELERATORS = (  # column gpu begins with -> presets/accelerators
    ("A100-40GB", "a100-sxm-40gb"), ("A100", "a100-sxm-80gb"),
    ("H100-96GB-HBM2e-500W", "h100-96gb-500w"), ("H100", "h100-sxm"), ("H200", "h200-sxm"),
    ("H800", "h800-sxm"), ("B200", "b200-sxm"), ("B300", "b300-sxm"), ("GB200", "gb200"),
    ("GB300", "gb300"), ("V100", "v100-sxm-32gb"), ("A800", "a100-sxm-80gb"), ("H20", "h20-sxm"),
    ("MI300X", "mi300x"), ("MI250X", "mi250x"), ("MI325X", "mi325x"), ("MI355X", "mi355x"),
    ("Ascend", "ascend-910b"), ("TPU v4", "tpu-v4"), ("TPU v5p", "tpu-v5p"))
NODE_LINKS = {"v100": "nvlink2", "h800": "nvlink-h800", "h20": "nvlink4", "mi300x": "xgmi",
              "mi250x": "xgmi", "mi325x": "xgmi", "mi355x": "xgmi", "ascend": "hccs",
              "tpu": "ici-v4", "a100": "nvlink3", "h100": "nvlink4", "h200": "nvlink4",
              "b200": "nvlink5",
              "b300": "nvlink5", "gb200": "nvl72", "gb300": "nvl72"}
USUAL_NIC = {"a100": ("cx6-200g", 1), "h100": ("cx7-400g", 1), "h200": ("cx7-400g", 1),
             "b200": ("cx7-400g", 1), "b300": ("cx8-800g", 1), "gb200": ("cx7-400g", 1),
             "gb300": ("cx8-800g", 1)}
NICS = (  # in the column nic -> preset, NICs for each device
    ("Omni-Path", "cx5-100g", 0.5), ("1600 Gbps", "cx6-200g", 1), ("8x200", "cx6-200g", 1),
    ("800 Gb/s per node (config", "cx6-200g", 0.5), ("400 Gb/s per node", "cx5-100g", 0.5),
    ("800 Gb/s per node", "cx5-100g", 1), ("400 Gb/s RDMA per GPU", "cx7-400g", 1),
    ("8x ConnectX-7", "cx7-400g", 1), ("ConnectX-7", "cx7-400g", 1))
PRECISION = (("nvfp4", "fp4"), ("mxfp8", "fp8-block"), ("fp8_blockwise", "fp8-block"),
             ("fp8", "fp8"))
SCHEDULES = (("ZB-H1", "zb-h1"), ("ZB-1p", "zb-h1"), ("ZB-H2", "zb-h2"), ("ZB-2p", "zb-h2"),
             ("1F1B-I", "interleaved"), ("nterleaved", "interleaved"), ("1F1B", "1f1b"))
DOCUMENT = 512  # tokens of a document that fine-tuning packs; of SQuAD they are shorter still
# PaxML's recipes name policies that save products (google/paxml: contrib/gpu/scripts_gpu/configs.py;
# NVIDIA/dgxc-benchmarking: paxml/paxml_mod_configs.py), but each of their GPT runs, 5B and 175B, with
# and without Transformer Engine, takes a whole forward pass more than that: full it is.
# Ranks that share weights out in dgxc's PaxML recipes (paxml/configure.sh: nodes of FSDP x 8)
PAX_FSDP = {"GPT-3-5B": 8, "GPT-3-175B": 128}
OFFLOADED_405B = 92 / 126  # Megatron-Bridge's recipe of the same plan (rows of mbridge_25_09)
# What four runs whose rows name no recipe ran, by file, model, GPU and format, and how it is known.
# Activations on the host are no answer: Megatron Core refuses them beside pipeline stages
# (transformer_config.py: no support for Pipeline parallelism with CPU offloading).
AS_RECIPES = {
    # DEEPSEEK_V3_GB200_BF16_BASE_CONFIG of Megatron Bridge, which dgxc's v25.10 runs
    ("dgxc_benchmarking_late", "DeepSeek-V3", "GB200", "bf16"):
        ({"recompute": "selective", "recompute_parts": ["up"]},
         "recompute: up, as DEEPSEEK_V3_GB200_BF16 has it"),
    # the page prints GA 16, which on 8 replicas makes its 128 sequences only one by one; its MBS 2
    # is that of the FSDP run which shares the line; LLAMA3_70B_GB200_FP8_MX has 1
    ("mbridge_25_09", "Llama-3-70B", "GB200", "mxfp8"):
        ({"micro_batch": 1}, "micro-batch: 1 of the printed 16 accumulations, not 2"),
    # printed without chunks and with MBS 2, as FSDP has it: 409 GB of 288; the recipe is the same
    # in the releases before and after (LLAMA3_70B_PRETRAIN_CONFIG_GB300_FP8_MX_V2)
    ("mbridge_26_02_01", "Llama-3-70B", "GB300", "mxfp8"):
        ({"micro_batch": 1, "chunks": 5, "schedule": "interleaved"},
         "chunks: 5, micro-batch: 1, as LLAMA3_70B_PRETRAIN_CONFIG_GB300_FP8_MX_V2 has them"),
    # printed as FSDP's recipe on this GPU but for the column FSDP, which sends 20 layers of 80 to
    # the host (LLAMA3_70B_PRETRAIN_CONFIG_GB300_FP8_CS_V2)
    ("mbridge_26_02_01", "Llama-3-70B", "GB300", "nvfp4"):
        ({"offload_share": 20 / 80},
         "activations of 20 layers offloaded, as FSDP's recipe of 70B on GB300"),
}
GATED = re.compile(r"(?i)llama|qwen|mistral|mixtral|deepseek|grok")


def accelerator(config):
    for start, name in ACCELERATORS:
        if config["gpu"].startswith(start):
            return name
    raise ValueError(f"row {config.line}: no accelerator for {config['gpu']}")


def family(config):
    return accelerator(config).split("-")[0]


# --- model ---

def model(config):
    made = {"layers": config.number("layers"), "hidden": config.number("hidden"),
            "heads": config.number("heads"),
            "kv_heads": config.number("kv_heads") or config.number("heads"),
            "ffn": config.number("ffn"), "vocab": config.number("vocab")}
    if config.number("head_dim"):
        made["head_dim"] = config.number("head_dim")
    if not made["vocab"]:
        # the names 6.2B and 14.6B leave 26,600 to 34,600 words for an embedding: Llama's tokenizer
        made["vocab"] = (32000 if config.file == "zero_bubble" else
                         50304 if "Pax" in config["framework"] else 50257)
        config.filled.append(f"vocabulary: {made['vocab']}")
    name = config["model"]
    if GATED.match(name):
        made.update(tied=bool(re.search(r"like-(1\.34|3\.57)B", name)))
    elif name.startswith("Nemotron"):
        made.update(gated=False, activation="relu", norm="layer", norm_bias=True)
    else:
        made.update(gated=False, activation="gelu", norm="layer", norm_bias=True,
                    positions="learned", max_positions=config.number("seq"),
                    tied="untied" not in config.note, qkv_bias=True, output_bias=True,
                    ffn_bias=True)
    if name.startswith("Qwen3"):
        made["qk_norm"] = True
    if config.is_moe:
        made.update(experts=config.number("experts"), experts_per_token=config.number("topk"),
                    expert_ffn=config.number("moe_ffn"))
        if config.number("shared_experts"):
            made["shared_ffn"] = config.number("shared_experts") * config.number("moe_ffn")
    if name.startswith("DeepSeek-V3"):
        made.update(q_rank=1536, kv_rank=512, nope_dim=128, rope_dim=64, value_dim=128,
                    dense_layers=3, mtp_layers=mtp_layers(config))
        del made["kv_heads"], made["head_dim"]
    return made


MTP_FLOP = 255.5e9  # of a token of DeepSeek-V3, between 250.5 without the module and 260 with it


def mtp_layers(config):
    """Rows say it, or their two metrics do (training-fidelity 1); recipes have the module
    (Megatron Bridge: mtp_num_layers 1)."""
    if "w/o MTP" in config.note:
        return 0
    if "w/ MTP" in config.note:
        return 1
    rate = {r["metric"]: float(r["value"]) for r in config.rows}
    printed = rate.get("model_tflops_per_gpu") or rate.get("tflops_per_gpu")
    tokens = rate.get("tokens_per_s_per_gpu")
    if "step_time" in rate:
        tokens = (config.number("global_batch") * config.number("seq") /
                  (rate["step_time"] * config.gpus))
    return int(printed * 1e12 / tokens > MTP_FLOP) if printed and tokens else 1


# --- cluster ---

def nic(config):
    text = config["nic"]
    for part, preset, share in NICS:
        if part in text:
            return preset, share
    if "single node" not in text:
        config.filled.append("NIC: " + USUAL_NIC.get(family(config), ("cx7-400g", 1))[0])
    return USUAL_NIC.get(family(config), ("cx7-400g", 1))


def node_link(config, kind):
    """Jean Zay joins the devices of a node by four NVLinks, not by twelve (bigscience/bloom, model
    card: "8 GPUs per node using NVLink 4 inter-gpu connects, 4 OmniPath links")."""
    if config.file == "bigscience_tr11":
        return {"like": NODE_LINKS[kind], "rate": "100 GB/s"}
    return NODE_LINKS[kind]


def cluster(config):
    kind, gpus = family(config), config.gpus
    devices = config.number("gpus_per_node", 8) or 8
    if kind in ("gb200", "gb300"):
        devices = 64  # of 72 in a rack: what divides their jobs
    devices = min(devices, gpus)
    while gpus % devices:
        devices -= 1
    preset, share = nic(config)
    made = {"accelerator": accelerator(config), "nodes": gpus // devices, "devices": devices,
            "node_link": node_link(config, kind), "nic": preset,
            "library": "nccl-2.18" if kind == "a100" else "nccl-2.27"}
    if share != 1 and devices > 1:
        made["nics"] = max(1, int(devices * share))
    return made


# --- plan ---

def precision(config):
    text = config["precision"]
    for part, name in PRECISION:
        if part in text:
            return name
    if not text:
        config.filled.append("precision: fp16")
    return "bf16"


def micro_batch(config):
    found = config.number("micro_batch")
    if not found:
        found, stages = 1, config.number("pp", 1) or 1
        if config.file == "torchtitan" and stages > 1:  # as many micro-batches as stages, by default
            found = max(1, config.number("global_batch") // (config.number("dp", 1) * stages))
        config.filled.append(f"micro-batch: {found}")
    return found


def recompute(config, plan):
    text = config["recompute"]
    if not text:
        pax = "Pax" in config["framework"] and config["model"].startswith("GPT")
        plan["recompute"] = "full" if pax else "none"
        if "Pax" in config["framework"] and not pax and "TE" not in config["precision"]:
            plan.update(recompute="selective", recompute_parts=["core"])  # scores would not fit
        config.filled.append("recompute: " + plan["recompute"])
        return
    count = re.match(r"full (\d+) layers/stage", text)
    if count:
        plan.update(recompute="block", recompute_layers=int(count.group(1)))
    elif text.startswith("selective_op"):
        # every second product of matrices: the network's first two are 54 % of a layer of 8B
        plan.update(recompute="selective", recompute_parts=["norms", "activation", "network"])
        config.filled.append("recompute: every second product of matrices as the network's first")
    elif text == "selective (block-wise)":
        if config.number("layers") >= 80:  # 70B, which would not fit with less
            plan["recompute"] = "full"
            config.filled.append("recompute: all layers")
            return
        plan.update(recompute="block", recompute_layers=max(1, config.number("layers") // 3))
        config.filled.append("recompute: a third of the layers")
    elif text.startswith("remat policy"):
        # 2.x of dgxc: save_qkv_proj (maxtext/configure.sh); Llama 2 before it: all but the network
        parts = ["core", "norms", "activation", "network"]
        made = parts + ["output"] if config["model"].startswith("Llama-3") else parts
        plan.update(recompute="selective", recompute_parts=made)
    elif text in ("selective_attention", "core_attn"):
        plan.update(recompute="selective", recompute_parts=["core"])
    elif text in ("mla_up_proj", "mlp", "mla_up_proj,mlp"):
        parts = {"mla_up_proj": ["up"], "mlp": ["network"]}
        plan.update(recompute="selective", recompute_parts=sum((parts[t] for t in text.split(",")),
                                                               []))
    elif text in ("none", "full"):
        plan["recompute"] = text
    else:
        raise ValueError(f"row {config.line}: unknown recompute {text}")


def head_in_layers(config):
    """The head's FLOPs over those of a layer."""
    h, s = config.number("hidden"), config.number("seq")
    d = config.number("head_dim") or h // config.number("heads")
    heads, kv = config.number("heads"), config.number("kv_heads") or config.number("heads")
    gated = 3 if GATED.match(config["model"]) else 2
    layer = (2 * h * d * (heads + 2 * kv) + 2 * heads * d * h +
             2 * gated * h * config.number("ffn") + 2 * heads * d * s)
    return 2 * h * (config.number("vocab") or 50257) / layer


def balanced(config, positions):
    """Layers of each position: each takes those that its share of all FLOPs, the head's on the last
    position, has room for."""
    layers, head = config.number("layers"), head_in_layers(config)
    share = (layers + head) / positions
    ends = [min(layers, int(share * (i + 1))) for i in range(positions - 1)] + [layers]
    return [end - begin for begin, end in zip([0] + ends, ends)]


def bridge_layout(text, positions):
    """Layers by position of a layout such as Et*4|(t*4|)*14tmL."""
    text = re.sub(r"\(([^()]*)\)\*(\d+)", lambda m: m.group(1) * int(m.group(2)), text)
    text = re.sub(r"t\*(\d+)", lambda m: "t" * int(m.group(1)), text)
    counts = [part.count("t") for part in text.split("|")]
    return counts if len(counts) == positions else None


def layout(config, plan):
    layers, stages, chunks = config.number("layers"), plan["pipeline"], plan.get("chunks", 1)
    positions = stages * chunks
    if positions == 1:
        return
    if config.file == "zero_bubble":
        plan.update(layout="less", first_layers=1, last_layers=1)
        return
    if config.file == "vocab_parallel" and "redis" in config["schedule"]:
        plan.update(layout="list", chunk_layers=balanced(config, positions))
        return
    given = re.search(r"pp_layout (\S+);", config.note)
    counts = bridge_layout(given.group(1), positions) if given else None
    if counts and sum(counts) == layers:
        plan.update(layout="list", chunk_layers=counts)
    elif layers % positions == 0:
        if config.file == "bigscience_tr11" and "partition type:transformer|embed" in config.note:
            plan["layout"] = "as-layers"
    elif (layers + 2) % positions == 0:
        plan["layout"] = "as-layers"
        config.filled.append("stages: embedding and head count as layers")
    else:
        plan.update(layout="list", chunk_layers=uneven(config, layers, positions))
        config.filled.append("stages: uneven")


def uneven(config, layers, positions):
    """Ceilings first and a short last position, as DeepSpeed splits; others give up the last.
    So does Megatron Bridge with DeepSeek-V3 (recipes/deepseek/deepseek_v3.py: 15 x 4 and 1 layer
    with the loss on 16 positions, 7 x 8 and 5 on 8; Et|(tt|)*30mL on 32 of H100)."""
    if config["model"].startswith("DeepSeek-V3") and positions == 32:
        return [1] + [2] * 30 + [0]
    if config.file == "bigscience_tr11" or config["model"].startswith("DeepSeek-V3"):
        each = math.ceil(layers / positions)
        counts = [each] * positions
        for i in range(positions - 1, -1, -1):
            counts[i] -= min(counts[i] - 1, sum(counts) - layers)
        return counts
    counts = [layers // positions] * positions
    for i in range(layers % positions):
        counts[1 + i if 1 + i < positions else 0] += 1
    return counts


def schedule(config, plan):
    text = config["schedule"]
    chunks = config.number("vpp", 1) or 1
    if "v not stated" in text:
        chunks = next((v for v in (3, 2) if plan and config.number("layers") %
                       (plan["pipeline"] * v) == 0), 1)
        config.filled.append(f"chunks: {chunks}")
    elif text == "Interleaved1F1B" and chunks == 1:
        chunks = 2
        config.filled.append("chunks: 2")
    if chunks > 1:
        plan["chunks"] = chunks
    if plan["pipeline"] == 1:
        plan.pop("chunks", None)
        return
    if not text:
        config.filled.append("schedule: 1F1B, interleaved where there are chunks")
        plan["schedule"] = "interleaved" if chunks > 1 else "1f1b"
        return
    for part, name in SCHEDULES:
        if part in text:
            plan["schedule"] = "1f1b" if name == "interleaved" and chunks == 1 else name
            return
    raise ValueError(f"row {config.line}: unknown schedule {text}")


def documents(config, plan):
    """Query-key pairs of packed short documents."""
    text = config["model"] + config.note
    if "SFT" in text or "sft" in config.note:
        s = plan["sequence"]
        plan["pairs"] = s / DOCUMENT * DOCUMENT * (DOCUMENT + 1) / 2
        config.filled.append(f"documents of {DOCUMENT} tokens")


def zero(config):
    text = config["zero_stage"]
    if text == "1" and config["framework"].startswith("Megatron-Bridge") and \
            config.number("params_b") >= 60 and config.gpus > 8 and \
            (config.number("tp", 1) or 1) * (config.number("pp", 1) or 1) == 1:
        config.filled.append("ZeRO: 3, as recipes without tensor and pipeline ranks have it")
        return 3
    if text == "":
        guess = 3 if config.file == "dgxc_benchmarking_late" and "FSDP" in config.note else (
            1 if config.file in ("dgxc_benchmarking_late", "vtrain_multi") else 0)
        config.filled.append(f"ZeRO: {guess}")
        return guess
    return int(text)


def plan(config):
    made = {"tensor": config.number("tp", 1) or 1, "pipeline": config.number("pp", 1) or 1,
            "context": config.number("cp", 1) or 1, "sequence": config.number("seq"),
            "micro_batch": micro_batch(config), "global_batch": config.number("global_batch"),
            "precision": precision(config), "zero": zero(config)}
    if made["tensor"] > 1:
        made["sequence_parallel"] = config["seq_parallel"] == "1"
    if config.number("ep"):
        made["expert"] = config.number("ep")
        if config.number("etp"):
            made["expert_tensor"] = config.number("etp")
        if "tokendrop" in config.note:
            made["capacity"] = 1
    recompute(config, made)
    schedule(config, made)
    layout(config, made)
    documents(config, made)
    if "Pax" in config["framework"] and config.file == "dgxc_benchmarking":
        made["shard_ranks"] = min(PAX_FSDP[config["model"]], config.gpus)
        config.filled.append(f"FSDP group: {made['shard_ranks']}")
    group = re.search(r"FSDP group (\d+) x DP (\d+)", config.note)
    if group and made["zero"] == 3 and int(group.group(2)) > 1:
        made["shard_ranks"] = int(group.group(1))
    offload = re.search(r"CPU activation offload (\d+) layers", config.note)
    if offload:
        made["offload_share"] = min(1, int(offload.group(1)) / config.number("layers"))
    elif "activations & optimizer states offloaded" in config.note:
        made["offload_share"] = 1
    elif made["zero"] == 3 and config.file == "dgxc_benchmarking_late":
        made["offload_share"] = OFFLOADED_405B
        config.filled.append("activations of 92 layers offloaded, as Megatron-Bridge's recipe")
    as_recipe(config, made)
    return made


def as_recipe(config, plan):
    """What AS_RECIPES says over the columns of a row that names no recipe."""
    name = (config.file, config["model"], config["gpu"].split("-")[0], config["precision"])
    known = AS_RECIPES.get(name)
    if known and config["recompute"] == "":
        plan.update(known[0])
        gone = tuple(key + ":" for key in known[0])
        config.filled[:] = [f for f in config.filled if not f.startswith(gone)]
        config.filled.append(known[1])


def spread_vocabulary(config, plan):
    if config.file == "vocab_parallel" and re.search(r"vocab-|interlaced", config["schedule"]):
        plan["spreads_vocabulary"] = True


def make(config):
    """The scenario without its stack."""
    made = {"model": model(config), "cluster": cluster(config), "plan": plan(config)}
    spread_vocabulary(config, made["plan"])
    return made
