#include "charts/code_ghost.h"

#include <fmt/format.h>

#include "charts/code_diff.h"
#include "core/with_commas.h"

namespace attnscope::charts {
namespace {

// True if one model gave both times, for one cache policy.
bool of_one_model(const CodeOf& a, const CodeOf& b) {
  return a.seen.versions.app == b.seen.versions.app &&
         a.seen.experiment.measure.cache == b.seen.experiment.measure.cache;
}

double counted_share(const Listing& listing) {
  return listing.total_ctas > 0 ? double(listing.emulated_ctas) / double(listing.total_ctas) : 0;
}

void scale(std::vector<Heat>& all, double by) {
  for (Heat& heat : all)
    for (double* count : {&heat.instructions, &heat.lanes, &heat.wavefronts, &heat.conflicts, &heat.sectors})
      *count *= by;
}

// Brings A's counts to B's share of the CTAs. The times are of the whole run anyway.
void scale(CodeView& view, double by) {
  scale(view.lines, by);
  scale(view.instructions, by);
  for (const HeatColumn column : {HeatColumn::instructions, HeatColumn::lanes, HeatColumn::wavefronts,
                                  HeatColumn::conflicts, HeatColumn::sectors}) {
    view.hottest_line[size_t(column)] *= by;
    view.hottest_instruction[size_t(column)] *= by;
  }
}

std::vector<int64_t> aligned(const Listing& a, const Listing& b) {
  std::vector<int64_t> all(b.lines.size(), -1);
  for (const DiffRow& row : sass_diff(a, b).rows)
    if (row.side == DiffSide::same) all[static_cast<size_t>(row.b)] = row.a;
  return all;
}

}  // namespace

const Heat* CodeGhost::at_line(size_t line, HeatColumn column) const {
  return knows(column) && line < view.lines.size() ? &view.lines[line] : nullptr;
}

const Heat* CodeGhost::at_instruction(size_t instruction, HeatColumn column) const {
  if (!knows(column) || instruction >= aligned.size() || aligned[instruction] < 0) return nullptr;
  return &view.instructions[static_cast<size_t>(aligned[instruction])];
}

CodeGhost code_ghost(const CodeOf& a, const CodeOf& b, const SourceLines& source, size_t source_lines) {
  CodeGhost ghost;
  if (a.listing.launch != b.listing.launch) {
    ghost.note = "A's code is another launch's" + (a.listing.launch ? ": " + *a.listing.launch : std::string());
    return ghost;
  }
  const bool one_source = a.seen.experiment.kernel_hash == b.seen.experiment.kernel_hash;
  ghost.view = code_view(a.listing, &a.seen, source, one_source ? source_lines : 0, a.profiled);
  ghost.aligned = aligned(a.listing, b.listing);
  const bool counted = a.listing.counted && b.listing.counted;
  ghost.beside.fill(counted);
  ghost.beside[size_t(HeatColumn::time)] = counted && of_one_model(a, b);
  ghost.beside[size_t(HeatColumn::samples)] = a.profiled != nullptr && b.profiled != nullptr;
  ghost.beside[size_t(HeatColumn::races)] = one_source && a.seen.watch && b.seen.watch;
  if (!one_source) ghost.note = "A has another source: only its SASS is beside B's";
  if (!counted) {
    if (b.listing.counted) ghost.note = "A's code has no counts: the emulator has not run it recently";
    return ghost;
  }
  const double share_a = counted_share(a.listing), share_b = counted_share(b.listing);
  if (share_a > 0 && share_b > 0 && share_a != share_b) {
    scale(ghost.view, share_b / share_a);
    ghost.note += fmt::format("{}A's counts are of {} of {} CTAs, scaled", ghost.note.empty() ? "" : ". ",
                              with_commas(a.listing.emulated_ctas), with_commas(a.listing.total_ctas));
  }
  return ghost;
}

std::string figure_beside(const Heat& b, const Heat* a, HeatColumn column) {
  const std::string own = b.text(column), theirs = a != nullptr ? a->text(column) : "";
  if (own.empty() && theirs.empty()) return {};
  const auto or_none = [](const std::string& figure) { return figure.empty() ? "none" : figure; };
  return or_none(own) + (a != nullptr ? "; A " + or_none(theirs) : "");
}

}  // namespace attnscope::charts
