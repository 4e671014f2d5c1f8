#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/touch.h"
#include "worker/services.h"

namespace attnscope::worker {

// Runs of a kernel at several sizes, to learn what it accesses.
struct TouchQuestion {
  struct Run {
    std::string manifest;
    std::map<std::string, int64_t> sizes;  // in place of the manifest's
  };
  std::string id;  // of the kernel, as its manifests say it
  std::string source_name, source;
  int64_t most_work = 0;  // of all runs together (Touches::work), so that the same question has the same answers
  int64_t limit_ms = 0;   // of time, in case that a run hangs: what is then missing is marked Stage::cancelled
  std::vector<Run> runs;
};

// One for each run: what it accessed, or why it did not end. Stage::deadline: the work was used up; Stage::cancelled:
// the time was.
struct TouchAnswer {
  std::optional<Touches> touches;
  std::optional<Failure> failure;
};

std::string question_text(const TouchQuestion& question);
Result<TouchQuestion> question_of(const std::string& text, const std::string& where);
std::string answers_text(const std::vector<TouchAnswer>& answers);
Result<std::vector<TouchAnswer>> answers_of(const std::string& text, const std::string& where);

// Each run executes on the first emulated device.
std::vector<TouchAnswer> answer_touches(Services& services, const TouchQuestion& question);

}  // namespace attnscope::worker
