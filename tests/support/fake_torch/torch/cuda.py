"""A GPU with a clock of its own, in us."""
import ctypes
import os
import time
import types

clock = 0.0
capturing = None  # the graph that calls go into


def is_available():
    return not os.environ.get("FAKE_TORCH_NO_GPU")


def device_count():
    return 1


def get_device_properties(_):
    return types.SimpleNamespace(name="NVIDIA Fake", major=9, minor=0)


class Driver:
    """libcuda of an H200 with a small L2; the numbers are those of CUdevice_attribute."""
    ATTRIBUTES = {8: 49152, 12: 65536, 16: 132, 38: 1 << 20, 39: 2048, 81: 233472, 82: 65536, 97: 232448, 106: 32, 111: 1024}

    def cuInit(self, _):
        return 0

    def cuDeviceGet(self, device, ordinal):
        device._obj.value = ordinal
        return 0

    def cuDeviceGetAttribute(self, value, attribute, _):
        value._obj.value = self.ATTRIBUTES[attribute]
        return 0


_open_library = ctypes.CDLL
ctypes.CDLL = lambda name, *more: Driver() if name == "libcuda.so.1" else _open_library(name, *more)


def get_device_capability(_):
    return 9, 0


def set_device(_):
    pass


def synchronize(_=None):
    if os.environ.get("FAKE_TORCH_HANG"):
        time.sleep(600)


def _sleep(cycles):
    spend(cycles / 2000)


def spend(us):
    global clock
    if capturing is not None:
        capturing.us += us
    else:
        clock += us


class Event:
    def __init__(self, enable_timing=False):
        assert enable_timing

    def record(self):
        self.at = clock

    def synchronize(self):
        synchronize()

    def elapsed_time(self, other):
        return (other.at - self.at) / 1e3


class CUDAGraph:
    us = 0.0

    def replay(self):
        spend(self.us)


class graph:
    def __init__(self, into):
        self.into = into

    def __enter__(self):
        global capturing
        capturing = self.into

    def __exit__(self, *_):
        global capturing
        capturing = None
