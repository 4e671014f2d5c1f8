#include "cli/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

#include "catalog/catalog.h"
#include "catalog/probed.h"
#include "cli/one_run.h"
#include "cli/places.h"
#include "core/escape.h"
#include "core/json.h"
#include "core/replace_all.h"
#include "platform/atomic_file.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kMostRuns = 24;
constexpr std::chrono::seconds kLongest{40};     // of all runs
constexpr std::chrono::seconds kLongestRun{30};  // of one
constexpr int kMostLowered = 3;                  // runs with smaller sizes
constexpr int64_t kLower[] = {64, 8, 1};  // what a guessed size may be at most, where a larger one leaves a buffer
constexpr double kLeastShare = 1e-6;      // of the CTAs: one
constexpr uint64_t kMostLengthened = uint64_t{1} << 30;  // of a buffer that is made longer
constexpr uint64_t kWidestAccess = 16;                   // bytes
constexpr int kSlowlyGrown = 2, kFaster = 8;             // times that a buffer grows before it grows faster
constexpr const char* kId = "probed_by_import";          // no other kernel has it

// The failure of a run; empty if it ran.
std::optional<Failure> failure_of_run(ImportedFile& file, const fs::path& folder, Clock::duration left,
                                      int deadline_ms) {
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
  run.deadline_ms = deadline_ms;
  run.watch = session::Watch::never;
  run.most = std::chrono::duration_cast<std::chrono::milliseconds>(left);
  // What is guessed needs all CTAs.
  const bool is_sure = file.imported.open_lengths.empty() && file.imported.guessed.empty();
  const auto ran = run_one(run, is_sure ? kLeastShare : 0);
  if (!ran) return ran.error();
  file.compiled = file.compiled || ran->observation.variant;
  std::optional<Failure> failure = ran->observation.failure;
  if (failure) replace_all(failure->message, kId, file.imported.id);
  return failure;
}

// Whether the buffer that the access left could be made longer. One that was too short before grows faster: a kernel
// that takes the end of a row after the other would take a run for each.
bool made_longer(ImportedFile& file, const Failure& failure, std::map<std::string, int>& grown) {
  const auto& overrun = failure.overrun;
  if (failure.stage != Stage::launch || !overrun || overrun->bytes == 0 || overrun->past > kMostLengthened)
    return false;
  const uint64_t needed = overrun->bytes + overrun->past + kWidestAccess;
  if (needed > kMostLengthened) return false;
  const auto times = static_cast<int64_t>((needed + overrun->bytes - 1) / overrun->bytes);
  if (!file.at_first_lengths) file.at_first_lengths = file.imported;
  const int64_t faster = ++grown[overrun->buffer] > kSlowlyGrown ? kFaster : 1;
  return catalog::lengthen(file.imported, overrun->buffer, times * faster) ||
         (faster > 1 && catalog::lengthen(file.imported, overrun->buffer, times));
}

// A run that takes too long is tried again with smaller sizes; one that takes too long to compile does so at any size.
// A deadlock is the kernel's own: smaller sizes may hide it.
bool made_shorter(ImportedFile& file, const Failure& failure) {
  if (failure.kind == FailureKind::deadlock || !file.compiled) return false;
  // A deadline counts the run's own time. One that was cancelled may have had to wait for a busy machine.
  return failure.stage == Stage::deadline && catalog::lower_largest(file.imported);
}

// The tries of one import: each runs the kernel once.
class Probe {
 public:
  Probe(ImportedFile& file, fs::path folder, Clock::time_point began, int deadline_ms)
      : file_(file), folder_(std::move(folder)), began_(began), deadline_ms_(deadline_ms) {}

  std::optional<Failure> best() {
    std::optional<catalog::Imported> at_its_sizes;  // before the first was lowered
    int lowered = 0;
    std::optional<std::pair<catalog::Imported, Failure>> shorter;  // before a buffer was lengthened
    std::optional<catalog::Imported> apart;                        // before its launch became cooperative
    bool together = false;                                         // it became so
    while (run()) {
      if (failure_->kind == FailureKind::awaits_cta && !apart) {
        apart = file_.imported;
        together = catalog::run_together(file_.imported);
        if (together) continue;
      } else if (together && failure_->stage != Stage::launch && failure_->kind != FailureKind::deadlock) {
        file_.imported = *apart;  // it does not help, as where the device does not hold all CTAs
        together = false;
      }
      // Together they are more than a manifest may have: what was run before them counts.
      if (shorter && failure_->stage == Stage::input) {
        file_.imported = std::move(shorter->first);
        failure_ = std::move(shorter->second);
        break;
      }
      std::pair<catalog::Imported, Failure> tried{file_.imported, *failure_};
      if (made_longer(file_, *failure_, grown_)) {
        shorter = std::move(tried);
        continue;
      }
      if (failure_->absent_variable && catalog::drop_variable(file_.imported, *failure_->absent_variable)) continue;
      if (lowered == kMostLowered) break;
      if (!at_its_sizes) at_its_sizes = file_.imported;
      if (!made_shorter(file_, *failure_)) break;
      ++lowered;
    }
    // It does not end at smaller sizes either, or it has no launch there.
    const bool none = failure_ && (failure_->stage == Stage::deadline || failure_->stage == Stage::catalog);
    if (none && at_its_sizes) file_.imported = std::move(*at_its_sizes);
    if (failure_ && failure_->stage == Stage::launch) try_other_guesses();
    return failure_;
  }

 private:
  bool is_time_left() {
    const bool late = Clock::now() - began_ > kLongest;
    file_.hurried = file_.hurried || late;
    return runs_ < kMostRuns && !late;
  }

  // True if it failed and may be tried again; false if it ran or the tries are used up.
  bool run() {
    if (!is_time_left()) return false;
    ++runs_;
    const auto spent = Clock::now() - began_;
    failure_ = failure_of_run(file_, folder_, std::min<Clock::duration>(kLongest - spent, kLongestRun), deadline_ms_);
    const bool cancelled = failure_ && failure_->stage == Stage::cancelled;
    const bool sooner = deadline_ms_ > 0 && failure_ && failure_->stage == Stage::deadline;
    file_.hurried = file_.hurried || cancelled || sooner;
    if (cancelled) failure_->message = fmt::format("it took longer than {} s", kLongestRun.count());
    return failure_.has_value();
  }

  // Whether the kernel stays within its buffers with these guesses.
  bool stays_within() {
    while (run() && made_longer(file_, *failure_, grown_)) continue;
    return !failure_;
  }

  // The same with smaller sizes, each from the lengths that it began with.
  bool stays_within_lowered() {
    const catalog::Imported before = file_.imported;
    for (const int64_t most : kLower) {
      file_.imported = before;
      grown_.clear();
      if (catalog::lower_guessed(file_.imported, most) && is_time_left() && stays_within()) return true;
    }
    return false;
  }

  // The same where another file's host code says too short a length.
  bool stays_within_longer() {
    while (failure_) {
      if (failure_->overrun) catalog::doubt_length(file_.imported, failure_->overrun->buffer);
      if (!made_longer(file_, *failure_, grown_) || !run()) break;
    }
    return !failure_;
  }

  // A kernel that leaves a buffer may do so because of a guess: an index in random data, or a size that is an index. If
  // no other guess helps, the fault is the kernel's own, and its first guesses stay.
  void try_other_guesses() {
    const catalog::Imported first = file_.imported;
    const Failure its = *failure_;
    const auto restore = [&] {
      file_.imported = first;
      failure_ = its;
      grown_.clear();
    };
    grown_.clear();
    if (catalog::zero_whole_numbers(file_.imported) && is_time_left() && stays_within()) return;
    restore();
    if (stays_within_lowered()) return;
    restore();
    if (stays_within_longer()) return;
    restore();
    if (catalog::zero_whole_numbers(file_.imported) && stays_within_lowered()) return;
    restore();
    if (catalog::one_floats(file_.imported) && is_time_left() && stays_within()) return;
    restore();
  }

  ImportedFile& file_;
  const fs::path folder_;
  const Clock::time_point began_;
  const int deadline_ms_;
  std::optional<Failure> failure_;
  std::map<std::string, int> grown_;  // how often, by buffer
  int runs_ = 0;
};

}  // namespace

std::optional<Failure> probe(ImportedFile& file, int deadline_ms) {
  auto places = find_places();
  if (!places) return places.error();
  const auto began = Clock::now();
  // A folder of its own, even beside another import of the same file.
  const fs::path folder = places->user.cache / "probed" /
                          fmt::format("{}_{}", catalog::content_hash(file.imported.manifest, file.whole.text),
                                      began.time_since_epoch().count());
  const std::optional<Failure> failure = Probe(file, folder, began, deadline_ms).best();
  std::error_code error;
  fs::remove_all(folder, error);
  return failure;
}

}  // namespace attnscope::cli
