#!/usr/bin/env python3
"""Writes the kernels of the opcode recordings, their inputs and the list of their cases.

  opcode_cases.py OUT        makes OUT/opcodes.cu, OUT/opcodes.inputs, OUT/opcodes.cases

A case is one operation: an inline-PTX instruction or an expression whose machine code contains the opcode form to test. Cases
with one kind of input share kernels, at most sixteen result words per kernel, so that a cubin stays small. Every kernel is
started with 4 CTAs of 128 threads; thread i reads the eight words of row i of its kind's table and writes word k of its
results to out[k * 512 + i]. `scratch` is 4096 words of zeros. opcodes.cases has one line per case:
    kernel kind first_word words name [~N] [@ARCH]
~N: an approximation whose table is not public, within N units in the last place (docs/emulator.md); @ARCH: from that
architecture on.
"""
import random
import re
import struct
import sys

THREADS = 512
KINDS = ["int", "f32", "f64", "f16", "bf16"]

# --- Inputs ------------------------------------------------------------------------------------------------------------

INT = [0, 1, 2, 5, 31, 32, 33, 63, 0x7f, 0x80, 0xff, 0xffff, 0x10000, 0x12345678, 0x7fffffff, 0x80000000, 0x80000001,
       0xfffffffe, 0xffffffff, 0xffff8000, 64, 7]
F32 = [0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x80800001, 0x3f800000, 0xbf800000, 0x3f000000,
       0x40490fdb, 0x3f800001, 0x4b000001, 0xcb400000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
       0xffc12345, 0x7f800001, 0x477fefff, 0x477ff000, 0x33000001, 0x387fffff, 0x4f000000, 0xcf000001, 0x5f000000,
       0x3effffff, 0x40200000, 0xc0600000, 0x4f7fffff, 0x42fe0000]
F64 = [0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000,
       0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000, 0x400921fb54442d18, 0x3ff0000000000001,
       0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
       0xfff8123456789abc, 0x7ff0000000000001, 0x41dfffffffc00000, 0xc1e0000000200000, 0x43e0000000000000,
       0x4004000000000000, 0xc00c000000000000, 0x3690000000000000, 0x380fffffffffffff, 0x47efffffe0000000,
       0x47effffff0000000, 0x36a0000000000001, 0x41efffffffe00000]
F16 = [0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x8401, 0x3c00, 0xbc00, 0x3800, 0x4248, 0x3c01, 0x6401, 0xe600, 0x7bff,
       0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe12, 0x7c01, 0x37ff, 0x4100, 0xc300, 0x57f0]
BF16 = [0x0000, 0x8000, 0x0001, 0x807f, 0x0080, 0x8081, 0x3f80, 0xbf80, 0x3f00, 0x4049, 0x3f81, 0x4b01, 0xcb40, 0x7f7f,
        0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x4020, 0xc060, 0x4f00, 0x5f00]


def table(kind):
    """512 rows of 8 words: edge values in mixed pairs and triples, then moderate and wholly random ones."""
    draw = random.Random("attnscope " + kind)

    def edge():
        if kind == "int":
            return draw.choice(INT)
        if kind == "f32":
            return draw.choice(F32)
        edges = F16 if kind == "f16" else BF16
        return draw.choice(edges) | draw.choice(edges) << 16

    def moderate():
        if kind == "int":
            return draw.getrandbits(draw.randint(1, 32))
        if kind == "f32":
            return draw.getrandbits(32) & 0x807fffff | draw.randint(100, 155) << 23
        if kind == "f16":
            half = lambda: draw.getrandbits(16) & 0x83ff | draw.randint(5, 25) << 10
        else:
            half = lambda: draw.getrandbits(16) & 0x807f | draw.randint(110, 140) << 7
        return half() | half() << 16

    rows = []
    for i in range(THREADS):
        row = []
        for k in range(8):
            make = edge if i < 288 else moderate if i < 448 else lambda: draw.getrandbits(32)
            if kind == "f64":
                if k % 2:
                    continue
                if i < 288:
                    value = draw.choice(F64)
                elif i < 448:
                    value = draw.getrandbits(64) & 0x800fffffffffffff | draw.randint(960, 1090) << 52
                else:
                    value = draw.getrandbits(64)
                row += [value & 0xffffffff, value >> 32]
            else:
                row.append(make())
        rows.append(row)
    return rows


# --- Cases -------------------------------------------------------------------------------------------------------------

CASES = []   # (kind, words, name, body): the body leaves its results in r0, r1, r2, r3 (or r64a, r64b), all unsigned
WHOLE = []   # (kind, words, name, source of the whole kernel's body)
SECTIONS = [(CASES, WHOLE)]  # later ones are appended, so that earlier kernels keep their names and code


def case(kind, name, body, words=1, ulp=0):
    SECTIONS[-1][0].append((kind, words, name + (f" ~{ulp}" if ulp else ""), body))


def least_arch(text):
    """The first architecture whose assembler accepts the case; older ones leave its words 0 and do not check them."""
    if "xorsign" in text:
        return 86
    return 90 if re.search(r"(setp?[.][a-z]+[.]((u32|and|or|xor)[.])?|(ex2|tanh)[.].*)bf16", text) else 80


def whole(kind, name, words, body):
    SECTIONS[-1][1].append((kind, words, name, body))


REG = {"u32": "r", "s32": "r", "b32": "r", "u64": "l", "s64": "l", "b64": "l", "f32": "f", "f64": "d", "u16": "h", "s16": "h",
       "b16": "h", "f16": "h", "bf16": "h", "f16x2": "r", "bf16x2": "r", "u8": "r", "s8": "r"}
CTYPE = {"r": "unsigned", "l": "u64", "f": "float", "d": "double", "h": "unsigned short"}
# Expressions for the operands of a type from the eight input words; s, t, fs, ds and ls are parameters.
OPERANDS = {"r": ["a", "b", "c", "d"], "f": ["fa", "fb", "fc", "fd"], "l": ["la", "lb", "lc", "ld"], "d": ["da", "db", "dc", "dd"],
            "h": ["(unsigned short)a", "(unsigned short)b", "(unsigned short)c", "(unsigned short)d"]}
PARAM = {"r": "s", "f": "fs", "l": "ls", "d": "ds", "h": "(unsigned short)s"}
CONST = {"r": "0x1234u", "f": "1.7f", "l": "0x123456789ull", "d": "2.5", "h": "(unsigned short)0x3e00"}


def keep(register, value="r"):
    """Statement that keeps a result of that register class, and its words."""
    return {"r": (f"r0 = {value};", 1), "h": (f"r0 = {value};", 1), "f": (f"r0 = __float_as_uint({value});", 1),
            "l": (f"r0 = (unsigned){value}; r1 = (unsigned)({value} >> 32);", 2),
            "d": (f"r0 = __double2loint({value}); r1 = __double2hiint({value});", 2)}[register]


def ptx(kind, op, out, ins, operands=None, ulp=0, tag="", imm=""):
    regs = [REG[t] for t in ins]
    names = operands or [OPERANDS[r][i] for i, r in enumerate(regs)]
    to = REG[out]
    text, words = keep(to)
    marks = ",".join(f"%{i + 1}" for i in range(len(ins))) + imm
    sources = ",".join(f'"{r}"({n})' for r, n in zip(regs, names))
    case(kind, op.replace(" ", "_") + tag, f'{CTYPE[to]} r; asm("{op} %0,{marks};" : "={to}"(r) : {sources}); {text}', words, ulp)


def ptx_operands(kind, op, out, ins, places=None):
    """The instruction with registers, and with an immediate and a parameter in each place that may have one."""
    ptx(kind, op, out, ins)
    regs = [REG[t] for t in ins]
    for place in places if places is not None else range(1, len(ins)):
        for source, tag in ((CONST, "imm"), (PARAM, "param")):
            names = [OPERANDS[r][i] for i, r in enumerate(regs)]
            names[place] = source[regs[place]]
            ptx(kind, op, out, ins, names, tag=f"_{tag}{place}")


def c(kind, name, expression, register="r", ulp=0):
    text, words = keep(register, "value")
    case(kind, name, f"const {CTYPE[register]} value = {expression}; {text}", words, ulp)


def integers():
    for op in ("add", "sub"):
        ptx_operands("int", f"{op}.u32", "u32", ["u32", "u32"])
        ptx_operands("int", f"{op}.u64", "u64", ["u64", "u64"])
    ptx("int", "add.sat.s32", "u32", ["u32", "u32"])
    ptx("int", "sub.sat.s32", "u32", ["u32", "u32"])
    c("int", "add3", "a + b + c")
    c("int", "add3_neg", "b - a - c")
    c("int", "add3_param", "a + s - c")
    c("int", "add3_imm", "a + 77u - c")
    c("int", "imm_minus", "99u - a")
    case("int", "add128", 'asm("add.cc.u32 %0,%4,%8; addc.cc.u32 %1,%5,%9; addc.cc.u32 %2,%6,%10; addc.u32 %3,%7,%11;"'
         ' : "=&r"(r0),"=&r"(r1),"=&r"(r2),"=&r"(r3) : "r"(a),"r"(b),"r"(c),"r"(d),"r"(e),"r"(f),"r"(g),"r"(h));', 4)
    case("int", "sub128", 'asm("sub.cc.u32 %0,%4,%8; subc.cc.u32 %1,%5,%9; subc.cc.u32 %2,%6,%10; subc.u32 %3,%7,%11;"'
         ' : "=&r"(r0),"=&r"(r1),"=&r"(r2),"=&r"(r3) : "r"(a),"r"(b),"r"(c),"r"(d),"r"(e),"r"(f),"r"(g),"r"(h));', 4)
    case("int", "madcc", 'asm("mad.lo.cc.u32 %0,%3,%4,%5; madc.hi.cc.u32 %1,%3,%4,%6; addc.u32 %2,%6,%6;"'
         ' : "=&r"(r0),"=&r"(r1),"=&r"(r2) : "r"(a),"r"(b),"r"(c),"r"(d));', 3)
    c("int", "add64_3", "la + lb + lc", "l")
    c("int", "sub64_3", "la - lb - lc", "l")
    c("int", "sum64_32", "la + a + b", "l")
    c("int", "neg64", "0ull - la", "l")
    for t in ("u32", "s32"):
        ptx_operands("int", f"mul.lo.{t}", t, [t, t])
        ptx_operands("int", f"mul.hi.{t}", t, [t, t])
        ptx_operands("int", f"mad.lo.{t}", t, [t, t, t])
        ptx_operands("int", f"mad.hi.{t}", t, [t, t, t])
        ptx_operands("int", f"mul.wide.{t}", t.replace("32", "64"), [t, t])
        ptx("int", f"mad.wide.{t}", t.replace("32", "64"), [t, t, t.replace("32", "64")], ["a", "b", "lc"])
        ptx("int", f"mad.wide.{t}", t.replace("32", "64"), [t, t, t.replace("32", "64")], ["a", "b", "ls"], tag="_param")
        ptx("int", f"mad.wide.{t}", t.replace("32", "64"), [t, t, t.replace("32", "64")], ["a", "17", "lc"], tag="_imm")
        ptx("int", f"mul24.lo.{t}", t, [t, t])
        ptx("int", f"mul24.hi.{t}", t, [t, t])
        ptx("int", f"sad.{t}", t, [t, t, t])
    for t in ("u64", "s64"):
        ptx_operands("int", f"mul.lo.{t}", t, [t, t])
        ptx("int", f"mul.hi.{t}", t, [t, t])
        ptx("int", f"mad.lo.{t}", t, [t, t, t])
    c("int", "mul_neg", "c - a * b")
    c("int", "mulhi_add", "__umulhi(a, b) + c")
    c("int", "mul16", "(unsigned)((int)(short)a * (int)(short)b) + c")
    for t in ("u32", "s32", "u64", "s64"):
        for op in ("min", "max"):
            ptx_operands("int", f"{op}.{t}", t, [t, t])
    c("int", "min3", "min(min((int)a, (int)b), (int)c)")
    c("int", "max3u", "max(max(a, b), c)")
    c("int", "relu", "max((int)a, 0)")
    c("int", "clamp", "min(max((int)a, (int)b), (int)c)")
    for f in ("__viaddmax_s32", "__viaddmin_s32", "__viaddmax_s32_relu", "__viaddmin_s32_relu", "__viaddmax_u32", "__viaddmin_u32",
              "__vimax3_s32", "__vimin3_s32", "__vimax3_u32", "__vimin3_u32", "__vimax3_s32_relu", "__vimin3_s32_relu"):
        c("int", f, f"{f}(a, b, c)")
    for f in ("__vimax_s32_relu", "__vimin_s32_relu"):
        c("int", f, f"{f}(a, b)")
    ptx("int", "abs.s32", "s32", ["s32"])
    ptx("int", "abs.s64", "s64", ["s64"])
    ptx("int", "neg.s32", "s32", ["s32"])
    # Shifts.
    for op, t in (("shl.b32", "u32"), ("shr.u32", "u32"), ("shr.s32", "s32")):
        ptx_operands("int", op, t, [t, "u32"])
        ptx("int", op, t, [t, "u32"], ["a", "5"], tag="_5")
        ptx("int", op, t, [t, "u32"], ["0x40000001", "b"], tag="_of_imm")
        ptx("int", op, t, [t, "u32"], ["s", "b"], tag="_of_param")
    for op, t in (("shl.b64", "u64"), ("shr.u64", "u64"), ("shr.s64", "s64")):
        ptx("int", op, t, [t, "u32"], ["la", "c"])
        ptx("int", op, t, [t, "u32"], ["la", "7"], tag="_7")
        ptx("int", op, t, [t, "u32"], ["la", "39"], tag="_39")
        ptx("int", op, t, [t, "u32"], ["la", "s"], tag="_param")
    for op in ("shf.l.clamp.b32", "shf.l.wrap.b32", "shf.r.clamp.b32", "shf.r.wrap.b32"):
        ptx("int", op, "u32", ["u32", "u32", "u32"])
        ptx("int", op, "u32", ["u32", "u32", "u32"], ["a", "b", "9"], tag="_9")
        ptx("int", op, "u32", ["u32", "u32", "u32"], ["a", "b", "s"], tag="_param")
    c("int", "rotate", "__funnelshift_l(a, a, b)")
    # Logic and bits.
    for op in ("and", "or", "xor"):
        ptx_operands("int", f"{op}.b32", "u32", ["u32", "u32"])
        ptx("int", f"{op}.b64", "u64", ["u64", "u64"])
    ptx("int", "not.b32", "u32", ["u32"])
    ptx("int", "cnot.b32", "u32", ["u32"])
    for lut in (0x1b, 0x80, 0xca, 0xe8, 0x96, 0x01, 0xfe, 0x6a, 0x2d, 0xd1):
        ptx("int", "lop3.b32", "u32", ["u32", "u32", "u32"], imm=f",{lut:#x}", tag=f"_{lut:02x}")
    ptx("int", "lop3.b32", "u32", ["u32", "u32", "u32"], ["a", "0xff00ff", "c"], imm=",0xca", tag="_imm")
    ptx("int", "lop3.b32", "u32", ["u32", "u32", "u32"], ["a", "s", "c"], imm=",0xca", tag="_param")
    c("int", "and_test", "(a & b) ? c : d")
    c("int", "and_test_imm", "(a & 0x8001u) ? c : d")
    ptx("int", "popc.b32", "u32", ["u32"])
    ptx("int", "clz.b32", "u32", ["u32"])
    ptx("int", "brev.b32", "u32", ["u32"])
    for t in ("u32", "s32"):
        ptx("int", f"bfind.{t}", "u32", [t])
        ptx("int", f"bfind.shiftamt.{t}", "u32", [t])
        ptx("int", f"bfe.{t}", t, [t, "u32", "u32"])
        ptx("int", f"bfe.{t}", t, [t, "u32", "u32"], ["a", "3", "9"], tag="_imm")
        ptx("int", f"szext.clamp.{t}", t, [t, "u32"])
        ptx("int", f"szext.wrap.{t}", t, [t, "u32"])
        ptx("int", f"bfind.{t.replace('32', '64')}", "u32", [t.replace("32", "64")])
    for op in ("popc", "clz"):
        ptx("int", f"{op}.b64", "u32", ["u64"])
    ptx("int", "brev.b64", "u64", ["u64"])
    ptx("int", "bfi.b32", "u32", ["u32", "u32", "u32", "u32"])
    ptx("int", "bfi.b32", "u32", ["u32", "u32", "u32", "u32"], ["a", "b", "4", "11"], tag="_imm")
    ptx("int", "bmsk.clamp.b32", "u32", ["u32", "u32"])
    ptx("int", "bmsk.wrap.b32", "u32", ["u32", "u32"])
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        ptx("int", f"prmt.b32{mode}", "u32", ["u32", "u32", "u32"])
    ptx("int", "prmt.b32", "u32", ["u32", "u32", "u32"], ["a", "b", "0x5410"], tag="_imm")
    ptx("int", "prmt.b32", "u32", ["u32", "u32", "u32"], ["a", "b", "s"], tag="_param")
    ptx("int", "prmt.b32", "u32", ["u32", "u32", "u32"], ["a", "0x12345678", "c"], tag="_immb")
    for t in ("u32", "s32"):
        for o in ("u32", "s32"):
            ptx("int", f"dp4a.{t}.{o}", "s32", [t, o, "s32"])
            ptx("int", f"dp2a.lo.{t}.{o}", "s32", [t, o, "s32"])
            ptx("int", f"dp2a.hi.{t}.{o}", "s32", [t, o, "s32"])
    for f in ("__vadd2", "__vadd4", "__vsub2", "__vsub4", "__vabsdiffu4", "__vabsdiffs4", "__vmaxs2", "__vmaxu4", "__vmins4", "__vminu2",
              "__vavgu4", "__vcmpeq4", "__vcmpgts2", "__vsetltu4", "__vsads4", "__vsadu4", "__vaddss2", "__vsubus4", "__vhaddu4"):
        c("int", f, f"{f}(a, b)")
    for f in ("__vabs2", "__vabsss4", "__vneg2", "__vnegss4"):
        c("int", f, f"{f}(a)")
    for f in ("__vimax_s16x2_relu", "__vimin_s16x2_relu"):
        c("int", f, f"{f}(a, b)")
    for f in ("__vimax3_s16x2", "__vimin3_s16x2", "__vimax3_u16x2", "__vimin3_u16x2", "__vimax3_s16x2_relu", "__viaddmax_s16x2",
              "__viaddmin_u16x2", "__viaddmin_s16x2", "__viaddmax_u16x2", "__viaddmax_s16x2_relu"):
        c("int", f, f"{f}(a, b, c)")
    # Comparisons.
    for t in ("s32", "u32", "s64", "u64"):
        for cmp in ("lt", "le", "gt", "ge", "eq", "ne"):
            r = REG[t]
            x, y = OPERANDS[r][:2]
            case("int", f"setp.{cmp}.{t}", f'asm("{{.reg .pred p; setp.{cmp}.{t} p,%1,%2; selp.u32 %0,%3,%4,p;}}" : "=r"(r0) : '
                 f'"{r}"({x}),"{r}"({y}),"r"(e),"r"(f));')
        case("int", f"setp.imm.{t}", f'asm("{{.reg .pred p; setp.lt.{t} p,%1,%2; selp.u32 %0,%3,%4,p;}}" : "=r"(r0) : '
             f'"{r}"({x}),"{r}"({CONST[r]}),"r"(e),"r"(f));')
        case("int", f"setp.param.{t}", f'asm("{{.reg .pred p; setp.ge.{t} p,%1,%2; selp.u32 %0,%3,%4,p;}}" : "=r"(r0) : '
             f'"{r}"({x}),"{r}"({PARAM[r]}),"r"(e),"r"(f));')
    for logic in ("and", "or", "xor"):
        for cmp, t in (("lt", "s32"), ("ge", "u32"), ("ne", "s32")):
            case("int", f"setp.{cmp}.{logic}.{t}", f'asm("{{.reg .pred p,q,n; setp.ne.u32 n,%5,0; setp.{cmp}.{logic}.{t} p|q,%2,%3,n;'
                 f' selp.u32 %0,%4,%5,p; selp.u32 %1,%4,%5,q;}}" : "=r"(r0),"=r"(r1) : "r"(a),"r"(b),"r"(c),"r"(d & 3));', 2)
    c("int", "sel_imm", "(int)a < (int)b ? 0x77u : c")
    c("int", "sel_param", "(int)a < (int)b ? s : c")
    c("int", "sel64", "(int)a < (int)b ? lc : ld", "l")
    c("int", "set", "(unsigned)((int)a < (int)b) - (unsigned)(c < d)")
    c("int", "predicate_logic", "((a > b) & (c > d)) | ((e > f) ^ (g > h)) ? 1u : 2u")
    c("int", "predicate_logic3", "((a > b) != (c > d)) != (e > f) ? a : b")
    c("int", "predicate_mix", "(((int)a > 3) && ((int)b < 9 || c == d)) || (e != f && g <= h) ? c : d")
    c("int", "predicates_to_bits", "(a & 1 ? 1u : 0u) | (b > c ? 2u : 0u) | (c > d ? 4u : 0u) | (d > e ? 8u : 0u) | (e > f ? 16u : 0u) | (f > g ? 32u : 0u)")
    c("int", "bits_to_predicates", "(a & 1 ? b : 0u) + (a & 2 ? c : 0u) + (a & 4 ? d : 0u) + (a & 8 ? e : 0u) + (a & 16 ? f : 0u) + (a & 32 ? g : 0u)")
    ptx("int", "slct.u32.s32", "u32", ["u32", "u32", "s32"])
    # Addresses and scaled sums.
    c("int", "lea", "a * 8 + b")
    c("int", "lea_param", "a * 64 + s")
    c("int", "lea_imm", "(a << 4) + 1000u")
    c("int", "lea64", "((u64)a << 3) + lb", "l")
    c("int", "lea64s", "((long long)(int)a << 5) + lb", "l")
    c("int", "lea64_64", "(la << 4) + lb", "l")
    c("int", "lea64_param", "(la << 2) + ls", "l")
    c("int", "lea_hi", "(unsigned)(((la << 7) >> 32) + c)")
    c("int", "lea_hi_s", "(unsigned)((int)a / 64)")
    # Division, by the compiler's sequences.
    for t, r in (("unsigned", "r"), ("int", "r"), ("u64", "l"), ("long long", "l")):
        x, y = OPERANDS[r][:2]
        for op, word in (("/", "div"), ("%", "rem")):
            c("int", f"{word}_{t.replace(' ', '_')}", f"({t}){y} == 0 ? 0 : ({t}){x} {op} (({t}){y} == -1 ? 3 : ({t}){y})", r)
            c("int", f"{word}_{t.replace(' ', '_')}_7", f"({t}){x} {op} 7", r)
            c("int", f"{word}_{t.replace(' ', '_')}_16", f"({t}){x} {op} 16", r)
    # Narrow types.
    for t in ("u8", "s8", "u16", "s16"):
        for source in ("u32", "s32"):
            ctype = {"u8": "unsigned char", "s8": "signed char", "u16": "unsigned short", "s16": "short"}[t]
            c("int", f"narrow_{source}_{t}", f"(unsigned)({ctype})({'int' if source == 's32' else 'unsigned'})a")
            case("int", f"cvt.sat.{t}.{source}", f'asm("{{.reg .b16 h; .reg .{t[0]}{"16" if True else ""} v; cvt.sat.{t}.{source} %0,%1;}}" : "=r"(r0) : "r"(a)); r0 &= {0xff if "8" in t else 0xffff};')
    ptx("int", "cvt.sat.s32.u32", "s32", ["u32"])
    ptx("int", "cvt.sat.u32.s32", "u32", ["s32"])
    ptx("int", "cvt.sat.s32.s64", "s32", ["s64"])
    for pack in ("s8.s32", "u8.s32"):
        ptx("int", f"cvt.pack.sat.{pack}.b32", "u32", ["s32", "s32", "u32"])
    for pack in ("s16.s32", "u16.s32"):
        ptx("int", f"cvt.pack.sat.{pack}", "u32", ["s32", "s32"])
    # To floating point.
    for source, r in (("s32", "r"), ("u32", "r"), ("s64", "l"), ("u64", "l")):
        for to in ("f32", "f64"):
            for rounding in ("rn", "rz", "rm", "rp"):
                ptx("int", f"cvt.{rounding}.{to}.{source}", to, [source])
        ptx("int", f"cvt.rn.f16.{source}", "b16", [source])
        ptx("int", f"cvt.rz.f16.{source}", "b16", [source])
    for source in ("u8", "s8", "u16", "s16"):
        ctype = {"u8": "unsigned char", "s8": "signed char", "u16": "unsigned short", "s16": "short"}[source]
        c("int", f"{source}_to_f32", f"(float)({ctype})a", "f")
        c("int", f"{source}_hi_to_f32", f"(float)({ctype})(a >> 16)", "f")
        c("int", f"{source}_to_f64", f"(double)({ctype})a", "d")
    c("int", "s32_to_bf16", "__bfloat16_as_ushort(__int2bfloat16_rn((int)a))", "h")
    c("int", "f32_scaled", "(float)(int)a * 0.25f + (float)b", "f")


COMPARES = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def floats():
    for ftz in ("", ".ftz"):
        for rounding in ("rn", "rz", "rm", "rp"):
            for sat in ("", ".sat"):
                ptx("f32", f"add.{rounding}{ftz}{sat}.f32", "f32", ["f32", "f32"])
                ptx("f32", f"mul.{rounding}{ftz}{sat}.f32", "f32", ["f32", "f32"])
                ptx("f32", f"fma.{rounding}{ftz}{sat}.f32", "f32", ["f32", "f32", "f32"])
        ptx_operands("f32", f"add.rn{ftz}.f32", "f32", ["f32", "f32"], [1])
        ptx_operands("f32", f"mul.rn{ftz}.f32", "f32", ["f32", "f32"], [1])
        ptx_operands("f32", f"fma.rn{ftz}.f32", "f32", ["f32", "f32", "f32"], [1, 2])
        ptx("f32", f"fma.rn{ftz}.f32", "f32", ["f32", "f32", "f32"], ["fa", "-fb", "-fc"], tag="_neg")
        ptx("f32", f"fma.rm{ftz}.f32", "f32", ["f32", "f32", "f32"], ["fa", "1.7f", "fc"], tag="_imm")
        ptx("f32", f"fma.rm{ftz}.f32", "f32", ["f32", "f32", "f32"], ["fa", "fb", "12582913.0f"], tag="_immc")
        ptx("f32", f"fma.rn{ftz}.sat.f32", "f32", ["f32", "f32", "f32"], ["fa", "0.0057249800302088261f", "0.5f"], tag="_imm")
        ptx("f32", f"add.rn{ftz}.f32", "f32", ["f32", "f32"], ["fabsf(fa)", "-fabsf(fb)"], tag="_abs")
        ptx("f32", f"add.rn{ftz}.f32", "f32", ["f32", "f32"], ["-fa", "fs"], tag="_negparam")
        ptx("f32", f"mul.rn{ftz}.f32", "f32", ["f32", "f32"], ["fabsf(fa)", "-fb"], tag="_abs")
        for op in ("min", "max"):
            ptx_operands("f32", f"{op}{ftz}.f32", "f32", ["f32", "f32"])
            ptx("f32", f"{op}{ftz}.f32", "f32", ["f32", "f32"], ["fabsf(fa)", "-fb"], tag="_abs")
            ptx("f32", f"{op}{ftz}.NaN.f32", "f32", ["f32", "f32"])
            ptx("f32", f"{op}{ftz}.xorsign.abs.f32", "f32", ["f32", "f32"])
            ptx("f32", f"{op}{ftz}.NaN.xorsign.abs.f32", "f32", ["f32", "f32"])
        for op in ("abs", "neg"):
            ptx("f32", f"{op}{ftz}.f32", "f32", ["f32"])
        for compare in COMPARES:
            case("f32", f"setp.{compare}{ftz}.f32", f'asm("{{.reg .pred p; setp.{compare}{ftz}.f32 p,%1,%2; selp.u32 %0,%3,%4,p;}}" : "=r"(r0) : '
                 f'"f"(fa),"f"(fb),"r"(e),"r"(f));')
        for source in (CONST, PARAM):
            case("f32", f"setp.lt{ftz}.f32_{'imm' if source is CONST else 'param'}",
                 f'asm("{{.reg .pred p; setp.lt{ftz}.f32 p,%1,%2; selp.u32 %0,%3,%4,p;}}" : "=r"(r0) : "f"(fa),"f"({source["f"]}),"r"(e),"r"(f));')
            case("f32", f"setp.geu.abs{ftz}.f32_{'imm' if source is CONST else 'param'}",
                 f'asm("{{.reg .pred p; setp.geu{ftz}.f32 p,%1,%2; selp.u32 %0,%3,%4,p;}}" : "=r"(r0) : "f"(fabsf(fa)),"f"(-{source["f"]}),"r"(e),"r"(f));')
        for logic in ("and", "or", "xor"):
            case("f32", f"setp.gt.{logic}{ftz}.f32", f'asm("{{.reg .pred p,q,n; setp.ne.u32 n,%5,0; setp.gt.{logic}{ftz}.f32 p|q,%2,%3,n;'
                 f' selp.u32 %0,%4,%5,p; selp.u32 %1,%4,%5,q;}}" : "=r"(r0),"=r"(r1) : "f"(fa),"f"(fb),"r"(c),"r"(d & 3));', 2)
        for compare in ("lt", "equ", "ge"):
            ptx("f32", f"set.{compare}{ftz}.f32.f32", "f32", ["f32", "f32"])
            ptx("f32", f"set.{compare}{ftz}.u32.f32", "u32", ["f32", "f32"])
        ptx("f32", f"slct{ftz}.f32.f32", "f32", ["f32", "f32", "f32"])
        # Conversions.
        for to in ("s32", "u32", "s64", "u64"):
            for rounding in ("rni", "rzi", "rmi", "rpi"):
                ptx("f32", f"cvt.{rounding}{ftz}.{to}.f32", to, ["f32"])
        for rounding in ("rni", "rzi", "rmi", "rpi"):
            ptx("f32", f"cvt.{rounding}{ftz}.f32.f32", "f32", ["f32"])
        ptx("f32", f"cvt.rzi{ftz}.s32.f32", "s32", ["f32"], ["-fabsf(fa)"], tag="_abs")
        ptx("f32", f"cvt.sat{ftz}.f32.f32", "f32", ["f32"])
        ptx("f32", f"cvt{ftz}.f64.f32", "f64", ["f32"])
        for rounding in ("rn", "rz"):
            ptx("f32", f"cvt.{rounding}{ftz}.f16.f32", "b16", ["f32"])
        # Approximations.
        ptx("f32", f"ex2.approx{ftz}.f32", "f32", ["f32"])
        ptx("f32", f"lg2.approx{ftz}.f32", "f32", ["f32"], ulp=4)
        ptx("f32", f"rcp.approx{ftz}.f32", "f32", ["f32"])
        ptx("f32", f"rsqrt.approx{ftz}.f32", "f32", ["f32"])
        ptx("f32", f"sqrt.approx{ftz}.f32", "f32", ["f32"], ulp=2)
        ptx("f32", f"sin.approx{ftz}.f32", "f32", ["f32"], ulp=2)
        ptx("f32", f"cos.approx{ftz}.f32", "f32", ["f32"], ulp=2)
        ptx("f32", f"div.full{ftz}.f32", "f32", ["f32", "f32"])
        ptx("f32", f"div.approx{ftz}.f32", "f32", ["f32", "f32"])
        for rounding in ("rn", "rz", "rm", "rp"):
            ptx("f32", f"div.{rounding}{ftz}.f32", "f32", ["f32", "f32"])
            ptx("f32", f"rcp.{rounding}{ftz}.f32", "f32", ["f32"])
            ptx("f32", f"sqrt.{rounding}{ftz}.f32", "f32", ["f32"])
    ptx("f32", "tanh.approx.f32", "f32", ["f32"], ulp=128)
    for f, n in (("expf", 1), ("logf", 1), ("sinf", 1), ("cosf", 1), ("tanhf", 1), ("erff", 1), ("sqrtf", 1), ("rsqrtf", 1), ("powf", 2),
                 ("fmodf", 2), ("floorf", 1), ("rintf", 1), ("truncf", 1), ("roundf", 1), ("atan2f", 2), ("ldexpf", 0), ("__expf", 1),
                 ("__logf", 1), ("copysignf", 2), ("fdimf", 2), ("hypotf", 2), ("cbrtf", 1), ("nextafterf", 2)):
        arguments = "fa, (int)(e & 63) - 32" if f == "ldexpf" else ", ".join(OPERANDS["f"][:n])
        c("f32", f, f"{f}({arguments})", "f", 4 if f == "__logf" else 8 if f in ("cbrtf", "atan2f") else 0)
    ptx("f32", "copysign.f32", "f32", ["f32", "f32"])
    for kind in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        case("f32", f"testp.{kind}", f'asm("{{.reg .pred p; testp.{kind}.f32 p,%1; selp.u32 %0,1,0,p;}}" : "=r"(r0) : "f"(fa));')
    for to in ("u16", "s16"):
        ptx("f32", f"cvt.rzi.{to}.f32", "b16", ["f32"])
    c("f32", "to_u8", "(unsigned)(unsigned char)__float2uint_rz(fa)")
    for f in ("rn", "rz", "rn.relu", "rz.relu"):
        ptx("f32", f"cvt.{f}.bf16.f32", "b16", ["f32"])
        ptx("f32", f"cvt.{f}.f16x2.f32", "b32", ["f32", "f32"])
        ptx("f32", f"cvt.{f}.bf16x2.f32", "b32", ["f32", "f32"])
    ptx("f32", "cvt.rna.tf32.f32", "b32", ["f32"])
    c("f32", "select", "fa < fb ? fc : fd", "f")
    c("f32", "select_imm", "fa < fb ? 1.5f : fd", "f")


def doubles():
    for rounding in ("rn", "rz", "rm", "rp"):
        for op, n in (("add", 2), ("mul", 2), ("fma", 3)):
            ptx("f64", f"{op}.{rounding}.f64", "f64", ["f64"] * n)
        for op, n in (("div", 2), ("rcp", 1), ("sqrt", 1)):
            ptx("f64", f"{op}.{rounding}.f64", "f64", ["f64"] * n)
    ptx_operands("f64", "add.rn.f64", "f64", ["f64", "f64"])
    ptx_operands("f64", "mul.rn.f64", "f64", ["f64", "f64"])
    ptx_operands("f64", "fma.rn.f64", "f64", ["f64"] * 3)
    ptx("f64", "fma.rn.f64", "f64", ["f64"] * 3, ["da", "-db", "-dc"], tag="_neg")
    ptx("f64", "add.rn.f64", "f64", ["f64"] * 2, ["fabs(da)", "-fabs(db)"], tag="_abs")
    ptx("f64", "sub.rn.f64", "f64", ["f64"] * 2)
    for op in ("min", "max"):
        ptx_operands("f64", f"{op}.f64", "f64", ["f64", "f64"])
    for op in ("abs", "neg"):
        ptx("f64", f"{op}.f64", "f64", ["f64"])
    for compare in COMPARES:
        case("f64", f"setp.{compare}.f64", f'asm("{{.reg .pred p; setp.{compare}.f64 p,%1,%2; selp.u32 %0,%3,%4,p;}}" : "=r"(r0) : '
             f'"d"(da),"d"(db),"r"(e),"r"(f));')
    for source in (CONST, PARAM):
        case("f64", f"setp.gt.f64_{'imm' if source is CONST else 'param'}",
             f'asm("{{.reg .pred p; setp.gt.f64 p,%1,%2; selp.u32 %0,%3,%4,p;}}" : "=r"(r0) : "d"(fabs(da)),"d"({source["d"]}),"r"(e),"r"(f));')
    for logic in ("and", "or", "xor"):
        case("f64", f"setp.lt.{logic}.f64", f'asm("{{.reg .pred p,q,n; setp.ne.u32 n,%5,0; setp.lt.{logic}.f64 p|q,%2,%3,n;'
             f' selp.u32 %0,%4,%5,p; selp.u32 %1,%4,%5,q;}}" : "=r"(r0),"=r"(r1) : "d"(da),"d"(db),"r"(c),"r"(d & 3));', 2)
    for to in ("s32", "u32", "s64", "u64"):
        for rounding in ("rni", "rzi", "rmi", "rpi"):
            ptx("f64", f"cvt.{rounding}.{to}.f64", to, ["f64"])
    for rounding in ("rni", "rzi", "rmi", "rpi"):
        ptx("f64", f"cvt.{rounding}.f64.f64", "f64", ["f64"])
    for rounding in ("rn", "rz", "rm", "rp"):
        ptx("f64", f"cvt.{rounding}.f32.f64", "f32", ["f64"])
    ptx("f64", "cvt.rn.ftz.f32.f64", "f32", ["f64"])
    ptx("f64", "cvt.rn.f16.f64", "b16", ["f64"])
    ptx("f64", "cvt.sat.f64.f64", "f64", ["f64"])
    ptx("f64", "rcp.approx.ftz.f64", "f64", ["f64"], ulp=1)
    ptx("f64", "rsqrt.approx.ftz.f64", "f64", ["f64"], ulp=1)
    for f, n in (("exp", 1), ("log", 1), ("sin", 1), ("pow", 2), ("sqrt", 1), ("rsqrt", 1), ("floor", 1), ("fmod", 2), ("tanh", 1)):
        c("f64", f, f"{f}({', '.join(OPERANDS['d'][:n])})", "d")


def halves(kind):
    x2, x1 = kind + "x2", kind
    two = ["b32", "b32"]
    ftzs = ("", ".ftz") if kind == "f16" else ("",)
    for ftz in ftzs:
        for op in ("add", "sub", "mul"):
            for mode in (("", ".sat") if kind == "f16" else ("",)):
                if kind == "bf16":
                    continue
                ptx(kind, f"{op}.rn{ftz}{mode}.{x2}", "b32", two)
                ptx(kind, f"{op}.rn{ftz}{mode}.{x1}", "b16", ["b16", "b16"])
        for mode in (("", ".sat", ".relu") if kind == "f16" else ("", ".relu")):
            ptx(kind, f"fma.rn{ftz}{mode}.{x2}", "b32", ["b32"] * 3)
            ptx(kind, f"fma.rn{ftz}{mode}.{x1}", "b16", ["b16"] * 3)
        for op in ("min", "max"):
            for mode in ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"):
                ptx(kind, f"{op}{ftz}{mode}.{x2}", "b32", two)
            ptx(kind, f"{op}{ftz}.{x1}", "b16", ["b16", "b16"])
        for compare in COMPARES:
            case(kind, f"setp.{compare}{ftz}.{x2}", f'asm("{{.reg .pred p,q; setp.{compare}{ftz}.{x2} p|q,%2,%3; selp.u32 %0,%4,%5,p; selp.u32 %1,%4,%5,q;}}"'
                 f' : "=r"(r0),"=r"(r1) : "r"(a),"r"(b),"r"(e),"r"(f));', 2)
        for compare in ("lt", "geu", "ne"):
            case(kind, f"setp.{compare}{ftz}.{x1}", f'asm("{{.reg .pred p; setp.{compare}{ftz}.{x1} p,%1,%2; selp.u32 %0,%3,%4,p;}}"'
                 f' : "=r"(r0) : "h"((unsigned short)a),"h"((unsigned short)b),"r"(e),"r"(f));')
            ptx(kind, f"set.{compare}{ftz}.{x2}.{x2}", "b32", two)
            ptx(kind, f"set.{compare}{ftz}.u32.{x1}", "u32", ["b16", "b16"])
        ptx(kind, f"ex2.approx{ftz if kind == 'f16' else '.ftz'}.{x2}" if kind == "bf16" or ftz == "" else f"ex2.approx.{x1}",
            "b32" if kind == "bf16" or ftz == "" else "b16", ["b32"] if kind == "bf16" or ftz == "" else ["b16"], tag="" if ftz == "" else "_1", ulp=int(kind == "bf16"))
    for op in ("neg", "abs"):
        ptx(kind, f"{op}.{x2}", "b32", ["b32"])
    ptx(kind, f"tanh.approx.{x2}", "b32", ["b32"], ulp=1)
    ptx(kind, f"fma.rn.{x2}", "b32", ["b32"] * 3, ["a", "b ^ 0x80008000", "c ^ 0x80008000"], tag="_neg")
    imm = "0x3e003c01" if kind == "f16" else "0x3fc03f81"
    ptx(kind, f"fma.rn.{x2}", "b32", ["b32"] * 3, ["a", imm, "c"], tag="_imm1")
    ptx(kind, f"fma.rn.{x2}", "b32", ["b32"] * 3, ["a", "b", imm], tag="_imm2")
    ptx(kind, f"fma.rn.{x2}", "b32", ["b32"] * 3, ["a", "s", "c"], tag="_param1")
    ptx(kind, f"fma.rn.{x2}", "b32", ["b32"] * 3, ["a", "b", "s"], tag="_param2")
    if kind == "f16":
        for op in ("add", "mul"):
            ptx(kind, f"{op}.rn.{x2}", "b32", two, ["a", imm], tag="_imm")
            ptx(kind, f"{op}.rn.{x2}", "b32", two, ["a", "s"], tag="_param")
    t, cast, back = ("__half2", "*(__half2*)&", "*(unsigned*)&") if kind == "f16" else ("__nv_bfloat162", "*(__nv_bfloat162*)&", "*(unsigned*)&")
    h = "__half" if kind == "f16" else "__nv_bfloat16"
    low, high = ("__low2half2", "__high2half2") if kind == "f16" else ("__low2bfloat162", "__high2bfloat162")

    def with_halves(name, expression):
        case(kind, name, f"{t} x = {cast}a, y = {cast}b, z = {cast}c; {t} v = {expression}; r0 = {back}v;")

    for op in ("+", "-", "*"):
        with_halves(f"operator{op}", f"x {op} y")
        with_halves(f"operator{op}_low", f"x {op} {low}(y)")
        with_halves(f"operator{op}_high", f"{high}(x) {op} y")
    with_halves("fma_low", f"__hfma2({low}(x), y, z)")
    with_halves("fma_high", f"__hfma2({high}(x), {high}(y), z)")
    with_halves("fma_swapped", f"__hfma2(x, y, {high}(z))")
    with_halves("divide", "__h2div(x, y)")
    with_halves("rcp", "h2rcp(x)")
    with_halves("rsqrt", "h2rsqrt(x)")
    with_halves("exp", "h2exp(x)")
    with_halves("exp2", "h2exp2(x)")
    with_halves("log", "h2log(x)")
    with_halves("sqrt", "h2sqrt(x)")
    with_halves("floor", "h2floor(x)")
    with_halves("rint", "h2rint(x)")
    to_float = ("__half2float", "__low2float", "__high2float") if kind == "f16" else ("__bfloat162float", "__low2float", "__high2float")
    case(kind, "to_float", f"{t} x = {cast}a, y = {cast}b; r0 = __float_as_uint({to_float[1]}(x) * {to_float[2]}(y)); r1 = __float_as_uint({to_float[2]}(x) + {to_float[1]}(y));"
         f" r2 = __float_as_uint({to_float[1]}(x)); r3 = __float_as_uint({to_float[2]}(x));", 4)
    case(kind, "to_float_sum", f"{t} x = {cast}a; r0 = __float_as_uint({to_float[1]}(x) + fb); r1 = __float_as_uint(fmaf({to_float[2]}(x), fb, fc));", 2)
    for to in ("s32", "u32", "s64", "u64", "s16", "u16"):
        for rounding in ("rni", "rzi", "rmi", "rpi"):
            if kind == "f16":
                ptx(kind, f"cvt.{rounding}.{to}.f16", to, ["b16"])
            elif rounding == "rzi" and to in ("s32", "u32"):
                c(kind, f"to_{to}", f"__bfloat162{'int' if to == 's32' else 'uint'}_rz(__ushort_as_bfloat16((unsigned short)a))")
    if kind == "f16":
        for rounding in ("rni", "rzi", "rmi", "rpi"):
            ptx(kind, f"cvt.{rounding}.f16.f16", "b16", ["b16"])
        ptx(kind, "cvt.sat.f16.f16", "b16", ["b16"])
        ptx(kind, "cvt.f64.f16", "f64", ["b16"])
        for source in ("s16", "u16"):
            ptx(kind, f"cvt.rn.f16.{source}", "b16", [source])
    case(kind, "dot", f"{t} x = {cast}a, y = {cast}b, z = {cast}c, w = {cast}d; float sum = {to_float[1]}(x) * {to_float[1]}(y);"
         f" sum = fmaf({to_float[2]}(x), {to_float[2]}(y), sum); sum = fmaf({to_float[1]}(z), {to_float[1]}(w), sum); r0 = __float_as_uint(sum);")


def warps():
    """Between lanes."""
    for mode, extra in (("idx", ""), ("up", ""), ("down", ""), ("bfly", "")):
        clamp = "0" if mode == "up" else "0x1f"
        for name, lane, control in (("reg", "b & 31", clamp), ("imm", "5", clamp), ("segment", "b & 7", f"({clamp} | 0x1800)"), ("regs", "b & 31", "(c & 0x1f1f)")):
            case("int", f"shfl.{mode}.{name}", f'asm volatile("{{.reg .pred p; shfl.sync.{mode}.b32 %0|p,%2,%3,%4,0xffffffff; selp.u32 %1,1,0,p;}}"'
                 f' : "=r"(r0),"=r"(r1) : "r"(a),"r"({lane}),"r"({control}));', 2)
    for mode in ("all", "any", "uni"):
        case("int", f"vote.{mode}", f'asm volatile("{{.reg .pred p,q; setp.gt.u32 p,%1,%2; vote.sync.{mode}.pred q,p,0xffffffff; selp.u32 %0,1,0,q;}}" : "=r"(r0) : "r"(a),"r"(b));')
    case("int", "vote.ballot", 'asm volatile("{.reg .pred p; setp.gt.u32 p,%1,%2; vote.sync.ballot.b32 %0,p,0xffffffff;}" : "=r"(r0) : "r"(a),"r"(b));')
    case("int", "activemask", "if (a & 1) r0 = __activemask() & 0x55555555 ? a : b; else r0 = c;")
    for op in ("add", "min", "max"):
        for t in ("u32", "s32"):
            case("int", f"redux.{op}.{t}", f'asm volatile("redux.sync.{op}.{t} %0,%1,0xffffffff;" : "=r"(r0) : "r"(a));')
    for op in ("and", "or", "xor"):
        case("int", f"redux.{op}", f'asm volatile("redux.sync.{op}.b32 %0,%1,0xffffffff;" : "=r"(r0) : "r"(a | s));')
    case("int", "match.any", 'asm volatile("match.any.sync.b32 %0,%1,0xffffffff;" : "=r"(r0) : "r"(a & 3));')
    case("int", "match.any64", 'asm volatile("match.any.sync.b64 %0,%1,0xffffffff;" : "=r"(r0) : "l"(la & 0x100000001ull));')
    case("int", "match.all", 'asm volatile("{.reg .pred p; match.all.sync.b32 %0|p,%2,0xffffffff; selp.u32 %1,1,0,p;}" : "=r"(r0),"=r"(r1) : "r"(i & 64));', 2)
    case("int", "match.all_no", 'asm volatile("{.reg .pred p; match.all.sync.b32 %0|p,%2,0xffffffff; selp.u32 %1,1,0,p;}" : "=r"(r0),"=r"(r1) : "r"(i & 1));', 2)
    case("int", "match.all64", 'asm volatile("{.reg .pred p; match.all.sync.b64 %0|p,%2,0xffffffff; selp.u32 %1,1,0,p;}" : "=r"(r0),"=r"(r1) : "l"((u64)(i & 64) << 32));', 2)
    for name in ("lt", "le", "eq", "ge", "gt"):
        case("int", f"lanemask_{name}", f'asm volatile("mov.u32 %0,%%lanemask_{name};" : "=r"(r0));')
    for name in ("laneid", "tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y", "ctaid.z", "ntid.x", "ntid.y", "nctaid.x", "nctaid.y", "nctaid.z"):
        case("int", f"special_{name}", f'asm volatile("mov.u32 %0,%%{name};" : "=r"(r0));')
    case("int", "clock", "long long x = clock64(); unsigned y = clock(); long long z = clock64(); r0 = z >= x; r1 = y - (unsigned)x < 100000u;", 2)
    case("int", "globaltimer", 'u64 x; asm volatile("mov.u64 %0,%%globaltimer;" : "=l"(x)); r0 = x != 0;')
    case("int", "nanosleep", "__nanosleep(20); r0 = a;")
    case("int", "elect", '\n#if __CUDA_ARCH__ >= 900\nasm volatile("{.reg .pred p; elect.sync %0|p,0xffffffff; selp.u32 %1,1,0,p;}" : "=r"(r0),"=r"(r1));\n#else\nr0 = 0; r1 = (threadIdx.x & 31) == 0;\n#endif\n', 2)
    case("int", "reduce_add_divergent", "if (a & 1) r0 = __reduce_add_sync(__activemask(), 1u) == __popc(__activemask()); else r0 = 1;")
    case("int", "ballot_divergent", "const unsigned m = __ballot_sync(~0u, a & 1); if (a & 1) r0 = __shfl_sync(m, b, __ffs(m) - 1); else r0 = __reduce_max_sync(~m, b);")


INTEGER_TYPES = {"u8": "unsigned char", "s8": "signed char", "u16": "unsigned short", "s16": "short", "u32": "unsigned", "u64": "u64"}


def memory():
    for t, ctype in INTEGER_TYPES.items():
        words = 2 if t == "u64" else 1
        value = "la" if t == "u64" else "a"
        keep_it = "put(0, v); put(1, v >> 32);" if t == "u64" else "put(0, v);"
        whole("int", f"shared_{t}", words, f"__shared__ {ctype} x[256]; x[threadIdx.x ^ 21] = {value}; __syncthreads(); const auto v = x[threadIdx.x ^ 5]; {keep_it}")
        whole("int", f"shared_offset_{t}", words, f"__shared__ {ctype} x[512]; x[(threadIdx.x ^ 21) * 2 + 3] = {value}; __syncthreads(); const auto v = x[((threadIdx.x ^ 5) & 126) * 2 + 3]; {keep_it}")
        whole("int", f"shared_loop_{t}", 1, f"extern __shared__ {ctype} y_{t}[]; y_{t}[threadIdx.x] = {value}; __syncthreads(); unsigned sum = 0; for (unsigned k = 0; k < (s & 15) + 3; ++k) sum += y_{t}[(threadIdx.x + k * 7) & 127]; put(0, sum);")
        whole("int", f"global_{t}", words, f"{ctype}* x = ({ctype}*)scratch; x[i] = {value}; __syncthreads(); const auto v = x[i ^ 3]; {keep_it}")
        whole("int", f"global_read_only_{t}", words, f"const {ctype}* x = (const {ctype}*)in; const auto v = __ldg(x + (a & 1023)); {keep_it}")
        whole("int", f"global_cached_{t}", words * 2, f"const {ctype}* x = (const {ctype}*)in; const auto v = __ldcs(x + (a & 1023)); const auto w = __ldcg(x + (b & 1023)); put(0, v); put({words}, w); {'put(1, v >> 32); put(3, w >> 32);' if words == 2 else ''}")
        whole("int", f"global_volatile_{t}", words, f"volatile {ctype}* x = (volatile {ctype}*)scratch; x[i] = {value}; __syncthreads(); const {ctype} v = x[i ^ 3]; {keep_it}")
        whole("int", f"local_{t}", words, f"{ctype} x[16]; for (int k = 0; k < 16; ++k) x[k] = {value} * k + b; x[b & 15] += 3; const {ctype} v = x[a & 15]; {keep_it}")
        whole("int", f"generic_{t}", words, f"__shared__ {ctype} x[256]; {ctype} y[4] = {{({ctype})a, ({ctype})b, ({ctype})c, ({ctype})d}}; y[c & 3] += 5; x[threadIdx.x] = {value}; __syncthreads(); {ctype}* p = a & 1 ? x + (threadIdx.x ^ 9) : b & 1 ? y + (c & 3) : ({ctype}*)scratch + i; *p = *p + 3; const {ctype} v = *p; {keep_it}")
        whole("int", f"constant_{t}", words, f"const {ctype} v = table_{t}[a & 15]; {keep_it}")
        whole("int", f"parameter_{t}", 1, f"put(0, s + {'(unsigned)ls' if t == 'u64' else 't'});")
    whole("int", "shared_vectors", 8, "__shared__ uint4 x[128]; __shared__ uint2 y[128]; x[threadIdx.x ^ 3] = make_uint4(a, b, c, d); y[threadIdx.x ^ 6] = make_uint2(e, f); __syncthreads();"
          " const uint4 v = x[threadIdx.x ^ 17]; const uint2 w = y[threadIdx.x ^ 9]; put(0, v.x); put(1, v.y); put(2, v.z); put(3, v.w); put(4, w.x); put(5, w.y); put(6, 0); put(7, 0);")
    whole("int", "local_vectors", 6, "uint4 x[4]; uint2 y[4]; for (int k = 0; k < 4; ++k) { x[k] = make_uint4(a + k, b, c, d * k); y[k] = make_uint2(e, f + k); } x[b & 3].x += 1; y[c & 3].y ^= 3;"
          " const uint4 v = x[a & 3]; const uint2 w = y[d & 3]; put(0, v.x); put(1, v.y); put(2, v.z); put(3, v.w); put(4, w.x); put(5, w.y);")
    whole("int", "generic_vectors", 6, "__shared__ uint4 x[128]; x[threadIdx.x] = make_uint4(a, b, c, d); __syncthreads(); const uint4* p = a & 1 ? x + (threadIdx.x ^ 9) : in + i; const uint4 v = *p;"
          " uint2* q = b & 1 ? (uint2*)(x + threadIdx.x) : (uint2*)scratch + i; *q = make_uint2(v.x, v.w); const uint2 w = *q; put(0, v.x); put(1, v.y); put(2, v.z); put(3, v.w); put(4, w.x); put(5, w.y);")
    whole("int", "global_vectors", 6, "((uint4*)scratch)[i & 255] = make_uint4(1, 2, 3, 4); __syncthreads(); const uint2 w = __ldg((const uint2*)in + (a & 511)); const uint4 v = __ldcs(in + (b & 511));"
          " put(0, v.x); put(1, v.y); put(2, v.z); put(3, v.w); put(4, w.x); put(5, w.y);")
    whole("int", "global_scopes", 4, 'unsigned v0, v1, v2, v3; asm volatile("st.relaxed.gpu.u32 [%0],%1;" :: "l"(scratch + i), "r"(a)); asm volatile("ld.relaxed.gpu.u32 %0,[%1];" : "=r"(v0) : "l"(scratch + i));'
          ' asm volatile("st.release.sys.u32 [%0],%1;" :: "l"(scratch + i), "r"(b)); asm volatile("ld.acquire.sys.u32 %0,[%1];" : "=r"(v1) : "l"(scratch + i)); asm volatile("st.relaxed.cta.u32 [%0],%1;" :: "l"(scratch + i), "r"(c));'
          ' asm volatile("ld.acquire.cta.u32 %0,[%1];" : "=r"(v2) : "l"(scratch + i)); __threadfence(); __threadfence_block(); __threadfence_system(); asm volatile("ld.acquire.gpu.u32 %0,[%1];" : "=r"(v3) : "l"(scratch + i)); put(0, v0); put(1, v1); put(2, v2); put(3, v3);')
    whole("int", "device_variables", 2, "if (i == 0) counter = 5; put(0, initialised[a & 7]); put(1, *pointed);")
    whole("int", "prefetch", 1, 'asm volatile("prefetch.global.L2 [%0]; prefetch.global.L1 [%0];" :: "l"(in + i)); put(0, a);')
    # Asynchronous copies.
    for size in (4, 8, 16):
        whole("int", f"cp_async_{size}", 4, f'__shared__ uint4 x[256]; const unsigned at = (unsigned)__cvta_generic_to_shared(x + threadIdx.x); x[threadIdx.x] = make_uint4(0, 0, 0, 0); x[128 + threadIdx.x] = make_uint4(9, 9, 9, 9);'
              f' asm volatile("cp.async.{"cg" if size == 16 else "ca"}.shared.global [%0],[%1],{size}; cp.async.commit_group;" :: "r"(at), "l"(in + i));'
              f' asm volatile("cp.async.ca.shared.global [%0],[%1],4,%2; cp.async.commit_group; cp.async.wait_group 1;" :: "r"(at + 2048), "l"(in + (i ^ 1)), "r"(a & 4));'
              f' asm volatile("cp.async.wait_all;"); __syncthreads(); const uint4 v = x[threadIdx.x ^ 1]; put(0, v.x); put(1, v.y); put(2, v.z ^ x[128 + (threadIdx.x ^ 2)].x); put(3, v.w);')
    # Atomics: first a separate place for every thread, then one for all.
    for space in ("global", "shared"):
        declare = "__shared__ u64 x[256]; x[threadIdx.x] = la; x[128 + threadIdx.x] = 0; __syncthreads();" if space == "shared" else "u64* x = (u64*)scratch + (i & ~127u); x[threadIdx.x] = la; __syncthreads();"
        for t, ctype, value in (("u32", "unsigned", "c"), ("s32", "int", "(int)c"), ("u64", "u64", "lb"), ("s64", "long long", "(long long)lb")):
            for op in ("Add", "Min", "Max", "Exch", "And", "Or", "Xor", "Inc", "Dec"):
                if (op in ("Inc", "Dec") and t != "u32") or (op in ("Exch", "And", "Or", "Xor", "Add") and t == "s64"):
                    continue
                if op == "Add" and t == "s32":
                    continue
                whole("int", f"atomic{op}_{space}_{t}", 4, f"{declare} {ctype}* p = ({ctype}*)(x + threadIdx.x); const {ctype} v = atomic{op}(p, {value}); put(0, (unsigned)v); put(1, (unsigned)((u64)v >> 32)); put(2, (unsigned)*(volatile {ctype}*)p); put(3, (unsigned)((u64)*(volatile {ctype}*)p >> 32));")
                if op not in ("Exch",):
                    whole("int", f"red{op}_{space}_{t}", 2, f"{declare} {ctype}* p = ({ctype}*)(x + (threadIdx.x & 96)); __syncthreads(); atomic{op}(p, {value}); __syncthreads(); put(0, {'0' if op in ('Inc', 'Dec') else f'(unsigned)*(volatile {ctype}*)p'}); put(1, {'0' if op in ('Inc', 'Dec') else f'(unsigned)((u64)*(volatile {ctype}*)p >> 32)'});")
        for t, value, compare in (("unsigned", "c", "b & 1 ? a : d"), ("u64", "lb", "b & 2 ? la : lc")):
            whole("int", f"atomicCAS_{space}_{t}", 4, f"{declare} {t}* p = ({t}*)(x + threadIdx.x); const {t} v = atomicCAS(p, {compare}, {value}); put(0, (unsigned)v); put(1, (unsigned)((u64)v >> 32)); put(2, (unsigned)*(volatile {t}*)p); put(3, (unsigned)((u64)*(volatile {t}*)p >> 32));")
        whole("int", f"atomicCAS_{space}_short", 2, f"{declare} unsigned short* p = (unsigned short*)(x + threadIdx.x) + (c & 1); const unsigned short v = atomicCAS(p, (unsigned short)(b & 1 ? a : d), (unsigned short)e); put(0, v); put(1, *(volatile unsigned*)(x + threadIdx.x));")
        whole("f32", f"atomicAdd_{space}_f32", 2, f"{declare} float* p = (float*)(x + threadIdx.x); const float v = atomicAdd(p, fc); put(0, __float_as_uint(v)); put(1, __float_as_uint(*(volatile float*)p));")
        whole("f32", f"redAdd_{space}_f32", 1, f"{declare} float* p = (float*)(x + threadIdx.x); atomicAdd(p, fc); put(0, __float_as_uint(*(volatile float*)p));")
        whole("f64", f"atomicAdd_{space}_f64", 4, f"{declare} double* p = (double*)(x + threadIdx.x); const double v = atomicAdd(p, db); const double w = *(volatile double*)p; put(0, __double2loint(v)); put(1, __double2hiint(v)); put(2, __double2loint(w)); put(3, __double2hiint(w));")
        whole("f64", f"redAdd_{space}_f64", 2, f"{declare} double* p = (double*)(x + threadIdx.x); atomicAdd(p, db); const double w = *(volatile double*)p; put(0, __double2loint(w)); put(1, __double2hiint(w));")
        whole("f16", f"atomicAdd_{space}_f16x2", 2, f"{declare} __half2* p = (__half2*)(x + threadIdx.x); const __half2 v = atomicAdd(p, *(__half2*)&c); put(0, *(unsigned*)&v); put(1, *(volatile unsigned*)p);")
        whole("bf16", f"atomicAdd_{space}_bf16x2", 2, f"{declare} __nv_bfloat162* p = (__nv_bfloat162*)(x + threadIdx.x); const __nv_bfloat162 v = atomicAdd(p, *(__nv_bfloat162*)&c); put(0, *(unsigned*)&v); put(1, *(volatile unsigned*)p);")
    for scope in ("_block", "_system"):
        whole("int", f"atomicAdd{scope}", 1, f"atomicAdd{scope}(scratch + (i & 7), a); atomicMax{scope}((int*)scratch + 8 + (i & 7), (int)b); put(0, atomicAdd{scope}(scratch + 16 + i, 3u));")
    whole("int", "atomic_generic", 2, "__shared__ unsigned x[128]; x[threadIdx.x] = a; __syncthreads(); unsigned* p = b & 1 ? x + threadIdx.x : scratch + i; put(0, atomicAdd(p, c)); put(1, atomicMax(p, d));")


def control():
    whole("int", "loop_break", 2, "unsigned n = 0, k = a & 63; for (; k != 0; --k) { if (((k * 0x9e3779b9u) >> 28) == (b & 15)) break; if (k & 1) continue; n += k; } put(0, n); put(1, k);")
    whole("int", "nested_loops", 1, "unsigned n = 0; for (unsigned k = 0; k < (a & 15); ++k) { for (unsigned j = k; j < (b & 15); ++j) { if (j * k > 40) goto out_; n += j ^ k; } if (n > 500) break; } out_: put(0, n);")
    whole("int", "while_divergent", 1, "unsigned x = a & 0xffff, n = 0; while (x != 1 && n < 200) { x = x & 1 ? 3 * x + 1 : x >> 1; if (x == 0) break; ++n; } put(0, n);")
    whole("int", "switch_table", 1, "unsigned v; switch (a & 15) { case 0: v = b * 3; break; case 1: v = b ^ c; break; case 2: v = __popc(b); break; case 3: v = b / 3; break; case 4: v = c - b; break; case 5: v = b << (c & 7);"
          " break; case 6: v = b & c; break; case 7: v = __brev(b); break; case 8: v = b + c + d; break; case 9: v = b * c; break; case 10: v = max(b, c); break; default: v = 77; } put(0, v);")
    whole("int", "switch_loop", 1, "unsigned v = b; for (unsigned k = 0; k < 6; ++k) switch ((a >> (4 * k)) & 7) { case 0: v = v * 3; break; case 1: v ^= c; break; case 2: v = __popc(v); break; case 3: v += 3; break; case 4: v = c - v; break; case 5: v <<= 1; break; case 6: v = __brev(v); break; default: v = ~v; } put(0, v);")
    whole("int", "call", 2, "put(0, not_inlined(a, b)); put(1, a & 1 ? not_inlined(b, c) : not_inlined2(c, d));")
    whole("int", "recursion", 1, "put(0, recursive(a & 7, b));")
    whole("int", "function_pointer", 1, "function call = a & 1 ? not_inlined : b & 1 ? not_inlined2 : not_inlined3; put(0, call(b, c));")
    whole("int", "function_table", 1, "put(0, functions[a % 3](b, c));")
    whole("int", "early_return", 1, "put(0, 1); if (a & 1) return; put(0, 2); if (__any_sync(__activemask(), b & 1)) put(0, 3); if (b & 2) return; put(0, c);")
    whole("int", "syncwarp", 1, "__shared__ unsigned x[128]; unsigned v = a; if (a & 1) { v = b * c; } else { v = b ^ c; } x[threadIdx.x] = v; __syncwarp(); v = x[threadIdx.x ^ 1]; if (threadIdx.x & 16) { __syncwarp(0xffff0000); x[threadIdx.x] = v + 1; __syncwarp(0xffff0000); v += x[threadIdx.x ^ 3]; } put(0, v);")
    whole("int", "barriers_named", 1, '__shared__ unsigned x[128]; x[threadIdx.x] = a; if (threadIdx.x < 64) { asm volatile("bar.sync 1,64;" ::: "memory"); put(0, x[threadIdx.x ^ 33]); } else { asm volatile("barrier.sync 2,64;" ::: "memory"); put(0, x[threadIdx.x ^ 32]); }')
    whole("int", "barriers_arrive", 1, '__shared__ unsigned x[128]; if (threadIdx.x < 64) { x[threadIdx.x] = a; __threadfence_block(); asm volatile("bar.arrive 3,128;" ::: "memory"); put(0, b); } else { asm volatile("bar.sync 3,128;" ::: "memory"); put(0, x[threadIdx.x - 64]); }')
    whole("int", "barriers_reduce", 3, "put(0, __syncthreads_count(a & 1)); put(1, __syncthreads_and(a | (blockIdx.x & 1))); put(2, __syncthreads_or(a == 5));")
    whole("int", "barrier_number", 1, '__shared__ unsigned x[128]; x[threadIdx.x] = a; asm volatile("bar.sync %0;" :: "r"((s & 3) + 1) : "memory"); put(0, x[threadIdx.x ^ 64]);')
    whole("int", "shuffle_divergent", 1, "unsigned v = a; if (threadIdx.x & 1) v = __shfl_xor_sync(0xaaaaaaaa, v, 2) * 3; else v = __shfl_xor_sync(0x55555555, v, 4) + 1; put(0, v);")
    whole("int", "spin", 1, "__shared__ unsigned lock; __shared__ unsigned sum; if (threadIdx.x == 0) lock = sum = 0; __syncthreads(); for (bool done = false; !done;) { if (atomicCAS(&lock, 0u, 1u) == 0) { sum += a & 255; __threadfence_block(); atomicExch(&lock, 0u); done = true; } } __syncthreads(); put(0, sum);")
    whole("int", "printf", 1, 'if (i == 3 || i == 200) printf("thread %u: %d %f %s\\n", i, (int)a, 1.5, "text"); put(0, b);')
    whole("int", "assert", 1, "assert(a != 0x13572468); put(0, a);")
    whole("int", "malloc_free", 1, "put(0, a);")


def tensors():
    """Tensor Core products with rotated operands, so that each warp makes four of them; and the moves that feed them."""
    fragments = ["a, b, c, d, e, f", "b, c, d, a, f, e", "h, b, a, c, g, d", "e, f, g, h, a, b"]
    for kind, t in (("f16", "f16"), ("bf16", "bf16")):
        number = ["__half2float(__ushort_as_half((unsigned short)(%s)))" if kind == "f16" else "__uint_as_float((%s) << 16)"][0]
        addends = ", ".join(number % x for x in ("g & 0xffff", "g >> 16", "h & 0xffff", "h >> 16"))
        for shape, a_words, b_words in (("m16n8k16", 4, 2), ("m16n8k8", 2, 1)):
            body = f"const float z[4] = {{{addends}}};"
            for k, order in enumerate(fragments):
                names = order.split(", ")
                registers = names[:a_words] + names[4:4 + b_words]
                marks_a = ",".join(f"%{4 + n}" for n in range(a_words))
                marks_b = ",".join(f"%{4 + a_words + n}" for n in range(b_words))
                marks_c = ",".join(f"%{4 + a_words + b_words + n}" for n in range(4))
                sources = ",".join(f'"r"({n})' for n in registers) + "," + ",".join(f'"f"(z[{n}])' for n in range(4))
                body += (f' {{ float v0, v1, v2, v3; asm volatile("mma.sync.aligned.{shape}.row.col.f32.{t}.{t}.f32 {{%0,%1,%2,%3}},{{{marks_a}}},{{{marks_b}}},{{{marks_c}}};"'
                         f' : "=f"(v0),"=f"(v1),"=f"(v2),"=f"(v3) : {sources});' + "".join(f" put({4 * k + n}, __float_as_uint(v{n}));" for n in range(4)) + " }")
            whole(kind, f"mma.{shape}.f32.{t}", 16, body)
            if kind == "bf16":
                continue
            body = ""
            for k, order in enumerate(fragments):
                names = order.split(", ")
                registers = names[:a_words] + names[4:4 + b_words] + ["g", "h"]
                marks_a = ",".join(f"%{2 + n}" for n in range(a_words))
                marks_b = ",".join(f"%{2 + a_words + n}" for n in range(b_words))
                sources = ",".join(f'"r"({n})' for n in registers)
                body += (f' {{ unsigned v0, v1; asm volatile("mma.sync.aligned.{shape}.row.col.f16.f16.f16.f16 {{%0,%1}},{{{marks_a}}},{{{marks_b}}},{{%{2 + a_words + b_words},%{3 + a_words + b_words}}};"'
                         f' : "=r"(v0),"=r"(v1) : {sources}); put({2 * k}, v0); put({2 * k + 1}, v1); }}')
            whole(kind, f"mma.{shape}.f16.f16", 8, body)
    for trans in ("", ".trans"):
        for count in (1, 2, 4):
            outs = ",".join(f'"=r"(v[{n}])' for n in range(count))
            marks = ",".join(f"%{n}" for n in range(count))
            whole("int", f"ldmatrix.x{count}{trans}", count,
                  f'__shared__ uint4 x[128]; x[threadIdx.x] = make_uint4(a, b, c, d); __syncthreads(); unsigned v[4]; const unsigned at = (unsigned)__cvta_generic_to_shared(x + ((threadIdx.x * 5 + 3) & 127));'
                  f' asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{marks}}},[%{count}];" : {outs} : "r"(at)); ' + " ".join(f"put({n}, v[{n}]);" for n in range(count)))
    whole("int", "movmatrix", 1, 'unsigned v; asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0,%1;" : "=r"(v) : "r"(a)); put(0, v);')


def ordinary():
    """Small kernels as people write them, for forms that appear only in whole programs."""
    n = "threadIdx.x"
    whole("f32", "block_sum", 1, "__shared__ float x[128]; x[threadIdx.x] = fabsf(fa) < 1e4f ? fa : 1.0f; __syncthreads(); for (int k = 64; k > 0; k >>= 1) { if (threadIdx.x < k) x[threadIdx.x] += x[threadIdx.x + k]; __syncthreads(); } put(0, __float_as_uint(x[0]));")
    whole("f32", "warp_sum", 1, "float v = fabsf(fa) < 1e4f ? fa : 1.0f; for (int k = 16; k > 0; k >>= 1) v += __shfl_down_sync(~0u, v, k); v = __shfl_sync(~0u, v, 0); put(0, __float_as_uint(v));")
    whole("int", "scan", 1, "unsigned v = a & 0xffff; for (int k = 1; k < 32; k <<= 1) { const unsigned u = __shfl_up_sync(~0u, v, k); if ((threadIdx.x & 31) >= k) v += u; } __shared__ unsigned t_[4]; if ((threadIdx.x & 31) == 31) t_[threadIdx.x / 32] = v; __syncthreads(); for (int w = 0; w < threadIdx.x / 32; ++w) v += t_[w]; put(0, v);")
    whole("int", "histogram", 1, "__shared__ unsigned bins[64]; if (threadIdx.x < 64) bins[threadIdx.x] = 0; __syncthreads(); atomicAdd(&bins[a & 63], 1u); atomicAdd(&bins[(b >> 7) & 63], 2u); __syncthreads(); put(0, bins[threadIdx.x & 63]);")
    whole("int", "transpose", 2, "__shared__ unsigned x[32][33]; for (int r = 0; r < 8; ++r) x[(threadIdx.x >> 5) * 8 + r][threadIdx.x & 31] = a + r; __syncthreads(); unsigned v = 0; for (int r = 0; r < 8; ++r) v = v * 31 + x[threadIdx.x & 31][(threadIdx.x >> 5) * 8 + r]; put(0, v); put(1, x[threadIdx.x & 31][5]);")
    whole("int", "bytes_table", 2, "__shared__ unsigned char x[512]; __shared__ signed char y[512]; __shared__ unsigned short z[256]; for (int k = threadIdx.x; k < 512; k += 128) { x[k] = a + k; y[k] = b - k; z[k & 255] = k * 3; } __syncthreads(); unsigned v = 0; for (int k = 0; k < (c & 7) + 2; ++k) v += x[(d + k * 5) & 511] * y[(e + k) & 511] + z[(f + k) & 255]; put(0, v); put(1, x[a & 511] | y[b & 511] << 8);")
    whole("f32", "matmul", 2, "__shared__ float x[16][17], y[16][17]; for (int k = threadIdx.x; k < 256; k += 128) { x[k >> 4][k & 15] = __uint_as_float(0x3f800000u | (a * (k + 1) & 0x7fffff)); y[k >> 4][k & 15] = __uint_as_float(0x3f800000u | (b + k * 977 & 0x7fffff)); } __syncthreads(); float v = 0, w = 0; for (int k = 0; k < 16; ++k) { v = fmaf(x[threadIdx.x >> 3][k], y[k][threadIdx.x & 7], v); w += x[threadIdx.x >> 3][k] * y[k][8 + (threadIdx.x & 7)]; } put(0, __float_as_uint(v)); put(1, __float_as_uint(w));")
    whole("f64", "matmul64", 2, "__shared__ double x[8][8]; if (threadIdx.x < 64) x[threadIdx.x >> 3][threadIdx.x & 7] = __hiloint2double(0x3ff00000 | (b & 0xfffff), a); __syncthreads(); double v = 0; for (int k = 0; k < 8; ++k) v = fma(x[(threadIdx.x >> 3) & 7][k], x[k][threadIdx.x & 7], v); put(0, __double2loint(v)); put(1, __double2hiint(v));")
    whole("f16", "half_gemv", 1, "__shared__ __half2 x[64]; if (threadIdx.x < 64) x[threadIdx.x] = __floats2half2_rn((threadIdx.x & 7) * 0.25f, (threadIdx.x & 3) - 1.5f); __syncthreads(); __half2 sum = __float2half2_rn(0.f); for (int k = 0; k < 16; ++k) sum = __hfma2(x[k * 3 & 63], x[(threadIdx.x + k) & 63], sum); put(0, *(unsigned*)&sum);")
    whole("f16", "softmax_half", 1, "const __half2 x = *(__half2*)&g; float lo = fminf(fmaxf(__low2float(x), -8.f), 8.f), hi = fminf(fmaxf(__high2float(x), -8.f), 8.f); float m = fmaxf(lo, hi); for (int k = 16; k; k >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, k)); put(0, __float_as_uint(m));")
    whole("bf16", "bf16_sum", 1, "const __nv_bfloat162 x = *(__nv_bfloat162*)&a, y = *(__nv_bfloat162*)&b; const __nv_bfloat162 v = __hadd2(__hmul2(x, y), x); put(0, *(unsigned*)&v);")
    whole("int", "int8_dot", 1, "int v = c; for (int k = 0; k < 4; ++k) v = __dp4a((int)(a * (k + 1)), (int)(b ^ k), v); put(0, v);")
    whole("int", "quantise", 1, "unsigned v = 0; const unsigned words[4] = {a, b, c, d}; for (int k = 0; k < 4; ++k) { const int q = min(max(__float2int_rn((float)(int)words[k] * 1e-7f), -128), 127); v |= (q & 255) << (8 * k); } put(0, v);")
    whole("int", "philox", 4, "unsigned x0 = a, x1 = b, x2 = c, x3 = d, k0 = e, k1 = f; for (int r = 0; r < 10; ++r) { const unsigned h0 = __umulhi(0xD2511F53u, x0), l0 = 0xD2511F53u * x0, h1 = __umulhi(0xCD9E8D57u, x2), l1 = 0xCD9E8D57u * x2; x0 = h1 ^ x1 ^ k0; x1 = l1; x2 = h0 ^ x3 ^ k1; x3 = l0; k0 += 0x9E3779B9u; k1 += 0xBB67AE85u; } put(0, x0); put(1, x1); put(2, x2); put(3, x3);")
    whole("int", "xorshift64", 2, "u64 x = la | 1; for (int k = 0; k < 5; ++k) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; } put(0, x); put(1, x >> 32);")
    whole("int", "murmur", 2, "u64 v = la ^ 0x9ddfea08eb382d69ull; v ^= v >> 33; v *= 0xff51afd7ed558ccdull; v ^= v >> 33; v *= 0xc4ceb9fe1a85ec53ull; v ^= v >> 33; put(0, v); put(1, v >> 32);")
    whole("int", "crc", 1, "unsigned crc = ~0u; for (int k = 0; k < 4; ++k) { crc ^= (a >> (8 * k)) & 255; for (int j = 0; j < 8; ++j) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1; } put(0, ~crc);")
    whole("int", "gcd", 1, "unsigned x = a & 0xffff, y = b & 0xffff; while (y) { const unsigned t_ = x % y; x = y; y = t_; } put(0, x);")
    whole("int", "isqrt", 1, "unsigned x = a, r = 0; for (unsigned bit = 1u << 30; bit; bit >>= 2) { if (x >= r + bit) { x -= r + bit; r = (r >> 1) + bit; } else r >>= 1; } put(0, r);")
    whole("int", "binary_search", 1, "__shared__ unsigned x[128]; x[threadIdx.x] = threadIdx.x * 37; __syncthreads(); int lo = 0, hi = 128; while (lo < hi) { const int mid = (lo + hi) >> 1; if (x[mid] < (a & 8191)) lo = mid + 1; else hi = mid; } put(0, lo);")
    whole("int", "bitonic", 1, "__shared__ unsigned x[128]; x[threadIdx.x] = a; __syncthreads(); for (unsigned k = 2; k <= 128; k <<= 1) for (unsigned j = k >> 1; j > 0; j >>= 1) { const unsigned o = threadIdx.x ^ j; if (o > threadIdx.x) { const bool up = (threadIdx.x & k) == 0; if ((x[threadIdx.x] > x[o]) == up) { const unsigned t_ = x[o]; x[o] = x[threadIdx.x]; x[threadIdx.x] = t_; } } __syncthreads(); } put(0, x[threadIdx.x]);")
    whole("int", "insertion_sort", 2, "unsigned x[8] = {a, b, c, d, e, f, g, h}; for (int k = 1; k < 8; ++k) { const unsigned v = x[k]; int j = k - 1; while (j >= 0 && x[j] > v) { x[j + 1] = x[j]; --j; } x[j + 1] = v; } put(0, x[s & 7]); put(1, x[(a & 7)]);")
    whole("int", "large_switch", 1, "unsigned v = b; switch (a % 24) { " + " ".join(f"case {k}: v = {e}; break;" for k, e in enumerate(
        ["b * 3", "b ^ c", "__popc(b)", "b / 3", "c - b", "b << (c & 7)", "b & c", "__brev(b)", "b + c + d", "b * c", "max(b, c)", "__clz(b)", "b | 9", "c >> 3", "d * d", "e + f", "f % 11", "~g", "h - 4", "b * b + 1", "__umulhi(b, c)", "min(d, e)", "b + 77"])) + " default: v = c * 5; } put(0, v);")
    whole("int", "switch_of_calls", 1, "unsigned v = b; for (int k = 0; k < 3; ++k) { switch ((a >> (5 * k)) & 31) { " + " ".join(f"case {k}: v = not_inlined{['', '2', '3'][k % 3]}(v, c + {k});{' break;' if k % 4 else ''}" for k in range(20)) + " default: v ^= d; } } put(0, v);")
    whole("int", "struct_copy", 4, "struct S { unsigned char x; short y; unsigned z; u64 w; }; __shared__ S x[128]; x[threadIdx.x] = {(unsigned char)a, (short)b, c, la}; __syncthreads(); const S v = x[threadIdx.x ^ 7]; put(0, v.x); put(1, v.y); put(2, v.z); put(3, v.w >> 5);")
    whole("int", "pointer_chase", 1, "__shared__ unsigned short next[128]; next[threadIdx.x] = (threadIdx.x * 37 + 11) & 127; __syncthreads(); unsigned p = a & 127; for (unsigned k = 0; k < (b & 31); ++k) p = next[p]; put(0, p);")
    whole("f32", "horner", 1, "float v = 0; const float k_[6] = {1.f, -0.5f, 0.25f, -0.125f, 0.0625f, 3.f}; for (int k = 0; k < 6; ++k) v = v * fa + k_[k]; put(0, __float_as_uint(v));")
    whole("f32", "clamp_index", 1, "const int x = min(max((int)floorf(fa * 16.f), 0), 127); __shared__ float y[128]; y[threadIdx.x] = threadIdx.x * 0.5f; __syncthreads(); put(0, __float_as_uint(y[x]));")
    whole("f32", "stencil", 1, "__shared__ float x[130]; x[threadIdx.x + 1] = fa; if (threadIdx.x == 0) x[0] = fb; if (threadIdx.x == 127) x[129] = fc; __syncthreads(); put(0, __float_as_uint(0.25f * x[threadIdx.x] + 0.5f * x[threadIdx.x + 1] + 0.25f * x[threadIdx.x + 2]));")
    whole("f32", "argmax", 2, "float v = fa == fa ? fa : 0.f; unsigned at = threadIdx.x; for (int k = 16; k; k >>= 1) { const float o = __shfl_xor_sync(~0u, v, k); const unsigned p = __shfl_xor_sync(~0u, at, k); if (o > v || (o == v && p < at)) { v = o; at = p; } } put(0, __float_as_uint(v)); put(1, at);")
    whole("f32", "minmax_int", 2, "const int x = __float_as_int(fa), y = x >= 0 ? x : x ^ 0x7fffffff; __shared__ int least, most; if (threadIdx.x == 0) { least = 0x7fffffff; most = 0x80000000; } __syncthreads(); atomicMin(&least, y); atomicMax(&most, y); __syncthreads(); put(0, least); put(1, most);")
    whole("f64", "compensated", 2, "double sum = 0, lost = 0; const double x[4] = {da, db, dc, dd}; for (int k = 0; k < 4; ++k) { const double y = x[k] - lost, t_ = sum + y; lost = (t_ - sum) - y; sum = t_; } put(0, __double2loint(sum)); put(1, __double2hiint(sum));")
    whole("f64", "float_and_double", 2, "const float x = (float)da * 0.5f + (float)(int)c; const double v = (double)x * db + (double)(long long)la; put(0, __double2loint(v)); put(1, __double2hiint(v));")
    whole("int", "time_of_day", 3, "const int day = (int)(la % 146097), era = day / 365, rest = day - 365 * era; put(0, era); put(1, rest / 31); put(2, (unsigned)(la / 86400 % 7));")
    whole("int", "fixed_point", 2, "const long long v = (long long)(int)a * (int)b + ((long long)(int)c << 16); put(0, (unsigned)(v >> 16)); put(1, (unsigned)(v % 1000003));")
    whole("int", "utf8", 1, "unsigned v; const unsigned x = a & 0x1fffff; if (x < 0x80) v = x; else if (x < 0x800) v = 0xc080 | (x & 0x7c0) << 2 | (x & 0x3f); else if (x < 0x10000) v = 0xe08080 | (x & 0xf000) << 4 | (x & 0xfc0) << 2 | (x & 0x3f); else v = 0xf0808080 | (x & 0x1c0000) << 6 | (x & 0x3f000) << 4 | (x & 0xfc0) << 2 | (x & 0x3f); put(0, v);")
    whole("int", "half_warp_groups", 1, "unsigned v = a; const unsigned mask = 0xffu << (threadIdx.x & 24); for (int k = 4; k; k >>= 1) v += __shfl_xor_sync(mask, v, k, 8); put(0, v);")
    whole("int", "compact", 1, "const bool keep_ = (a & 3) == 1; const unsigned m = __ballot_sync(~0u, keep_); unsigned lt; asm(\"mov.u32 %0,%%lanemask_lt;\" : \"=r\"(lt)); __shared__ unsigned x[128]; x[threadIdx.x] = 0; __syncwarp(); if (keep_) x[(threadIdx.x & 96) + __popc(m & lt)] = b; __syncwarp(); put(0, x[threadIdx.x] + __popc(m));")
    whole("int", "dynamic_tiles", 2, "extern __shared__ unsigned y_tiles[]; unsigned* p = y_tiles + 128; y_tiles[threadIdx.x] = a; p[threadIdx.x ^ 3] = b; __syncthreads(); put(0, y_tiles[(threadIdx.x + 5) & 127] + p[threadIdx.x]); put(1, ((unsigned char*)y_tiles)[threadIdx.x * 3]);")
    whole("int", "double_buffer", 2, "__shared__ __align__(16) unsigned x[2][512]; for (int k = 0; k < 4; ++k) { const unsigned at = (unsigned)__cvta_generic_to_shared(&x[k & 1][threadIdx.x * 4]); asm volatile(\"cp.async.cg.shared.global [%0],[%1],16; cp.async.commit_group;\" :: \"r\"(at), \"l\"(in + ((i + k * 64) & 511)) : \"memory\"); asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\"); __syncthreads(); put(k & 1, x[k & 1][(threadIdx.x * 4 + k * 13) & 511]); __syncthreads(); }")
    whole("int", "strided_global", 2, "unsigned v = 0, w = 0; const unsigned* p = (const unsigned*)in; const unsigned char* q = (const unsigned char*)in; for (unsigned k = i; k < 4096; k += 512) { v += p[k]; w ^= q[k * 4 + 1]; } put(0, v); put(1, w);")
    whole("int", "three_dimensions", 1, "const unsigned n_ = (s & 7) + 2; unsigned v = 0; for (unsigned z = 0; z < n_; ++z) for (unsigned y = 0; y < 3; ++y) v += ((const unsigned*)in)[((z * 7 + y) * 11 + threadIdx.x) & 4095] * (z + y); put(0, v);")
    whole("int", "predicated_stores", 2, "if (a & 1) scratch[i] = b; else if (a & 2) ((unsigned short*)scratch)[2 * i] = (unsigned short)c; else if (a & 4) ((unsigned char*)scratch)[4 * i + 3] = (unsigned char)d; put(0, scratch[i]); put(1, a & 8 ? b : c);")
    whole("int", "jump_table", 1, "unsigned r; asm volatile(\"{ ts: .branchtargets T0, T1, T2, T3, T4, T5, T6, T7; brx.idx %1, ts; T0: add.u32 %0,%2,1; bra DONE; T1: mul.lo.u32 %0,%2,7; bra DONE; T2: xor.b32 %0,%2,0x55; bra DONE; T3: popc.b32 %0,%2; bra DONE; T4: sub.u32 %0,9,%2; bra DONE; T5: shl.b32 %0,%2,3; bra DONE; T6: not.b32 %0,%2; bra DONE; T7: brev.b32 %0,%2; bra DONE; DONE: }\" : \"=r\"(r) : \"r\"(a & 7), \"r\"(b)); put(0, r);")


def further():
    """Forms that the first recordings lack: every comparison with every combination, scaled products, wide local accesses, and
    the uniform datapath."""
    comparisons = {"f32": [f"{x}.f32" for x in COMPARES], "ftz": [f"{x}.ftz.f32" for x in COMPARES],
                   "int": [f"{x}.{t}" for t in ("s32", "u32") for x in COMPARES[:6]]}
    for kind, all_of_kind in comparisons.items():
        register, x, y = ("r", "a", "b") if kind == "int" else ("f", "fa", "fb")
        for logic in ("and", "or", "xor"):
            body = "".join(f' asm("{{.reg .pred p,q,n; .reg .b32 x,y; setp.ne.u32 n,%4,0; setp.{one.split(".")[0]}.{logic}.{one.split(".", 1)[1]} p|q,%2,%3,n; selp.u32 x,{1 << k},0,p;'
                           f' selp.u32 y,{1 << k},0,q; or.b32 %0,%0,x; or.b32 %1,%1,y;}}" : "+r"(r0),"+r"(r1) : "{register}"({x}),"{register}"({y}),"r"(d >> {k} & 1));'
                           for k, one in enumerate(all_of_kind))
            case("int" if kind == "int" else "f32", f"setp.all.{logic}.{kind}", body, 2)
    # The comparison is a branch's condition, where it cannot be inverted.
    for kind in ("f32", "int"):
        x, y, z, w = ("fa", "fb", "fc", "fd") if kind == "f32" else ("(int)a", "(int)b", "(int)c", "(int)d")
        for op, name in (("<=", "le"), (">=", "ge"), ("<", "lt"), (">", "gt"), ("==", "eq"), ("!=", "ne")):
            case(kind, f"both_{name}", f"r0 = {x} {op} {y} && {z} {op} {w} ? e : f; r1 = {x} {op} {y} || {z} {op} {w} ? e : f; r2 = ({x} {op} {z}) != ({y} {op} {w}) ? g : h;"
                 f" r3 = !({x} {op} {w}) && !({z} {op} {y}) ? e : g;", 4)
            case(kind, f"both_{name}_constant", f"r0 = {x} {op} {'fs' if kind == 'f32' else '(int)s'} && {z} {op} {w} ? e : f; r1 = {x} {op} {'1.5f' if kind == 'f32' else '77'} || {z} {op} {w} ? e : f;", 2)
    # Products scaled by powers of two.
    for k, factor in (("d2", "0.5f"), ("d4", "0.25f"), ("d8", "0.125f"), ("m2", "2.0f"), ("m4", "4.0f"), ("m8", "8.0f")):
        for source, second in (("imm", "3.14159274f"), ("reg", "fb"), ("param", "fs")):
            case("f32", f"fmul_{k}_{source}", f'float x; asm("{{.reg .f32 v; mul.f32 v,%1,%2; mul.f32 %0,v,{factor[:-1]};}}" : "=f"(x) : "f"(fa),"f"({second})); r0 = __float_as_uint(x);')
            case("f32", f"fmul_{k}_{source}.ftz", f'float x; asm("{{.reg .f32 v; mul.ftz.f32 v,%1,%2; mul.ftz.f32 %0,v,{factor[:-1]};}}" : "=f"(x) : "f"(fa),"f"({second})); r0 = __float_as_uint(x);')
    for t in ("u32", "s32"):
        for place, names in (("imm0", ["99", "b", "c"]), ("imm1", ["a", "99", "c"]), ("imm2", ["a", "b", "7"]), ("param1", ["a", "s", "c"]), ("param2", ["a", "b", "s"])):
            ptx("int", f"sad.{t}", t, [t, t, t], names, tag=f"_{place}")
    for source, value in (("imm", "3.0"), ("imm7", "-7.25"), ("param", "ds")):
        c("f64", f"divide_by_{source}", f"da / {value}", "d")
        c("f64", f"divide_{source}", f"{value} / da", "d")
    ptx("f64", "rcp.approx.ftz.f64", "f64", ["f64"], ["ds"], tag="_param", ulp=1)
    ptx("f64", "rsqrt.approx.ftz.f64", "f64", ["f64"], ["ds"], tag="_param", ulp=1)
    # Votes that branch for the whole warp, and fences.
    for name, condition in (("any", "__any_sync(~0u, (a & 31) == 5)"), ("all", "__all_sync(~0u, (a & 31) != 5)"), ("all_float", "__all_sync(~0u, (a & 255) < 250)")):
        whole("int", f"vote_branch_{name}", 2, f"unsigned v = b; for (int k = 0; k < 4; ++k) {{ if ({condition}) {{ v = v * 3 + c; a >>= 3; }} else {{ v ^= d; a += 7; }} }} put(0, v); put(1, a);")
    whole("f32", "vote_rescale", 2, "float m = fa, sum = 0; for (int k = 0; k < 4; ++k) { const float x = k & 1 ? fb * 0.5f : fc; const bool raised = x > m; m = fmaxf(m, x); if (__any_sync(~0u, raised)) sum = sum * 0.5f + m; else sum += 1.0f; } put(0, __float_as_uint(sum)); put(1, __float_as_uint(m));")
    whole("int", "vote_uniform", 2, "unsigned v = a; if (!__any_sync(~0u, (b & 63) == 9)) { put(0, 1); put(1, c); return; } v = __shfl_xor_sync(~0u, v, 3) + d; if (__all_sync(~0u, c != 77)) v *= 3; put(0, v); put(1, e);")
    whole("int", "fences_light", 1, 'asm volatile("fence.acq_rel.cta; fence.acq_rel.gpu; fence.acq_rel.sys;" ::: "memory"); put(0, a);')
    # Local arrays of vectors, of one block and of several.
    whole("int", "local_vector_stack", 5, "uint4 x[12]; uint2 y[12]; for (unsigned k = 0; k < 12; ++k) { x[k] = make_uint4(k, b, k, a); y[k] = make_uint2(k, c); } int top = 0; for (unsigned k = 0; k < 6 + (a & 3); ++k) { x[top] = make_uint4(a ^ k, b + k, c, d); y[top] = make_uint2(e + k, f); top += (c >> k & 1) + 1; if (top > 9) top = 0; }"
          " x[10] = make_uint4(1, 2, 3, 4); uint4 v = make_uint4(0, 0, 0, 0); uint2 w = make_uint2(0, 0); for (int k = top - 1; k >= 0; k -= 2) { v.x += x[k].x; v.y ^= x[k].y; v.z += x[k].z; v.w = v.w * 3 + x[k].w; w.x += y[k].x; w.y ^= y[k].y; if (x[k].x & 64) break; }"
          " put(0, v.x); put(1, v.y); put(2, v.z); put(3, v.w); put(4, w.x ^ w.y);")
    whole("int", "local_quadruples", 4, "struct __align__(16) S { unsigned v[4]; }; S x[8]; for (int k = 0; k < 8; ++k) x[k] = S{{a + k, b * k, c ^ k, d}}; S y = x[a & 7]; x[b & 7] = y; const S z = x[c & 7]; put(0, z.v[0]); put(1, z.v[1]); put(2, z.v[2]); put(3, z.v[3]);")
    # The uniform datapath: values that depend only on parameters and the CTA.
    whole("int", "uniform_ctas", 4, "unsigned v = a; const unsigned* p = (const unsigned*)in; for (unsigned k = 0; k < (blockIdx.x & 3) + 2; ++k) v = v * 5 + p[(blockIdx.x * 64 + blockIdx.y * 8 + blockIdx.z + k) & 4095]; put(0, v); put(1, blockIdx.x * s + t); put(2, blockIdx.y * s + t); put(3, blockIdx.z * s + t);")
    whole("int", "uniform_rows", 2, "const unsigned* p = (const unsigned*)in + (blockIdx.y * s + blockIdx.z * 8 + blockIdx.x * 32); unsigned v = b, w = c; for (unsigned k = 0; k < (s & 7) + blockIdx.x; ++k) { v += p[k * 32 + (threadIdx.x & 31)]; w ^= (p + blockIdx.y * 64)[k] * (blockIdx.z + k); } put(0, v); put(1, w);")
    for op, name in (("<=", "le"), (">=", "ge"), ("<", "lt"), (">", "gt"), ("==", "eq"), ("!=", "ne")):
        whole("int", f"uniform_compare_{name}", 3, f"const int u = (int)s - 3 * (int)blockIdx.x, w = (int)(t >> 24) - 20; unsigned v = a; if (u {op} w || (int)blockIdx.x * 16 {op} w) v += b; if (u {op} 38 && w + (int)blockIdx.x {op} 44) v ^= c; put(0, v);"
              f" put(1, u {op} w || (unsigned)u {op} (t >> 26) ? a : b); unsigned n_ = 0; for (int k = 0; k < 3 && (k * u {op} w || (unsigned)(k * w) {op} s); ++k) n_ += a >> k; put(2, n_);")
    whole("int", "uniform_predicates", 2, "const bool x = (s & 1) != (blockIdx.x & 1), y = (int)s > (int)blockIdx.x * 20, z = t > ls; put(0, (x && (a & 1)) || (y && (b & 2)) || (z && (c & 4)) ? d : e); put(1, ((a > b) && x) != ((c > d) || y) ? f : g);")
    whole("int", "uniform_division", 2, "const long long u = (long long)(int)(s * blockIdx.x) - 57; put(0, (unsigned)(u / 7) + a); put(1, (unsigned)(u % 12) ^ b);")
    # Addresses of bytes, halves and words by signed numbers.
    for t, ctype in INTEGER_TYPES.items():
        whole("int", f"signed_address_{t}", 2, f"const {ctype}* p = (const {ctype}*)in + 64; const int x = (int)(a & 511) - 60, y = (int)(b & 127) - (int)(s & 31); const auto v = p[x]; const auto w = p[y * 2 + (int)blockIdx.x]; put(0, (unsigned)v); put(1, (unsigned)w + (unsigned)(p + x - (const {ctype}*)in));")
    for condition in ("a & 1", "(int)b < (int)c"):
        whole("int", f"cp_async_zero_fill_{len(condition)}", 4, '__shared__ uint4 x[256]; const unsigned at = (unsigned)__cvta_generic_to_shared(x + threadIdx.x); x[threadIdx.x] = make_uint4(9, 9, 9, 9); x[128 + threadIdx.x] = make_uint4(9, 9, 9, 9);'
              f' const int there = {condition} ? 16 : 0; asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2; cp.async.commit_group;" :: "r"(at), "l"(in + (i ^ 5)), "r"(there));'
              ' asm volatile("cp.async.cg.shared.global.L2::128B [%0],[%1],16,%2; cp.async.wait_all;" :: "r"(at + 2048), "l"(in + i), "r"(there)); __syncthreads();'
              ' const uint4 v = x[threadIdx.x ^ 1], w = x[128 + (threadIdx.x ^ 3)]; put(0, v.x ^ w.w); put(1, v.y ^ w.z); put(2, v.z ^ w.y); put(3, v.w ^ w.x);')
    # Narrow parameters and constants at their own width.
    for t, ctype in (("u8", "unsigned char"), ("s8", "signed char"), ("u16", "unsigned short"), ("s16", "short")):
        whole("int", f"narrow_parameter_{t}", 2, f"put(0, (unsigned)({ctype})s + a); put(1, (unsigned)(({ctype})(t >> 16) * ({ctype})s) + b);")
    c("int", "u32_param_to_f32", "(float)s + (float)a", "f")
    for rounding in ("rn", "rz", "rm", "rp"):
        for source in ("u32", "s32"):
            ptx("int", f"cvt.{rounding}.f32.{source}", "f32", [source], ["s"], tag="_param")
    c("int", "divide_param", "a / s + b % t")
    c("int", "divide_param_s", "(int)a / (int)s + (int)b % (int)t")


def latest():
    """Comparisons of 64 bits, every one with every combination; uniform wide products; loads with cache hints."""
    for kind, register, x, y in (("f64", "d", "da", "db"), ("s64", "l", "la", "lb"), ("u64", "l", "la", "lb")):
        compares = COMPARES if kind == "f64" else COMPARES[:6]
        for logic in ("and", "or", "xor"):
            body = "".join(f' asm("{{.reg .pred p,q,n; .reg .b32 x,y; setp.ne.u32 n,%4,0; setp.{one}.{logic}.{kind} p|q,%2,%3,n; selp.u32 x,{1 << k},0,p;'
                           f' selp.u32 y,{1 << k},0,q; or.b32 %0,%0,x; or.b32 %1,%1,y;}}" : "+r"(r0),"+r"(r1) : "{register}"({x}),"{register}"({y}),"r"(h >> {k} & 1));'
                           for k, one in enumerate(compares))
            case("f64" if kind == "f64" else "int", f"setp.all.{logic}.{kind}", body, 2)
        if kind != "f64":  # the upper words decide, or not: also numbers that share them
            for logic in ("and", "or", "xor"):
                body = "".join(f' asm("{{.reg .pred p,q,n; .reg .b32 x,y; setp.ne.u32 n,%4,0; setp.{one}.{logic}.{kind} p|q,%2,%3,n; selp.u32 x,{1 << k},0,p;'
                               f' selp.u32 y,{1 << k},0,q; or.b32 %0,%0,x; or.b32 %1,%1,y;}}" : "+r"(r0),"+r"(r1) : "l"(la),"l"({"0x500000007ll" if k & 1 else "(la & 0xffffffff00000000ull | c)"}),"r"(h >> {k} & 1));'
                               for k, one in enumerate(compares))
                case("int", f"setp.near.{logic}.{kind}", body, 2)
    for op, name in (("<=", "le"), (">=", "ge"), ("<", "lt"), (">", "gt"), ("==", "eq"), ("!=", "ne")):
        for kind, x, y, z, w in (("f64", "da", "db", "dc", "dd"), ("int", "(long long)la", "(long long)lb", "(long long)lc", "(long long)ld")):
            case(kind, f"both64_{name}", f"r0 = {x} {op} {y} && {z} {op} {w} ? e : f; r1 = {x} {op} {y} || {z} {op} {w} ? e : f; r2 = ({x} {op} {z}) != ({y} {op} {w}) ? g : h;"
                 f" r3 = {x} {op} {'1.5' if kind == 'f64' else '7ll'} || !({z} {op} {y}) ? e : g;", 4)
    for source, high in (("imm", "0x12345678u"), ("param", "s")):
        c("int", f"shift_into_{source}", f"(unsigned)((((u64){high} << 32) | a) >> (b & 63))")
        c("int", f"shift_from_{source}", f"(unsigned)(((((u64){high} << 32) | a) << (b & 63)) >> 32)")
        c("int", f"shift_signed_{source}", f"(long long)(((u64){high} << 32) | a) >> (b & 63)", "l")
        for op in ("shf.l.clamp.b32", "shf.l.wrap.b32", "shf.r.clamp.b32", "shf.r.wrap.b32"):
            ptx("int", op, "u32", ["u32", "u32", "u32"], ["a", high, "c"], tag=f"_high_{source}")
            ptx("int", op, "u32", ["u32", "u32", "u32"], [high, "a", "c"], tag=f"_low_{source}")
    whole("int", "uniform_wide", 4, "const long long u = (long long)(int)(s - blockIdx.x * 50) * (int)(t >> 20), w = (long long)(int)(blockIdx.x - 2) * 0x2ll; put(0, (unsigned)u + a); put(1, (unsigned)(u >> 32) ^ b);"
          " const unsigned* p = (const unsigned*)in + 64 + w * 4; unsigned v = 0; for (unsigned k = 0; k < (s & 3) + blockIdx.x; ++k) v += p[k * 2 + (threadIdx.x & 7)]; put(2, v); put(3, (unsigned)(w >> 32));")
    for t, ctype in INTEGER_TYPES.items():
        words = 2 if t == "u64" else 1
        reg = "h" if "16" in t or "8" in t else "l" if t == "u64" else "r"
        for level in ("64B", "128B"):
            whole("int", f"global_hint_{level}_{t}", 2, f'{"u64" if reg == "l" else "unsigned short" if reg == "h" else "unsigned"} v; asm volatile("ld.global.L2::{level}.{t} %0,[%1];" : "={reg}"(v) : "l"((const {ctype}*)in + (a & 511))); put(0, (unsigned)v); put(1, {"(unsigned)(v >> 32)" if words == 2 else "0"});')
    for level in ("64B", "128B"):
        whole("int", f"global_hint_{level}_v4", 4, f'unsigned v0, v1, v2, v3; asm volatile("ld.global.L2::{level}.v4.u32 {{%0,%1,%2,%3}},[%4];" : "=r"(v0),"=r"(v1),"=r"(v2),"=r"(v3) : "l"(in + (i ^ 3))); put(0, v0); put(1, v1); put(2, v2); put(3, v3);')


def strangers():
    """Forms that published kernels use and no earlier case has: returns on two conditions, clocks of 32 bits, barriers
    counted by a register, atomics of every scope and of generic addresses, comparisons of packed halves by any name,
    and the Tensor Cores' whole, fp64 and TF32 products."""
    whole("int", "early_return_both", 2, "put(0, 1); if ((int)a > 5 && (int)b < 9) return; put(0, 2); if ((c & 1) || (d & 1)) return; put(0, e); put(1, f);")
    whole("int", "clock_32", 1, "const clock_t t0 = clock(); __syncwarp(); unsigned v = a; for (int k = 0; k < 4; ++k) v = v * 3 + b; const unsigned t1 = (unsigned)clock(); put(0, t1 - (unsigned)t0 < 1000000u ? v : 0);")
    whole("int", "clock_32_asm", 1, 'unsigned t0, t1; asm volatile("mov.u32 %0,%%clock;" : "=r"(t0) :: "memory"); const unsigned v = in[a & 1023].x; asm volatile("mov.u32 %0,%%clock;" : "=r"(t1) :: "memory"); put(0, t1 - t0 < 1000000u ? v : 0);')
    whole("int", "barrier_count_register", 1, '__shared__ unsigned x[128]; x[threadIdx.x] = a; const unsigned group = threadIdx.x / 64; asm volatile("bar.sync %0,%1;" :: "r"(group + (s & 3) + 1), "r"((s >> 31) + 64) : "memory"); put(0, x[(threadIdx.x ^ 5) & 63 | group * 64]);')
    whole("int", "sleep_register", 1, "__nanosleep(a & 15); put(0, b);")
    whole("int", "trap_not_met", 1, "if (a == 0x13572468) __trap(); put(0, a);")
    for t, width in (("unsigned", 0), ("u64", 32)):
        value = "a" if t == "unsigned" else "la"
        whole("int", f"generic_cas_{t}", 4, f"__shared__ u64 x[128]; x[threadIdx.x] = la; __syncthreads(); {t}* p = ({t}*)(b & 1 ? x + threadIdx.x : (u64*)scratch + i); const {t} u = atomicCAS(p, c & 1 ? {value} : 0, ({t})d), w = atomicExch(p, ({t})e); put(0, (unsigned)u); put(1, (unsigned)(u >> {width})); put(2, (unsigned)w); put(3, (unsigned)*p);")
    for t, ctype in (("b8", "unsigned char"), ("b16", "unsigned short"), ("b64", "uint2"), ("b128", "uint4")):
        value = {"b8": "(unsigned char)c", "b16": "(unsigned short)c", "b64": "make_uint2(c, d)", "b128": "make_uint4(c, d, e, f)"}[t]
        whole("int", f"generic_store_{t}", 2, f"__shared__ uint4 x[128]; x[threadIdx.x] = make_uint4(a, a, a, a); __syncthreads(); uint4* p = b & 1 ? x + threadIdx.x : (uint4*)scratch + i; *({ctype}*)p = {value}; __syncthreads(); put(0, p->x); put(1, p->w);")
    for scope in ("_system", "_block"):
        for op, t in (("Add", "unsigned"), ("Add", "int"), ("Add", "u64"), ("Add", "float"), ("Add", "double"), ("Min", "unsigned"), ("Min", "int"), ("Max", "unsigned"),
                      ("Max", "int"), ("Inc", "unsigned"), ("Dec", "unsigned"), ("And", "unsigned"), ("Or", "unsigned"), ("Xor", "unsigned"), ("Exch", "unsigned")):
            value = {"unsigned": "a", "int": "(int)a", "u64": "la", "float": "(float)(int)(a & 1023)", "double": "(double)(int)b"}[t]
            bits = {"float": "__float_as_uint({})", "double": "(unsigned)__double2loint({}) ^ (unsigned)__double2hiint({})", "u64": "(unsigned)({} >> 7)"}.get(t, "(unsigned){}").replace("{}", "v")
            whole("int", f"atomic{op}{scope}_{t}", 1, f"{t}* p = ({t}*)((u64*)scratch + i); {t} v = atomic{op}{scope}(p, {value}); atomic{op}{scope}(p, {value}); v = *(volatile {t}*)p; put(0, {bits});")
        whole("int", f"atomicCAS{scope}", 2, f"scratch[i] = b & 3; put(0, atomicCAS{scope}(scratch + i, c & 3, d)); put(1, *(volatile unsigned*)(scratch + i));")
    whole("f16", "atomic_half", 2, "__half* p = (__half*)scratch + i; *p = *(__half*)&a; const __half v = atomicAdd(p, *(__half*)&b); put(0, __half_as_ushort(v)); put(1, *(volatile unsigned short*)p);")
    for kind, t in (("f16", "f16x2"), ("bf16", "bf16x2")):
        for one in COMPARES:
            ptx(kind, f"set.{one}.{t}.{t}", "b32", ["b32", "b32"])
            ptx(kind, f"set.{one}.{t}.{t}", "b32", ["b32", "b32"], ["a", "0u"], tag="_zero")
            if kind == "f16":
                ptx(kind, f"set.{one}.ftz.{t}.{t}", "b32", ["b32", "b32"])
            for logic in ("and", "or", "xor"):
                case(kind, f"set.{one}.{logic}.{t}.{t}", f'asm("{{.reg .pred n; setp.ne.u32 n,%3,0; set.{one}.{logic}.{t}.{t} %0,%1,%2,n;}}" : "=r"(r0) : "r"(a),"r"(b),"r"(h & 1));')
    for one in COMPARES:
        ptx("f32", f"set.{one}.u32.f32", "u32", ["f32", "f32"])
        ptx("f32", f"set.{one}.f32.f32", "f32", ["f32", "f32"])
    ptx("f32", "cvt.rna.tf32.f32", "b32", ["f32"])
    products()


# A, B and the sum of a thread as words, from the eight of its row, four products a kernel.
FRAGMENTS = ["a, b, c, d, e, f, g, h", "b, c, d, a, f, e, h, g", "h, b, a, c, g, d, e, f", "e, f, g, h, a, b, d, c"]


def product(kind, shape, types, a_words, b_words, sum_words, register, options=""):
    """Four products mma.sync of a shape, of words of the row; sums of 32 bits, or (register d) of 64."""
    body = ""
    for k, order in enumerate(FRAGMENTS):
        names = order.split(", ")
        doubles = ["da", "db", "dc", "dd"][k:] + ["da", "db", "dc", "dd"][:k]
        sources = [f'"r"({n})' for n in (names * 2)[:a_words + b_words]] if register != "d" else [f'"d"({d})' for d in (doubles * 4)[:a_words + b_words]]
        reads = {"r": '"r"({})', "f": '"f"(__uint_as_float({}))'}.get(register)
        sources += [reads.format(n) for n in (names[::-1] * 2)[:sum_words]] if register != "d" else [f'"d"({d})' for d in (doubles[::-1] * 2)[:sum_words]]
        at = [0, sum_words, sum_words + a_words, sum_words + a_words + b_words, 2 * sum_words + a_words + b_words]
        marks = ["{" + ",".join(f"%{n}" for n in range(at[i], at[i + 1])) + "}" for i in range(4)]
        ctype = {"r": "unsigned", "f": "float", "d": "double"}[register]
        outs = ",".join(f'"={register}"(v[{n}])' for n in range(sum_words))
        body += f' {{ {ctype} v[{sum_words}]; asm volatile("mma.sync.aligned.{shape}.row.col{options}.{types} {",".join(marks)};" : {outs} : {",".join(sources)});'
        for n in range(sum_words):
            if register == "d":
                body += f" put({4 * k + 2 * n}, __double2loint(v[{n}])); put({4 * k + 2 * n + 1}, __double2hiint(v[{n}]));"
            else:
                body += f" put({4 * k + n}, {'__float_as_uint(v[%d])' % n if register == 'f' else 'v[%d]' % n});"
        body += " }"
    # Integers are the same on every architecture.
    whole(kind, f"{'imma' if register == 'r' else 'mma'}.{shape}{options}.{types}", 16, body)


def products():
    for x in ("s8", "u8"):
        for y in ("s8", "u8"):
            product("int", "m16n8k32", f"s32.{x}.{y}.s32", 4, 2, 4, "r")
            product("int", "m16n8k16", f"s32.{x}.{y}.s32", 2, 1, 4, "r")
            product("int", "m8n8k16", f"s32.{x}.{y}.s32", 1, 1, 2, "r")
            product("int", "m16n8k32", f"s32.{x}.{y}.s32", 4, 2, 4, "r", ".satfinite")
    # On sm_90 ptxas writes these with products of 8 bits; sm_80 and sm_89 have the opcode.
    for x in ("s4", "u4"):
        for y in ("s4", "u4"):
            for options in ("", ".satfinite"):
                product("int", "m16n8k64", f"s32.{x}.{y}.s32", 4, 2, 4, "r", options)
                product("int", "m16n8k32", f"s32.{x}.{y}.s32", 2, 1, 4, "r", options)
                product("int", "m8n8k32", f"s32.{x}.{y}.s32", 1, 1, 2, "r", options)
    product("f64", "m8n8k4", "f64.f64.f64.f64", 1, 1, 2, "d")
    for kind in ("f32", "int"):  # edge values, then random words
        for shape, a_words, b_words in (("m16n8k4", 2, 1), ("m16n8k8", 4, 2)):
            product(kind, shape, "f32.tf32.tf32.f32", a_words, b_words, 4, "f")
    # Moderate numbers, so that the sum's bits matter: exponents of a few octaves, and some far apart.
    for spread, name in ((3, "near"), (23, "wide")):
        prepare = (f"const auto mild = [](unsigned x) {{ return (x & 0x807fffffu) | (127u - {spread} / 2 + (x >> 9) % {spread}) << 23; }};"
                   " a = mild(a * 0x9e3779b9u + 1); b = mild(b * 0x85ebca6bu + 3); c = mild(c * 0xc2b2ae35u + 5); d = mild(d * 0x27d4eb2fu + 7);"
                   " e = mild(e * 0x165667b1u + 9); f = mild(f * 0xd3a2646cu + 11); g = mild(g * 0xfd7046c5u + 13); h = mild(h * 0xb55a4f09u + 15);")
        for shape, a_words, b_words in (("m16n8k4", 2, 1), ("m16n8k8", 4, 2)):
            product("int", shape, "f32.tf32.tf32.f32", a_words, b_words, 4, "f")
            kind, words, _, body = SECTIONS[-1][1].pop()
            whole(kind, f"mma.{shape}.tf32.{name}", words, prepare + body)


PRELUDE = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <assert.h>
#include <stdio.h>
typedef unsigned long long u64;
__device__ unsigned counter;
__device__ unsigned initialised[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ unsigned* pointed = initialised + 4;
"""
FUNCTIONS = """
__device__ __noinline__ unsigned not_inlined(unsigned x, unsigned y) { return x * 7 + (y ^ (x >> 3)); }
__device__ __noinline__ unsigned not_inlined2(unsigned x, unsigned y) { return x % (y | 1) + 5; }
__device__ __noinline__ unsigned not_inlined3(unsigned x, unsigned y) { return __popc(x) * y; }
__device__ __noinline__ unsigned recursive(unsigned n, unsigned x) { return n == 0 ? x : recursive(n - 1, x * 3 + n) ^ n; }
typedef unsigned (*function)(unsigned, unsigned);
__constant__ function functions[3] = {not_inlined, not_inlined2, not_inlined3};
"""
PARAMETERS = ("const uint4* __restrict__ in, unsigned* out, unsigned* scratch, unsigned s, unsigned t, float fs, unsigned unused, "
              "u64 ls, double ds")
ROW = {
    "all": "  const unsigned i = blockIdx.x * 128 + threadIdx.x;\n  const uint4 low = in[2 * i], high = in[2 * i + 1];\n"
           "  unsigned a = low.x, b = low.y, c = low.z, d = low.w, e = high.x, f = high.y, g = high.z, h = high.w;\n",
    "f32": "  float fa = __uint_as_float(a), fb = __uint_as_float(b), fc = __uint_as_float(c), fd = __uint_as_float(d);\n",
    "u64": "  u64 la = a | (u64)b << 32, lb = c | (u64)d << 32, lc = e | (u64)f << 32, ld = g | (u64)h << 32;\n",
    "f64": "  double da = __hiloint2double(b, a), db = __hiloint2double(d, c), dc = __hiloint2double(f, e), dd = __hiloint2double(h, g);\n",
}
ROWS = ROW["all"] + ROW["f32"] + ROW["u64"] + ROW["f64"]
MOST_WORDS = 16


def emit(folder):
    source = [PRELUDE, FUNCTIONS]
    for t, ctype in INTEGER_TYPES.items():
        numbers = ", ".join(f"({ctype}){k * 0x9e3779b97f4a7c15 % 2**63}ull" for k in range(1, 17))
        source.append(f"__constant__ {ctype} table_{t}[16] = {{{numbers}}};\n")
    source.append("#define put(k, v) out[(k) * 512 + i] = (unsigned)(v)\n")
    listing = []
    kernels = 0

    def kernel(name, kind, body):
        source.append(f'extern "C" __global__ void __launch_bounds__(128) {name}({PARAMETERS}) {{\n{ROWS}{body}}}\n')

    group, used = [], 0

    def close():
        nonlocal group, used, kernels
        if not group:
            return
        kind = group[0][0]
        name = f"{kind}_{kernels:03d}"
        body, at = [], 0
        for _, words, case_name, text in group:
            stores = " ".join(f"put({at + k}, r{k});" for k in range(words))
            arch = least_arch(text)
            guarded = f"\n#if __CUDA_ARCH__ >= {arch}0\n{text}\n#endif\n" if arch > 80 else text
            body.append(f"  {{ unsigned r0 = 0, r1 = 0, r2 = 0, r3 = 0; {guarded} {stores} }}\n")
            listing.append(f"{name} {kind} {at} {words} {case_name}" + (f" @{arch}" if arch > 80 else ""))
            at += words
        kernel(name, kind, "".join(body))
        group, used, kernels = [], 0, kernels + 1

    for cases, wholes in SECTIONS:
        for one in cases:
            if group and (group[0][0] != one[0] or used + one[1] > MOST_WORDS):
                close()
            group.append(one)
            used += one[1]
        close()
        for kind, words, case_name, text in wholes:
            name = f"{kind}_{kernels:03d}"
            kernel(name, kind, f"  {text}\n")
            # Tensor Cores of older architectures sum in another way; there the compiler fuses the products of bf16
            # sums.
            listing.append(f"{name} {kind} 0 {words} {case_name}" + (" @90" if case_name.startswith("mma.") or case_name == "bf16_sum" else ""))
            kernels += 1
    with open(f"{folder}/opcodes.cu", "w") as out:
        out.write("".join(source))
    with open(f"{folder}/opcodes.cases", "w") as out:
        out.write("\n".join(listing) + "\n")
    with open(f"{folder}/opcodes.inputs", "wb") as out:
        for kind in KINDS:
            for row in table(kind):
                out.write(struct.pack("<8I", *row))
    print(f"{sum(len(a) + len(b) for a, b in SECTIONS)} cases in {kernels} kernels")


def main():
    integers()
    floats()
    doubles()
    halves("f16")
    halves("bf16")
    warps()
    memory()
    control()
    tensors()
    ordinary()
    SECTIONS.append(([], []))
    further()
    SECTIONS.append(([], []))
    latest()
    SECTIONS.append(([], []))
    strangers()
    emit(sys.argv[1])


main()
