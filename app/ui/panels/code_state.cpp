#include "ui/panels/code_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "catalog/launch.h"
#include "ui/hardware_desk.h"

namespace attnscope::ui {
namespace {

constexpr size_t kAround = 3;        // unchanged lines around a change
constexpr size_t kMostKernels = 64;  // whose sources are kept for comparison

using Kind = ChangeLine::Kind;

// The rows of one difference. `line_of(row)` makes a row from its index in B (otherwise A) and its side.
template <class LineOf>
void add_changes(std::vector<ChangeLine>& out, const std::string& title, const charts::CodeDiff& diff, LineOf line_of) {
  out.push_back({Kind::heading, fmt::format("{}: {} removed, {} added", title, diff.removed, diff.added)});
  size_t next = 0;
  for (const size_t at : charts::changed_rows(diff, kAround)) {
    if (at != next) out.push_back({Kind::gap, "\u2026"});
    next = at + 1;
    ChangeLine line = line_of(diff.rows[at]);
    line.kind = diff.rows[at].side == charts::DiffSide::same      ? Kind::same
                : diff.rows[at].side == charts::DiffSide::removed ? Kind::removed
                                                                  : Kind::added;
    out.push_back(std::move(line));
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

const std::vector<ChangeLine>& CodeState::edits(const std::string& original, const std::string& now) {
  if (!edits_.empty() && original == original_ && now == edited_) return edits_;
  original_ = original;
  edited_ = now;
  edits_.clear();
  const std::vector<std::string> before = lines_of(original), after = lines_of(now);
  add_changes(edits_, "Source, since it was copied", charts::diff_of(before, after), [&](const charts::DiffRow& row) {
    if (row.b < 0) return ChangeLine{Kind::same, before[static_cast<size_t>(row.a)], 0, -1};
    return ChangeLine{Kind::same, after[static_cast<size_t>(row.b)], row.b + 1, -1};
  });
  return edits_;
}

session::Shared<Listing> CodeState::listing_of(Context& context, const Observation& seen) {
  const std::string hash = hash_of(seen.experiment);
  const auto found = context.snapshot.listings.find(hash);
  if (found != context.snapshot.listings.end()) return found->second;
  const auto refused = context.snapshot.refused_listings.find(hash);
  missing_ = refused != context.snapshot.refused_listings.end() ? refused->second.message : "The code is being read.";
  const bool wanted = refused == context.snapshot.refused_listings.end();
  if (wanted) context.session.request_code(seen.experiment);
  return nullptr;
}

void CodeState::refresh(Context& context, const Kernel& kernel, size_t lines) {
  if (kernels_.size() >= kMostKernels && !kernels_.contains(kernel.content_hash)) kernels_.erase(kernels_.begin());
  kernels_.try_emplace(kernel.content_hash, kernel);
  const auto& seen = context.shown.observation;
  const bool its = seen != nullptr && seen->experiment.kernel_hash == kernel.content_hash;
  if (!its) {
    missing_ = "The shown run has another source; run again to see its code.";
    return take(nullptr, nullptr, kernel, lines, context.hardware);
  }
  if (context.shown.running()) return;  // the previous run's code stays until this one's arrives
  const auto listing = listing_of(context, *seen);
  const bool on_its_way = listing == nullptr && listing_ != nullptr && kernel_hash_ == kernel.content_hash &&
                          !context.snapshot.refused_listings.contains(hash_of(seen->experiment));
  if (!on_its_way) take(listing, seen, kernel, lines, context.hardware);
}

void CodeState::take(session::Shared<Listing> listing, session::Shared<Observation> seen, const Kernel& kernel,
                     size_t lines, const HardwareDesk& hardware) {
  if (listing == listing_ && seen == seen_ && kernel_hash_ == kernel.content_hash && hardware_came_ == hardware.came())
    return;
  const bool same_code = listing == listing_;
  listing_ = std::move(listing);
  seen_ = std::move(seen);
  kernel_hash_ = kernel.content_hash;
  const SourceLines source(kernel.source_name, kernel.source);
  hardware_came_ = hardware.came();
  const Observation* profiled = seen_ != nullptr ? hardware.of(hash_of(seen_->experiment)) : nullptr;
  view_ = listing_ != nullptr ? charts::code_view(*listing_, seen_.get(), source, lines, profiled) : charts::CodeView{};
  if (same_code) return;
  graph_.reset();
  live_.clear();
  ptx_.clear();
  instruction_ = -1;
  producers_.clear();
  consumers_.clear();
  if (listing_ == nullptr) return;
  missing_.clear();
  graph_.emplace(*listing_);
  live_ = graph_->live_registers();
  ptx_ = charts::ptx_lines(listing_->ptx, source);
}

void CodeState::choose_line(int64_t line) {
  line_ = line;
  instruction_ = -1;
  producers_.clear();
  consumers_.clear();
}

void CodeState::choose_instruction(int64_t at) {
  const bool known = at >= 0 && static_cast<size_t>(at) < view_.lines_of.size();
  choose_line(
      known && !view_.lines_of[static_cast<size_t>(at)].empty() ? view_.lines_of[static_cast<size_t>(at)].front() : 0);
  if (!known) return;
  instruction_ = at;
  producers_ = graph_->producers_of(at);
  consumers_ = graph_->consumers_of(at);
}

bool CodeState::lights_line(int64_t line) const {
  return instruction_ >= 0 && std::ranges::find(view_.lines_of[static_cast<size_t>(instruction_)], line) !=
                                  view_.lines_of[static_cast<size_t>(instruction_)].end();
}

bool CodeState::lights_instruction(int64_t at) const {
  return line_ > 0 && static_cast<size_t>(at) < view_.lines_of.size() &&
         std::ranges::find(view_.lines_of[static_cast<size_t>(at)], line_) !=
             view_.lines_of[static_cast<size_t>(at)].end();
}

const std::vector<ChangeLine>& CodeState::changes(Context& context, const Kernel& kernel, std::string& why) {
  static const std::vector<ChangeLine> none;
  const session::HistoryEntry* a = context.baseline.entry;
  if (a == nullptr || context.baseline.is_shown) {
    why = "There is no run A beside the shown one. Pin one in the strip on top, or move a knob.";
    return none;
  }
  if (listing_ == nullptr) {
    why = missing_;
    return none;
  }
  const Experiment& before = a->observation->experiment;
  const Kernel* kernel_a = session::find_kernel(context.snapshot, before.kernel);
  if (kernel_a == nullptr || kernel_a->content_hash != before.kernel_hash) {
    const auto held = kernels_.find(before.kernel_hash);
    if (held == kernels_.end()) {
      why = "A's source was edited since its run.";
      return none;
    }
    kernel_a = &held->second;
  }
  const std::string kept = std::exchange(missing_, {});
  const auto listing_a = listing_of(context, *a->observation);
  why = std::exchange(missing_, kept);
  if (listing_a == nullptr) return none;
  if (listing_a == changes_a_ && listing_ == changes_b_) return changes_;
  changes_a_ = listing_a;
  changes_b_ = listing_;
  changes_.clear();
  const Experiment& after = seen_->experiment;
  const auto source_a =
      charts::preprocessed(kernel_a->source, catalog::macros(*kernel_a, before.problem, before.config));
  const auto source_b = charts::preprocessed(kernel.source, catalog::macros(kernel, after.problem, after.config));
  const charts::CodeDiff source = charts::source_diff(source_a, source_b);
  const charts::CodeDiff sass = charts::sass_diff(*listing_a, *listing_);
  add_changes(changes_, "Source, with the knobs' values", source, [&](const charts::DiffRow& row) {
    if (row.b < 0) return ChangeLine{Kind::same, source_a[static_cast<size_t>(row.a)].text, 0, -1};
    const charts::SourceLine& line = source_b[static_cast<size_t>(row.b)];
    return ChangeLine{Kind::same, line.text, line.number, -1};
  });
  add_changes(changes_, "SASS, whatever its registers", sass, [&](const charts::DiffRow& row) {
    if (row.b < 0) return ChangeLine{Kind::same, listing_a->lines[static_cast<size_t>(row.a)].text, 0, -1};
    return ChangeLine{Kind::same, listing_->lines[static_cast<size_t>(row.b)].text, 0, row.b};
  });
  summary_ =
      fmt::format("source \u2212{} +{}, SASS \u2212{} +{}", source.removed, source.added, sass.removed, sass.added);
  return changes_;
}

}  // namespace attnscope::ui
