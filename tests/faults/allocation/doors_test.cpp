// Memory that runs out in each layer's entry points: reading, decoding, computing, layout. Every refused allocation
// gives a Failure, or a std::bad_alloc for the code that catches it, and leaks nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>

#include "catalog/catalog.h"
#include "catalog/launch.h"
#include "catalog/validate.h"
#include "charts/latency_chart.h"
#include "charts/memory_stack.h"
#include "charts/tables.h"
#include "check/parallel.h"
#include "check/verdict.h"
#include "compile/cubin.h"
#include "compile/include_closure.h"
#include "compile/variant_json.h"
#include "core/escape.h"
#include "core/expression.h"
#include "core/json.h"
#include "core/observation.h"
#include "emulator/isa/program.h"
#include "faults/support/worker_client.h"
#include "model/latency.h"
#include "model/limits.h"
#include "protocol/frame.h"
#include "protocol/message.h"
#include "support/refused_allocation.h"
#include "support/temp_dir.h"
#include "unit/emulator/sass_text.h"
#include "unit/model/devices_for_tests.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope {
namespace {

using testing_support::read_text;
using testing_support::Refusals;
using testing_support::refuse_each;
using testing_support::TempDir;

const std::filesystem::path kTree = ATTNSCOPE_SOURCE_DIR;

template <class T>
Result<void> without_value(const Result<T>& result) {
  if (!result) return fail(result.error());
  return {};
}

// Every entry point allocates, and frees everything that it allocated.
void expect_clean(const Refusals& refusals) {
  EXPECT_GT(refusals.failed + refusals.thrown, 0);
  EXPECT_EQ(refusals.held, 0) << "allocations that stayed after " << refusals.calls << " calls";
}

Observation recorded_observation() {
  const auto json = parse_json(read_text(kTree / "tests/data/observations/m32_w4.json"), "m32_w4.json");
  auto observation = json ? observation_from_json(*json, "m32_w4.json") : Result<Observation>(fail(json.error()));
  if (!observation) ADD_FAILURE() << observation.error().message;
  return observation.value_or(Observation{});
}

// All but the experiment, whose hash is made from its JSON.
TEST(RefusedAllocations, WhereAnObservationsPartsAreRead) {
  const std::string text = read_text(kTree / "tests/data/observations/m32_w4.json");
  expect_clean(refuse_each([&]() -> Result<void> {
    auto json = parse_json(text, "m32_w4.json");
    if (!json) return fail(json.error());
    json->erase("experiment");
    return without_value(protocol::part_values_from_json(*json));
  }));
}

TEST(RefusedAllocations, WhereAnObservationIsRead) {
  const std::string text = read_text(kTree / "tests/data/observations/m32_w4.json");
  const auto refusals = refuse_each([&]() -> Result<void> {
    const auto json = parse_json(text, "m32_w4.json");
    return json ? without_value(observation_from_json(*json, "m32_w4.json")) : fail(json.error());
  });
  EXPECT_GT(refusals.thrown, 0);
}

TEST(RefusedAllocations, WhereAnObservationIsWritten) {
  const Observation observation = recorded_observation();
  const auto refusals = refuse_each([&]() -> Result<void> {
    (void)json_text(to_json(observation), 2);
    return {};
  });
  EXPECT_GT(refusals.thrown, 0);
}

// Parsed expressions are kept; one whose parsing was cut short must not be.
TEST(RefusedAllocations, InExpressions) {
  int64_t next = 0;
  const auto refusals = refuse_each([&]() -> Result<void> {
    const std::string expression = "ceil_div(seq_q, 32) + (n > 3 ? max(n, 7) : 0) + " + std::to_string(++next);
    const Variables variables{{"n", 7}, {"seq_q", 512}};
    for (int twice = 0; twice < 2; ++twice) {
      try {
        if (const auto value = evaluate(expression, variables, "k.json/grid/0"); !value) return fail(value.error());
      } catch (const std::bad_alloc&) {
        if (twice == 1) throw;
      }
    }
    const auto element = ElementExpression::parse("sqrt(a) + b", {"a", "b"}, "k.json/reference");
    return without_value(element);
  });
  EXPECT_GT(refusals.answered, 0) << "asked again, an expression is parsed again";
}

TEST(RefusedAllocations, InAManifest) {
  const catalog::KernelText text{"02_tiled.json", read_text(kTree / "kernels/02_tiled.json"), "02_tiled.cu",
                                 read_text(kTree / "kernels/02_tiled.cu")};
  (void)refuse_each([&]() -> Result<void> {
    const auto kernel = catalog::parse_kernel(text);
    if (!kernel) return fail(kernel.error());
    const auto config = catalog::complete_config(*kernel, {}, kernel->options);
    if (!config) return fail(config.error());
    return without_value(catalog::launch_of(*kernel, kernel->default_problem(), *config));
  });
}

TEST(RefusedAllocations, InARequestAndAReply) {
  const Observation observation = recorded_observation();
  ViewRequest view;
  view.experiment_hash = "ab";
  view.width = view.height = 4;
  const protocol::Run run{1, observation.experiment, {}, view};
  const protocol::Part part{1, {observation.verdict}};
  const auto refusals = refuse_each([&]() -> Result<void> {
    const auto request = protocol::encode(protocol::Request(run));
    const auto reply = request ? protocol::encode(protocol::Reply(part)) : request;
    if (!reply) return fail(reply.error());
    protocol::FrameDecoder decoder;
    decoder.feed(*request);
    decoder.feed(*reply);
    const auto first = decoder.next();
    if (!first || !*first) return fail(Stage::protocol, "the request is not whole");
    if (const auto read = protocol::decode_request(**first); !read) return fail(read.error());
    const auto second = decoder.next();
    if (!second || !*second) return fail(Stage::protocol, "the reply is not whole");
    return without_value(protocol::decode_reply(**second));
  });
  EXPECT_GT(refusals.failed + refusals.thrown, 0);
}

TEST(RefusedAllocations, InACachedVariant) {
  compile::Variant variant;
  variant.info.arch = 80;
  variant.entry_symbol = "features";
  variant.info.compiler = "NVRTC 12.8";
  variant.ptx = ".visible .entry features(\n.param .u64 k_param_0)\n{\n.shared .align 16 .b8 tile[4096];\nret;\n}\n";
  for (const char c : read_text(kTree / "tests/data/compile/features_sm80_nvrtc12.8.cubin"))
    variant.cubin.push_back(static_cast<std::byte>(c));
  const auto written = refuse_each([&]() -> Result<void> {
    (void)compile::pack_variant(variant);
    return {};
  });
  EXPECT_GT(written.thrown, 0);
  const std::string packed = compile::pack_variant(variant);
  expect_clean(refuse_each([&]() -> Result<void> {
    const auto read = compile::unpack_variant(packed);
    if (!read) return fail(read.error());
    return without_value(compile::read_cubin(read->cubin, read->entry_symbol));
  }));
}

TEST(RefusedAllocations, InWhatASourceIncludes) {
  TempDir folder;
  folder.write("a.h", "#include \"b.h\"\n#define NEXT <c.h>\n#include NEXT\n");
  folder.write("b.h", "#if 0\n#include <a.h>\n#endif\n");
  folder.write("c.h", "");
  compile::IncludeReader whole;
  const std::string source = "#include <a.h>\n#include \"missing.h\"\n";
  const std::string digest = whole.closure(source, {folder.path()})->digest;
  expect_clean(refuse_each([&]() -> Result<void> {
    compile::IncludeReader reader;
    for (int twice = 0; twice < 2; ++twice) {  // what a refused allocation left half-done must not matter
      try {
        const auto closure = reader.closure(source, {folder.path()});
        if (closure->digest != digest || closure->files.size() != 3) return fail(Stage::compile, "another closure");
      } catch (const std::bad_alloc&) {
        if (twice == 1) throw;
      }
    }
    return {};
  }));
}

TEST(RefusedAllocations, InTheDecoder) {
  const std::string cubin = read_text(kTree / "tests/data/emulator/minimal_sm80.cubin");
  const std::string listing = read_text(kTree / "tests/data/emulator/minimal_sm80.txt");
  expect_clean(refuse_each([&]() -> Result<void> {
    auto kernel = compile::read_cubin(std::as_bytes(std::span(cubin)), "");
    if (!kernel) return fail(kernel.error());
    auto sass = compile::parse_nvdisasm(listing, std::move(*kernel));
    if (!sass) return fail(sass.error());
    return without_value(emulator::decode(std::make_shared<const compile::SassProgram>(std::move(*sass))));
  }));
}

// Each of 256 CTAs writes its number.
struct EmulatedNumbers {
  std::vector<uint32_t> out = std::vector<uint32_t>(256, 999);
  emulator::GlobalMemory memory;
  emulator::Launch launch;
  EmulatedNumbers() {
    launch.program = emulator::testing::program_of(R"(S2R R0, SR_CTAID.X
MOV R2, 0x4
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
STG.E [R4.64], R0
EXIT)",
                                                   {.parameter_bytes = 8});
    launch.grid = {256, 1, 1};
    launch.block = {64, 1, 1};
    launch.parameters =
        emulator::testing::Parameters().pointer(memory.add("out", emulator::testing::bytes_of(out), true)).bytes();
    launch.memory = &memory;
  }
};

TEST(RefusedAllocations, InTheEmulator) {
  EmulatedNumbers numbers;
  for (const bool watch : {false, true}) {
    emulator::RunOptions options;
    options.threads = 2;
    options.watch = watch;
    options.trace_ctas = {0};
    const auto refusals = refuse_each([&]() -> Result<void> {
      std::ranges::fill(numbers.out, 999u);
      const auto done = emulator::run(numbers.launch, options);
      if (!done) return fail(done.error());
      for (uint32_t i = 0; i < numbers.out.size(); ++i)
        if (numbers.out[i] != i) return fail(Stage::internal, "a run that was answered wrote something else");
      return {};
    });
    EXPECT_GT(refusals.failed + refusals.thrown, 0);
  }
}

// Every call needs one more thread than there is.
TEST(RefusedAllocations, WhereTheEmulatorsThreadsAreMade) {
  const EmulatedNumbers numbers;
  emulator::RunOptions options;
  options.threads = 1;
  const auto refusals = refuse_each([&]() -> Result<void> {
    ++options.threads;
    return without_value(emulator::run(numbers.launch, options));
  });
  EXPECT_GT(refusals.failed + refusals.thrown, 0);
}

TEST(RefusedAllocations, WhereThreadsShareWork) {
  const auto refusals = refuse_each([&]() -> Result<void> {
    std::atomic<int> done = 0;
    if (!check::in_parallel(4, 100, [&](size_t, size_t) { ++done; })) return fail(Stage::check, "no memory");
    if (done != 100) return fail(Stage::internal, "items were left out");
    return {};
  });
  EXPECT_GT(refusals.answered, 0) << "the existing threads do the work";
  EXPECT_EQ(refusals.held, 0);
}

TEST(RefusedAllocations, InTheReferenceAndTheVerdict) {
  Problem problem;
  problem.heads = problem.kv_heads = 2;
  problem.seq_q = problem.seq_k = 16;
  problem.head_dim = 64;
  check::ReferenceOptions options;
  options.threads = 3;
  expect_clean(refuse_each([&]() -> Result<void> {
    const auto inputs = check::make_inputs(problem);
    if (!inputs) return fail(inputs.error());
    const auto reference = check::make_reference(problem, *inputs, check::Accumulate::f32, options);
    if (!reference) return fail(reference.error());
    return without_value(check::judge(inputs->q, **reference));
  }));
}

TEST(RefusedAllocations, InTheModel) {
  Problem problem;
  VariantInfo variant;
  variant.registers = 40;
  variant.static_shared_bytes = 36896;
  const model::LaunchShape launch{{16, 8, 1}, {128, 1, 1}};
  Counters counters;
  counters.instructions["total"] = 1'000'000;
  counters.emulated_ctas = counters.total_ctas = 128;
  const std::vector<model::ScheduledInstruction> work(100, model::instruction(model::Unit::fp32, 4));
  const model::KernelSchedule schedule = model::schedule({work}, std::vector(4, model::times(20)));
  const DeviceSpec spec = model::l4();
  expect_clean(refuse_each([&]() -> Result<void> {
    if (const auto fits = model::check_limits(spec, variant, launch, "tiled"); !fits) return fits;
    const auto occupancy = model::occupancy(spec, variant, launch);
    const Timing timing = model::latency({spec, problem, variant, launch, occupancy, counters, &schedule}).timing;
    if (!(timing.p50 > 0)) return fail(Stage::internal, "no time");
    return {};
  }));
}

TEST(RefusedAllocations, InTheCharts) {
  const Observation before = recorded_observation();
  const auto run = std::make_shared<const Observation>(before);
  const DeviceSpec spec = model::l4();
  expect_clean(refuse_each([&]() -> Result<void> {
    (void)charts::compare(before, *run);
    if (run->verdict) (void)charts::verdict_rows(*run->verdict);
    if (run->counters) (void)charts::counter_groups(*run->counters);
    charts::LatencyChart chart;
    const std::vector<charts::Run> runs{{1, run, "", "BLOCK_M=32"}, {2, run, "NUM_WARPS 4 → 8", "BLOCK_M=32"}};
    charts::append(chart, runs);
    (void)charts::delta_of(chart, 1);
    if (run->variant) (void)charts::memory_stack(*run->variant, nullptr, spec);
    return {};
  }));
}

}  // namespace
}  // namespace attnscope
