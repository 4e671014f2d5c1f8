#include "explain/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/joined.h"
#include "core/json.h"
#include "core/with_commas.h"
#include "explain/rules.h"
#include "model/limits.h"

namespace attnscope::explain {
namespace {

constexpr double kHalfFull = 0.5;

struct Resources {
  std::string device;
  int64_t threads = 0, ctas = 0;
  VariantInfo variant;
};

Result<Resources> read(const Json& json, const std::string& where) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  Resources of;
  JsonReader read(json, where);
  for (const char* key : {"device", "threads", "registers"}) read.required(key);
  read.line("device", of.device, 200);
  read.integer("threads", of.threads, 1, kMost);
  read.integer("registers", of.variant.registers, 1, kMost);
  read.integer("static_shared", of.variant.static_shared_bytes, 0, kMost);
  read.integer("dynamic_shared", of.variant.dynamic_shared_bytes, 0, kMost);
  read.integer("ctas", of.ctas, 1, kMost);
  if (auto done = read.finish(); !done) return fail(done.error());
  return of;
}

std::string ctas_text(int64_t count) { return fmt::format("{} CTA{}", with_commas(count), count == 1 ? "" : "s"); }

// The most of the limiting resource with which one more CTA fits; 0: none, because another resource is full too.
int64_t enough_for_one_more(const Facts& facts) {
  const int64_t now = facts.seen.occupancy->ctas_per_sm;
  const bool of_shared = facts.seen.occupancy->limiter == Limiter::shared_memory;
  VariantInfo other = *facts.seen.variant;
  const int64_t used = of_shared ? other.static_shared_bytes + other.dynamic_shared_bytes : other.registers;
  const auto fits = [&](int64_t amount) {
    if (of_shared) {
      other.static_shared_bytes = 0;
      other.dynamic_shared_bytes = amount;
    } else {
      other.registers = amount;
    }
    return model::occupancy(facts.spec, other, facts.shape).ctas_per_sm > now;
  };
  int64_t low = of_shared ? 0 : 1, high = used;  // `high` does not fit
  if (!fits(low)) return 0;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

std::optional<Finding> few_ctas(const Facts& facts) {
  const Occupancy& occupancy = *facts.seen.occupancy;
  const bool of_shared = occupancy.limiter == Limiter::shared_memory;
  if (!of_shared && occupancy.limiter != Limiter::registers) return std::nullopt;
  if (occupancy.warps_per_sm >= facts.spec.warps_sm) return std::nullopt;  // they limit it too
  std::string sentence =
      fmt::format("{} fit{} on an SM, {} of {} warps, and {} on the device: {}.", ctas_text(occupancy.ctas_per_sm),
                  occupancy.ctas_per_sm == 1 ? "s" : "", occupancy.warps_per_sm, facts.spec.warps_sm,
                  with_commas(occupancy.resident_ctas), limit_text(facts));
  std::vector<Evidence> evidence{counted("CTAs on an SM", double(occupancy.ctas_per_sm)),
                                 counted("warps on an SM", double(occupancy.warps_per_sm)),
                                 counted("CTAs at once", double(occupancy.resident_ctas))};
  if (const int64_t enough = enough_for_one_more(facts); enough > 0) {
    const char* unit = of_shared ? "B of shared memory" : "registers a thread";
    sentence += fmt::format(" With at most {} {} one more fits.", with_commas(enough), unit);
    evidence.push_back(counted("with which one more fits", double(enough), of_shared ? "B" : "per thread"));
  }
  return note(RuleId::occupancy_low, occupancy.fraction <= kHalfFull ? Severity::warning : Severity::info,
              std::move(sentence), std::move(evidence));
}

// Empty if the part of the SMs' time that is lost is too small for a finding.
std::optional<Finding> uneven(RuleId rule, double lost, std::string sentence, std::vector<Evidence> evidence) {
  if (lost < kSilent) return std::nullopt;
  evidence.push_back(counted("SMs' time without a CTA", 100 * lost, "%"));
  return note(rule, lost >= kWarning ? Severity::warning : Severity::info, std::move(sentence), std::move(evidence));
}

std::optional<Finding> last_wave(const Facts& facts) {
  const Occupancy& occupancy = *facts.seen.occupancy;
  if (occupancy.total_ctas <= occupancy.resident_ctas || occupancy.tail_ctas == 0) return std::nullopt;
  const double mean = double(occupancy.total_ctas) / double(facts.spec.sms), lost = 1 - evenness(facts.spec, occupancy);
  std::string sentence = fmt::format(
      "{} for {} places: the last {} run{} in a wave of {} own. An SM runs up to {:.0f}, on average {:.3g}, so that {} "
      "of the SMs' time is without a CTA if all take equally long.",
      ctas_text(occupancy.total_ctas), with_commas(occupancy.resident_ctas), with_commas(occupancy.tail_ctas),
      occupancy.tail_ctas == 1 ? "s" : "", occupancy.tail_ctas == 1 ? "its" : "their", std::ceil(mean), mean,
      percent(lost));
  if (one_more_cta_holds_the_grid(facts)) sentence += " With one more CTA on each SM it would be one wave.";
  return uneven(RuleId::grid_tail, lost, std::move(sentence),
                {counted("CTAs", double(occupancy.total_ctas)), counted("places", double(occupancy.resident_ctas)),
                 counted("CTAs of the last wave", double(occupancy.tail_ctas))});
}

std::optional<Finding> small_grid(const Facts& facts) {
  const Occupancy& occupancy = *facts.seen.occupancy;
  if (occupancy.total_ctas >= facts.spec.sms) return std::nullopt;
  const double lost = 1 - evenness(facts.spec, occupancy);
  return uneven(RuleId::grid_small, lost,
                fmt::format("The grid has {} and the device {} SMs: {} of it is idle.", ctas_text(occupancy.total_ctas),
                            facts.spec.sms, percent(lost)),
                {counted("CTAs", double(occupancy.total_ctas)), counted("SMs", double(facts.spec.sms))});
}

}  // namespace

Result<ResourcesSaid> findings_of_resources(const Json& json, const std::string& where,
                                            std::span<const DeviceSpec> devices) {
  const auto of = read(json, where);
  if (!of) return fail(of.error());
  const auto spec = std::ranges::find(devices, of->device, &DeviceSpec::id);
  if (spec == devices.end())
    return fail(Stage::input, fmt::format("{}/device: there is no device {}", where, of->device),
                "Use one of " + joined(devices, &DeviceSpec::id) + ".");
  ResourcesSaid said;
  const Kernel none;
  Facts facts{.kernel = none, .spec = *spec};
  facts.shape = {{std::max<int64_t>(1, of->ctas), 1, 1}, {of->threads, 1, 1}};
  facts.seen.variant = of->variant;
  if (auto fits = model::check_limits(*spec, of->variant, facts.shape, where); !fits) {
    said.findings.push_back(
        note(RuleId::limits_exceeded, Severity::error, fits.error().message + ". " + fits.error().hint, {}));
    return said;
  }
  said.occupancy = model::occupancy(*spec, of->variant, facts.shape);
  facts.seen.occupancy = said.occupancy;
  const bool has_grid = of->ctas > 0;
  for (const auto rule : {few_ctas, last_wave, small_grid})
    if (auto finding = has_grid || rule == few_ctas ? rule(facts) : std::nullopt)
      said.findings.push_back(std::move(*finding));
  if (!has_grid) said.occupancy.total_ctas = said.occupancy.tail_ctas = 0, said.occupancy.waves = 0;
  std::ranges::stable_sort(said.findings, {}, [](const Finding& one) { return one.severity == Severity::info; });
  return said;
}

}  // namespace attnscope::explain
