#include "charts/shared_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "charts/format.h"

namespace attnscope::charts {
namespace {

constexpr int64_t kBankRow = 128, kWord = 4;

std::string counted(int64_t count, const char* noun) {
  return fmt::format("{} {}{}", with_commas(count), noun, count == 1 ? "" : "s");
}

// True if the part contains every byte of the access.
bool holds(const SharedPlace& place, const SharedAccess& access) {
  return lowest_byte(access) >= place.begin && std::ranges::max(access.at) + access.bytes <= place.begin + place.bytes;
}

// Row length in bytes → the number of recorded executions that show it.
using Votes = std::map<int64_t, int64_t>;

int64_t elected(const Votes& votes) {
  const auto most = std::ranges::max_element(votes, {}, [](const auto& one) { return one.second; });
  return most == votes.end() ? 0 : most->first;
}

}  // namespace

std::string title_of(BankLayout layout) {
  switch (layout) {
    case BankLayout::recorded:
      return "as recorded";
    case BankLayout::padded:
      return fmt::format("{} B behind each row", kPaddedRows.padding);
    case BankLayout::swizzled:
      break;
  }
  return "chunks permuted by the row";
}

std::vector<BufferUse> buffer_uses(const Listing& listing) {
  std::vector<BufferUse> uses;
  std::vector<Votes> votes(listing.places.size());
  for (const SharedPlace& place : listing.places) uses.push_back({place, 0, {}});
  for (size_t at = 0; at < listing.lines.size(); ++at) {
    if (!listing.lines[at].shared) continue;
    const SharedSteps& steps = *listing.lines[at].shared;
    for (size_t step = 0; step < steps.steps.size(); ++step) {
      const SharedAccess access = steps.access(step);
      const auto use = std::ranges::find_if(uses, [&](const BufferUse& one) { return holds(one.place, access); });
      if (use == uses.end()) continue;
      std::vector<int64_t>& by = use->instructions;
      if (by.empty() || by.back() != int64_t(at)) by.push_back(int64_t(at));
      const int64_t row = row_bytes(access);
      if (row > 0 && 2 * row <= use->place.bytes) ++votes[size_t(use - uses.begin())][row];
    }
  }
  for (size_t i = 0; i < uses.size(); ++i) uses[i].row = elected(votes[i]);
  return uses;
}

std::string layout_text(const BufferUse& use) {
  const int64_t row = use.row;
  std::string text = fmt::format("{} to {}", with_commas(use.place.begin),
                                 with_commas(use.place.begin + std::max<int64_t>(1, use.place.bytes) - 1));
  if (use.instructions.empty()) return text + ": no recorded access";
  if (row == 0) return text + ": no access tells of rows";
  text += fmt::format(": {} of {} B", counted(use.place.bytes / row, "row"), with_commas(row));
  if (row % kBankRow == 0) return text + "; every row begins in the same bank";
  if (row % kWord != 0) return text + "; rows begin within words";
  return text + fmt::format("; each row begins {} after the one before, and {} later in the same bank",
                            counted(row % kBankRow / kWord, "bank"),
                            counted(kBankRow / std::gcd(row, kBankRow), "row"));
}

AccessView access_view(const std::vector<BufferUse>& buffers, const SharedSteps& steps, size_t step, int64_t row) {
  const SharedStep& one = steps.steps.at(step);
  AccessView view{steps.access(step), row, {}, {}, {}};
  view.execution = fmt::format("warp {}, its execution {}", one.warp, one.turn + 1);
  const auto buffer =
      std::ranges::find_if(buffers, [&](const BufferUse& use) { return holds(use.place, view.access); });
  const bool named = buffer != buffers.end();
  const int64_t lowest = lowest_byte(view.access), origin = named ? buffer->place.begin : lowest;
  view.place =
      named ? fmt::format("{} + {}", buffer->place.name, with_commas(lowest - origin)) : "byte " + with_commas(lowest);
  if (view.row == 0) view.row = row_bytes(view.access);
  if (view.row == 0 && named) view.row = buffer->row;
  view.pictures.push_back({BankLayout::recorded, bank_grid(view.access)});
  if (view.row == 0) return view;
  const auto add = [&](BankLayout layout, const SharedLayout& how) {
    view.pictures.push_back({layout, bank_grid(relaid(view.access, view.row, origin, how))});
  };
  add(BankLayout::padded, kPaddedRows);
  add(BankLayout::swizzled, kSwizzledRows);
  return view;
}

size_t worst_step(const SharedSteps& steps) {
  std::vector<int> taken;
  for (const SharedAccess& shape : steps.shapes) taken.push_back(wavefronts_of(shape).taken);
  const auto worst =
      std::ranges::max_element(steps.steps, {}, [&](const SharedStep& step) { return taken[size_t(step.shape)]; });
  return size_t(worst - steps.steps.begin());
}

std::string access_words(const SharedAccess& access) {
  if (access.use == SharedUse::matrices) {
    const int count = std::popcount(uint32_t(access.mask)) / 8;
    return fmt::format("{} of 8 x 8 halves", count == 1 ? "a matrix" : fmt::format("{} matrices", count));
  }
  return fmt::format("{} of {} B a lane", to_string(access.use), access.bytes);
}

std::string wavefronts_text(const Wavefronts& one) {
  return fmt::format("{} for {}", counted(one.taken, "wavefront"), one.needed);
}

std::string phase_text(const BankPhase& phase) {
  const int first = std::countr_zero(phase.lanes), last = 31 - std::countl_zero(phase.lanes);
  return (first == last ? fmt::format("lane {}", first) : fmt::format("lanes {} to {}", first, last)) + ": " +
         counted(phase.wavefronts, "wavefront");
}

}  // namespace attnscope::charts
