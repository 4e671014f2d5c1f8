"""A .cu file that means harm: it is refused, or checked, within its deadlines and with bounded memory, and nothing outside its
folder is read."""
import os
import pathlib
import struct
import subprocess
import tempfile
import threading
import time
import unittest

PROGRAM = os.environ["ATTNSCOPE"]
CUBIN = (pathlib.Path(__file__).parent.parent / "data" / "compile" / "features_sm89_nvrtc13.0.cubin").read_bytes()
KERNEL = ("__global__ void k(float* y, int n) { y[threadIdx.x] = n; }\n"
          "int main() { float* y; cudaMalloc(&y, 128); k<<<1, 32>>>(y, 32); }\n")
BODY = "__global__ void k(float* y, int n) {{ {} }}\nint main() {{ float* y; cudaMalloc(&y, 128); k<<<1, 32>>>(y, 32); }}\n"
SECRET = "no_such_word_in_any_answer"
MOST_MEMORY = 4 << 20  # KiB, of all of a run's processes
HANGS_AFTER = 560      # seconds: longer than the deadline of --deadline takes on a busy machine


def memory_of(group):
    """KiB that the processes of a session hold. Each may end while it is looked at."""
    total = 0
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = pathlib.Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()
            environment = pathlib.Path("/proc", entry, "environ").read_bytes()
        except OSError:
            continue
        if group in environment:
            total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE") // 1024
    return total


class HostileSource(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.path = pathlib.Path(kept.name) / "mine"
        self.path.mkdir()
        (self.path.parent / "secret.h").write_text(f"#error {SECRET}\n")

    def check(self, text, status, names=(), command="check", name="k.cu", more=(), deadline=20000):
        file = self.path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        home = str(self.path.parent / "home")
        environment = dict(os.environ, ATTNSCOPE_HOME=home)
        arguments = [PROGRAM, command, str(file)] + (["--deadline", str(deadline)] if command == "check" else []) + list(more)
        peak = 0
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              env=environment) as process:
            def look():
                nonlocal peak
                while process.poll() is None:
                    peak = max(peak, memory_of(b"ATTNSCOPE_HOME=" + home.encode()))
                    time.sleep(0.5)
            watcher = threading.Thread(target=look)
            watcher.start()
            try:
                said = process.communicate(timeout=HANGS_AFTER)[0]
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            finally:
                watcher.join()
        self.assertIn(process.returncode, status, said[:2000])
        for name in names:
            self.assertIn(name, said)
        self.assertNotIn(SECRET, said)
        self.assertLess(peak, MOST_MEMORY)
        return said

    def test_ten_megabytes(self):
        self.check(KERNEL + "// " + "x" * (10 << 20), {2}, ["over the limit of 4194304"])

    def test_a_file_at_the_limit(self):
        lines = "".join(f"__device__ float f{i}(float x) {{ return x * {i}.0f; }}\n" for i in range(60000))
        self.check(KERNEL + lines, {0, 4})

    def test_brackets_that_never_match(self):
        for text in ("{" * 200000 + KERNEL, KERNEL + "}" * 200000, KERNEL + "(" * 200000, KERNEL + "a<" * 200000):
            self.check(text, {2, 3, 4}, ["error"])  # 4: the compiler's own process may end, and no other

    def test_zero_bytes(self):
        self.check(b"\0" * 1000 + KERNEL.encode(), {2}, ["holds a zero byte"])
        self.check(KERNEL.encode() + b"\0", {2}, ["holds a zero byte"])

    def test_devices_are_not_read(self):
        for name in ('"/dev/zero"', "</dev/zero>", '"/dev/stdin"'):
            self.check(f"#include {name}\n" + KERNEL, {3}, ["outside of what a kernel may include"])

    def test_a_fifo_is_not_opened(self):
        os.mkfifo(self.path / "pipe.h")
        self.check('#include "pipe.h"\n' + KERNEL, {0}, ["it is run without pipe.h"])
        self.check('#include "pipe.h"\n' + KERNEL, {0}, ["Headers not pasted"], command="import")

    def test_a_device_behind_a_link_is_not_opened(self):
        (self.path / "zero.h").symlink_to("/dev/zero")
        self.check('#include "zero.h"\n' + KERNEL, {0}, ["it is run without zero.h"])

    def test_files_outside_the_folder_are_not_read(self):
        (self.path / "link.h").symlink_to(self.path.parent / "secret.h")
        for name in ("../secret.h", "link.h", "./../secret.h"):
            self.check(f'#include "{name}"\n' + KERNEL, {0}, ["it is run without " + name])
        for name in ("<../secret.h>", f'"{self.path.parent}/secret.h"'):
            self.check(f"#include {name}\n" + KERNEL, {3}, ["secret.h"])

    def test_a_file_that_includes_itself(self):
        self.check('#include "k.cu"\n' + KERNEL, {0, 3})

    def test_headers_without_end(self):
        for i in range(300):
            (self.path / f"d{i}.h").write_text(f'#include "d{i + 1}.h"\n')
        self.check('#include "d0.h"\n' + KERNEL, {2}, ["the 200th header within headers"])

    def test_a_header_that_is_pasted_many_times_over(self):
        (self.path / "big.h").write_text("// " + "x" * (3 << 20) + "\n")
        (self.path / "other.h").write_text("// " + "y" * (3 << 20) + "\n")
        self.check('#include "big.h"\n#include "other.h"\n' + KERNEL, {2}, ["with its headers pasted in"])

    def test_templates_without_end(self):
        self.check("template <int N> struct A { static const int v = A<N + 1>::v; };\n" + BODY.format("y[0] = A<0>::v;"),
                   {3, 4}, ["error"])
        self.check("template <int N, int M> struct A { static const int v = A<N - 1, M>::v + A<N - 1, M + 1>::v; };\n"
                   "template <int M> struct A<0, M> { static const int v = 1; };\n" + BODY.format("y[0] = A<800, 0>::v;"),
                   {3, 4}, ["error"])

    def test_macros_that_double_forty_times(self):
        macros = "#define M0 y[0] += 1;\n" + "".join(f"#define M{i} M{i - 1} M{i - 1}\n" for i in range(1, 40))
        self.check(macros + BODY.format("M39"), {3, 4}, ["error"], deadline=1000)

    def test_a_constant_that_takes_for_ever(self):
        self.check("constexpr long spin() { long s = 0; for (long i = 0; i < (1l << 60); ++i) s += i; return s; }\n" +
                   BODY.format("constexpr long v = spin(); y[0] = v;"), {3, 4}, ["error"])

    def test_a_guessed_buffer_does_not_grow_without_end(self):
        said = self.check("__global__ void k(float* y, int n) { y[(size_t)threadIdx.x << 26] = n; }\n", {4}, ["past the end of y"])
        self.assertIn("the guessed lengths could not be tried", said)

    def test_a_kernel_without_end_whose_lengths_are_guessed(self):
        self.check("__global__ void k(volatile float* y, int n) { while (true) y[0] = n; }\n", {4}, ["it was ended"],
                   deadline=1000)  # each length takes all of it

    # ---- machine code ----
    def check_code(self, code, status, names=()):
        launch = ("--entry", "features", "--grid", "1", "--block", "128",
                  "--args", "a:inout:f16:4096, b:inout:f16:4096, c:inout:f16:4096, n=1, 1:u16")
        return self.check(code, status, names, name="k.cubin", more=launch)

    def test_machine_code_that_is_cut_off(self):
        for bytes_ in (0, 3, 63, 64, 1000, len(CUBIN) - 1):
            self.check_code(CUBIN[:bytes_], {2, 3, 4})

    def test_machine_code_that_is_forged(self):
        def put(at, form, value, code=CUBIN):
            packed = struct.pack(form, value)
            return code[:at] + packed + code[at + len(packed):]

        overlapping = struct.pack("<IIQQQQIIQQ", 0, 1, 0, 0, 0, len(CUBIN), 0, 0, 0, 0)
        many = put(0x3c, "<H", 65535, put(0x28, "<Q", len(CUBIN))) + overlapping * 65535
        self.check_code(many, {2, 3, 4}, ["lie upon each other"])
        self.check_code(put(0x28, "<Q", (1 << 64) - 64), {2, 3, 4}, ["past its end"])
        self.check_code(CUBIN.replace(b"\x18\x79\x00\x00", b"\xff\xff\xff\xff"), {0, 1, 2, 3, 4})  # NOPs
        self.check_code(CUBIN + b"\0" * (9 << 20), {2}, ["over the limit of 8388608"])
        fat = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 1 << 63)
        self.check_code(fat + CUBIN, {2, 3, 4}, ["it ends early"])
        self.check_code(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 0) * 100000, {2}, ["holds no machine code"])

    def test_machine_code_in_a_fifo_or_a_device_is_not_read(self):
        os.mkfifo(self.path / "pipe.cubin")
        for file in (self.path / "pipe.cubin", "/dev/zero"):
            (self.path / "k.json").write_text('{"id": "k", "title": "k", "cubin": "link.cubin", "entry": "k", "problem": "custom"}')
            (self.path / "link.cubin").unlink(missing_ok=True)
            (self.path / "link.cubin").symlink_to(file)
            done = subprocess.run([PROGRAM, "run", "--kernels", str(self.path), "--kernel", "k"], capture_output=True, text=True,
                                  timeout=HANGS_AFTER, env=dict(os.environ, ATTNSCOPE_HOME=str(self.path.parent / "home")))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("link.cubin", done.stderr)


if __name__ == "__main__":
    unittest.main()
