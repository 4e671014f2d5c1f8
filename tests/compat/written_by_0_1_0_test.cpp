// Files that version 0.1.0 wrote, read by today's readers. tests/data/written_by_0.1.0/README.md says how each was
// made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "catalog/arguments.h"
#include "catalog/catalog.h"
#include "catalog/launch.h"
#include "catalog/validate.h"
#include "compile/compiler.h"
#include "compile/disk_cache.h"
#include "compile/variant_json.h"
#include "core/json.h"
#include "core/observation.h"
#include "platform/atomic_file.h"
#include "protocol/frame.h"
#include "protocol/message.h"
#include "store/journal.h"
#include "store/results.h"
#include "store/settings.h"
#include "store/workers.h"
#include "support/temp_dir.h"
#include "support/test_cache.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing_support::TempDir;

const fs::path kTree = ATTNSCOPE_SOURCE_DIR;
const fs::path kOld = kTree / "tests/data/written_by_0.1.0";

std::string text_of(const fs::path& path) {
  auto text = platform::read_file(path, 16 << 20);
  EXPECT_TRUE(text) << (text ? "" : text.error().message);
  return text ? *text : "";
}

Json json_of(const fs::path& path) {
  auto json = parse_json(text_of(path), path.string());
  EXPECT_TRUE(json) << (json ? "" : json.error().message);
  return json ? *json : Json();
}

const std::vector<Kernel>& shipped_kernels() {
  static const catalog::Catalog catalog = catalog::load_catalog({kTree / "kernels"});
  EXPECT_TRUE(catalog.failures.empty());
  return catalog.kernels;
}

// Whether `now` contains every value of `old`; it may have more.
void expect_holds(const Json& now, const Json& old, const std::string& where) {
  if (old.is_object() && now.is_object()) {
    for (const auto& [key, value] : old.items()) {
      ASSERT_TRUE(now.contains(key)) << where << "/" << key;
      expect_holds(now[key], value, where + "/" + key);
    }
  } else if (old.is_array() && now.is_array() && old.size() == now.size()) {
    for (size_t i = 0; i < old.size(); ++i) expect_holds(now[i], old[i], where + "/" + std::to_string(i));
  } else {
    EXPECT_EQ(now, old) << where;
  }
}

// The old file with its findings as they are written today: "est_gain_us" is now gain.estimated, and a finding that
// proposes nothing has no "next".
Json with_findings_of_today(Json old) {
  for (Json* findings : {&old["findings"], old["watch"].is_object() ? &old["watch"]["findings"] : nullptr}) {
    if (findings == nullptr) continue;
    for (Json& finding : *findings) {
      const Json saved = finding["est_gain_us"];
      finding.erase("est_gain_us");
      finding["gain"] = saved.is_null() ? Json() : Json{{"estimated", saved}, {"tried", nullptr}};
      if (finding["next"]["set"].empty()) finding["next"] = nullptr;
    }
  }
  return old;
}

TEST(WrittenBy010, SettingsAndTheirWorkersAreRead) {
  TempDir dir;
  fs::copy_file(kOld / "settings.json", dir / "settings.json");
  std::optional<Failure> trouble;
  const auto settings = store::Settings::load(dir / "settings.json", trouble);
  EXPECT_FALSE(trouble);
  EXPECT_EQ(settings.all(), json_of(kOld / "settings.json"));
  const auto workers = store::read_named_workers(dir / "settings.json");
  ASSERT_TRUE(workers);
  ASSERT_EQ(workers->size(), 1u);
  EXPECT_EQ(workers->front().argv, (std::vector<std::string>{"ssh", "l4box", "attnscope", "worker"}));
}

TEST(WrittenBy010, TheJournalIsRead) {
  const auto journal = store::read_journal(kOld / "journal.json", shipped_kernels());
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_TRUE(*journal);
  EXPECT_EQ((*journal)->last.kernel, "gemm_simt");
  EXPECT_EQ((*journal)->preset_path, "/opt/attn/010/presets/gemm_simt.json");
}

TEST(WrittenBy010, ObservationsKeepEveryValueAndTheirHash) {
  for (const char* name : {"run_watch.json", "run_refused.json", "run_remote.json"}) {
    const Json old = json_of(kOld / name);
    const auto observation = observation_from_json(old, name);
    ASSERT_TRUE(observation) << observation.error().message;
    EXPECT_EQ(hash_of(observation->experiment), old["experiment"]["hash"]) << name;
    expect_holds(to_json(*observation), with_findings_of_today(old), name);
  }
}

TEST(WrittenBy010, EveryStoredResultIsFoundByItsHash) {
  TempDir dir;
  fs::copy_file(kOld / "results.sqlite", dir / "results.sqlite");
  auto results = store::Results::open(dir / "results.sqlite");
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_FALSE((*results)->take_trouble());
  EXPECT_EQ((*results)->count(), 13);
  // The file has each hash beside the experiment: if it is found by the hash of what was read, it has not changed.
  size_t found = 0;
  for (const char* preset : {"tiled", "minimal", "mma", "report_m32_w8_v4", "gemm_simt"}) {
    auto read = store::read_preset(kTree / "presets" / (std::string(preset) + ".json"), shipped_kernels());
    ASSERT_TRUE(read) << read.error().message;
    const auto stored = (*results)->correct(read->problem);
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_FALSE(stored->empty()) << preset;
    for (const store::StoredObservation& row : *stored) {
      const auto newest = (*results)->newest(hash_of(row.observation.experiment));
      ASSERT_TRUE(newest) << newest.error().message;
      ASSERT_TRUE(*newest) << row.observation.experiment.kernel;
      EXPECT_EQ((*newest)->observation.experiment, row.observation.experiment);
      ++found;
    }
  }
  EXPECT_GE(found, 12u);
  EXPECT_FALSE((*results)->take_trouble());
}

std::vector<std::vector<std::byte>> payloads_of(std::span<const std::byte> stream) {
  protocol::FrameDecoder decoder;
  decoder.feed(stream);
  std::vector<std::vector<std::byte>> payloads;
  for (;;) {
    auto payload = decoder.next();
    EXPECT_TRUE(payload);
    if (!payload || !*payload) break;
    payloads.emplace_back((*payload)->begin(), (*payload)->end());
  }
  EXPECT_FALSE(decoder.in_frame());
  return payloads;
}

TEST(WrittenBy010, RequestsOfItsSessionAreReadAndWrittenByteForByte) {
  const std::string stream = text_of(kOld / "to_worker.bin");
  size_t runs = 0;
  for (const auto& payload : payloads_of(std::as_bytes(std::span(stream)))) {
    const auto request = protocol::decode_request(payload);
    ASSERT_TRUE(request) << request.error().message;
    runs += std::holds_alternative<protocol::Run>(*request);
    const auto frame = protocol::encode(*request);
    ASSERT_TRUE(frame);
    EXPECT_EQ(std::vector<std::byte>(frame->begin() + protocol::kHeader, frame->end()), payload) << request->index();
  }
  EXPECT_EQ(runs, 1u);
}

TEST(WrittenBy010, RepliesOfItsWorkerMakeTheObservationItPrinted) {
  const std::string stream = text_of(kOld / "from_worker.bin");
  protocol::BannerSkipper banner;
  const auto found = banner.feed(std::as_bytes(std::span(stream)));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(banner.version(), "0.1.0");
  const Json printed = json_of(kOld / "run_remote.json");
  Observation observation;
  observation.experiment = experiment_from_json(
                               [&] {
                                 Json experiment = printed["experiment"];
                                 experiment.erase("hash");
                                 return experiment;
                               }(),
                               "run_remote.json")
                               .value_or(Experiment{});
  bool done = false;
  for (const auto& payload : payloads_of(banner.rest())) {
    const auto reply = protocol::decode_reply(payload);
    ASSERT_TRUE(reply) << reply.error().message;
    done = done || std::holds_alternative<protocol::Done>(*reply);
    if (const auto* part = std::get_if<protocol::Part>(&*reply)) apply_part(observation, *part);
  }
  EXPECT_TRUE(done);
  const Json got = to_json(observation);
  for (const char* key : {"variant", "occupancy", "verdict", "timing", "tflops", "counters", "watch", "findings"})
    expect_holds(got[key], printed[key], key);
}

TEST(WrittenBy010, AVariantOfItsCacheIsRead) {
  const std::string file = text_of(fs::path(ATTNSCOPE_UNPACKED) / "minimal.variant");
  const compile::DiskCache cache(ATTNSCOPE_UNPACKED, "variant", 0);
  const auto packed = cache.get("minimal");
  ASSERT_TRUE(packed.payload) << packed.complaint;
  EXPECT_NE(file.find(*packed.payload), std::string::npos);
  const auto variant = compile::unpack_variant(*packed.payload);
  ASSERT_TRUE(variant) << variant.error().message;
  EXPECT_EQ(variant->info.arch, 80);
  EXPECT_FALSE(variant->ptx.empty());
  EXPECT_FALSE(variant->info.code_hash.empty());
}

// The recordings in bench/results and tests/data identify machine code by this hash.
TEST(WrittenBy010, EveryShippedPresetCompilesToTheSameCode) {
  const std::map<std::string, int> architectures{{"emulated:l4", 89}, {"emulated:a100", 80}, {"emulated:h200", 90}};
  compile::Compiler compiler({.cache_dir = test_cache() / "variants"});
  const auto nvrtc = compiler.nvrtc_version();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  if (*nvrtc != "12.8")
    GTEST_SKIP() << "The hashes are those of NVRTC 12.8; this machine's driver is served by " << *nvrtc << ".";
  std::istringstream rows(text_of(kOld / "code_hashes.txt"));
  std::string name, device, hash;
  int compared = 0;
  while (rows >> name >> device >> hash) {
    const auto preset = store::read_preset(kTree / "presets" / (name + ".json"), shipped_kernels());
    ASSERT_TRUE(preset) << preset.error().message;
    const auto kernel = std::ranges::find(shipped_kernels(), preset->kernel, &Kernel::id);
    ASSERT_NE(kernel, shipped_kernels().end());
    Problem problem = preset->problem;
    if (problem.is_attention()) {
      const auto small = problem_from_text("B=1,H=1,S=128,D=64");
      ASSERT_TRUE(small);
      problem = *small;
    }
    const auto config = catalog::complete_config(*kernel, preset->config.knobs, preset->config.options);
    ASSERT_TRUE(config) << config.error().message;
    compile::CompileRequest request;
    request.source = kernel->source;
    request.file_name = kernel->source_name;
    request.entry = kernel->entry;
    request.macros = catalog::macros(*kernel, problem, *config);
    request.dtype = problem.dtype;
    request.options = config->options;
    request.headers = kernel->headers;
    request.arch = architectures.at(device);
    const auto variant = compiler.compile(request);
    const std::string got =
        variant ? (*variant)->info.code_hash : "refused:" + std::string(to_string(variant.error().stage));
    EXPECT_EQ(got, hash) << name << " on " << device << (variant ? "" : ": " + variant.error().message);
    ++compared;
  }
  EXPECT_EQ(compared, 54);
}

}  // namespace
}  // namespace attnscope
