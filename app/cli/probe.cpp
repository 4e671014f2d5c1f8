#include "cli/probe.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "catalog/catalog.h"
#include "catalog/probed.h"
#include "cli/one_run.h"
#include "cli/places.h"
#include "core/escape.h"
#include "core/json.h"
#include "emulator/exec/overrun.h"
#include "platform/atomic_file.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kMostRuns = 16;
constexpr std::chrono::seconds kLongest{20};        // of all runs
constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of a buffer that is made longer
constexpr uint64_t kWidestAccess = 16;              // bytes
constexpr const char* kId = "probed_by_import";     // no other kernel has it

// The failure of a run; empty if it ran.
std::optional<Failure> failure_of_run(const ImportedFile& file, const fs::path& folder, Clock::duration left) {
  auto json = parse_json(file.imported.manifest, file.name);
  if (!json) return json.error();
  (*json)["id"] = kId;
  const std::string manifest = json_text(*json, 2);
  for (const auto& [name, text] : {std::pair(std::string(kId) + ".json", &manifest), {file.name, &file.whole.text}})
    if (auto written = platform::write_file(folder / name, *text, platform::Durability::cached); !written)
      return written.error();
  OneRun run;
  run.experiment.kernel = kId;
  run.experiment.kernel_dirs = {folder.string()};
  run.watch = session::Watch::never;
  run.most = std::chrono::duration_cast<std::chrono::milliseconds>(left);
  const auto ran = run_one(run);
  if (!ran) return ran.error();
  return ran->observation.failure;
}

// Whether the buffer that the access left could be made longer.
bool made_longer(ImportedFile& file, const Failure& failure) {
  const auto overrun = failure.stage == Stage::launch ? emulator::overrun_in(failure.message) : std::nullopt;
  if (!overrun || overrun->bytes == 0 || overrun->past > kMostBytes) return false;
  const uint64_t needed = overrun->bytes + overrun->past + kWidestAccess;
  if (needed > kMostBytes) return false;
  return catalog::lengthen(file.imported, overrun->buffer,
                           static_cast<int64_t>((needed + overrun->bytes - 1) / overrun->bytes));
}

}  // namespace

void probe(ImportedFile& file) {
  if (file.imported.open_lengths.empty()) return;
  auto places = find_places();
  if (!places) return;
  const auto began = Clock::now();
  // A folder of its own, even beside another import of the same file.
  const fs::path folder = places->user.cache / "probed" /
                          fmt::format("{}_{}", catalog::content_hash(file.imported.manifest, file.whole.text),
                                      began.time_since_epoch().count());
  std::optional<Failure> failure;
  for (int runs = 0; runs < kMostRuns; ++runs) {
    const auto spent = Clock::now() - began;
    if (spent > kLongest) break;
    failure = failure_of_run(file, folder, kLongest - spent);
    if (failure && failure->stage == Stage::cancelled)
      failure->message = fmt::format("it took longer than {} s", kLongest.count());
    if (!failure || !made_longer(file, *failure)) break;
  }
  std::error_code error;
  fs::remove_all(folder, error);
  if (failure) file.imported.guessed.push_back("the guessed lengths could not be tried: " + failure->message);
}

}  // namespace attnscope::cli
