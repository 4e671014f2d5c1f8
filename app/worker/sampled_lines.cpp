#include "worker/sampled_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/source_lines.h"
#include "core/with_commas.h"
#include "device/terms.h"

namespace attnscope::worker {
namespace {

constexpr size_t kMostSampledLines = 64;
// CUPTI's words for a warp that does not wait, and for one that waits at a barrier.
constexpr std::string_view kIssues = "selected", kAtBarrier = "barrier";
constexpr size_t kMostBehind = 8;  // instructions between a barrier and the one that cannot issue

using Where = std::pair<std::string, int64_t>;  // file and line; the line is 0 where none is known

Where source_line(const SimulatedLaunch& made, size_t instruction, const SourceLines& source) {
  const compile::SassProgram& sass = *made.emulated->program->sass;
  const compile::SassLine line = device::own_line(sass, instruction, source);
  if (line.line == 0 || line.file >= sass.files.size()) return {};
  return {sass.files[line.file], line.line};
}

// The instruction for which the warps wait that were sampled at `one`.
size_t waited_for(const SimulatedLaunch& made, const device::SampledInstruction& one) {
  const auto at = static_cast<size_t>(one.at);
  const auto waits = std::ranges::find(one.stalls, kAtBarrier, &SampledStall::reason);
  if (waits == one.stalls.end() || 2 * waits->samples <= one.samples) return at;
  return barrier_before(made.simulated.schedule->code, at).value_or(at);
}

void add_samples(SampledPlace& to, const SampledPlace& more) {
  to.samples += more.samples;
  to.unissued += more.unissued;
  for (const SampledStall& stall : more.stalls) {
    auto known = std::ranges::find(to.stalls, stall.reason, &SampledStall::reason);
    if (known == to.stalls.end()) known = to.stalls.insert(known, SampledStall{stall.reason, 0});
    known->samples += stall.samples;
  }
}

std::vector<SampledLine> sampled_lines(const device::PcSamples& samples, const PlannedRun& run,
                                       const std::vector<SimulatedLaunch>& made) {
  const SourceLines source(run.kernel.source_name, run.kernel.source);
  std::map<Where, SampledLine> lines;
  for (const device::SampledInstruction& one : samples.instructions) {
    const auto launch = static_cast<size_t>(one.launch), at = static_cast<size_t>(one.at);
    if (launch >= made.size() || at >= made[launch].emulated->program->sass->instructions.size()) continue;
    add_samples(lines[source_line(made[launch], waited_for(made[launch], one), source)], one);
  }
  std::map<Where, double> modelled;  // us
  double inside = 0;
  for (const SimulatedLaunch& launch : made)
    for (const model::Stall& stall : launch.simulated.stalls) {
      if (stall.consumer == model::Stall::kNone) continue;
      modelled[source_line(launch, stall.consumer, source)] += stall.time;
      inside += stall.time;
    }
  std::vector<SampledLine> all;
  for (auto& [where, line] : lines) {
    std::tie(line.file, line.line) = where;
    line.share = samples.samples > 0 ? double(line.samples) / double(samples.samples) : 0;
    std::ranges::stable_sort(line.stalls, std::greater<>(), &SampledStall::samples);
    if (inside > 0) line.modelled = modelled[where] / inside;
    all.push_back(std::move(line));
  }
  std::ranges::stable_sort(all, std::greater<>(), &SampledLine::samples);
  if (all.size() > kMostSampledLines) all.resize(kMostSampledLines);
  return all;
}

std::string sentence_of(const SampledLine& line) {
  std::string text = fmt::format("{:.1f} % of the samples of the GPU's warps are here", 100 * line.share);
  const auto waits = std::ranges::find_if(line.stalls, [](const SampledStall& one) { return one.reason != kIssues; });
  if (waits != line.stalls.end())
    text += fmt::format(", and {:.0f} % of those wait for {}",
                        100 * double(waits->samples) / double(std::max<int64_t>(1, line.samples)), waits->reason);
  return text + ".";
}

}  // namespace

std::optional<size_t> barrier_before(std::span<const model::ScheduledInstruction> code, size_t at) {
  for (size_t behind = 0; behind <= std::min(at, kMostBehind); ++behind) {
    const model::ScheduledInstruction& one = code[at - behind];
    if (one.unit == model::Unit::barrier) return at - behind;
    if (behind > 0 && one.branch) break;
  }
  return std::nullopt;
}

std::vector<Finding> sample_findings(const Result<device::PcSamples>& samples, const PlannedRun& run,
                                     const std::vector<SimulatedLaunch>& made) {
  Finding taken;
  if (!samples) {
    const Failure& why = samples.error();
    taken.rule = RuleId::samples_refused;
    taken.sentence = why.message + (why.hint.empty() ? "" : " " + why.hint);
    return {taken};
  }
  taken.rule = RuleId::samples_taken;
  taken.sentence =
      fmt::format("{} samples in {} launch{}, every {} clocks of an SM; {} of other code, {} dropped.",
                  with_commas(samples->samples), samples->launches, samples->launches == 1 ? "" : "es",
                  with_commas(samples->period), with_commas(samples->elsewhere), with_commas(samples->dropped));
  const auto figure = [&](const char* name, int64_t value, const char* unit) {
    taken.evidence.push_back({name, static_cast<double>(value), unit, FigureKind::measured});
  };
  figure("samples", samples->samples, "");
  figure("launches", samples->launches, "");
  figure("period", samples->period, "clocks");
  figure("of other code", samples->elsewhere, "");
  figure("dropped", samples->dropped, "");
  std::vector<Finding> all{std::move(taken)};
  for (const SampledLine& line : sampled_lines(*samples, run, made)) all.push_back(to_finding(line, sentence_of(line)));
  return all;
}

}  // namespace attnscope::worker
