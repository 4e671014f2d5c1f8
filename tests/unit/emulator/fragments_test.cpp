// The picture of an instruction's matrices compared with its execution: the instruction multiplies, loads or transposes
// what is stored where the picture says, and its result is where the picture says.
#include "emulator/isa/fragments.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "emulator/exec/general.h"
#include "emulator/isa/program.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

constexpr size_t kIn = 12, kOut = 4;  // words of a lane
using Words = std::vector<uint32_t>;

// R8… and R16…, R20… get the lane's twelve words; one instruction runs; R24… gives the result.
std::string program_text(const std::string& instruction) {
  return R"(
S2R R0, SR_TID.X
MOV R2, 0x30
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
LDG.E.128 R8, [R4.64]
LDG.E.128 R16, [R4.64+0x10]
LDG.E.128 R20, [R4.64+0x20]
CS2R R24, SRZ
CS2R R26, SRZ
)" + instruction +
         R"(
MOV R2, 0x10
IMAD.WIDE R4, R0, R2, c[0x0][0x168]
STG.E.128 [R4.64], R24
EXIT
)";
}

std::shared_ptr<const Program> made(const std::string& instruction) {
  return program_of(program_text(instruction), {.parameter_bytes = 16, .static_shared_bytes = 512});
}

Words results(const std::shared_ptr<const Program>& program, HostIsa isa, Words in) {
  Words out(32 * kOut);
  EXPECT_TRUE(run_warps({program, bytes_of(in), bytes_of(out)}, isa));
  return out;
}

// For the program's only instruction that has any.
std::vector<MatrixFragment> only_fragments(const Program& program) {
  std::vector<MatrixFragment> found;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    auto here = fragments_of(program.sass->instructions[i], program.ops[i], program.lane_registers);
    if (here.empty()) continue;
    EXPECT_TRUE(found.empty()) << program.sass->instructions[i].text;
    found = std::move(here);
  }
  for (const MatrixFragment& one : found) EXPECT_TRUE(is_whole(one));
  return found;
}

uint64_t encoded(int value, Number type) {
  switch (type) {
    case Number::f16:
    case Number::bf16:
      return narrow(value, type, Rounding::nearest);
    case Number::f32:
      return bits_as<uint32_t>(static_cast<float>(value));
    case Number::f64:
      return bits_as<uint64_t>(static_cast<double>(value));
    default:
      return static_cast<uint32_t>(value) & (bits_of(type) < 32 ? (1u << bits_of(type)) - 1 : 0xffffffffu);
  }
}

// Returns which of the lane's `stride` words holds the element; `begin` is the number of the first of them.
uint32_t* word_of(Words& words, size_t stride, int64_t begin, const MatrixFragment& of, const FragmentPlace& place) {
  return &words[stride * place.lane + static_cast<size_t>(of.first + place.reg - begin)];
}
// R8 to R11 are a lane's first words, R16 to R23 the others.
int64_t begin_of(const MatrixFragment& of) { return of.first < 16 ? 8 : 12; }

void put(Words& in, const MatrixFragment& of, int64_t row, int64_t column, uint64_t bits) {
  const FragmentPlace place = place_of(of, row, column);
  uint32_t* const word = word_of(in, kIn, begin_of(of), of, place);
  word[0] |= static_cast<uint32_t>(bits << place.bit);
  if (of.bits == 64) word[1] |= static_cast<uint32_t>(bits >> 32);
}
uint64_t got(Words& out, const MatrixFragment& of, int64_t row, int64_t column) {
  const FragmentPlace place = place_of(of, row, column);
  const uint32_t* const word = word_of(out, kOut, 24, of, place);
  if (of.bits == 64) return word[0] | uint64_t{word[1]} << 32;
  return of.bits == 32 ? word[0] : word[0] >> place.bit & ((1u << of.bits) - 1);
}

struct Product {
  const char* form;
  Number type, sum;
  int64_t rows, depth;
};
void PrintTo(const Product& product, std::ostream* out) { *out << product.form; }

class FragmentsOfAProduct : public ::testing::TestWithParam<Product> {};

TEST_P(FragmentsOfAProduct, AreWhereItsExecutionTakesThem) {
  const Product& form = GetParam();
  const bool integers = std::string(form.form).starts_with("IMMA");
  const auto program =
      made(fmt::format("{} R24, R8{}, R16{}, R20", form.form, integers ? ".ROW" : "", integers ? ".COL" : ""));
  ASSERT_NE(program, nullptr);
  const std::vector<MatrixFragment> all = only_fragments(*program);
  ASSERT_EQ(all.size(), 4u);
  const MatrixFragment &a = all[0], &b = all[1], &c = all[2], &d = all[3];
  EXPECT_EQ((std::vector{a.first, b.first, c.first, d.first}), (std::vector<int64_t>{8, 16, 20, 24}));
  EXPECT_EQ((std::vector{a.rows, a.columns, b.rows, b.columns, d.rows, d.columns}),
            (std::vector<int64_t>{form.rows, form.depth, form.depth, 8, form.rows, 8}));
  EXPECT_TRUE(alike(c, d));
  std::mt19937 random(5);
  const bool nibbles = bits_of(form.type) == 4;  // all values of one
  const int least = form.type == Number::s4 ? -8 : 0;
  const auto number = [&] { return static_cast<int>(random() % (nibbles ? 16 : 5)) + least; };
  for (const HostIsa isa : host_isas()) {
    std::vector<std::vector<int>> left(16, std::vector<int>(64)), right(64, std::vector<int>(8)), plus = left;
    Words in(32 * kIn);
    for (int64_t row = 0; row < form.rows; ++row)
      for (int64_t k = 0; k < form.depth; ++k) put(in, a, row, k, encoded(left[row][k] = number(), form.type));
    for (int64_t k = 0; k < form.depth; ++k)
      for (int64_t column = 0; column < 8; ++column)
        put(in, b, k, column, encoded(right[k][column] = number(), form.type));
    for (int64_t row = 0; row < form.rows; ++row)
      for (int64_t column = 0; column < 8; ++column)
        put(in, c, row, column, encoded(plus[row][column] = number(), form.sum));
    Words out = results(program, isa, in);
    for (int64_t row = 0; row < form.rows; ++row)
      for (int64_t column = 0; column < 8; ++column) {
        int sum = plus[row][column];
        for (int64_t k = 0; k < form.depth; ++k) sum += left[row][k] * right[k][column];
        ASSERT_EQ(got(out, d, row, column), encoded(sum, form.sum)) << row << ", " << column;
      }
    // One element of A and one of B at a time meet in one element of D.
    for (int64_t k = 0; k < form.depth; ++k) {
      const int64_t row = (3 * k + 5) % form.rows, column = (5 * k + 2) % 8;
      Words one(32 * kIn);
      put(one, a, row, k, encoded(3, form.type));
      put(one, b, k, column, encoded(2, form.type));
      Words met = results(program, isa, one);
      ASSERT_EQ(got(met, d, row, column), encoded(6, form.sum)) << "depth " << k;
      const FragmentPlace place = place_of(d, row, column);
      uint32_t* const word = word_of(met, kOut, 24, d, place);
      word[0] = 0;
      if (d.bits == 64) word[1] = 0;
      ASSERT_EQ(met, Words(32 * kOut)) << "nothing else";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, FragmentsOfAProduct,
                         ::testing::Values(Product{"HMMA.16816.F32", Number::f16, Number::f32, 16, 16},
                                           Product{"HMMA.16816.F32.BF16", Number::bf16, Number::f32, 16, 16},
                                           Product{"HMMA.16816.F16", Number::f16, Number::f16, 16, 16},
                                           Product{"HMMA.1688.F32", Number::f16, Number::f32, 16, 8},
                                           Product{"HMMA.1688.F32.BF16", Number::bf16, Number::f32, 16, 8},
                                           Product{"HMMA.1688.F16", Number::f16, Number::f16, 16, 8},
                                           Product{"HMMA.1684.F32.TF32", Number::f32, Number::f32, 16, 4},
                                           Product{"HMMA.1688.F32.TF32", Number::f32, Number::f32, 16, 8},
                                           Product{"IMMA.8816.S8.S8", Number::s8, Number::s32, 8, 16},
                                           Product{"IMMA.16816.U8.S8", Number::u8, Number::s32, 16, 16},
                                           Product{"IMMA.16832.S8.S8", Number::s8, Number::s32, 16, 32},
                                           Product{"IMMA.16864.S4.S4", Number::s4, Number::s32, 16, 64},
                                           Product{"IMMA.16832.S4.S4", Number::s4, Number::s32, 16, 32},
                                           Product{"IMMA.8832.U4.U4.SAT", Number::u4, Number::s32, 8, 32},
                                           Product{"DMMA.884", Number::f64, Number::f64, 8, 4}));

// Lane l's row of shared memory is its own first four words, at an address that is not in the lanes' order.
TEST(FragmentsOfALoad, AreRowsAtTheLanesAddresses) {
  for (const int64_t matrices : {1, 2, 4})
    for (const bool transposed : {false, true}) {
      const std::string count = matrices == 1 ? "" : fmt::format(".{}", matrices);
      const auto program = made(fmt::format(R"(
IMAD R1, R0, 0x50, RZ
LOP3.LUT R1, R1, 0x1f0, RZ, 0xc0, !PT
STS.128 [R1], R8
LDSM.16.M{}88{} R24, [R1])",
                                            transposed ? "T" : "", count));
      ASSERT_NE(program, nullptr);
      const std::vector<MatrixFragment> all = only_fragments(*program);
      ASSERT_EQ(all.size(), 1u);
      EXPECT_EQ(all[0].matrix, MatrixName::d);
      EXPECT_EQ(all[0].first, 24);
      ASSERT_EQ(all[0].rows, 8 * matrices);
      Words in(32 * kIn);
      const auto halves = [](int64_t row, int64_t column) { return uint32_t(1 + row * 8 + column); };
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t word = 0; word < 4; ++word)
          in[size_t(lane) * kIn + size_t(word)] = halves(lane, 2 * word) | halves(lane, 2 * word + 1) << 16;
      for (const HostIsa isa : host_isas()) {
        Words out = results(program, isa, in);
        for (int64_t row = 0; row < all[0].rows; ++row)
          for (int64_t column = 0; column < 8; ++column)
            ASSERT_EQ(got(out, all[0], row, column), halves(row, column)) << count << transposed << row << column;
      }
    }
}

TEST(FragmentsOfATransposition, ShowWhereAnElementGoes) {
  const auto program = made("MOVM.16.MT88 R24, R8");
  ASSERT_NE(program, nullptr);
  const std::vector<MatrixFragment> all = only_fragments(*program);
  ASSERT_EQ(all.size(), 2u);
  Words in(32 * kIn);
  for (int64_t row = 0; row < 8; ++row)
    for (int64_t column = 0; column < 8; ++column) put(in, all[0], row, column, uint64_t(1 + row * 8 + column));
  Words out = results(program, best_host_isa(), in);
  for (int64_t row = 0; row < 8; ++row)
    for (int64_t column = 0; column < 8; ++column)
      EXPECT_EQ(got(out, all[1], row, column), uint64_t(1 + row * 8 + column));
}

TEST(Fragments, RzHasNoRegistersAndOtherInstructionsHaveNone) {
  const auto program = made("HMMA.16816.F32 R24, R8, R16, RZ");
  ASSERT_NE(program, nullptr);
  const std::vector<MatrixFragment> all = only_fragments(*program);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[2].first, MatrixFragment::kZero);
  const auto other = made("FADD R24, R8, R9");
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE(only_fragments(*other).empty());
}

}  // namespace
}  // namespace attnscope::emulator::testing
