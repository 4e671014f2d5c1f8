#include "unit/emulator/one_instruction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {

namespace {

constexpr const char* kBefore = R"(
S2R R0, SR_TID.X
S2R R1, SR_CTAID.X
IMAD R0, R1, 0x20, R0
MOV R2, 0x10
IMAD.WIDE.U32 R4, R0, R2, c[0x0][0x160]
LDG.E.128 R8, [R4.64]
ULDC UR4, c[0x0][0x170]
LOP3.LUT P0, RZ, R11, 0x1, RZ, 0xc0, !PT
LOP3.LUT P1, RZ, R11, 0x2, RZ, 0xc0, !PT
LOP3.LUT P2, RZ, R11, 0x4, RZ, 0xc0, !PT
LOP3.LUT P5, RZ, R0, 0x1, RZ, 0xc0, !PT
MOV R12, 0xdeadbeef
MOV R13, 0xdeadbeef
)";
constexpr const char* kAfter = R"(
MOV R14, RZ
MOV R15, RZ
@P3 MOV R14, 0x1
@P4 MOV R15, 0x1
IMAD.WIDE.U32 R4, R0, R2, c[0x0][0x168]
STG.E.128 [R4.64], R12
EXIT
)";

void check_on(HostIsa isa, const std::string& instruction, bool guarded, std::vector<Inputs> inputs,
              const std::function<Outputs(const Inputs&)>& expected) {
  const auto program =
      program_of(kBefore + std::string(guarded ? "@P5 " : "") + instruction + kAfter, {.parameter_bytes = 20});
  ASSERT_NE(program, nullptr);
  while (inputs.size() % 32 != 0) inputs.push_back({});
  std::vector<uint32_t> out(inputs.size() * 4, 0x55555555);
  const auto ctas = static_cast<uint32_t>(inputs.size() / 32);
  ASSERT_TRUE(run_warps({program, bytes_of(inputs), bytes_of(out), ctas, {}, {kScalar}}, isa));
  int shown = 0;
  for (size_t i = 0; i < inputs.size() && shown < 5; ++i) {
    const Outputs got{out[4 * i], out[4 * i + 1], out[4 * i + 2] != 0, out[4 * i + 3] != 0};
    const Outputs want = guarded && i % 2 == 0 ? Outputs{} : expected(inputs[i]);
    if (got == want) continue;
    ++shown;
    ADD_FAILURE() << instruction << (guarded ? " guarded" : "") << " on host set " << static_cast<int>(isa) << std::hex
                  << ": a=" << inputs[i].a << " b=" << inputs[i].b << " c=" << inputs[i].c << " d=" << inputs[i].d
                  << " gives r=" << got.r << " s=" << got.s << " p=" << got.p << " q=" << got.q << ", not r=" << want.r
                  << " s=" << want.s << " p=" << want.p << " q=" << want.q;
  }
}

std::vector<Inputs> all_pairs(const std::vector<uint32_t>& edges) {
  std::mt19937 random(7);
  std::vector<Inputs> inputs;
  for (uint32_t a : edges) {
    for (uint32_t b : edges) {
      inputs.push_back({a, b, edges[random() % edges.size()], static_cast<uint32_t>(random())});
    }
  }
  return inputs;
}

}  // namespace

void check(const std::string& instruction, const std::vector<Inputs>& inputs,
           const std::function<Outputs(const Inputs&)>& expected, bool also_guarded) {
  for (HostIsa isa : host_isas()) {
    check_on(isa, instruction, false, inputs, expected);
    if (also_guarded) check_on(isa, instruction, true, inputs, expected);
  }
}

void check_value(const std::string& instruction, const std::vector<Inputs>& inputs,
                 const std::function<uint32_t(const Inputs&)>& expected, bool also_guarded) {
  check(
      instruction, inputs, [&](const Inputs& in) { return Outputs{.r = expected(in)}; }, also_guarded);
}

std::vector<Inputs> integer_inputs() {
  std::vector<Inputs> inputs = all_pairs(
      {0,    1,      2,       5,          31,         32,         33,         63,         64,         65,        0x7f,
       0x80, 0xffff, 0x10000, 0x12345678, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff});
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    inputs.push_back({static_cast<uint32_t>(random()), static_cast<uint32_t>(random()), static_cast<uint32_t>(random()),
                      static_cast<uint32_t>(random())});
  }
  return inputs;
}

std::vector<Inputs> float_inputs() {
  std::vector<Inputs> inputs = all_pairs({
      0x00000000, 0x80000000,              // zeros
      0x00000001, 0x80000001, 0x007fffff,  // subnormal
      0x00800000, 0x80800000, 0x00800001,  // least normal
      0x3f800000, 0xbf800000, 0x3f800001, 0x3f000000,
      0x40490fdb, 0x34000000, 0x33800000,  // units in the last place of 1
      0x7f7fffff, 0xff7fffff, 0x7e800000,  // largest
      0x7f800000, 0xff800000,              // infinities
      0x7fc00000, 0xffc12345, 0x7f800001,  // NaN: quiet, negative with a payload, signalling
      0x477fefff, 0x477ff000, 0x38800000, 0x387fffff,
      0x33000000, 0x33000001,  // where halves overflow, turn subnormal, vanish
  });
  std::mt19937 random(13);
  for (int i = 0; i < 300; ++i) {
    inputs.push_back({static_cast<uint32_t>(random()), static_cast<uint32_t>(random()), static_cast<uint32_t>(random()),
                      static_cast<uint32_t>(random())});
  }
  std::uniform_int_distribution<uint32_t> exponent(100, 150);
  const auto moderate = [&] { return (static_cast<uint32_t>(random()) & 0x807fffff) | exponent(random) << 23; };
  for (int i = 0; i < 300; ++i) inputs.push_back({moderate(), moderate(), moderate(), static_cast<uint32_t>(random())});
  return inputs;
}

}  // namespace attnscope::emulator::testing
