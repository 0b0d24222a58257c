"""A training step of a dense transformer as programs for the engine.

The sizes are those of a Llama-like layer, in bfloat16 on an H100: durations follow from FLOPs at
61 % of 989 TFLOP/s and from bytes at 85 % of 3.35 TB/s, so that a reader with a roofline finds
matrix multiplications to be arithmetic and the rest to be memory. Collectives take their bytes at
a given bus bandwidth.
"""
import random

from .engine import Collective, Kernel

PEAK_FLOP_PER_NS = 0.61 * 989e12 / 1e9
BYTES_PER_NS = 0.85 * 3.35e12 / 1e9
IN_NODE_BYTES_PER_NS = 360.0
BETWEEN_NODES_BYTES_PER_NS = 46.0

COMPUTE_STREAM = 7
FLASH_FORWARD = (
    "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
    "cutlass::bfloat16_t, Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t> >, false, "
    "true, false, false, false, true, false, false>(flash::Flash_fwd_params)")
FLASH_BACKWARD = (
    "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, "
    "128, 8, 2, 4, 2, false, false, cutlass::bfloat16_t, Flash_kernel_traits<128, 64, 128, 8, "
    "cutlass::bfloat16_t> >, false, true, false, false, true, true, false>"
    "(flash::Flash_bwd_params)")
ADD = ("void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add"
       "<c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add"
       "<c10::BFloat16>, std::array<char*, 3ul>)")
ADAM = ("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
        "(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
        "namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float "
        "const*, double, double, double, double, double, bool, float*, float*>(long, at::native::"
        "(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)")
NCCL = {
    "allreduce": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "allreduce_f32": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "send": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
    "recv": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
}


class Sizes:
    """What one rank computes in a micro-batch."""

    def __init__(self, tokens=2048, hidden=4096, ffn=11008, layers=3, micro_batches=1, work=1.0,
                 tp=1):
        self.tokens = int(tokens * work)
        self.hidden = hidden
        self.ffn = ffn // tp
        self.heads = 32 // tp
        self.layers = layers
        self.micro_batches = micro_batches
        self.parameters = (hidden * 3 * hidden + hidden * hidden) // tp + 3 * hidden * self.ffn


class Builder:
    """Writes the program of one worker."""

    def __init__(self, worker, seed, sizes, groups, hosts_of, speed=1.0):
        self.worker = worker
        self.sizes = sizes
        self.groups = groups
        self.hosts_of = hosts_of
        self.speed = speed
        self.seed = seed
        self.random = random.Random(f"{seed}/device/{worker.process.rank}/{worker.device}")
        self.count = {}
        self.equal_transfer = False
        self.meets = False  # the threads of a process begin and end each step together
        self.marks = True

    def add(self, *operation):
        self.worker.program.append(operation)

    def host(self, ns):
        self.add("host", self.worker.cost(ns))

    # --- kernels ---

    def _time(self, ns):
        return max(1500, int(ns * self.speed * self.random.uniform(0.996, 1.004)))

    def gemm(self, rows, inner, columns, op="aten::mm"):
        name = ("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT" if columns >= 4096 else
                "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNN")
        tiles = ((rows + 127) // 128) * ((columns + 255) // 256)
        self.add("run", Kernel(name, self._time(2 * rows * inner * columns / PEAK_FLOP_PER_NS),
                               "compute.gemm", op, ((rows, inner), (inner, columns)),
                               (min(tiles, 132), 1, 1), (384, 1, 1)), COMPUTE_STREAM)

    def attention(self, backward):
        s = self.sizes
        flop = 4 * s.tokens * s.tokens * 128 * s.heads / 2 * (2.5 if backward else 1)
        shape = (1, s.tokens, s.heads, 128)
        op = "flash_attn::_flash_attn_" + ("backward" if backward else "forward")
        self.add("run", Kernel(FLASH_BACKWARD if backward else FLASH_FORWARD,
                               self._time(flop / (0.6 * PEAK_FLOP_PER_NS)), "compute.attention",
                               op, (shape, shape, shape),
                               ((s.tokens + 127) // 128, 1, s.heads), (128, 1, 1)),
                 COMPUTE_STREAM)

    def elementwise(self, name, op, reads, columns):
        rows = self.sizes.tokens
        self.add("run", Kernel(name, self._time(2 * (reads + 1) * rows * columns / BYTES_PER_NS),
                               "cache.activations", op, ((rows, columns),) * reads,
                               (rows, 1, 1), (256, 1, 1)), COMPUTE_STREAM)

    def norm(self, backward=False):
        way = "backward" if backward else "add_mean_mul_pow_rsqrt"
        self.elementwise(f"triton_red_fused__to_copy_{way}_rms_norm_{1 if backward else 0}",
                         "aten::rms_norm", 2, self.sizes.hidden)

    def copy_batch(self):
        size = self.sizes.tokens * 8
        self.add("run", Kernel("Memcpy HtoD (Pinned -> Device)", self._time(2200 + size / 20),
                               "cache.memcpy", "aten::copy_", category="gpu_memcpy", size=size),
                 COMPUTE_STREAM)

    def optimizer(self, parameters):
        parts = 4
        for _ in range(parts):
            self.add("run", Kernel(ADAM, self._time(28 * parameters / parts / BYTES_PER_NS),
                                   "cache.optimizer", "aten::_fused_adamw_", (),
                                   (320, 1, 1), (512, 1, 1)), COMPUTE_STREAM)

    # --- communication ---

    def _bandwidth(self, ranks):
        hosts = {self.hosts_of(rank) for rank in ranks}
        return IN_NODE_BYTES_PER_NS if len(hosts) == 1 else BETWEEN_NODES_BYTES_PER_NS

    def all_reduce(self, group, elements, stream, dtype="BFloat16"):
        index = self.count.get(group.name, 0)
        self.count[group.name] = index + 1
        size = elements * (2 if dtype == "BFloat16" else 4)
        n = group.size
        steps = 1 if self.equal_transfer else (n - 1) / n
        base = 2 * steps * size / self._bandwidth(group.ranks) + 9000

        def make():
            draw = random.Random(f"{self.seed}/transfer/{group.name}/{index}")
            ns = int(base * group.link_factor * draw.uniform(0.98, 1.02))
            collective = Collective(group, index, "allreduce", (elements, elements), ns)
            collective.dtype = dtype
            return collective

        name = NCCL["allreduce" if dtype == "BFloat16" else "allreduce_f32"]
        kernel = Kernel(name, 0, "communication.all_reduce", "c10d::allreduce_",
                        grid=(24, 1, 1), block=(512, 1, 1))
        self.add("collective", (group.name, index), make, kernel, stream)

    def message(self, group, source, destination, elements, stream, sends):
        key = (group.name, source, destination)
        index = self.count.get(key, 0)
        self.count[key] = index + 1
        base = 2 * elements / self._bandwidth((source, destination)) + 9000

        def make():
            draw = random.Random(f"{self.seed}/transfer/{key}/{index}")
            ns = int(base * draw.uniform(0.98, 1.02))
            collective = Collective(group, index, "message", (elements, elements), ns)
            collective.expected = 2
            collective.source, collective.destination = source, destination
            return collective

        kind = "send" if sends else "recv"
        kernel = Kernel(NCCL[kind], 0, "communication.p2p", "c10d::" + kind,
                        grid=(2, 1, 1), block=(640, 1, 1))
        self.add("collective", key + (index,), make, kernel, stream)

    # --- a step ---

    def tensor_all_reduce(self):
        group = self.groups.get("tp")
        if group:
            self.all_reduce(group, self.sizes.tokens * self.sizes.hidden, 16)
            self.add("join", 16, COMPUTE_STREAM)

    def forward(self):
        s = self.sizes
        for _ in range(s.layers):
            self.norm()
            self.gemm(s.tokens, s.hidden, 3 * 128 * s.heads)
            self.attention(False)
            self.gemm(s.tokens, 128 * s.heads, s.hidden)
            self.tensor_all_reduce()
            self.norm()
            self.gemm(s.tokens, s.hidden, 2 * s.ffn)
            self.elementwise("triton_poi_fused_mul_silu_2", "aten::silu", 2, s.ffn)
            self.gemm(s.tokens, s.ffn, s.hidden)
            self.tensor_all_reduce()
            self.elementwise(ADD, "aten::add", 2, s.hidden)

    def backward(self, reduce_gradients):
        s = self.sizes
        for _ in range(s.layers):
            self.gemm(s.tokens, s.hidden, s.ffn)
            self.gemm(s.ffn, s.tokens, s.hidden)
            self.elementwise("triton_poi_fused_mul_silu_silu_backward_3", "aten::silu_backward", 3,
                             s.ffn)
            self.gemm(s.tokens, 2 * s.ffn, s.hidden)
            self.gemm(s.hidden, s.tokens, 2 * s.ffn)
            self.tensor_all_reduce()
            self.norm(backward=True)
            self.gemm(s.tokens, s.hidden, 128 * s.heads)
            self.gemm(128 * s.heads, s.tokens, s.hidden)
            self.attention(True)
            self.gemm(s.tokens, 3 * 128 * s.heads, s.hidden)
            self.gemm(s.hidden, s.tokens, 3 * 128 * s.heads)
            self.tensor_all_reduce()
            self.norm(backward=True)
            if reduce_gradients:
                self.all_reduce(self.groups["dp"], s.parameters, 20)

    def pipeline(self, stage, stages, before, after):
        """One forward, one backward, in turn, after the warm-up (1F1B)."""
        s = self.sizes
        group = self.groups["pp"]
        elements = s.tokens * s.hidden
        rank = self.worker.process.rank
        warm_up = min(stages - stage - 1, s.micro_batches)

        def forward():
            if before is not None:
                self.message(group, before, rank, elements, 24, False)
                self.add("join", 24, COMPUTE_STREAM)
            self.forward()
            if after is not None:
                self.message(group, rank, after, elements, 25, True)

        def backward(last):
            if after is not None:
                self.message(group, after, rank, elements, 26, False)
                self.add("join", 26, COMPUTE_STREAM)
            self.backward(last and "dp" in self.groups)
            if before is not None:
                self.message(group, rank, before, elements, 27, True)

        for _ in range(warm_up):
            forward()
        for i in range(s.micro_batches - warm_up):
            forward()
            backward(i + warm_up == s.micro_batches - 1 and warm_up == 0)
        for i in range(warm_up):
            backward(i == warm_up - 1)

    def step(self, number, sleep_ns, pipeline=None):
        if self.meets:
            self.add("meet")
        if self.marks:
            self.add("begin", f"ProfilerStep#{number}")
        self.host(30000)
        if sleep_ns:
            self.add("host", sleep_ns)
        self.copy_batch()
        if pipeline:
            self.pipeline(*pipeline)
        else:
            for i in range(self.sizes.micro_batches):
                self.forward()
                self.backward(i == self.sizes.micro_batches - 1 and "dp" in self.groups)
        if "dp" in self.groups:
            self.add("join", 20, COMPUTE_STREAM)
        if "world" in self.groups:
            self.all_reduce(self.groups["world"], 1, 28, "Float")
            self.add("join", 28, COMPUTE_STREAM)
        self.add("begin", "Optimizer.step#AdamW.step")
        self.optimizer(self.sizes.parameters * self.sizes.layers)
        self.add("end")
        self.add("mark", number)
        if number > 0:
            self.add("synchronize", number - 1)
        if self.meets:
            self.add("meet")
        if self.marks:
            self.add("end")
        self.host(8000)
