#include "catalog/host_expression.h"

#include <gtest/gtest.h>

#include <map>

namespace attnscope::catalog {
namespace {

std::string said(const std::string& expression) {
  static const std::map<std::string, int64_t> kept{{"n", 1000}, {"rows", 64}, {"BLOCK", 128}};
  static const std::map<std::string, std::string> meanings{
      {"kWarps", "8"}, {"kThreads", "kWarps * 32"}, {"grid", "CEIL_DIV(n, BLOCK)"}, {"a", "b"}, {"b", "a"}};
  const HostNames names{.kept = [](const std::string& name, size_t) -> std::optional<KeptName> {
                          const auto found = kept.find(name);
                          return found == kept.end() ? std::nullopt : std::optional(KeptName{name, found->second});
                        },
                        .meaning = [](const std::string& name, size_t at) -> HostText {
                          const auto found = meanings.find(name);
                          return found == meanings.end() ? HostText{} : HostText{found->second, at};
                        },
                        .member = [](const std::string& name, size_t axis, size_t at) -> HostText {
                          return name == "block" ? HostText{axis == 0 ? "BLOCK" : "1", at} : HostText{};
                        },
                        .bytes_of = [](const std::string& type) -> std::optional<int64_t> {
                          return type == "float" ? std::optional(int64_t{4}) : std::nullopt;
                        },
                        .returned = [](const std::string& name) -> HostText {
                          return {name == "shared_bytes" ? "kWarps * 16" : name == "itself" ? "itself()" : "", 0};
                        }};
  const auto value = host_value({expression}, names);
  return value ? value->text + (value->constant ? " fixed" : "") : "-";
}

TEST(HostExpression, AFunctionHasTheValueThatItReturns) {
  EXPECT_EQ(said("shared_bytes() + 2"), "130 fixed");
  EXPECT_EQ(said("itself()"), "-");
  EXPECT_EQ(said("unknown()"), "-");
}

TEST(HostExpression, FoldsWhatIsConstant) {
  EXPECT_EQ(said("1 << 10"), "1024 fixed");
  EXPECT_EQ(said("kThreads"), "256 fixed");
  EXPECT_EQ(said("(kThreads + 31) / 32"), "8 fixed");
  EXPECT_EQ(said("7 / 2 * 2 + 7 % 4"), "9 fixed");
  EXPECT_EQ(said("1'000'000u"), "1000000 fixed");
  EXPECT_EQ(said("0x40ULL"), "64 fixed");
  EXPECT_EQ(said("2.0f * 8"), "16 fixed");
  EXPECT_EQ(said("-(3 - 5)"), "2 fixed");
  EXPECT_EQ(said("std::max(3, (int)sizeof(float))"), "4 fixed");
  EXPECT_EQ(said("static_cast<size_t>(kWarps) * sizeof(float)"), "32 fixed");
  EXPECT_EQ(said("size_t(kWarps) * sizeof(float)"), "32 fixed");
  EXPECT_EQ(said("(std::size_t)kWarps * unsigned(4)"), "32 fixed");
}

TEST(HostExpression, AQuotientOfAProductLosesItsFactor) {
  EXPECT_EQ(said("sizeof(float) * 16 * n / 4"), "16 * n");
  EXPECT_EQ(said("16 * n * 4 / 4"), "16 * n");
  EXPECT_EQ(said("4 * n * rows / 4"), "n * rows");
  EXPECT_EQ(said("n * 4 * rows / 8"), "n * rows / 2");
  EXPECT_EQ(said("n / 3 * 8 / 4"), "(n - n % 3) / 3 * 2");
  EXPECT_EQ(said("(n * 4 + 4) / 4"), "(n * 4 + 4) / 4");
  EXPECT_EQ(said("3 * n / 2"), "3 * n / 2");
  EXPECT_EQ(said("n % 7 * 4 / 4"), "n % 7");
}

// A program is run without arguments. The branch that is not taken may name anything.
TEST(HostExpression, OnlyTheTakenBranchIsRead) {
  EXPECT_EQ(said("(argc > 1) ? atoi(argv[1]) : 256"), "256 fixed");
  EXPECT_EQ(said("argc == 1 ? 64 : std::stoi(argv[1], nullptr, 10)"), "64 fixed");
  EXPECT_EQ(said("max(1 ? 2 : f(3, 4), argc > 1 ? (argc > 2 ? g() : h()) : 5)"), "5 fixed");
  EXPECT_EQ(said("argc > 1 ? 4 : unknown"), "-");
  EXPECT_EQ(said("n > 1 ? 4 : unknown"), "-") << "not decided";
}

TEST(HostExpression, QuotientsThatRoundUpAreCeilDiv) {
  for (const char* text : {"(n + BLOCK - 1) / BLOCK", "(n - 1 + BLOCK) / BLOCK", "((n) + (BLOCK) - 1) / (BLOCK)",
                           "CEIL_DIV(n, BLOCK)", "cdiv(n, BLOCK)", "iDivUp(n, BLOCK)", "ceil((float)n / BLOCK)",
                           "std::ceil(n * 1.0 / BLOCK)", "grid", "(n + (BLOCK - 1)) / BLOCK"})
    EXPECT_EQ(said(text), "ceil_div(n, BLOCK)") << text;
  EXPECT_EQ(said("(n + 255) / 256"), "ceil_div(n, 256)");
  EXPECT_EQ(said("(n + 255) >> 8"), "ceil_div(n, 256)");
  EXPECT_EQ(said("(n * rows + kThreads - 1) / kThreads"), "ceil_div(n * rows, 256)");
}

// ceil() gets a whole number then, which is already rounded down.
TEST(HostExpression, CeilOfWholeNumbersRoundsNothingUp) {
  EXPECT_EQ(said("ceil(n / BLOCK)"), "(n - n % BLOCK) / BLOCK");
  EXPECT_EQ(said("ceil(1000 / 256)"), "3 fixed");
  EXPECT_EQ(said("ceil(1000 / 256.0)"), "4 fixed");
  EXPECT_EQ(said("Ceil(n, BLOCK)"), "ceil_div(n, BLOCK)") << "a function of two numbers";
}

TEST(HostExpression, DevicePropertiesThatAllArchitecturesShareAreNumbers) {
  EXPECT_EQ(said("std::min<int>(512, prop.maxThreadsPerBlock)"), "512 fixed");
  EXPECT_EQ(said("prop.maxGridSize[1]"), "65535 fixed");
  EXPECT_EQ(said("prop.multiProcessorCount"), "-");
  EXPECT_EQ(said("q.size"), "-") << "no member of a name that is known";
}

TEST(HostExpression, AMaskRoundsOrTakesWhatIsLeft) {
  EXPECT_EQ(said("(n + 63) & ~63"), "ceil_div(n, 64) * 64");
  EXPECT_EQ(said("n & ~31"), "(n - n % 32)");
  EXPECT_EQ(said("n & 31"), "n % 32");
  EXPECT_EQ(said("(100 + 63) & ~63"), "128 fixed");
  EXPECT_EQ(said("0xff & 0x3c"), "60 fixed");
  EXPECT_EQ(said("n & 6"), "-");
  EXPECT_EQ(said("n & rows"), "-");
  EXPECT_EQ(said("~n"), "-");
}

TEST(HostExpression, OtherQuotientsAreCutOffAsInC) {
  EXPECT_EQ(said("n / 8"), "n / 8");  // whole at the defaults
  EXPECT_EQ(said("n / 7"), "(n - n % 7) / 7");
  EXPECT_EQ(said("(n + 1) / 2"), "ceil_div(n, 2)");
  EXPECT_EQ(said("n / (BLOCK / 16)"), "n / (BLOCK / 16)");
  EXPECT_EQ(said("n * BLOCK / 4"), "n * BLOCK / 4");
}

TEST(HostExpression, ChoicesAndComparisons) {
  EXPECT_EQ(said("kWarps == 8 ? 32 : 16"), "32 fixed");
  EXPECT_EQ(said("kWarps < 8 || !kWarps ? 32 : 16"), "16 fixed");
  EXPECT_EQ(said("(kWarps >= 8 && 1 != 2) * 4"), "4 fixed");
  EXPECT_EQ(said("n > rows ? n : rows"), "((n > rows) ? n : rows)");
  EXPECT_EQ(said("1 + (n <= 4 ? 2 : 3)"), "((n <= 4) ? 2 : 3) + 1");
  for (const char* text : {"n > ? 1 : 2", "n ? 1", "n = 3", "n ? 1 : missing"}) EXPECT_EQ(said(text), "-") << text;
}

TEST(HostExpression, AMemberOfADim3) {
  EXPECT_EQ(said("(n + block.x - 1) / block.x"), "ceil_div(n, BLOCK)");
  EXPECT_EQ(said("block.y * 3"), "3 fixed");
  EXPECT_EQ(said("block.w"), "-");
  EXPECT_EQ(said("other.x"), "-");
}

TEST(HostExpression, KeepsNamesAndBrackets) {
  EXPECT_EQ(said("rows * (n + 2)"), "rows * (n + 2)");
  EXPECT_EQ(said("2 * BLOCK * sizeof(float) + 16"), "2 * BLOCK * 4 + 16");
  EXPECT_EQ(said("n - (rows - 4)"), "n - rows + 4");
  EXPECT_EQ(said("n % (rows * 2)"), "n % (rows * 2)");
  EXPECT_EQ(said("min(n, 512)"), "min(n, 512)");
}

TEST(HostExpression, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"", "unknown", "f(n)", "n +", "(n", "n)", "a", "sizeof(int)", "n[0]", "n / 0", "0.5 * n", "1 << 99",
        "(int * 2) n", "99999999999999999999", "props.maxThreads", "n * 9007199254740993"})
    EXPECT_EQ(said(text), "-") << text;
}

}  // namespace
}  // namespace attnscope::catalog
