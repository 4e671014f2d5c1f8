// Recorded machine code of the first two rungs (tests/data/emulator): correct against fp64, equal across architectures,
// host instruction sets and threads, with counts that follow from the source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "compile/cubin.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

constexpr int kHeads = 2, kHeadDim = 64;

std::string read_data(const std::string& name) {
  std::ifstream file(std::string(ATTNSCOPE_SOURCE_DIR) + "/tests/data/emulator/" + name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::shared_ptr<const compile::SassProgram> recorded(const std::string& name) {
  const std::string cubin = read_data(name + ".cubin");
  auto kernel = compile::read_cubin(std::as_bytes(std::span(cubin.data(), cubin.size())), "");
  if (!kernel) {
    ADD_FAILURE() << kernel.error().message;
    return nullptr;
  }
  auto sass = compile::parse_nvdisasm(read_data(name + ".txt"), std::move(*kernel));
  if (!sass) {
    ADD_FAILURE() << sass.error().message;
    return nullptr;
  }
  return std::make_shared<const compile::SassProgram>(std::move(*sass));
}

// Exactly representable halves: k / 64 for |k| ≤ 128.
uint16_t half_bits(int k) {
  const float x = static_cast<float>(k) / 64;
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return k == 0 ? 0 : static_cast<uint16_t>((bits >> 16 & 0x8000) | ((bits & 0x7fffffff) - 0x38000000) >> 13);
}
double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction ? NAN : (bits & 0x8000 ? -INFINITY : INFINITY);
  const double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

struct Attention {
  int seq_q, seq_k;
  bool causal;
  std::vector<uint16_t> q, k, v, o;

  Attention(int sq, int sk, bool is_causal) : seq_q(sq), seq_k(sk), causal(is_causal) {
    std::mt19937 random(5);
    std::uniform_int_distribution<int> values(-128, 128);
    const auto fill = [&](std::vector<uint16_t>& x, int rows) {
      x.resize(static_cast<size_t>(kHeads * rows * kHeadDim));
      for (uint16_t& one : x) one = half_bits(values(random));
    };
    fill(q, sq), fill(k, sk), fill(v, sk);
    o.assign(q.size(), 0x7e55);  // NaN: makes an unwritten row visible
  }

  // |O - reference| / |reference|, Frobenius; NaN if any output is.
  double error() const {
    double difference = 0, norm = 0;
    for (int head = 0; head < kHeads; ++head) {
      for (int row = 0; row < seq_q; ++row) {
        const int visible = causal ? std::max(0, std::min(row + 1 + seq_k - seq_q, seq_k)) : seq_k;
        std::vector<double> p(static_cast<size_t>(visible));
        double most = -INFINITY, sum = 0;
        for (int key = 0; key < visible; ++key) {
          double dot = 0;
          for (int d = 0; d < kHeadDim; ++d) dot += at(q, seq_q, head, row, d) * at(k, seq_k, head, key, d);
          p[static_cast<size_t>(key)] = dot * 0.125;
          most = std::max(most, dot * 0.125);
        }
        for (double& x : p) sum += x = std::exp(x - most);
        for (int d = 0; d < kHeadDim; ++d) {
          double expected = 0;
          for (int key = 0; key < visible; ++key) expected += p[static_cast<size_t>(key)] * at(v, seq_k, head, key, d);
          if (visible > 0) expected /= sum;
          const double got = at(o, seq_q, head, row, d);
          difference += (got - expected) * (got - expected);
          norm += expected * expected;
        }
      }
    }
    return std::sqrt(difference / norm);
  }
  static double at(const std::vector<uint16_t>& x, int rows, int head, int row, int d) {
    return half_value(x[static_cast<size_t>((head * rows + row) * kHeadDim + d)]);
  }
};

struct Recording {
  std::string name;
  bool causal;
  std::array<uint32_t, 3> (*grid)(int seq_q);
  uint32_t threads;
  uint32_t (*dynamic_shared)(int seq_k);
};
const Recording kTiledVector{"tiled_vector", false,
                             [](int sq) {
                               return std::array<uint32_t, 3>{static_cast<uint32_t>(sq + 15) / 16, kHeads, 1};
                             },
                             128, [](int) { return 0u; }};
const Recording kTiledSwizzle{"tiled_swizzle", true,
                              [](int sq) {
                                return std::array<uint32_t, 3>{static_cast<uint32_t>(sq + 31) / 32, kHeads, 1};
                              },
                              64, [](int) { return 32u * 64 * 2 + 2 * 32 * 64 * 2 + 32 * 32 * 4 + 32 * 64 * 4 + 16; }};
const Recording kMinimal{"minimal", true,
                         [](int sq) {
                           return std::array<uint32_t, 3>{static_cast<uint32_t>(sq), kHeads, 1};
                         },
                         64, [](int sk) { return 4 * static_cast<uint32_t>(sk); }};

Result<RunResult> run_sass(const Recording& recording, std::shared_ptr<const compile::SassProgram> sass, Attention& a,
                           RunOptions options = {}, uint32_t threads = 0) {
  const auto program = prepare(sass);
  if (!program) return fail(program.error());
  GlobalMemory memory;
  Parameters parameters;
  parameters.pointer(memory.add("q", bytes_of(a.q), false)).pointer(memory.add("k", bytes_of(a.k), false));
  parameters.pointer(memory.add("v", bytes_of(a.v), false)).pointer(memory.add("o", bytes_of(a.o), true));
  const float scale = 0.125f;
  uint32_t scale_bits;
  std::memcpy(&scale_bits, &scale, 4);
  parameters.word(scale_bits)
      .word(1)
      .word(kHeads)
      .word(static_cast<uint32_t>(a.seq_q))
      .word(static_cast<uint32_t>(a.seq_k));
  Launch launch;
  launch.program = *program;
  launch.grid = recording.grid(a.seq_q);
  launch.block = {threads != 0 ? threads : recording.threads, 1, 1};
  launch.dynamic_shared_bytes = recording.dynamic_shared(a.seq_k);
  launch.parameters = parameters.bytes();
  launch.memory = &memory;
  return run(launch, options);
}

Result<RunResult> run_recorded(const Recording& recording, int arch, Attention& a, RunOptions options = {},
                               uint32_t threads = 0) {
  const auto sass = recorded(recording.name + "_sm" + std::to_string(arch));
  if (sass == nullptr) return fail(Stage::internal, "no recording");
  return run_sass(recording, sass, a, std::move(options), threads);
}

class Recorded : public ::testing::TestWithParam<const Recording*> {};

TEST_P(Recorded, RightAndEqualEverywhere) {
  const Recording& recording = *GetParam();
  for (auto [sq, sk] : {std::pair{64, 64}, {77, 99}, {40, 20}}) {
    std::vector<uint16_t> first;
    for (int arch : {80, 89, 90}) {
      std::optional<RunCounters> counters;
      for (HostIsa isa : host_isas()) {
        for (unsigned threads : {1u, 3u}) {
          Attention a(sq, sk, recording.causal);
          RunOptions options;
          options.isa = isa;
          options.threads = threads;
          const auto result = run_recorded(recording, arch, a, options);
          ASSERT_TRUE(result.has_value()) << result.error().message;
          EXPECT_LT(a.error(), 5e-4) << "sm_" << arch << ", " << sq << " × " << sk;
          if (first.empty()) first = a.o;
          EXPECT_TRUE(a.o == first) << "sm_" << arch << " differs";
          EXPECT_EQ(counters.value_or(result->counters), result->counters);
          counters = result->counters;
          EXPECT_EQ(result->isa, isa);
        }
      }
      // One row of O is 64 halves: four sectors, stored once by either kind of store.
      EXPECT_EQ(counters->global_store_sectors, static_cast<uint64_t>(kHeads * sq * kHeadDim * 2 / 32));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Rungs, Recorded, ::testing::Values(&kTiledVector, &kTiledSwizzle, &kMinimal),
                         [](const auto& param) { return param.param->name; });

TEST(RecordedCounts, FollowFromTheSource) {
  Attention a(64, 64, false);
  const auto result = run_recorded(kTiledVector, 89, a);
  ASSERT_TRUE(result.has_value());
  const RunCounters& c = result->counters;
  // BLOCK_M 16, BLOCK_N 32, 4 warps: 8 CTAs, 2 key tiles. Barriers per tile: after loading, after the scores, one for
  // each row that a warp owns (4), after the softmax, after P·V.
  EXPECT_EQ(c.ctas, 8u);
  EXPECT_EQ(c.barriers, 8u * 4 * 2 * (1 + 1 + 4 + 1 + 1));
  // Q is read once, K and V once per CTA, in rows of 128 bytes.
  EXPECT_EQ(c.global_load_sectors, 8u * (16 + 2 * 64) * 4);
  EXPECT_EQ(c.by_class[static_cast<size_t>(InstructionClass::barrier)], c.barriers);
  EXPECT_EQ(c.shared_bank_conflicts, c.shared_load_wavefronts + c.shared_store_wavefronts - c.shared_ideal_wavefronts);
  EXPECT_GT(c.shared_bank_conflicts, c.shared_wavefronts() / 2);  // 64 halves per row: every row starts at bank 0
  // MUFU.EX2: per tile and row, 32 scores in one warp instruction and the rescaling; MUFU.RCP: once per row.
  EXPECT_EQ(c.by_class[static_cast<size_t>(InstructionClass::mufu)], kHeads * 64u * (2 * 2 + 1));
}

TEST(RecordedCounts, MinimalReadsEachKeyRowForEveryQueryRow) {
  Attention a(64, 64, true);
  const auto result = run_recorded(kMinimal, 90, a);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->counters.barriers, kHeads * 64u * 2 * 4);  // 2 warps, 4 barriers
  EXPECT_EQ(result->counters.shared_bank_conflicts, 0u);
}

TEST(RecordedFlaw, SixWarpsDriftApartButDoNotHang) {
  Attention a(64, 200, false);
  Recording recording = kTiledVector;
  recording.name = "tiled_w6";
  const auto result = run_recorded(recording, 89, a, {}, 192);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_FALSE(a.error() < 5e-4);
}

// The reports' light barrier and uneven barrier (kernels/02_tiled.cu with SYNC_POLICY 0 and 2, and with six warps),
// compiled with lines, and their sound twin.
struct WatchedRung {
  const char* name;
  int arch;
  uint32_t threads;
};

Result<RunResult> run_watched(const WatchedRung& rung, Attention& a, RunOptions options) {
  const std::string stem = std::string(ATTNSCOPE_OPCODES_DIR) + "/" + rung.name + "_sm" + std::to_string(rung.arch);
  const auto read = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string cubin = read(stem + ".cubin");
  auto kernel = compile::read_cubin(std::as_bytes(std::span(cubin.data(), cubin.size())), "");
  if (!kernel) return fail(kernel.error());
  auto sass = compile::parse_nvdisasm(read(stem + ".txt"), std::move(*kernel));
  if (!sass) return fail(sass.error());
  Recording recording = kTiledSwizzle;  // its grid: 32 rows per CTA
  recording.dynamic_shared = [](int) { return 0u; };
  return run_sass(recording, std::make_shared<const compile::SassProgram>(std::move(*sass)), a, options, rung.threads);
}

std::string messages(const RunResult& result) {
  std::string text;
  for (const WatchFinding& finding : result.findings) text += finding.message + "\n";
  return text;
}

RunOptions watching() {
  RunOptions options;
  options.watch = true;
  options.ctas = {0, 1};
  return options;
}

TEST(WatchedRungs, TheLightBarrierRaces) {
  for (const char* name : {"light0", "light2"}) {
    for (int arch : {89, 90}) {
      Attention a(64, 128, false);
      const auto result = run_watched({name, arch, 256}, a, watching());
      ASSERT_TRUE(result.has_value()) << result.error().message;
      // The scores are written at line 203; the row's maximum reads them at 218. Barriers order everything else. Policy
      // 2 has a __syncwarp there; with 0 the lanes of a warp are not synchronised either.
      const bool synced = std::string_view(name) == "light2";
      ASSERT_EQ(result->findings.size(), synced ? 1u : 2u) << messages(*result);
      if (!synced) {
        EXPECT_EQ(result->findings[1].kind, WatchKind::warp_write_read);
        EXPECT_EQ(result->findings[1].line, result->findings[0].line);
      }
      const WatchFinding& race = result->findings[0];
      EXPECT_EQ(race.kind, WatchKind::shared_write_read);
      EXPECT_THAT(race.other_line, ::testing::StartsWith("02_tiled.cu:203"));
      EXPECT_THAT(race.line, ::testing::EndsWith("02_tiled.cu:218"));
      EXPECT_GT(race.count, 1000u);
      EXPECT_NE(race.thread / 32, race.other_thread / 32);
    }
  }
}

// The race shows when shared memory starts with other contents or warps run in another order; the sound twin depends on
// neither.
TEST(WatchedRungs, TheLightBarrierIsRightByLuck) {
  const auto output = [](const char* name, uint32_t fill, uint64_t seed) {
    Attention a(64, 128, false);
    RunOptions options;
    options.shared_fill = fill;
    options.order_seed = seed;
    EXPECT_TRUE(run_watched({name, 89, 256}, a, options).has_value());
    return a.o;
  };
  const auto sound = output("light5", 0, 0);
  bool changed = false;
  for (uint32_t fill : {0x00000000u, 0x7fc00000u, 0x7149f2cau}) {  // zero, NaN, +1e30
    for (uint64_t seed = 0; seed < 3; ++seed) {
      EXPECT_TRUE(output("light5", fill, seed) == sound) << fill << " " << seed;
      changed |= output("light0", fill, seed) != sound;
    }
  }
  EXPECT_TRUE(changed);
}

TEST(WatchedRungs, SixWarpsPassTheBarrierUnevenly) {
  for (int arch : {89, 90}) {
    Attention a(64, 128, false);
    const auto result = run_watched({"w6", arch, 192}, a, watching());
    ASSERT_TRUE(result.has_value()) << result.error().message;
    ASSERT_FALSE(result->findings.empty());
    const WatchFinding& first = result->findings[0];
    EXPECT_EQ(first.kind, WatchKind::barrier_uneven) << messages(*result);
    EXPECT_NE(first.line, first.other_line);
    EXPECT_THAT(first.message, ::testing::HasSubstr("02_tiled.cu:2"));  // the barriers of the row loop and after it
  }
}

TEST(WatchedRungs, TheSoundOnesAreQuiet) {
  for (int arch : {89, 90}) {
    Attention a(64, 128, false);
    const auto result = run_watched({"light5", arch, 256}, a, watching());
    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_EQ(messages(*result), "");
    for (const Recording* recording : {&kTiledVector, &kTiledSwizzle, &kMinimal}) {
      Attention b(64, 128, recording->causal);
      const auto watched = run_recorded(*recording, arch, b, watching());
      ASSERT_TRUE(watched.has_value()) << watched.error().message;
      EXPECT_EQ(messages(*watched), "") << recording->name;
    }
  }
}

}  // namespace
}  // namespace attnscope::emulator::testing
