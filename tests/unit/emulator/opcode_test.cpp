// Every recorded opcode kernel against an H200's results (tests/gpu/opcodes), bit for bit, on all three architectures.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "emulator/isa/recorded_forms.h"
#include "emulator/isa/report.h"
#include "unit/emulator/opcode_recording.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

// Distance in units in the last place of two numbers of 16 or 32 bits, ignoring the sign.
int64_t distance(uint32_t a, uint32_t b, int bits) {
  const uint32_t sign = 1u << (bits - 1);
  const auto ordered = [&](uint32_t x) {
    return x & sign ? -static_cast<int64_t>(x & (sign - 1)) : static_cast<int64_t>(x);
  };
  return std::abs(ordered(a) - ordered(b));
}

// An approximation is at most that many units in the last place away, or 2^-21 for functions that cross zero.
bool near_enough(uint32_t got, uint32_t want, const std::string& kind, uint32_t ulp) {
  if (kind == "f16" || kind == "bf16") {
    return distance(got & 0xffff, want & 0xffff, 16) <= ulp && distance(got >> 16, want >> 16, 16) <= ulp;
  }
  if (distance(got, want, 32) <= ulp) return true;
  if (kind == "f64") return false;
  float x, y;
  std::memcpy(&x, &got, 4);
  std::memcpy(&y, &want, 4);
  return std::fabs(x - y) <= 0x1p-21f;
}

class Opcodes : public ::testing::TestWithParam<std::tuple<int, const char*>> {};

TEST_P(Opcodes, EqualTheRecording) {
  const auto [arch, compiler] = GetParam();
  const auto& programs = opcode_programs(arch, compiler);
  const auto& kernels = opcode_recording().kernels;
  size_t cases = 0, approximate = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const OpcodeKernel& kernel = kernels[i];
    const auto results = run_opcode_kernel(kernel, programs[i]);
    if (!results) {
      ADD_FAILURE() << kernel.cases[0].name << ": " << results.error().message;
      continue;
    }
    const auto inputs = opcode_recording().inputs(kernel.kind);
    for (const OpcodeCase& one : kernel.cases) {
      if (static_cast<int>(one.arch) > arch) continue;
      ++cases;
      approximate += one.ulp > 0;
      size_t wrong = 0, first = 0;
      for (size_t k = one.first * kOpcodeThreads; k < (one.first + one.words) * kOpcodeThreads; ++k) {
        const uint32_t got = results->words[k], want = kernel.results[k];
        if (got == want || (one.ulp > 0 && near_enough(got, want, kernel.kind, one.ulp))) continue;
        if (wrong++ == 0) first = k;
      }
      if (wrong == 0) continue;
      const uint32_t* row = &inputs[8 * (first % kOpcodeThreads)];
      ADD_FAILURE() << fmt::format(
          "{} {}: {} of {} words differ; word {} of thread {} ({:08x} {:08x} {:08x} {:08x} {:08x} {:08x}) is {:08x}, "
          "recorded {:08x}",
          kernel.name, one.name, wrong, one.words * kOpcodeThreads, first / kOpcodeThreads - one.first,
          first % kOpcodeThreads, row[0], row[1], row[2], row[3], row[4], row[5], results->words[first],
          kernel.results[first]);
    }
  }
  std::cout << fmt::format("{} sm_{}: {} operations, {} of them approximations\n", compiler, arch, cases, approximate);
  EXPECT_GT(cases, 1495u);
}
INSTANTIATE_TEST_SUITE_P(Arch, Opcodes,
                         ::testing::Combine(::testing::Values(80, 89, 90), ::testing::ValuesIn(kOpcodeCompilers)),
                         [](const auto& param) {
                           return fmt::format("{}_sm{}", std::get<1>(param.param), std::get<0>(param.param));
                         });

// The H200's output when the recording was made.
TEST(OpcodeLog, HoldsWhatTheGpuPrinted) {
  const auto& kernels = opcode_recording().kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].cases[0].name != "printf") continue;
    for (int arch : {80, 89, 90}) {
      RunOptions options;
      std::vector<std::string> printed;
      options.printed = [&](const std::vector<PrintedCall>& calls, uint64_t more) {
        EXPECT_EQ(more, 0u);
        for (const PrintedCall& call : calls) printed.push_back(call.text);
      };
      const auto result = run_opcode_kernel(kernels[i], opcode_programs(arch)[i], options);
      ASSERT_TRUE(result.has_value()) << result.error().message;
      EXPECT_EQ(printed, (std::vector<std::string>{"thread 3: 2 1.500000 text\n", "thread 200: 31 1.500000 text\n"}));
    }
    return;
  }
  FAIL() << "no such kernel";
}

// Nsight Compute's counts of the same kernels on the H200.
TEST(OpcodeCounts, EqualNsightComputes) {
  std::ifstream file(std::string(ATTNSCOPE_SOURCE_DIR) + "/tests/data/gpu/opcodes/h200_opcode_counts.txt");
  std::map<std::string, std::array<uint64_t, 6>> recorded;
  for (std::string name; file >> name;) {
    for (uint64_t& one : recorded[name]) file >> one;
  }
  const std::map<std::string, std::string> apart{
      {"printf", "the driver's own code"},
      {"spin", "which lane gets the lock first"},
      {"redAnd_shared_u64", "which lane's CAS succeeds first"},
      {"redOr_shared_u64", "the same"},
      {"redXor_shared_u64", "the same"},
      {"redMin_shared_u64", "the same"},
      {"redMax_shared_u64", "the same"},
      {"redMin_shared_s64", "the same"},
      {"redMax_shared_s64", "the same"},
      {"recursion", "which of the parted lanes go on together"},
      {"jump_table", "threads by 2.6 %: how often lanes are counted that part eight ways is not settled"},
      {"device_variables", "where the driver places them decides the sectors"},
      {"barrier_number", "the hardware counts stores of a barrier by register"},
  };
  const auto& kernels = opcode_recording().kernels;
  ASSERT_EQ(recorded.size(), 358u);  // later kernels were not counted
  size_t equal = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!recorded.contains(kernels[i].name)) continue;
    const auto result = run_opcode_kernel(kernels[i], opcode_programs(90)[i]);
    // Generic accesses to local memory: it is not known which sectors count as global.
    const std::string& name = kernels[i].cases[0].name;
    if (!result || apart.contains(name) || name.starts_with("generic_")) continue;
    const RunCounters& c = result->run.counters;
    std::array<uint64_t, 6> counted{c.warp_instructions,      c.threads,
                                    c.global_load_sectors,    c.global_store_sectors,
                                    c.shared_load_wavefronts, c.shared_store_wavefronts};
    const auto& wanted = recorded.at(kernels[i].name);
    equal += counted == wanted;
    if (counted != wanted && c.active_lanes_mean() < 31) {
      // Divergent code: it is not known how the hardware issues a BSYNC that parts of a warp reach one after the other.
      EXPECT_NEAR(static_cast<double>(counted[0]), static_cast<double>(wanted[0]),
                  0.0025 * static_cast<double>(wanted[0]))
          << kernels[i].name;
      EXPECT_NEAR(static_cast<double>(counted[1]), static_cast<double>(wanted[1]),
                  0.015 * static_cast<double>(wanted[1]))
          << kernels[i].name;
      counted[0] = wanted[0], counted[1] = wanted[1];
    }
    EXPECT_EQ(counted, wanted) << kernels[i].name << " " << kernels[i].cases[0].name;
  }
  std::cout << equal << " kernels equal in every count\n";
  EXPECT_GE(equal, 275u);
}

// app/emulator/isa/recorded_forms.inc holds exactly the forms of the recorded kernels.
TEST(RecordedForms, AreThoseOfTheRecordedKernels) {
  std::map<std::string, int> forms;
  for (int k = 0; k < 3; ++k) {
    for (const char* compiler : kOpcodeCompilers) {
      for (const auto& program : opcode_programs(k == 0 ? 80 : k == 1 ? 89 : 90, compiler)) {
        for (const auto& instruction : program->instructions) forms[form_of(instruction)] |= 1 << k;
      }
    }
  }
  std::string wanted, listed;
  for (const auto& [form, archs] : forms) wanted += fmt::format("{{\"{}\", {}}},\n", form, archs);
  for (const RecordedForm& form : recorded_forms())
    listed += fmt::format("{{\"{}\", {}}},\n", form.spelling, form.archs);
  if (wanted == listed) return;
  const std::string path = std::string(ATTNSCOPE_OPCODES_DIR) + "/recorded_forms.inc";
  std::ofstream(path) << wanted;
  ADD_FAILURE() << "app/emulator/isa/recorded_forms.inc is not what the kernels hold; " << path << " is.";
}

TEST(IsaReport, TheLastRowIsTheSumOfTheOthers) {
  std::istringstream lines(isa_report());
  std::array<size_t, 4> sum{}, all{};
  bool in_table = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("class") != std::string::npos && line.find("by output") != std::string::npos) {
      in_table = true;
      continue;
    }
    if (!in_table) continue;
    std::istringstream row(line);
    std::string name;
    std::array<size_t, 4> counts{};
    row >> name >> counts[0] >> counts[1] >> counts[2] >> counts[3];
    ASSERT_TRUE(row) << line;
    if (name == "all") {
      all = counts;
      break;
    }
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += counts[i];
  }
  EXPECT_EQ(all, sum);
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), size_t{0}), supported_forms().size());
}

TEST(IsaReport, CountsEveryForm) {
  const std::string report = isa_report();
  EXPECT_NE(report.find(fmt::format("executes: {}.", supported_forms().size())), std::string::npos);
  EXPECT_NE(report.find("DFMA.RM R,R,R,R"), std::string::npos);
  EXPECT_NE(report.find("HMMA.1688.F32 R,R,R,R"), std::string::npos);
  for (const int arch : {80, 89, 90}) {
    const auto held = std::ranges::count_if(recorded_forms(), [&](const RecordedForm& form) {
      return form.archs & (arch == 80 ? 1 : arch == 89 ? 2 : 4);
    });
    const std::string shown =
        arch == 90 ? fmt::format("{:>10} {:>12}", held, "-") : fmt::format("{:>10} {:>12}", "-", held);
    EXPECT_NE(report.find(fmt::format("sm_{:<13} {}", arch, shown)), std::string::npos) << arch;
  }
}

}  // namespace
}  // namespace attnscope::emulator::testing
