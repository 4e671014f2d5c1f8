// Compares outputs with their expected values.
#include "check/known_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace attnscope::check {
namespace {

using Values = std::vector<double>;

// The sums behind a verdict, over every output that has a reference.
struct Sums {
  int64_t elements = 0, compared = 0, outside = 0, nonfinite = 0, rows = 0;
  int64_t unwritten = 0;
  double max_abs = 0, sum_abs = 0, difference = 0, reference = 0, output = 0, product = 0;
};

std::string place_of(const Operand& what, int64_t index) {
  std::string text;
  for (size_t axis = what.shape.size(); axis-- > 0;) {
    const int64_t extent = std::max<int64_t>(1, what.shape[axis]);
    text = fmt::format("[{}]{}", index % extent, text);
    index /= extent;
  }
  return what.name + text;
}

void compare(const Operand& what, std::span<const std::byte> got, const Expected& wanted, Sums& sums,
             Verdict& verdict) {
  const Values& expected = wanted.values;
  const double atol = wanted.atol, rtol = wanted.rtol;
  // A double does not hold every i64.
  const bool whole = what.type == ElementType::i64 && atol == 0 && rtol == 0 && wanted.exact.size() == got.size();
  const int64_t columns = what.shape.empty() ? 1 : std::max<int64_t>(1, what.shape.back());
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    const double want = expected[i], have = load_value(what.type, got.data(), index);
    ++sums.elements;
    const bool same_kind = std::isnan(want) == std::isnan(have) &&
                           (std::isfinite(want) || std::isnan(want) || want == have) &&
                           (std::isfinite(have) || !std::isfinite(want));
    const double error = std::abs(have - want);
    // Poison is wrong even where the reference is NaN; an integer may have the poison's bits by chance.
    const bool unwritten = what.role == BufferRole::out && is_poison(what.type, got.data(), index) &&
                           (is_floating(what.type) || want != have);
    const bool other = whole && std::memcmp(&wanted.exact[8 * i], &got[8 * i], 8) != 0;
    const bool bad =
        unwritten || !same_kind || other || (std::isfinite(want) && !(error <= atol + rtol * std::abs(want)));
    sums.nonfinite += !same_kind;
    sums.outside += bad;
    sums.unwritten += unwritten;
    if (bad && !verdict.first_bad) {
      verdict.first_bad = BadElement{0, 0, index / columns, index % columns, want, have};
      verdict.reason =
          fmt::format("expected {:.9g}, {}, first at {}", want,
                      unwritten ? "never written" : fmt::format("got {:.9g}", have), place_of(what, index));
      verdict.atol = atol;
      verdict.rtol = rtol;
    }
    if (!std::isfinite(want) || !std::isfinite(have)) continue;
    ++sums.compared;
    sums.max_abs = std::max(sums.max_abs, error);
    sums.sum_abs += error;
    sums.difference += error * error;
    sums.reference += want * want;
    sums.output += have * have;
    sums.product += want * have;
  }
  sums.rows += static_cast<int64_t>(expected.size()) / columns;
}

void finish(const Sums& sums, Verdict& verdict) {
  verdict.state = sums.outside > 0 ? VerdictState::wrong : VerdictState::correct;
  verdict.nonfinite = sums.nonfinite;
  verdict.max_abs = sums.max_abs;
  verdict.mean_abs = sums.compared > 0 ? sums.sum_abs / double(sums.compared) : 0;
  verdict.rel_frobenius = sums.reference > 0 ? std::sqrt(sums.difference / sums.reference) : std::sqrt(sums.difference);
  const double norms = std::sqrt(sums.reference) * std::sqrt(sums.output);
  verdict.cosine = norms > 0 ? sums.product / norms : sums.reference == sums.output ? 1 : 0;
  verdict.outside_share = sums.elements > 0 ? double(sums.outside) / double(sums.elements) : 0;
  verdict.rows_checked = verdict.rows_total = sums.rows;
  if (sums.outside > 0 && sums.unwritten == sums.outside)
    verdict.reason =
        fmt::format("{} of {} elements were never written: {}.", sums.unwritten, sums.elements, verdict.reason);
  else if (sums.outside > 0)
    verdict.reason = fmt::format("{} of {} elements are outside {:g} + {:g}·|reference|{}: {}.", sums.outside,
                                 sums.elements, verdict.atol, verdict.rtol,
                                 sums.unwritten > 0 ? fmt::format(", {} of them never written", sums.unwritten) : "",
                                 verdict.reason);
}

// Why a correct output would prove nothing; empty if it proves something. `before`: the output's contents before the
// run.
std::string proves_nothing(const Operand& what, std::span<const std::byte> before, const Values& expected, double atol,
                           double rtol) {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  if (expected.empty()) return fmt::format("{} has no element", what.name);
  const double first = expected.front();
  const bool constant = std::ranges::all_of(expected, [&](double value) { return same(value, first); });
  if (constant && (expected.size() > 1 || first == 0))
    return fmt::format("the reference of {} is {:g} {}", what.name, first,
                       expected.size() > 1 ? "in every element" : "in its only element");
  const auto unchanged = [&](size_t i) {
    const double value = load_value(what.type, before.data(), static_cast<int64_t>(i));
    return same(value, expected[i]) || std::abs(value - expected[i]) <= atol + rtol * std::abs(expected[i]);
  };
  if (what.role != BufferRole::inout) return {};
  for (size_t i = 0; i < expected.size(); ++i)
    if (!unchanged(i)) return {};
  return fmt::format("the reference of {} is what {} held before the run", what.name, what.name);
}

Verdict unchecked_because(std::string reason) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  return verdict;
}

}  // namespace

double default_tolerance(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return 2e-3;
    case ElementType::bf16:
      return 1.6e-2;
    case ElementType::f32:
      return 1e-4;
    case ElementType::f64:
      return 1e-10;
    case ElementType::i32:
    case ElementType::u32:
    case ElementType::i64:
    case ElementType::u8:
    case ElementType::i8:
    case ElementType::i16:
    case ElementType::u16:
      break;
  }
  return 0;
}

std::optional<size_t> output_named(const Workload& workload, const std::string& name) {
  size_t at = 0;
  for (const Operand& operand : workload.operands) {
    if (!operand.judged()) continue;
    if (operand.name == name) return at;
    ++at;
  }
  return std::nullopt;
}

Result<Verdict> judge_by(std::span<const Expected> all, const Workload& workload, const Operands& operands,
                         std::span<const std::shared_ptr<const GuardedBuffer>> outputs) {
  Verdict verdict;
  Sums sums;
  std::string vacuous;
  for (const Expected& expected : all) {
    const auto output = output_named(workload, expected.output);
    if (!output || *output >= outputs.size())
      return fail(Stage::internal, "there is no output " + expected.output, "Report this with the kernel.");
    const Operand& what = *std::ranges::find(workload.operands, expected.output, &Operand::name);
    verdict.atol = verdict.first_bad ? verdict.atol : expected.atol;
    verdict.rtol = verdict.first_bad ? verdict.rtol : expected.rtol;
    compare(what, outputs[*output]->data(), expected, sums, verdict);
    const auto before = std::ranges::find(operands.all, what.name, [](const auto& one) { return one.what.name; });
    if (vacuous.empty() && before != operands.all.end())
      vacuous = proves_nothing(what, before->bytes, expected.values, expected.atol, expected.rtol);
  }
  finish(sums, verdict);
  if (verdict.state != VerdictState::correct || vacuous.empty()) return verdict;
  return unchecked_because(fmt::format(
      "The output agrees, but that proves nothing: {}. Give the inputs other contents (\"init\" in the manifest).",
      vacuous));
}

Result<Verdict> judge(const Workload& workload, const Operands& operands,
                      std::span<const std::shared_ptr<const GuardedBuffer>> outputs, bool partial) {
  if (workload.references.empty()) return unchecked_because("The kernel's manifest declares no reference.");
  if (partial) return unchecked_because("Only a sample of the CTAs ran.");
  std::vector<Expected> all;
  for (const ReferenceSpec& spec : workload.references) {
    const auto what = std::ranges::find(workload.operands, spec.output, &Operand::name);
    if (what == workload.operands.end())
      return fail(Stage::internal, "there is no output " + spec.output, "Report this with the kernel.");
    auto values = known_reference_values(spec, operands);
    if (!values) return unchecked_because(values.error().message);
    const double tolerance = default_tolerance(what->type);
    all.push_back({spec.output, std::move(*values), spec.atol.value_or(tolerance), spec.rtol.value_or(tolerance), {}});
  }
  return judge_by(all, workload, operands, outputs);
}

}  // namespace attnscope::check
