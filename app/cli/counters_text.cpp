#include "cli/counters_text.h"

#include <fmt/format.h>

#include "charts/hardware_rows.h"
#include "charts/tables.h"
#include "cli/run_text.h"

namespace attnscope::cli {
namespace {

std::string counter_row(std::string_view name, std::string_view measured, std::string_view counted,
                        std::string_view difference) {
  std::string text = fmt::format("{:<22} {:>20} {:>20}  {}", name, measured, counted, difference);
  text.erase(text.find_last_not_of(' ') + 1);
  return text_line("", text);
}

std::string how_text(const HardwareCounters& hardware) {
  return fmt::format("{} with CUPTI {} in {} pass{}, caches hot, nothing timed", to_string(hardware.kind),
                     hardware.cupti, hardware.passes, hardware.passes == 1 ? "" : "es");
}

constexpr size_t kLines = 12;  // with most samples

std::string sampled_text(const std::vector<Finding>& findings) {
  const charts::SamplesTaken taken = charts::samples_taken(findings);
  if (taken.words.empty()) return {};
  std::string out = text_line("samples", taken.refused ? "none: " + taken.words : taken.words);
  if (taken.refused) return out;
  const auto row = [&](std::string_view place, std::string_view share, std::string_view modelled,
                       std::string_view stall) {
    std::string text = fmt::format("{:<30} {:>12} {:>20}  {}", place, share, modelled, stall);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text_line("", text);
  };
  row("", "GPU's warps", "model's time", "what they wait for");
  for (const charts::SampleRow& one : charts::sample_rows(findings, kLines))
    row(one.place, one.share, one.modelled, one.stall);
  return out;
}

}  // namespace

std::string counters_text(const Observation& o, const std::string& config_text) {
  std::string out = heading_text(o, config_text);
  if (o.verdict) out += text_line("verdict", verdict_text(o));
  const Counters* counted = o.counters ? &*o.counters : nullptr;
  const HardwareCounters none;
  const HardwareCounters& hardware = o.hardware ? *o.hardware : none;
  const bool there = o.hardware && !hardware.failure;
  out += text_line("hardware", there ? how_text(hardware) : "none: stderr says why");
  if (counted != nullptr)
    out += text_line("emulator", fmt::format("{} from the same machine code, {}", to_string(counted->kind),
                                             charts::counter_share_text(*counted)));
  out += counter_row("", "GPU", "emulator", "difference");
  for (const charts::HardwareFigure& one : charts::hardware_figures(hardware, counted))
    out += counter_row(one.name, one.measured, one.counted, one.difference);
  out += sampled_text(o.findings);
  return out;
}

}  // namespace attnscope::cli
