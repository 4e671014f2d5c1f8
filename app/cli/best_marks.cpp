#include "cli/best_marks.h"

#include <charconv>

#include "core/escape.h"
#include "core/hash.h"
#include "core/json.h"
#include "platform/aged_files.h"
#include "platform/atomic_file.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEndedMark = "ended ";  // followed by the budget
constexpr uint64_t kMarkBytes = 64 << 10;

}  // namespace

BestMarks::BestMarks(fs::path folder, const Problem& problem, const DeviceSpec& device, size_t most)
    : folder_(std::move(folder)),
      most_(most),
      of_(json_text(to_json(problem)) + "\n" + device.id + " " + device.name) {}

fs::path BestMarks::file_of(const Kernel& kernel) const {
  return folder_ / xxh3_128(of_ + "\n" + kernel.id + "\n" + kernel.content_hash);
}

std::string BestMarks::text_of(const Kernel& kernel) const { return of_ + "\n" + kernel.id + "\n"; }

bool BestMarks::begun(const Kernel& kernel) const {
  std::error_code none;
  return fs::exists(file_of(kernel), none) && ended(kernel) == 0;
}

size_t BestMarks::ended(const Kernel& kernel) const {
  const auto text = platform::read_file_if_any(file_of(kernel), kMarkBytes);
  if (!text || !*text) return 0;
  const std::string until = text_of(kernel) + std::string(kEndedMark);
  if (!(*text)->starts_with(until)) return 0;
  size_t budget = 0;
  std::from_chars((*text)->data() + until.size(), (*text)->data() + (*text)->size(), budget);
  return budget;
}

Result<void> BestMarks::begin(const Kernel& kernel) const {
  return platform::write_file(file_of(kernel), text_of(kernel));
}

Result<void> BestMarks::end(const Kernel& kernel, size_t budget) const {
  auto written =
      platform::write_file(file_of(kernel), text_of(kernel) + std::string(kEndedMark) + std::to_string(budget) + "\n");
  if (written) trim();
  return written;
}

void BestMarks::trim() const {
  const auto marks = platform::files_by_age(folder_);
  size_t left = marks.size();
  for (const platform::AgedFile& mark : marks) {
    if (left <= most_) return;
    const auto text = platform::read_file_if_any(mark.path, kMarkBytes);
    if (!text || !*text || (*text)->find("\n" + std::string(kEndedMark)) == std::string::npos) continue;
    std::error_code gone;
    fs::remove(mark.path, gone);
    --left;
  }
}

void BestMarks::take(const Kernel& kernel) const {
  std::error_code none;
  fs::remove(file_of(kernel), none);
}

}  // namespace attnscope::cli
