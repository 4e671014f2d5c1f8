"""Writes probes/NAME.cubin: base.cu's loop with instructions of chosen registers in place of its FFMAs (sm_90)."""
import pathlib, re, shutil, struct, subprocess, sys, tempfile
HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parent / (sys.argv[1] if len(sys.argv) > 1 else "probes")
NVDISASM = pathlib.Path.home() / ".cache/attnscope/cuda/bin/nvdisasm"
TMP = pathlib.Path(tempfile.mkdtemp())

def cubin(name):
    subprocess.run(["nvcc", "-arch=sm_90", "-cubin", str(HERE / f"{name}.cu"), "-o", str(TMP / f"{name}.cubin")], check=True)
    return TMP / f"{name}.cubin"

def listing(file):
    text = subprocess.run([NVDISASM, "-c", "-hex", str(file)], capture_output=True, text=True, check=True).stdout
    rows, at = [], None
    for line in text.splitlines():
        m = re.match(r"\s*/\*([0-9a-f]{4,5})\*/\s+(.*?)\s*;\s+/\* 0x([0-9a-f]{16}) \*/", line)
        if m:
            at = [int(m[1], 16), m[2], int(m[3], 16), 0]
            rows.append(at)
            continue
        m = re.match(r"\s+/\* 0x([0-9a-f]{16}) \*/", line)
        if m and at and not at[3]:
            at[3] = int(m[1], 16)
    return rows

zoo = {}
for _, text, low, high in listing(cubin("zoo")):
    name = text.split()[0] if not text.startswith("@") else text.split()[1]
    zoo.setdefault(name, low | high << 64)
OPS = {"ffma": "FFMA", "fadd": "FADD", "fmul": "FMUL", "fmnmx": "FMNMX", "iadd3": "IADD3", "lop3": "LOP3.LUT", "imad": "IMAD", "shf": "SHF.L.W.U32.HI",
       "prmt": "PRMT", "hfma2": "HFMA2", "mufu": "MUFU.EX2", "hadd2": "HADD2.F32", "f2fp": "F2FP.F16.F32.PACK_AB", "hmma": "HMMA.16816.F32",
       "lds": "LDS", "lds128": "LDS.128", "sts": "STS", "sel": "SEL", "shfl": "SHFL.BFLY"}
Z = 255

def encode(op, dst, a, b, c, reuse=0, stall=1):
    word = zoo[OPS[op]]
    for at, value in ((16, dst), (24, a), (32, b), (64, c)):
        if value is None:
            continue
        word = word & ~(0xff << at) | value << at
    word &= (1 << 105) - 1
    word |= (stall | 1 << 4 | 7 << 5 | 7 << 8 | 0 << 11 | reuse << 17) << 105
    return word

base = cubin("base")
rows = listing(base)
slots = [r for r in rows if r[1].startswith("FFMA")]
assert len(slots) == 1024, len(slots)
pool = sorted({int(re.match(r"FFMA R(\d+)", r[1])[1]) for r in slots})
even, odd = [r for r in pool if r % 2 == 0], [r for r in pool if r % 2]
quads = [r for r in pool if r % 4 == 0 and all(r + i in pool for i in range(4))]
print(len(pool), "registers,", len(even), "even,", len(quads), "quads", max(pool))
data = base.read_bytes()
shoff, = struct.unpack_from("<Q", data, 0x28)
shentsize, shnum, shstr = struct.unpack_from("<HHH", data, 0x3a)
def section(i):
    return struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * shentsize)
names = section(shstr)
text_at = next(s[4] for s in map(section, range(shnum)) if data[names[4] + s[0]:].split(b"\0")[0] == b".text.probe")

SOURCES_E, SOURCES_O, DSTS = even[:16], odd[:16], [even[16:], odd[16:]]

class Maker:
    def __init__(self):
        self.e = self.o = self.d = self.q = 0
    def reg(self, kind, op):
        if kind == "z": return Z
        if kind == "e": self.e += 1; return SOURCES_E[self.e % 16]
        if kind == "o": self.o += 1; return SOURCES_O[self.o % 16]
        if kind in "EO": return (SOURCES_E if kind == "E" else SOURCES_O)[0]   # always the same
        if kind in "FP": return (SOURCES_E if kind == "F" else SOURCES_O)[1]   # another that is always the same
        raise ValueError(kind)
    def make(self, spec):
        # "ffma eoo", "ffma Eoo r1" (reuse bits), "ffma eoo de" (destination even)
        words = spec.split()
        op, kinds = words[0], words[1] if len(words) > 1 else "zzz"
        reuse = next((int(w[1:]) for w in words[2:] if w[0] == "r"), 0)
        stall = next((int(w[1:]) for w in words[2:] if w[0] == "s"), 1)
        which = next((w[1:] for w in words[2:] if w[0] == "d"), "")
        self.d += 1
        parity = {"": self.d % 2, "e": 0, "o": 1}[which]
        dst = DSTS[parity][(self.d // 2) % len(DSTS[parity])]
        if op == "hmma":
            self.q += 1
            if kinds == "zzz": return encode(op, quads[self.q % len(quads)], Z, Z, Z, reuse, stall)
            return encode(op, quads[self.q % len(quads)], quads[(self.q + 1) % len(quads)], quads[(self.q + 2) % len(quads)], quads[(self.q + 3) % len(quads)], reuse, stall)
        if op == "lds128": return encode(op, quads[self.d % len(quads)], Z, None, None, 0, stall)
        if op == "lds": return encode(op, dst, Z, None, None, 0, stall)
        if op == "sts": return encode(op, None, Z, self.reg(kinds[0], op), None, 0, stall)
        a, b, c = (self.reg(k, op) for k in (kinds + "zzz")[:3])
        if op in ("mufu",): return encode(op, dst, None, a, None, 0, stall)
        if op == "hadd2": return encode(op, dst, a, b, None, reuse, stall)
        if op in ("fadd", "fmul", "fmnmx", "f2fp", "sel"): return encode(op, dst, a, b, None, reuse, stall)
        if op == "shfl": return encode(op, dst, a, None, None, 0, stall)
        return encode(op, dst, a, b, c, reuse, stall)

P = {}
def probe(*specs): P["_".join(s.replace(" ", ".") for s in specs)] = specs
for kinds in ("zzz", "ezz", "ooz", "eez", "eoz", "eeo", "eoo", "eee", "ooo", "EEE", "EEo", "Eoz", "Eoo"): probe("ffma " + kinds)
probe("ffma eoz de"); probe("ffma eoz do"); probe("ffma eoo de"); probe("ffma eoo do")
probe("ffma eee", "ffma ooo"); probe("ffma eee", "ffma zzz"); probe("ffma eee", "ffma zzz", "ffma zzz"); probe("ffma eee", "ffma ooz"); probe("ffma eeo", "ffma eoo")
probe("ffma eez", "ffma ooz"); probe("ffma eez", "ffma zzz"); probe("ffma eee", "ffma eee", "ffma zzz", "ffma zzz", "ffma zzz", "ffma zzz")
probe("ffma Eeo r1"); probe("ffma Eee r1"); probe("ffma EFo r3"); probe("ffma EFe r3"); probe("ffma EFP r7"); probe("ffma eEo r2"); probe("ffma eoE r4"); probe("ffma EPe r3"); probe("ffma EPe r1")
probe("ffma Eeo r1", "ffma Eoe"); probe("ffma Eeo r1", "ffma eEo r2"); probe("ffma Eeo r1", "ffma oeo"); probe("ffma Eeo r1", "ffma Eeo r1", "ffma Eeo r1", "ffma Eeo")
for op in ("iadd3", "lop3", "imad", "shf", "prmt", "hfma2"):
    for kinds in ("zzz", "eoz", "eeo", "eee"): probe(f"{op} {kinds}")
probe("iadd3 eee", "iadd3 ooo"); probe("imad eee", "imad ooo")
for op in ("fadd", "fmul", "fmnmx", "f2fp", "sel"):
    for kinds in ("zzz", "eez", "eoz"): probe(f"{op} {kinds}")
probe("hadd2 zez"); probe("mufu ezz"); probe("mufu zzz")
for a, b in (("ffma", "iadd3"), ("imad", "iadd3"), ("imad", "ffma"), ("hadd2", "ffma"), ("hadd2", "iadd3"), ("hadd2", "imad"), ("hfma2", "ffma"), ("hfma2", "imad"), ("hfma2", "iadd3"),
             ("hfma2", "hadd2"), ("f2fp", "iadd3"), ("f2fp", "ffma"), ("f2fp", "imad"), ("fmnmx", "iadd3"), ("fmnmx", "imad"), ("fadd", "imad"), ("fadd", "hadd2"), ("fmul", "hadd2"), ("prmt", "imad"), ("prmt", "hadd2")):
    probe(f"{a} zzz", f"{b} zzz")
probe("ffma zzz", "ffma zzz", "iadd3 zzz"); probe("ffma zzz", "ffma zzz", "imad zzz"); probe("ffma zzz", "ffma zzz", "hadd2 zzz"); probe("iadd3 zzz", "imad zzz", "ffma zzz", "hadd2 zzz")
for kinds in ("eoz", "eeo", "eee", "ooo"): probe("ffma eeo", f"iadd3 {kinds}"); probe("ffma Eoz r1", f"iadd3 {kinds}")
probe("hadd2 zez", "ffma Eoo r1"); probe("mufu ezz", *["ffma zzz"] * 7); probe("mufu ezz", *["ffma eeo"] * 7); probe("mufu ezz", *["iadd3 zzz"] * 7)
probe("hmma zzz"); probe("hmma eoe"); probe("hmma eoe r1"); probe("hmma eoe r3")
for n in (1, 2, 3, 4, 6, 8):
    probe("hmma eoe", *["ffma zzz"] * n)
for n in (2, 4, 6):
    probe("hmma eoe", *["ffma eoz"] * n); probe("hmma eoe", *["ffma eez"] * n); probe("hmma eoe", *["iadd3 zzz"] * (n // 2)); probe("hmma eoe", *["iadd3 eeo"] * (n // 2)); probe("hmma zzz", *["ffma zzz"] * n)
probe("lds"); probe("lds128"); probe("sts e")
probe("lds", *["ffma zzz"] * 3); probe("lds", *["ffma zzz"] * 7); probe("lds128", *["ffma zzz"] * 15); probe("lds128", *["ffma eoz"] * 15); probe("lds128", *["ffma Eoo r1"] * 15)
probe("sts e", *["ffma zzz"] * 7)
for s in (2, 3): probe(f"ffma eee s{s}"); probe(f"ffma zzz s{s}"); probe(f"ffma eeo s{s}")

if OUT.name == "probes_hmma":  # how HMMA and what stands between two of them share issue slots and banks
    P = {}
    for n in range(1, 13):
        for kinds in ("zzz", "eoz", "eez", "eoo"): probe("hmma eoe", *[f"ffma {kinds}"] * n)
        probe("hmma zzz", *["ffma eoz"] * n)
        if n <= 6: probe("hmma eoe", *["iadd3 zzz"] * n); probe("hmma eoe", *["iadd3 eoz"] * n); probe("hmma eoe", "hmma eoe", *["ffma eoz"] * (2 * n)); probe("hmma eoe", "hmma eoe", "hmma eoe", "hmma eoe", *["ffma eoz"] * (4 * n))
if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    for number, (name, specs) in enumerate(P.items()):
        maker, image = Maker(), bytearray(data)
        for i, row in enumerate(slots):
            if i >= 1024 // len(specs) * len(specs): spec = "ffma zzz"
            else: spec = specs[i % len(specs)]
            word = maker.make(spec)
            struct.pack_into("<QQ", image, text_at + row[0], word & (1 << 64) - 1, word >> 64)
        short = re.sub(r"(_hmma\.eoe|_ffma\.eoo|_iadd3\.eoz|_ffma\.zzz|_ffma\.eoz|_ffma\.eez|_ffma\.eeo|_ffma\.Eoo\.r1|_iadd3\.zzz|_iadd3\.eeo)\1+", lambda m: m[1] + "x" + str(len(m[0]) // len(m[1])), name)
        (OUT / f"{number:03}_{short}.cubin").write_bytes(image)
    print(len(P), "probes")
