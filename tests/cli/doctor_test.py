"""What `attnscope doctor` says of a machine: with libraries in the place of the driver's, each found, absent and failing."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["ATTNSCOPE"]
FAKES = pathlib.Path(os.environ["ATTNSCOPE_FAKE_LIBCUDA"]).parent


class Doctor(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.home.name)

    def tearDown(self):
        self.home.cleanup()

    def call(self, *args, expect, **more):
        environment = dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home"), XDG_CACHE_HOME=str(self.path / "cache"),
                           ATTNSCOPE_NO_TOOLKIT="1", ATTNSCOPE_LIBCUDA=str(FAKES / "fake_libcuda_12080.so"),
                           ATTNSCOPE_NVRTC=str(FAKES / "fake_nvrtc_12_8.so"), PATH=str(self.path / "bin"))
        environment.update({name: str(value) for name, value in more.items()})
        done = subprocess.run([PROGRAM, "doctor", *args], env=environment, capture_output=True, text=True, timeout=560)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout

    def examine(self, expect=0, **more):
        """Each item by its name."""
        return {item["name"]: item for item in json.loads(self.call("--json", expect=expect, **more))}

    def missing(self, item, what, cost, get):
        self.assertEqual(item["state"], "missing")
        for key, part in (("what", what), ("cost", cost), ("get", get)):
            self.assertIn(part, item[key])

    def test_doctor_finds_what_there_is(self):
        include = self.path / "own" / "include"
        program = self.path / "bin" / "nvdisasm"
        (include / "cutlass").mkdir(parents=True)
        (include / "cutlass" / "version.h").write_text("")
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        variants = self.path / "home" / "cache" / "variants" / "a"
        variants.mkdir(parents=True)
        for name in "xyz":
            (variants / name).write_bytes(bytes(500_000))
        items = self.examine(ATTNSCOPE_LIBNVML=FAKES / "fake_nvml_EventReasons.so", ATTNSCOPE_CUTLASS=include,
                             ATTNSCOPE_CUBLAS=FAKES / "fake_cublas.so")
        for name in ("driver", "NVRTC", "NVML", "CUTLASS", "nvdisasm", "cuBLAS", "cache", "worker local"):
            self.assertEqual(items[name]["state"], "found", items[name])
            self.assertEqual((items[name]["cost"], items[name]["get"]), ("", ""))
        self.assertEqual(items["driver"]["what"],
                         "CUDA 12.8, cuda:0 Fake GPU 100 sm_89 26 GB, cuda:1 Fake GPU 101 sm_89 26 GB")
        self.assertEqual(items["NVRTC"]["what"], f"12.8, $ATTNSCOPE_NVRTC, {FAKES}/fake_nvrtc_12_8.so")
        self.assertEqual(items["NVML"]["what"], "driver 580.95.05")
        self.assertEqual(items["CUTLASS"]["what"], str(include))
        self.assertEqual(items["nvdisasm"]["what"], str(program))
        self.assertIn(f", $ATTNSCOPE_CUBLAS, {FAKES}/fake_cublas.so", items["cuBLAS"]["what"])
        cache = items["cache"]["what"]
        self.assertTrue(cache.startswith(str(self.path / "home" / "cache") + ", variants 1.5 MB in 3 files, programs 0.0 MB"), cache)
        self.assertIn("emulated:l4", items["worker local"]["what"])

    def test_doctor_says_what_an_absence_costs(self):
        items = self.examine(ATTNSCOPE_LIBNVML="/nowhere/libnvidia-ml.so.1")
        self.missing(items["NVML"], "/nowhere/libnvidia-ml.so.1", "lack clock, power", "It comes with the GPU's driver.")
        self.missing(items["headers"], "none; not cuda_fp16.h, cuda_bf16.h, mma.h",
                     "Kernels that include cuda_fp16.h, cuda_bf16.h, mma.h do not compile.", "attnscope fetch")
        self.missing(items["CUTLASS"], "CUTLASS and CuTe are not on this machine", "CUTLASS or CuTe do not compile", "fetch")
        self.missing(items["nvdisasm"], "is not on this machine", "not a config of your own", "attnscope fetch")
        self.missing(items["nvcc"], "There is no nvcc on this machine", "compiler=nvcc is refused", "attnscope fetch nvcc")
        self.missing(items["cuBLAS"], "The driver is for CUDA 12.8 and needs cuBLAS 12", "No cuBLAS routine", "ATTNSCOPE_CUBLAS")
        self.missing(items["CUPTI"], "The driver is for CUDA 12.8 and needs CUPTI 12", "the emulator counts", "ATTNSCOPE_CUPTI")

    def test_doctor_names_the_nvcc_that_fits_the_driver(self):
        (self.path / "bin").mkdir()
        nvcc, host = self.path / "bin" / "nvcc", self.path / "bin" / "g++"
        for version, state, what in (("12.8.93", "found", f"12.8.93, $ATTNSCOPE_NVCC, {nvcc}"),
                                     ("13.0.88", "missing", "makes code for CUDA 13, which the driver, for CUDA 12.8, cannot run")):
            for program, said in ((nvcc, f"release {version[:4]}, V{version}"), (host, "g++ 12")):
                program.write_text(f"#!/bin/sh\necho '{said}'\n")
                program.chmod(0o755)
            item = self.examine(ATTNSCOPE_NVCC=nvcc, NVCC_CCBIN=host)["nvcc"]
            self.assertEqual(item["state"], state, item)
            self.assertIn(what, item["what"])

    def test_doctor_tells_some_headers_from_none(self):
        for folder in ("lib", "include"):
            (self.path / "toolkit" / folder).mkdir(parents=True)
        library = self.path / "toolkit" / "lib" / "libnvrtc.so.12"
        library.symlink_to(FAKES / "fake_nvrtc_12_8.so")
        (self.path / "toolkit" / "include" / "cuda_fp16.h").write_text("")
        items = self.examine(ATTNSCOPE_NVRTC=library)
        self.missing(items["headers"], f"{self.path}/toolkit/include: cuda_fp16.h; not cuda_bf16.h, mma.h",
                     "include cuda_bf16.h, mma.h do not", "fetch")
        for name in ("cuda_bf16.h", "mma.h"):
            (self.path / "toolkit" / "include" / name).write_text("")
        items = self.examine(ATTNSCOPE_NVRTC=library)
        self.assertEqual(items["headers"]["state"], "found")
        self.assertEqual(items["headers"]["what"], f"{self.path}/toolkit/include: cuda_fp16.h, cuda_bf16.h, mma.h")

    def test_doctor_without_a_driver(self):
        items = self.examine(3, ATTNSCOPE_LIBCUDA="/nowhere/libcuda.so.1")
        self.missing(items["driver"], "/nowhere/libcuda.so.1", "times are modelled, not measured", "")
        self.missing(items["NVRTC"], "$ATTNSCOPE_LIBCUDA: /nowhere/libcuda.so.1", "Nothing compiles", "")
        self.assertNotIn("headers", items)
        for name in ("cuBLAS", "CUPTI"):
            self.missing(items[name], "needs a driver, which is missing", "", "Install the GPU's driver first.")

    def test_doctor_with_a_driver_that_fails(self):
        item = self.examine(ATTNSCOPE_FAKE_FAILS="cuInit")["driver"]
        self.missing(item, "CUDA 12.8, but cuInit failed with CUDA error 999.", "modelled, not measured", "nvidia-smi")
        item = self.examine(ATTNSCOPE_FAKE_FAILS="no GPU")["driver"]
        self.missing(item, "CUDA 12.8, but no GPU", "modelled, not measured", "Check the GPU with nvidia-smi.")

    def test_doctor_without_a_compiler_exits_3(self):
        items = self.examine(3, ATTNSCOPE_NVRTC="/nowhere/libnvrtc.so.12")
        self.missing(items["NVRTC"], "/nowhere/libnvrtc.so.12", "only variants in the cache run", "Correct or unset it.")
        self.assertEqual(items["worker local"]["state"], "found")

    def test_doctor_tells_the_walls_of_this_machine(self):
        self.missing(self.examine(ATTNSCOPE_CONFINE="off")["confinement"], "off: ATTNSCOPE_CONFINE", "Kernels still run", "Unset it.")
        item = self.examine()["confinement"]
        if item["state"] == "found":
            self.assertRegex(item["what"], r"^landlock [1-9]\d*: .*; seccomp: no network$")
        else:
            self.assertRegex(item["what"], r"no seccomp|no landlock|neither")

    def test_doctor_asks_each_worker_of_the_settings(self):
        settings = self.path / "home" / "data" / "settings.json"
        settings.parent.mkdir(parents=True)
        workers = {"gone": "/nowhere/worker", "near": f"/bin/sh -c 'exec {PROGRAM} worker'", "same": f"{PROGRAM} worker"}
        settings.write_text(json.dumps({"workers": workers}))
        items = self.examine()
        self.assertNotIn("worker same", items, "it is this program's own")
        self.missing(items["worker gone"], "", "Its devices cannot be used.", "must print a line attnscope-worker")
        self.assertEqual(items["worker near"]["state"], "found", items["worker near"])
        self.assertIn(", emulated:l4", items["worker near"]["what"])
        settings.write_text("{")
        self.missing(self.examine()["named workers"], "settings.json", "Their devices", "")

    def test_doctor_as_text_says_the_same(self):
        text = self.call(expect=0)
        self.assertRegex(text, r"(?m)^found    driver         CUDA 12\.8, cuda:0 Fake GPU 100 ")
        self.assertRegex(text, r"(?m)^missing  nvdisasm       nvdisasm, which .*\n {24}costs: .*\n {24}to get it: Run ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
