"""As much of PyTorch as attnscope's worker and the exported launchers touch, in plain Python: tensors in host memory, a GPU
whose clock moves by a fixed time a call. The environment sets how it misbehaves:

    FAKE_TORCH_NO_GPU=1   sees no GPU
    FAKE_TORCH_WRONG=1    its attention forgets the last key
    FAKE_TORCH_HANG=1     its first synchronize never ends
"""
import ctypes
import math
import os
import struct
import types

from . import cuda, nn  # noqa: F401

__version__ = "2.11.0+fake"
version = types.SimpleNamespace(cuda="13.0")
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(is_available=lambda: True, version=lambda: 91900))


class dtype:
    def __init__(self, name, size):
        self.name, self.size = name, size

    def __repr__(self):
        return "torch." + self.name


float16, bfloat16, float32, uint8 = dtype("float16", 2), dtype("bfloat16", 2), dtype("float32", 4), dtype("uint8", 1)
int16 = dtype("int16", 2)


class device:
    def __init__(self, text):
        self.type, _, index = text.partition(":")
        self.index = int(index) if index else None

    def __eq__(self, other):
        return (self.type, self.index) == (other.type, other.index)

    def __repr__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"


class Tensor:
    def __init__(self, data, kind, shape, place, offset=0, contiguous=True):
        self.buffer, self.dtype, self.shape, self.device = data, kind, tuple(shape), place
        self.offset, self.contiguous_ = offset, contiguous
        self.memory = (ctypes.c_char * (len(data) + 16)).from_buffer(bytearray(data) + bytearray(16))

    def data_ptr(self):
        return ctypes.addressof(self.memory) + self.offset

    def element_size(self):
        return self.dtype.size

    def numel(self):
        return math.prod(self.shape)

    def dim(self):
        return len(self.shape)

    def is_contiguous(self):
        return self.contiguous_

    def view(self, *shape):
        if isinstance(shape[0], dtype):
            return Tensor(self.buffer, shape[0], self.shape, self.device)
        return Tensor(self.buffer, self.dtype, shape, self.device)

    def to(self, place):
        return Tensor(self.buffer, self.dtype, self.shape, place)

    def cpu(self):
        return self.to(device("cpu"))

    def clone(self):
        return self.to(self.device)

    contiguous = clone

    def zero_(self):
        return self

    def values(self):
        if self.dtype is bfloat16:
            halves = struct.unpack(f"<{self.numel()}H", self.buffer)
            return [struct.unpack("<f", struct.pack("<I", half << 16))[0] for half in halves]
        return struct.unpack(f"<{self.numel()}e", self.buffer)


def _rounded(values, kind):
    if kind is bfloat16:
        words = [struct.unpack("<I", struct.pack("<f", x))[0] for x in values]
        return struct.pack(f"<{len(words)}H", *((w + 0x7FFF + (w >> 16 & 1)) >> 16 for w in words))
    return struct.pack(f"<{len(values)}e", *values)


def frombuffer(data, dtype):
    return Tensor(bytes(data), dtype, (len(data) // dtype.size,), device("cpu"))


def empty(*shape, dtype, device):
    return Tensor(bytes(min(math.prod(shape), 1 << 16) * dtype.size), dtype, shape, device)


def equal(a, b):
    return a.shape == b.shape and a.buffer == b.buffer


def empty_like(other):
    return other.clone()


class no_grad:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


_known = {}


def attention(q, k, v, causal, scale):
    """Of the same inputs computed once: the worker asks for it thousands of times."""
    wrong = bool(os.environ.get("FAKE_TORCH_WRONG"))
    key = (q.buffer, k.buffer, v.buffer, causal, scale)
    if key not in _known:
        batch, heads, rows, width = q.shape
        keys, group = k.shape[2], q.shape[1] // k.shape[1]
        scale = 1 / math.sqrt(width) if scale is None else scale
        qs, ks, vs, out = q.values(), k.values(), v.values(), []
        for head in range(batch * heads):
            other = (head // heads * k.shape[1] + head % heads // group) * keys * width
            for row in range(rows):
                mine = qs[(head * rows + row) * width:][:width]
                seen = min(keys, row + 1) if causal else keys
                seen -= wrong and seen > 1
                scores = [scale * sum(a * b for a, b in zip(mine, ks[other + j * width:])) for j in range(seen)]
                largest = max(scores)
                weights = [math.exp(score - largest) for score in scores]
                total = sum(weights)
                out += [sum(w * vs[other + j * width + d] for j, w in enumerate(weights)) / total for d in range(width)]
        _known[key] = _rounded(out, q.dtype)
    return Tensor(_known[key], q.dtype, q.shape, q.device)
