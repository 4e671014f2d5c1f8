#include "cli/validate_again.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/bench_plan.h"
#include "cli/command.h"
#include "core/json.h"
#include "core/problem.h"
#include "platform/json_file.h"
#include "sweep/twin.h"

namespace attnscope::cli {
namespace {

constexpr uint64_t kMaxValidated = 64 << 20;

// Parses the config of a row in a file: "BLOCK_M=32 NUM_WARPS=4".
Result<Draft> row_draft(const report::ValidationRow& row, const std::vector<Kernel>& kernels) {
  std::string text = row.config.empty() ? row.kernel : row.kernel + ":" + row.config;
  std::ranges::replace(text, ' ', ',');
  auto named = named_config(text, kernels, "the row");
  if (!named) return fail(named.error());
  auto problem = problem_from_text(row.problem);
  if (!problem) return fail(problem.error());
  return Draft{*problem, row.kernel, {named->knobs, {}}, "", {}};
}

}  // namespace

Result<report::Validation> read_validation(const std::string& file) {
  auto json = platform::read_json(file, kMaxValidated, Stage::input);
  return json ? report::validation_from_json(*json, file) : fail(json.error());
}

void model_row(session::Session& session, Draft draft, const DeviceSpec& device, report::ValidationRow timed,
               report::ValidationSet& set) {
  draft.device = device.id;
  draft.measure.sampled_share = sweep::emulated_share(draft.problem);
  timed.kernel = draft.kernel;
  const Observation seen = session.queue(draft).get();
  const std::string code = seen.variant ? seen.variant->code_hash : "";
  const auto refuse = [&](const std::string& why) {
    set.refused.push_back({timed.problem, timed.kernel, timed.config, why});
  };
  if (seen.failure || !seen.timing || seen.timing->p50 <= 0)
    return refuse("not modelled: " + (seen.failure ? seen.failure->message : "it gave no time"));
  if (!timed.code_hash.empty() && timed.code_hash != code)
    return refuse(fmt::format("other machine code was timed ({:.4f} us, {}) than this build and NVRTC {} make",
                              timed.us, timed.code_hash, seen.versions.nvrtc));
  const Timing& timing = *seen.timing;
  timed.code_hash = code;
  timed.modelled = timing.p50;
  timed.bar_low = timing.interval_low;
  timed.bar_high = timing.interval_high;
  timed.bound = timing.bound;
  timed.terms.clear();
  if (timing.terms)
    for (const Term& term : timing.terms->list) timed.terms[std::string(word_of(term.kind))] = term.us / timing.p50;
  set.rows.push_back(std::move(timed));
  set.nvrtc = seen.versions.nvrtc;
  set.app = seen.versions.app;
}

report::ValidationSet model_again(session::Session& session, const DeviceSpec& device,
                                  const std::vector<Kernel>& kernels, report::ValidationSet set) {
  const std::vector<report::ValidationRow> rows = std::exchange(set.rows, {});
  for (size_t i = 0; i < rows.size(); ++i) {
    const report::ValidationRow& row = rows[i];
    print_over(
        fmt::format("attnscope validate: {} of {}  {} {} {}", i + 1, rows.size(), row.problem, row.kernel, row.config),
        {i + 1, rows.size()});
    if (auto draft = row_draft(row, kernels))
      model_row(session, std::move(*draft), device, row, set);
    else
      set.refused.push_back({row.problem, row.kernel, row.config, "not modelled: " + draft.error().message});
  }
  print_over("");
  return set;
}

}  // namespace attnscope::cli
