#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace attnscope::emulator::testing {

// Inputs of one thread: R8, R9, R10 = a, b, c; R11 = d; P0, P1, P2 are d's bits 0, 1, 2.
struct Inputs {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  bool p0() const { return d & 1; }
  bool p1() const { return d >> 1 & 1; }
  bool p2() const { return d >> 2 & 1; }
};
// The instruction's results in R12, R13 (kUntouched before), P3 and P4 (false before).
struct Outputs {
  uint32_t r = 0xdeadbeef, s = 0xdeadbeef;
  bool p = false, q = false;
  bool operator==(const Outputs&) const = default;
};
constexpr uint32_t kScalar = 0x40490fdb;  // c[0x0][0x170] and UR4: pi as a float, an odd pattern as an integer

// Runs the instruction over all inputs on every host instruction set, unguarded and under @P5 (odd lanes), and compares
// every lane with `expected`. If there are several lines, only the first gets the guard: leave guarded runs out then.
void check(const std::string& instruction, const std::vector<Inputs>& inputs,
           const std::function<Outputs(const Inputs&)>& expected, bool also_guarded = true);
// As check(), for instructions that only write R12.
void check_value(const std::string& instruction, const std::vector<Inputs>& inputs,
                 const std::function<uint32_t(const Inputs&)>& expected, bool also_guarded = true);

// Edge values in all pairs (a, b), with c and d mixed in, and random words.
std::vector<Inputs> integer_inputs();
std::vector<Inputs> float_inputs();

}  // namespace attnscope::emulator::testing
