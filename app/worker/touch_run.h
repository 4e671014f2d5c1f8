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
  int64_t limit_ms = 0;  // of processor time, for all runs together
  std::vector<Run> runs;
};

// One for each run that began before the limit: what it accessed, or why it did not end.
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
