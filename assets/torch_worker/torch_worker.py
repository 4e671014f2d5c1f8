#!/usr/bin/env python3
"""PyTorch as a device of attnscope: a worker that offers scaled_dot_product_attention, checked and timed like kernels.

Speaks attnscope's protocol over stdin and stdout. Needs Python 3.9 or later, PyTorch with CUDA, and attnscope itself,
whose `worker --judge` makes the inputs and compares the output with the reference: one set of rules for all.

    attnscope --worker "torch=python3 torch_worker.py --attnscope /path/to/attnscope"
"""
import argparse
import ctypes
import os
import queue
import subprocess
import sys
import threading
import time
import warnings

import sampling
import wire

BACKENDS = ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION", "MATH")  # by the value of the knob BACKEND
BACKEND_NAMES = ("flash", "cudnn", "efficient", "math")
WARM_MS = 5.0
HOT_US = 5000.0  # per sample: a graph's start is outside its nodes and must not count
COLD_REPEATS = 10
MOST_WAITING = 1024  # requests; a session sends one at a time
# CUdevice_attribute of cuda.h, by the name of the DeviceSpec's field.
ATTRIBUTES = {"sms": 16, "shared_static_block": 8, "shared_optin_block": 97, "shared_sm": 81, "shared_reserved_block": 111,
              "ctas_sm": 106, "registers_sm": 82, "registers_block": 12}
THREADS_SM, L2_BYTES = 39, 38


class Refused(Exception):
    """An expected refusal, like attnscope's Failure."""

    def __init__(self, stage, message, hint=""):
        super().__init__(message)
        self.failure = {"stage": stage, "message": message, "hint": hint}


class Cancelled(Refused):
    def __init__(self):
        super().__init__("cancelled", "cancelled")


def now_ms():
    return time.monotonic() * 1e3


class Judge:
    """attnscope's own process for inputs and verdicts."""

    def __init__(self, attnscope):
        self.argv = [attnscope, "worker", "--judge"]
        self.child = None

    def ask(self, message, answers):
        if self.child is None or self.child.poll() is not None:
            self.child = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            wire.write_frame(self.child.stdin, message)
            replies = []
            while len(replies) < answers:
                reply = wire.read_frame(self.child.stdout)
                if reply is None:
                    raise Refused("crash", "attnscope worker --judge ended without an answer", "Its words are in the log.")
                if "failure" in reply:
                    raise Refused(**reply["failure"])
                replies.append(reply)
            return replies
        except (OSError, ValueError) as error:
            raise Refused("crash", f"attnscope worker --judge: {error}") from error

    def inputs(self, problem):
        """q, k and v of the problem by which outputs are judged from now on."""
        return [reply["bytes"] for reply in self.ask({"type": "inputs", "problem": problem}, 3)]

    def verdict(self, output):
        return self.ask({"type": "output", "bytes": output}, 1)[0]["verdict"]


class Attention:
    """One problem on one GPU; `backend` is set by each run."""

    def __init__(self, torch, problem, ordinal, inputs):
        self.torch = torch
        self.problem = problem
        self.backend = 0
        self.device = torch.device(f"cuda:{ordinal}")
        dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[problem["dtype"]]
        self.tensors = [self.upload(data, dtype, name) for data, name in zip(inputs, "qkv")]
        self.judged = {}  # by backend: the last output and its verdict

    def upload(self, data, dtype, name):
        p = self.problem
        heads, rows = (p["heads"], p["seq_q"]) if name == "q" else (p["kv_heads"], p["seq_k"])
        flat = self.torch.frombuffer(bytearray(data), dtype=dtype)
        return flat.view(p["batch"], heads, rows, p["head_dim"]).to(self.device)

    def place_anew(self, held):
        """Moves the inputs to other addresses; `held` keeps the old ones from being reused."""
        held.append(self.tensors)
        held.append(self.torch.empty(1 << 20 | 4096 * len(held), dtype=self.torch.uint8, device=self.device))
        self.tensors = [tensor.clone() for tensor in self.tensors]

    def call(self):
        torch, p = self.torch, self.problem
        more = {"enable_gqa": True} if p["kv_heads"] != p["heads"] else {}
        with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, BACKENDS[self.backend])):
            return torch.nn.functional.scaled_dot_product_attention(
                *self.tensors, is_causal=p["causal"] != "none", scale=p["scale"], **more)

    def first_call(self):
        """The output, or a refusal in PyTorch's words if the backend cannot do the problem."""
        with warnings.catch_warnings(record=True) as said, self.torch.no_grad():
            warnings.simplefilter("always")
            try:
                output = self.call()
                self.torch.cuda.synchronize(self.device)
            except RuntimeError as error:
                reasons = "; ".join(dict.fromkeys(str(w.message).split(" (Triggered")[0].strip() for w in said))
                raise Refused("input", f"PyTorch's {BACKEND_NAMES[self.backend]} cannot do this problem: "
                                       f"{str(error).splitlines()[0]}{' (' + reasons + ')' if reasons else ''}") from error
        return output

    def verdict(self, output, judge):
        """The verdict. An output that equals the last one bit for bit keeps its verdict: a benchmark asks for the same many times."""
        output = output.contiguous()
        bits = output.view(self.torch.int16)  # so that a NaN equals itself
        before, verdict = self.judged.get(self.backend, (None, None))
        if before is None or not self.torch.equal(bits, before):
            there = output.cpu()
            verdict = judge.verdict(ctypes.string_at(there.data_ptr(), there.numel() * there.element_size()))
            self.judged[self.backend] = bits, verdict
        return verdict


class Source:
    """What sampling.sample() times: graph replays (hot), or single calls after an L2 flush (cold)."""

    def __init__(self, attention, cache, l2_bytes):
        self.attention, self.torch, self.cache = attention, attention.torch, cache
        self.held = []
        self.flush = None
        if cache == "cold":
            self.flush = self.torch.empty(2 * l2_bytes, dtype=self.torch.uint8, device=attention.device)
        self.graph, self.calls = None, 1

    def events(self):
        return [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def timed(self, work):
        start, end = self.events()
        start.record()
        work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e3  # us

    def capture(self, calls):
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            for _ in range(calls):
                self.attention.call()
        return graph

    def begin_round(self):
        if len(self.held) > 20:  # enough placements for an interval; then freed ones are reused
            self.held.clear()
        self.attention.place_anew(self.held)
        until = now_ms() + WARM_MS
        one = self.timed(self.attention.call)
        while now_ms() < until:
            one = min(one, self.timed(self.attention.call))
        if self.cache == "hot":
            self.graph = None
            self.calls = max(1, min(2000, int(HOT_US / max(one, 0.5)) + 1))
            self.graph = self.capture(self.calls)
            self.graph.replay()
            self.torch.cuda.synchronize()

    def take(self):
        if self.cache == "hot":
            return [self.timed(self.graph.replay) / self.calls]
        pairs = [self.events() for _ in range(COLD_REPEATS)]
        # The GPU waits first, so that everything is queued before the first call begins: the time between two events is
        # then the call, without Python's overhead.
        self.torch.cuda._sleep(4_000_000)
        for start, end in pairs:
            self.flush.zero_()
            start.record()
            self.attention.call()
            end.record()
        self.torch.cuda.synchronize()
        return [start.elapsed_time(end) * 1e3 for start, end in pairs]


class Worker:
    def __init__(self, torch, version, judge, stream_in, stream_out):
        self.torch, self.version, self.judge = torch, version, judge
        self.stream_in, self.stream_out = stream_in, stream_out
        self.driver = None  # libcuda
        self.sending = threading.Lock()
        self.work = queue.Queue()
        self.cancelled = set()
        self.current = None  # (id, ms without progress allowed); only the worker's thread writes it
        self.attention = None  # of the last problem
        self.progressed = now_ms()

    def send(self, message):
        with self.sending:
            try:
                wire.write_frame(self.stream_out, message)
            except OSError:
                os._exit(0)  # the client is gone

    def versions(self):
        torch = self.torch
        cudnn = torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None
        text = f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}"
        return {"app": self.version, "nvrtc": "", "driver": text + (f", cuDNN {cudnn}" if cudnn else ""), "gpu": ""}

    def devices(self):
        return [self.device(ordinal) for ordinal in range(self.torch.cuda.device_count())]

    def device(self, ordinal):
        props = self.torch.cuda.get_device_properties(ordinal)
        return {"id": f"cuda:{ordinal}", "name": props.name, "arch": props.major * 10 + props.minor, "emulated": False,
                "runs": ["torch"], **{field: self.attribute(number, ordinal) for field, number in ATTRIBUTES.items()},
                "warps_sm": self.attribute(THREADS_SM, ordinal) // 32, "l2_mb": self.attribute(L2_BYTES, ordinal) / 1048576}

    def attribute(self, number, ordinal):
        """The driver knows every limit of every GPU; PyTorch tells only some."""
        if self.driver is None:
            self.driver = ctypes.CDLL("libcuda.so.1")
            self.driver.cuInit(0)
        device, value = ctypes.c_int(), ctypes.c_int()
        self.driver.cuDeviceGet(ctypes.byref(device), ordinal)
        status = self.driver.cuDeviceGetAttribute(ctypes.byref(value), number, device)
        if status != 0:
            die(f"cuDeviceGetAttribute({number}) of cuda:{ordinal} failed with {status}: check the driver with nvidia-smi")
        return value.value

    def serve(self):
        for target in (self.heartbeat, self.watch_over, self.work_on):
            threading.Thread(target=target, daemon=True).start()
        while True:
            try:
                message = wire.read_frame(self.stream_in)
            except ValueError as error:
                self.send({"type": "log", "id": 0, "level": "error", "text": str(error)})
                return 2
            if message is None:
                return 0
            self.accept(message)

    def accept(self, message):
        kind, number = message.get("type"), message.get("id", 0)
        if kind == "hello":
            self.send({"type": "hello_reply", "id": number, "versions": self.versions(), "devices": self.devices(),
                       "pid": os.getpid()})
        elif kind == "run":
            if self.work.qsize() < MOST_WAITING:
                self.work.put(message)
            else:
                self.finish(number, Refused("protocol", "too many requests wait for this worker",
                                            "Wait for its answers before asking more."))
        elif kind == "cancel":
            if len(self.cancelled) >= MOST_WAITING:  # requests that were already done
                self.cancelled.clear()
            self.cancelled.add(message.get("target"))
        elif kind != "kernel":
            self.finish(number, Refused("protocol", f"PyTorch's worker does not offer {kind}"))

    def heartbeat(self):
        while True:
            busy = self.current is not None
            self.send({"type": "heartbeat", "id": 0, "state": "busy" if busy else "ready",
                       "detail": "PyTorch runs" if busy else ""})
            time.sleep(1)

    def watch_over(self):
        """A hanging kernel ends with this process; attnscope starts another."""
        while True:
            time.sleep(0.1)
            current = self.current
            if current and now_ms() - self.progressed > current[1]:
                self.finish(current[0], Refused("deadline", f"PyTorch made no progress for {current[1]:.0f} ms",
                                                "Its process was ended; another one is started."))
                os._exit(4)

    def work_on(self):
        while True:
            message = self.work.get()
            number = message["id"]
            try:
                self.keep_on(number)
                self.run(number, message["experiment"], message.get("deadlines") or {})
                refusal = None
            except Refused as refused:
                refusal = refused
            except Exception as error:  # any error of PyTorch: the session must get its answer
                refusal = Refused("launch", f"PyTorch: {type(error).__name__}: {str(error).splitlines()[0]}")
            self.current = None
            self.finish(number, refusal)
            self.cancelled.discard(number)

    def finish(self, number, refusal):
        if refusal and not isinstance(refusal, Cancelled):
            self.part(number, {"failure": refusal.failure})
        self.send({"type": "done", "id": number, "failure": refusal.failure if refusal else None})

    def part(self, number, part):
        self.send({"type": "part", "id": number, "part": part, "final": True})

    def step(self, number, stage):
        self.keep_on(number)
        self.send({"type": "progress", "id": number, "stage": stage, "done": 0, "total": 0})

    def keep_on(self, number):
        self.progressed = now_ms()
        if number in self.cancelled:
            raise Cancelled()

    def run(self, number, experiment, deadlines):
        problem, backend, ordinal = self.checked(experiment)
        # On the first call PyTorch loads a library and cuDNN plans: the compiler's deadline applies, not a launch's.
        self.current = number, float(deadlines.get("compile_ms", 60000))
        self.part(number, {"device": experiment["device"],
                           "versions": dict(self.versions(), gpu=self.torch.cuda.get_device_properties(ordinal).name)})
        self.torch.cuda.set_device(ordinal)
        self.step(number, "compiling")
        attention = self.attention_of(problem, ordinal)
        attention.backend = backend
        self.step(number, "emulating")
        output = attention.first_call()
        self.step(number, "checking")
        self.part(number, {"verdict": attention.verdict(output, self.judge)})
        del output
        self.step(number, "measuring")
        policy = experiment.get("measure") or {}
        cache = policy.get("cache", "hot")
        source = Source(attention, cache, self.attribute(L2_BYTES, ordinal))
        with self.torch.no_grad():
            timing = sampling.sample(source, float(policy.get("max_time_ms", 2000)), now_ms,
                                     lambda: self.keep_on(number))
        timing.update(kind="measured", cache=cache, clock_mhz=0.0, bound="")
        flops = 4.0 * problem["batch"] * problem["heads"] * problem["seq_q"] * problem["seq_k"] * problem["head_dim"]
        flops /= 1 if problem["causal"] == "none" else 2
        self.part(number, {"timing": timing, "tflops": flops / (timing["us"]["p50"] * 1e6)})

    def attention_of(self, problem, ordinal):
        kept = self.attention
        if kept is None or kept.problem != problem or kept.device.index != ordinal:
            self.attention = None  # frees its memory first
            self.attention = Attention(self.torch, problem, ordinal, self.judge.inputs(problem))
        return self.attention

    def checked(self, experiment):
        problem, kernel, knobs = experiment["problem"], experiment["kernel"]["id"], experiment["config"]["knobs"]
        if kernel != "torch":
            raise Refused("device", f"{kernel} is no routine of PyTorch", "Choose the kernel torch, or another device.")
        backend = knobs.get("BACKEND")
        if backend not in range(len(BACKENDS)):
            raise Refused("input", f"torch: {backend} is not a value of BACKEND", "It takes 0 to 3.")
        if problem["dtype"] not in ("f16", "bf16") or problem["layout"] != "BHSD":
            raise Refused("input", "torch takes f16 and bf16 in the layout BHSD", "Choose another kernel.")
        name, _, ordinal = experiment["device"].partition(":")
        if name != "cuda" or not ordinal.isdigit() or int(ordinal) >= self.torch.cuda.device_count():
            raise Refused("device", f"there is no device {experiment['device']} here", "See `attnscope devices`.")
        return problem, backend, int(ordinal)


def die(words):
    """attnscope shows the last line of stderr for a worker that does not start."""
    print(words, file=sys.stderr, flush=True)
    sys.exit(3)


def find_torch():
    # The import takes minutes from a slow disk, and the session gives up a worker that is silent from the start.
    print("importing PyTorch", file=sys.stderr, flush=True)
    try:
        import torch
        import torch.nn.attention  # noqa: F401  sdpa_kernel is there since PyTorch 2.3
    except ImportError as error:
        die(f"PyTorch 2.3 or later is not there for {sys.executable} ({error}): pip install torch, "
            "or name a Python that has it in ATTNSCOPE_PYTHON")
    if not torch.cuda.is_available():
        die(f"PyTorch {torch.__version__} sees no NVIDIA GPU: check nvidia-smi, and that this PyTorch was built for CUDA")
    return torch


def own_version(attnscope):
    try:
        said = subprocess.run([attnscope, "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError) as error:
        die(f"{attnscope} --version does not answer ({error}): name the program with --attnscope")
    return said.split()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attnscope", default="attnscope", help="the program, of the same version as the other end's")
    options = parser.parse_args()
    stream_in = os.fdopen(os.dup(0), "rb")
    stream_out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # anything that a library prints goes to stderr
    torch = find_torch()
    version = own_version(options.attnscope)
    stream_out.write(f"attnscope-worker {version}\n".encode())
    stream_out.flush()
    status = Worker(torch, version, Judge(options.attnscope), stream_in, stream_out).serve()
    sys.stderr.flush()
    os._exit(status)  # the GPU's threads may still run


if __name__ == "__main__":
    main()
