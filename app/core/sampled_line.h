#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/observation.h"

// Where a GPU's warps are, as the GPU samples it (docs/measuring.md): findings of RuleId::samples_taken for the
// sampling as a whole and of RuleId::samples_line for each line of the source. Both sides of the link read and write
// them here.
namespace attnscope {

// Samples in which a warp stood for one reason, in CUPTI's word: "long_scoreboard"; "selected": it issued.
struct SampledStall {
  std::string reason;
  int64_t samples = 0;
  bool operator==(const SampledStall&) const = default;
};

// What is known of the samples at one place.
struct SampledPlace {
  int64_t samples = 0;
  int64_t unissued = 0;                // of them, those in whose clock the scheduler issued nothing
  std::vector<SampledStall> stalls{};  // most samples first
  bool operator==(const SampledPlace&) const = default;
};

// A line of the source: what is inlined from a header counts where it is called.
struct SampledLine : SampledPlace {
  std::string file{};  // empty: the code's line is not known
  int64_t line = 0;
  double share = 0;  // of the run's samples
  // Of the modelled time inside the kernel: how long warps stand at the line; empty: the model does not say.
  std::optional<double> modelled{};
  bool operator==(const SampledLine&) const = default;
};

// The names of its evidence.
namespace sampled {
inline constexpr std::string_view kSamples = "samples", kShare = "share", kUnissued = "nothing issued",
                                  kModelled = "modelled share";
}  // namespace sampled

inline Finding to_finding(const SampledLine& line, std::string sentence) {
  Finding finding;
  finding.rule = RuleId::samples_line;
  finding.sentence = std::move(sentence);
  const auto measured = [&](std::string_view name, double value, const char* unit) {
    finding.evidence.push_back({std::string(name), value, unit, FigureKind::measured});
  };
  measured(sampled::kSamples, static_cast<double>(line.samples), "");
  measured(sampled::kShare, 100 * line.share, "%");
  measured(sampled::kUnissued, static_cast<double>(line.unissued), "");
  if (line.modelled)
    finding.evidence.push_back({std::string(sampled::kModelled), 100 * *line.modelled, "%", FigureKind::modelled});
  for (const SampledStall& stall : line.stalls)
    finding.evidence.push_back(
        {stall.reason, static_cast<double>(stall.samples), std::string(sampled::kSamples), FigureKind::measured});
  if (line.line > 0) finding.where = {{"file", line.file}, {"line", std::to_string(line.line)}};
  return finding;
}

// Empty: another rule's finding.
inline std::optional<SampledLine> sampled_line_of(const Finding& finding) {
  if (finding.rule.id() != RuleId::samples_line) return std::nullopt;
  SampledLine line;
  const auto count = [](double value) { return value > 0 && value < 0x1p53 ? static_cast<int64_t>(value) : 0; };
  for (const Evidence& one : finding.evidence) {
    if (one.unit == sampled::kSamples)
      line.stalls.push_back({one.name, count(one.value)});
    else if (one.name == sampled::kSamples)
      line.samples = count(one.value);
    else if (one.name == sampled::kShare)
      line.share = one.value / 100;
    else if (one.name == sampled::kUnissued)
      line.unissued = count(one.value);
    else if (one.name == sampled::kModelled)
      line.modelled = one.value / 100;
  }
  const auto file = finding.where.find("file"), number = finding.where.find("line");
  if (file == finding.where.end() || number == finding.where.end()) return line;
  line.file = file->second;
  std::from_chars(number->second.data(), number->second.data() + number->second.size(), line.line);
  return line;
}

}  // namespace attnscope
