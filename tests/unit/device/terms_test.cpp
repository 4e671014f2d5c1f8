#include "device/terms.h"

#include <gtest/gtest.h>

#include <map>

namespace attnscope::device {
namespace {

using model::Stall;

constexpr const char* kSource =
    "__device__ float deep(float* q) { return q[0]; }\n"  // 1
    "__device__ float score(float* q) {\n"                // 2
    "  return deep(q);\n"                                 // 3
    "}\n"                                                 // 4
    "__global__ void kernel(float* q) {\n"                // 5
    "  q[1] = score(q);\n"                                // 6
    "  for (int i = 0; i < 9; ++i)\n"                     // 7
    "    q[i] = 0;\n"                                     // 8
    "}\n";                                                // 9

// Four instructions: three deep in score(), in the kernel's loop, in the kernel, and one of a header that it calls.
emulator::Program program() {
  compile::SassProgram sass;
  sass.kernel.name = "kernel";
  sass.files = {"k.cu", "cuda_fp16.hpp"};
  const auto add = [&](compile::SassLine line, std::vector<compile::SassLine> callers) {
    compile::SassInstruction instruction;
    instruction.line = line;
    instruction.inlined_at = std::move(callers);
    sass.instructions.push_back(instruction);
  };
  add({0, 1}, {{0, 3}, {0, 6}});
  add({0, 8}, {});
  add({0, 6}, {});
  add({1, 700}, {{0, 8}});
  add({0, 0}, {});
  add({0, 9}, {});
  emulator::Program out;
  out.ops.resize(sass.instructions.size());
  out.sass = std::make_shared<compile::SassProgram>(std::move(sass));
  return out;
}

Terms terms(const std::vector<Stall>& stalls) {
  return terms_of(stalls, program(), SourcePieces(kSource), SourceLines("k.cu"));
}

TEST(Terms, SumByKindAndProducerWithTheLongestWaiter) {
  const Terms all = terms({{TermKind::global_latency, 0, 1, 2},
                           {TermKind::global_latency, 0, 2, 5},
                           {TermKind::global_latency, 1, 2, 1},
                           {TermKind::issue, 2, 2, 3},
                           {TermKind::launch, Stall::kNone, Stall::kNone, 4}});
  ASSERT_EQ(all.list.size(), 3u);
  EXPECT_EQ(all.list[0],
            (Term{TermKind::global_latency, 8, {{0, "k.cu:1", 7, 32, "k.cu:6"}, {16, "k.cu:8", 1, 32, "k.cu:6"}}}));
  EXPECT_EQ(all.list[1], (Term{TermKind::launch, 4, {}}));
  EXPECT_EQ(all.list[2], (Term{TermKind::issue, 3, {{32, "k.cu:6", 3, 32, "k.cu:6"}}}));
  EXPECT_EQ(all.missing, "");
}

TEST(Terms, NameTheKernelsOwnLineThatCallsALibrary) {
  const Terms all = terms({{TermKind::global_latency, 3, 3, 2}, {TermKind::issue, 4, 4, 1}});
  EXPECT_EQ(all.list[0].lines, (std::vector<TermLine>{{48, "k.cu:8", 2, 48, "k.cu:8"}}));
  EXPECT_EQ(all.list[1].lines, (std::vector<TermLine>{{64, "", 1, 64, ""}}));
  const emulator::Program of_library = program();
  EXPECT_EQ(own_line(*of_library.sass, 3, SourceLines("other.cu")), (compile::SassLine{1, 700}));
  EXPECT_EQ(own_line(*of_library.sass, 0, SourceLines("k.cu")), (compile::SassLine{0, 1}));
}

TEST(Terms, PhasesAreTheFunctionsThatTheKernelCallsAndItsLoops) {
  const Terms all = terms({{TermKind::shared_latency, 0, 1, 5},
                           {TermKind::issue, 0, 0, 2},
                           {TermKind::issue, 1, 1, 3},
                           {TermKind::issue, 2, 2, 1},
                           {TermKind::issue, 3, 3, 0.5},
                           {TermKind::issue, 4, 4, 0.25},
                           {TermKind::tail, Stall::kNone, Stall::kNone, 4}});
  ASSERT_EQ(all.phases.size(), 4u);
  EXPECT_EQ(all.phases[0], (Phase{"score", 7, {{TermKind::shared_latency, 5}, {TermKind::issue, 2}}}));
  EXPECT_EQ(all.phases[1], (Phase{"launch and tail", 4, {{TermKind::tail, 4}}}));
  EXPECT_EQ(all.phases[2], (Phase{"kernel, loop at line 7", 3.5, {{TermKind::issue, 3.5}}}));
  EXPECT_EQ(all.phases[3], (Phase{"kernel", 1.25, {{TermKind::issue, 1.25}}})) << "without a line: the kernel's";
  double sum = 0;
  for (const Phase& phase : all.phases) sum += phase.us;
  EXPECT_EQ(sum, 15.75);
}

// A text whose lines belong to another file, twenty lines down.
TEST(Terms, PhasesNameTheLinesThatDirectivesGive) {
  emulator::Program moved = program();
  auto sass = std::make_shared<compile::SassProgram>(*moved.sass);
  sass->files[0] = "mine.cu";
  for (compile::SassInstruction& one : sass->instructions) {
    if (one.line.file == 0 && one.line.line > 0) one.line.line += 20;
    for (compile::SassLine& caller : one.inlined_at) caller.line += 20;
  }
  moved.sass = sass;
  const SourceLines lines("whole.cu", std::string("#line 21 \"mine.cu\"\n") + kSource);
  const SourcePieces pieces(std::string("#line 21 \"mine.cu\"\n") + kSource);
  const Terms all = terms_of({{TermKind::issue, 0, 0, 2}, {TermKind::issue, 1, 1, 3}}, moved, pieces, lines);
  ASSERT_EQ(all.phases.size(), 2u);
  EXPECT_EQ(all.phases[0].name, "kernel, loop at line 27");
  EXPECT_EQ(all.phases[1].name, "score");
}

// The kernel calls score() in line 6, which calls deep() in line 1; its loop calls a header in line 8.
TEST(Terms, NamedLinesAreThePhaseOfWhatTheyCallToo) {
  const std::vector<Stall> stalls{
      {TermKind::issue, 0, 0, 1}, {TermKind::issue, 1, 1, 2}, {TermKind::issue, 3, 3, 4}, {TermKind::issue, 2, 2, 8}};
  const auto phases = [&](const SourcePieces& pieces) {
    std::map<std::string, double> sums;
    for (const Phase& phase : terms_of(stalls, program(), pieces, SourceLines("k.cu")).phases)
      sums[phase.name] = phase.us;
    return sums;
  };
  std::vector<NamedLines> named{{"softmax", {7, 8}}};
  EXPECT_EQ(phases(SourcePieces(kSource, named)),
            (std::map<std::string, double>{{"softmax", 6}, {"score", 1}, {"kernel", 8}}));
  named.push_back({"QK^T", {6, 6}});
  EXPECT_EQ(phases(SourcePieces(kSource, named)), (std::map<std::string, double>{{"softmax", 6}, {"QK^T", 9}}));
  named.push_back({"products", {1, 1}});
  EXPECT_EQ(phases(SourcePieces(kSource, named)),
            (std::map<std::string, double>{{"softmax", 6}, {"QK^T", 8}, {"products", 1}}))
      << "the innermost line that has a name";
  named.clear();
  for (const LineRange& lines : SourcePieces(kSource).lines_of("score")) named.push_back({"QK^T", lines});
  EXPECT_EQ(phases(SourcePieces(kSource, named)).at("QK^T"), 1);
}

TEST(Terms, OnlyTheLinesThatCarryMuchAreListed) {
  std::vector<Stall> stalls;
  for (const uint32_t producer : {0u, 1u, 2u, 3u, 4u, 5u})
    stalls.push_back({TermKind::issue, producer, producer, 10.0 + producer});
  const Terms all = terms(stalls);
  ASSERT_EQ(all.list[0].lines.size(), Term::kMostLines);
  EXPECT_EQ(all.list[0].lines.front().address, 5 * 16);
  EXPECT_EQ(all.list[0].lines.back().address, 1 * 16) << "the first carries least";
  EXPECT_DOUBLE_EQ(all.list[0].us, 75);
  EXPECT_EQ(terms({{TermKind::issue, 4, 4, 1}}).list[0].lines[0].source, "") << "no line is known";
}

TEST(Terms, OfCountersAreMissingWithTheReason) {
  EXPECT_TRUE(no_terms().list.empty());
  EXPECT_FALSE(no_terms().missing.empty());
}

}  // namespace
}  // namespace attnscope::device
