#include "ui/panels/code_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "catalog/launch.h"
#include "charts/fragment_grid.h"
#include "ui/hardware_desk.h"
#include "ui/widgets/ghost.h"

namespace attnscope::ui {
namespace {

constexpr size_t kAround = 3;        // unchanged lines around a change
constexpr size_t kMostKernels = 64;  // whose sources are kept for comparison

constexpr double kLookAgain = 0.004;  // seconds until the next frame while another thread makes something
constexpr const char* kBeingRead = "The code is being read.";

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

// The lines in which a GPU's warps were sampled, as far as they were.
std::optional<Observation> samples_of(const Observation& seen, const HardwareDesk& hardware) {
  const Observation* profiled = hardware.of(hash_of(seen.experiment));
  if (profiled == nullptr) return std::nullopt;
  Observation samples;
  samples.findings = profiled->findings;
  return samples;
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

CodeFacts::CodeFacts(const Listing& listing, const SourceLines& source)
    : graph(listing),
      live(graph.live_registers()),
      ptx(charts::ptx_lines(listing.ptx, source)),
      buffers(charts::buffer_uses(listing)),
      matrices(charts::with_fragments(listing)) {
  for (size_t at = 0; at < listing.lines.size(); ++at)
    if (listing.lines[at].shared) accesses.push_back(static_cast<int64_t>(at));
}

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
  missing_ = refused != context.snapshot.refused_listings.end() ? refused->second.message : kBeingRead;
  const bool wanted = refused == context.snapshot.refused_listings.end();
  if (wanted) context.session.request_code(seen.experiment);
  return nullptr;
}

void CodeState::refresh(Context& context, const Kernel& kernel, size_t lines) {
  if (kernels_.size() >= kMostKernels && !kernels_.contains(kernel.content_hash)) kernels_.erase(kernels_.begin());
  kernels_.try_emplace(kernel.content_hash, kernel);
  const Listing* const before = listing();
  without_a_.clear();
  const auto& seen = context.shown.observation;
  const bool its = seen != nullptr && seen->experiment.kernel_hash == kernel.content_hash;
  if (!its) {
    missing_ = "The shown run has another source; run again to see its code.";
    take({}, kernel, lines, context.hardware);
  } else if (!context.shown.running()) {  // the previous run's code stays until this one's arrives
    const auto listing = listing_of(context, *seen);
    const bool on_its_way = listing == nullptr && wanted_.listing != nullptr &&
                            wanted_.kernel_hash == kernel.content_hash &&
                            !context.snapshot.refused_listings.contains(hash_of(seen->experiment));
    if (!on_its_way) {
      Of of{listing, kernel.content_hash, seen, context.hardware.came(), nullptr, nullptr};
      if (listing != nullptr) add_a(context, of);
      take(std::move(of), kernel, lines, context.hardware);
    }
  }
  made_.follow();
  changes_.follow();
  if (listing() != before) {
    ++arrivals_;
    instruction_ = -1;
    producers_.clear();
    consumers_.clear();
    if (listing() != nullptr) missing_.clear();
  }
  if (makes()) context.wake_within(kLookAgain);
}

// A's code beside it.
void CodeState::add_a(Context& context, Of& of) {
  const Observation* ghost = context.baseline.ghost;
  without_a_ = why_no_ghost(context);
  if (ghost == nullptr) return;
  const std::string kept = std::exchange(missing_, {});
  of.a = listing_of(context, *ghost);
  without_a_ = of.a == nullptr ? "A: " + missing_ : "";
  missing_ = kept;
  if (of.a != nullptr) of.seen_a = context.baseline.entry->observation;
}

void CodeState::take(Of of, const Kernel& kernel, size_t lines, const HardwareDesk& hardware) {
  if (of == wanted_) return;
  wanted_ = of;
  if (made().of.kernel_hash != of.kernel_hash || of.listing == nullptr) made_.clear();
  if (of.listing == nullptr) return;
  if (made_.value() == nullptr) missing_ = kBeingRead;
  const bool is_short = of.listing->lines.size() + (of.a != nullptr ? of.a->lines.size() : 0) <= kShort;
  made_.begin(
      [of, lines, name = kernel.source_name, text = kernel.source,
       profiled = of.seen != nullptr ? samples_of(*of.seen, hardware) : std::nullopt,
       profiled_a = of.seen_a != nullptr ? samples_of(*of.seen_a, hardware) : std::nullopt,
       facts = made().of.listing == of.listing ? made().facts : nullptr] {
        const SourceLines source(name, text);
        const Observation *samples = profiled ? &*profiled : nullptr, *samples_a = profiled_a ? &*profiled_a : nullptr;
        Made made{of, charts::code_view(*of.listing, of.seen.get(), source, lines, samples), {}, facts};
        if (of.a != nullptr)
          made.ghost =
              charts::code_ghost({*of.a, *of.seen_a, samples_a}, {*of.listing, *of.seen, samples}, source, lines);
        if (!facts) made.facts = std::make_shared<const CodeFacts>(*of.listing, source);
        return made;
      },
      is_short);
}

const CodeState::Made& CodeState::made() const {
  static const Made none;
  return made_.value() ? *made_.value() : none;
}

void CodeState::choose_line(int64_t line) {
  line_ = line;
  instruction_ = -1;
  producers_.clear();
  consumers_.clear();
}

void CodeState::choose_instruction(int64_t at) {
  const bool known = at >= 0 && static_cast<size_t>(at) < view().lines_of.size();
  choose_line(known && !view().lines_of[static_cast<size_t>(at)].empty()
                  ? view().lines_of[static_cast<size_t>(at)].front()
                  : 0);
  if (!known) return;
  instruction_ = at;
  producers_ = facts().graph.producers_of(at);
  consumers_ = facts().graph.consumers_of(at);
}

bool CodeState::lights_line(int64_t line) const {
  return instruction_ >= 0 && std::ranges::find(view().lines_of[static_cast<size_t>(instruction_)], line) !=
                                  view().lines_of[static_cast<size_t>(instruction_)].end();
}

bool CodeState::lights_instruction(int64_t at) const {
  return line_ > 0 && static_cast<size_t>(at) < view().lines_of.size() &&
         std::ranges::find(view().lines_of[static_cast<size_t>(at)], line_) !=
             view().lines_of[static_cast<size_t>(at)].end();
}

const std::vector<ChangeLine>& CodeState::changes(Context& context, const Kernel& kernel, std::string& why) {
  static const std::vector<ChangeLine> none;
  const session::HistoryEntry* a = context.baseline.entry;
  if (a == nullptr || context.baseline.is_shown) {
    why = "There is no run A beside the shown one. Pin one in the strip on top, or move a knob.";
    return none;
  }
  if (listing() == nullptr) {
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
  if (listing_a != changes_a_ || made().of.listing != changes_b_) begin_changes(*kernel_a, before, listing_a, kernel);
  if (changes_.value() && changes_.value()->a == listing_a && changes_.value()->b == made().of.listing)
    return changes_.value()->lines;
  why = "The changes are being found.";
  context.wake_within(kLookAgain);
  return none;
}

void CodeState::begin_changes(const Kernel& kernel_a, const Experiment& before, session::Shared<Listing> a,
                              const Kernel& kernel_b) {
  const Experiment& after = made().of.seen->experiment;
  changes_a_ = a;
  changes_b_ = made().of.listing;
  changes_.begin(
      [a, b = changes_b_, text_a = kernel_a.source, text_b = kernel_b.source,
       macros_a = catalog::macros(kernel_a, before.problem, before.config),
       macros_b = catalog::macros(kernel_b, after.problem, after.config)] {
        MadeChanges made{a, b, {}, {}};
        const auto source_a = charts::preprocessed(text_a, macros_a);
        const auto source_b = charts::preprocessed(text_b, macros_b);
        const charts::CodeDiff source = charts::source_diff(source_a, source_b);
        const charts::CodeDiff sass = charts::sass_diff(*a, *b);
        add_changes(made.lines, "Source, with the knobs' values", source, [&](const charts::DiffRow& row) {
          if (row.b < 0) return ChangeLine{Kind::same, source_a[static_cast<size_t>(row.a)].text, 0, -1};
          const charts::SourceLine& line = source_b[static_cast<size_t>(row.b)];
          return ChangeLine{Kind::same, line.text, line.number, -1};
        });
        add_changes(made.lines, "SASS, registers ignored", sass, [&](const charts::DiffRow& row) {
          if (row.b < 0) return ChangeLine{Kind::same, a->lines[static_cast<size_t>(row.a)].text, 0, -1};
          return ChangeLine{Kind::same, b->lines[static_cast<size_t>(row.b)].text, 0, row.b};
        });
        made.summary = fmt::format("source \u2212{} +{}, SASS \u2212{} +{}", source.removed, source.added, sass.removed,
                                   sass.added);
        return made;
      },
      a->lines.size() + changes_b_->lines.size() <= kShort);
}

}  // namespace attnscope::ui
