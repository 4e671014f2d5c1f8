#!/usr/bin/env python3
"""Launches each kernel of a kernels.json once, through the driver, for Nsight Compute to count.

launch.py DIR        DIR holds kernels.json and its cubins (build.py). Needs only the NVIDIA driver.

Buffers hold what `attnscope run` gives them for the same arguments: record.py names the contents of every input.
"""
import array
import ctypes
import json
import pathlib
import struct
import sys

cuda = ctypes.CDLL("libcuda.so.1")
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8}
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


def check(result, what):
    if result:
        words = ctypes.c_char_p()
        cuda.cuGetErrorString(result, ctypes.byref(words))
        sys.exit(f"{what}: {words.value.decode() if words.value else result}")


def contents(kind, dtype, count):
    if kind == "zeros":
        return bytes(count * BYTES[dtype])
    values = [1] * count if kind == "ones" else range(count)
    if dtype == "f16":
        return struct.pack(f"<{count}e", *values)
    if dtype == "bf16":  # its values here are whole numbers that need no rounding
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    if dtype == "i32" or dtype == "u32":
        return array.array("I", values).tobytes()
    if dtype == "f32":
        return array.array("f", values).tobytes()
    sys.exit(f"launch.py: no contents of type {dtype}")


def parts(text):
    return [part.strip() for part in text.split(",")] if text else []


def numbers(text):
    return (parts(text) + ["1", "1"])[:3]


class Kernel:
    def __init__(self, folder, row):
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(module), (folder / row["cubin"]).read_bytes()), row["cubin"])
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, row["symbol"].encode()), row["symbol"])
        self.name, self.shared = row["name"], int(row["shared"])
        self.grid = [int(one) for one in numbers(row["grid"])]
        self.block = [int(one) for one in numbers(row["block"])]
        sizes = dict(word.split("=") for word in parts(row["args"]) if "=" in word)
        self.sizes = {name: int(value) for name, value in sizes.items()}
        self.buffers, self.arguments = [], []
        for number, word in enumerate(parts(row["args"])):
            self.arguments.append(self.argument(word, self.bytes_of(number)))

    def bytes_of(self, number):
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        check(cuda.cuFuncGetParamInfo(self.function, ctypes.c_size_t(number), ctypes.byref(offset), ctypes.byref(size)),
              f"{self.name}: parameter {number}")
        return size.value

    def argument(self, word, size):
        if "=" in word:
            return self.sizes[word.split("=")[0]].to_bytes(size, "little", signed=True)
        fields = word.split(":")
        if len(fields) == 2:
            return struct.pack({"f32": "<f", "f64": "<d", "i32": "<i"}[fields[1]], float(fields[0]))
        _, role, dtype, elements, *kind = fields
        count = eval(elements, {"__builtins__": {}}, self.sizes)  # of our own kernels.txt
        data = contents(kind[0] if kind else "zeros", dtype, count)
        address = ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(len(data), 1))), "cuMemAlloc")
        check(cuda.cuMemcpyHtoD_v2(address, data, ctypes.c_size_t(len(data))), "cuMemcpyHtoD")
        self.buffers.append(address)
        return struct.pack("<Q", address.value)

    def launch(self):
        check(cuda.cuFuncSetAttribute(self.function, MAX_DYNAMIC_SHARED, self.shared), "cuFuncSetAttribute")
        values = [ctypes.create_string_buffer(one, len(one)) for one in self.arguments]
        addresses = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(value) for value in values))
        check(cuda.cuLaunchKernel(self.function, *self.grid, *self.block, self.shared, None, addresses, None), self.name)
        check(cuda.cuCtxSynchronize(), self.name)
        for address in self.buffers:
            cuda.cuMemFree_v2(address)


def main():
    folder = pathlib.Path(sys.argv[1])
    device, context = ctypes.c_int(), ctypes.c_void_p()
    check(cuda.cuInit(0), "cuInit")
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    for row in json.loads((folder / "kernels.json").read_text()):
        Kernel(folder, row).launch()
        print("launched", row["cubin"], row["symbol"], flush=True)


if __name__ == "__main__":
    main()
