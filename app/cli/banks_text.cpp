#include "cli/banks_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "charts/shared_view.h"
#include "cli/disasm_text.h"
#include "core/escape.h"

namespace attnscope::cli {
namespace {

// 32 characters, one per bank; marks the banks in which the lane accesses a word.
std::string row_of(const charts::BankGrid& grid, int lane) {
  std::string row;
  for (const int words : grid.words[size_t(lane)]) row += words > 0 ? '#' : '.';
  return row;
}

// How many different words each bank must serve; "+" for 10 or more.
std::string load_of(const charts::BankPhase& phase) {
  std::string row;
  for (const int words : phase.distinct) row += words == 0 ? '.' : words < 10 ? char('0' + words) : '+';
  return row;
}

std::string grids_text(const charts::AccessView& view) {
  const auto line = [&](const std::string& head, const auto& text) {
    std::string row = fmt::format("{:<6}", head);
    for (const charts::BankPicture& picture : view.pictures) row += fmt::format(" {:<34}", text(picture));
    return row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  };
  using Picture = charts::BankPicture;
  std::string out = line("", [](const Picture& picture) { return charts::title_of(picture.layout); });
  out += line("", [](const Picture& picture) { return charts::wavefronts_text(picture.grid.wavefronts); });
  const size_t phases = view.pictures.front().grid.phases.size();
  for (size_t phase = 0; phase < phases; ++phase) {
    const auto of = [phase](const Picture& picture) { return picture.grid.phases.at(phase); };
    if (phases > 1) out += line("", [&](const Picture& picture) { return charts::phase_text(of(picture)); });
    for (int lane = 0; lane < 32; ++lane)
      if ((of(view.pictures.front()).lanes >> lane & 1) != 0)
        out += line(fmt::format("{:>5}", lane), [lane](const Picture& picture) { return row_of(picture.grid, lane); });
    out += line("words", [&](const Picture& picture) { return load_of(of(picture)); });
  }
  return out;
}

std::string access_text(const CodeLine& code, const std::vector<charts::BufferUse>& buffers, const BanksAsked& asked) {
  const SharedSteps& steps = *code.shared;
  const size_t count = steps.steps.size();
  const size_t step = asked.step == 0 ? charts::worst_step(steps) : std::min(size_t(asked.step), count) - 1;
  const charts::AccessView view = charts::access_view(buffers, steps, step, asked.row);
  std::string out =
      one_line(fmt::format("{}  {}, {}", code.text, charts::access_words(view.access),
                           view.row > 0 ? fmt::format("rows of {} B", view.row) : "in one row")) +
      "\n" + one_line(fmt::format("step {} of {}: {}, from {} on", step + 1, count, view.execution, view.place)) + "\n";
  if (view.access.use == SharedUse::copy) out += "The hardware counts no wavefronts for copies; these are a store's.\n";
  return out + grids_text(view);
}

std::string buffers_text(const std::vector<charts::BufferUse>& buffers) {
  std::string out;
  for (const charts::BufferUse& use : buffers)
    out += one_line(fmt::format("{:<16} {}", use.place.name, charts::layout_text(use))) + "\n";
  return out.empty() ? out : "\nBuffers, in bytes of shared memory\n" + out;
}

}  // namespace

Result<std::string> banks_text(const Listing& listing, const Kernel& kernel, const BanksAsked& asked) {
  std::string out;
  std::set<int64_t> others;
  const std::vector<charts::BufferUse> buffers = charts::buffer_uses(listing);
  for (const CodeLine& code : listing.lines) {
    if (!code.shared) continue;
    const int64_t at = own_line(listing, code, kernel);
    if (at > 0) others.insert(at);
    if (at == asked.line) out += (out.empty() ? "" : "\n") + access_text(code, buffers, asked);
  }
  if (!out.empty()) return out + buffers_text(buffers);
  if (others.empty())
    return fail(Stage::input, kernel.id + " made no recorded access to shared memory from a line of its source",
                "Accesses are recorded in emulated runs.");
  return fail(Stage::input,
              fmt::format("{}:{} made no recorded access to shared memory", kernel.source_name, asked.line),
              lines_hint("Lines that did", others));
}

}  // namespace attnscope::cli
