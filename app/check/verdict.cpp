#include "check/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "check/float_formats.h"
#include "check/guarded_buffer.h"

namespace attnscope::check {
namespace {

struct RowPlace {
  int64_t b, h, i;
};

RowPlace place_of(const Problem& p, int64_t row) {
  return {row / p.seq_q / p.heads, row / p.seq_q % p.heads, row % p.seq_q};
}

int64_t offset_of(const Problem& p, int64_t row) {
  const RowPlace at = place_of(p, row);
  return element_offset(p, p.heads, p.seq_q, at.b, at.h, at.i, 0);
}

double expected_value(const Reference& reference, int64_t index) {
  switch (reference.class_of(index)) {
    case ElementClass::nan:
      return std::nan("");
    case ElementClass::plus_inf:
      return HUGE_VAL;
    case ElementClass::minus_inf:
      return -HUGE_VAL;
    case ElementClass::finite:
      break;
  }
  return reference.values[static_cast<size_t>(index)];
}

bool same_class(double expected, double got) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return expected == got;
  return true;
}

void note_fault(Comparison& comparison, Fault fault, const BadElement& element) {
  const auto kind = static_cast<size_t>(fault);
  if (comparison.faults[kind]++ == 0) comparison.first[kind] = element;
}

void compare_element(Comparison& comparison, const BadElement& at, bool poison, bool masked,
                     const Tolerance& tolerance) {
  const double expected = at.expected, got = at.got;
  ++comparison.elements;
  if (!same_class(expected, got)) {
    ++comparison.nonfinite;
    ++comparison.outside;
    note_fault(comparison, poison ? Fault::never_written : Fault::non_finite, at);
    return;
  }
  if (!std::isfinite(expected)) return;
  ++comparison.compared;
  const double error = std::abs(got - expected);
  comparison.sum_abs += error;
  comparison.sum_sq_error += error * error;
  comparison.sum_sq_reference += expected * expected;
  comparison.sum_sq_output += got * got;
  comparison.sum_products += expected * got;
  if (error > comparison.max_abs || comparison.compared == 1) {
    comparison.max_abs = error;
    comparison.worst = at;
  }
  if (masked && got != 0) note_fault(comparison, Fault::masked_row, at);
  if (error > tolerance.atol + tolerance.rtol * std::abs(expected)) {
    ++comparison.outside;
    note_fault(comparison, Fault::outside, at);
  }
}

void compare_rows(std::span<const std::byte> output, const Reference& reference, bool partial, Comparison& comparison) {
  const Problem& p = reference.problem;
  const Tolerance tolerance = tolerance_of(reference.accumulate, reference.problem.dtype);
  for (size_t r = 0; r < reference.rows.size(); ++r) {
    const int64_t offset = offset_of(p, reference.rows[r]);
    if (partial && is_poison_row(p.dtype, output.data(), offset, p.head_dim)) continue;
    ++comparison.rows;
    const RowPlace at = place_of(p, reference.rows[r]);
    const bool masked = visible_keys(p, at.i) == 0;
    for (int64_t d = 0; d < p.head_dim; ++d) {
      const double expected = expected_value(reference, static_cast<int64_t>(r) * p.head_dim + d);
      const double got = static_cast<double>(load_element(p.dtype, output.data(), offset + d));
      const bool poison = std::isnan(got) && is_poison(p.dtype, output.data(), offset + d);
      compare_element(comparison, {at.b, at.h, at.i, d, expected, got}, poison, masked, tolerance);
    }
  }
}

// Finds elements that were never written, including those in rows without a reference. They are numbered as BHSD in any
// layout.
void find_unwritten(std::span<const std::byte> output, const Reference& reference, bool partial,
                    Comparison& comparison) {
  const Problem& p = reference.problem;
  for (int64_t row = 0; row < reference.rows_total(); ++row) {
    const int64_t offset = offset_of(p, row);
    const int64_t in_row = count_poison(p.dtype, output.subspan(static_cast<size_t>(offset) * bytes_of(p.dtype),
                                                                static_cast<size_t>(p.head_dim) * bytes_of(p.dtype)));
    if (in_row == 0 || (partial && in_row == p.head_dim)) continue;
    int64_t first = 0;
    while (!is_poison(p.dtype, output.data(), offset + first)) ++first;
    if (comparison.unwritten == 0) comparison.first_unwritten = unwritten_element(reference, row * p.head_dim + first);
    comparison.unwritten += in_row;
  }
}

std::string name_of(const BadElement& e) {
  return fmt::format("batch {}, head {}, row {}, column {}", e.batch, e.head, e.row, e.column);
}

std::string pair_of(const BadElement& e) {
  return std::isnan(e.expected) ? fmt::format("expected NaN, got {:.6g}", e.got)
                                : fmt::format("expected {:.6g}, got {:.6g}", e.expected, e.got);
}

// "1 element was", "2 elements were".
std::string elements_text(int64_t count, std::string_view one = "element", std::string_view many = "elements") {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// Makes the verdict's sentence for the most serious fault, and the element that it names.
void refuse(Verdict& verdict, const Comparison& comparison) {
  const auto count = [&](Fault fault) { return comparison.faults[static_cast<size_t>(fault)]; };
  const auto first = [&](Fault fault) { return comparison.first[static_cast<size_t>(fault)]; };
  verdict.state = VerdictState::wrong;
  if (comparison.unwritten > 0) {
    verdict.first_bad = comparison.first_unwritten;
    verdict.reason = fmt::format("{} never written, first at {}.",
                                 elements_text(comparison.unwritten, "element was", "elements were"),
                                 name_of(comparison.first_unwritten));
  } else if (count(Fault::non_finite) > 0) {
    verdict.first_bad = first(Fault::non_finite);
    verdict.reason = fmt::format(
        "NaN or Inf is where an fp32 attention has none, or missing where it has one, in {}, "
        "first at {}: {}.",
        elements_text(count(Fault::non_finite)), name_of(*verdict.first_bad), pair_of(*verdict.first_bad));
  } else if (count(Fault::masked_row) > 0) {
    verdict.first_bad = first(Fault::masked_row);
    verdict.reason = fmt::format("A fully masked row must be 0; {} not, first at {}: {}.",
                                 elements_text(count(Fault::masked_row), "element is", "elements are"),
                                 name_of(*verdict.first_bad), pair_of(*verdict.first_bad));
  } else if (count(Fault::outside) > 0) {
    verdict.first_bad = first(Fault::outside);
    verdict.reason = fmt::format("{:.3g} % of the elements are outside {:g} + {:g}·|reference|, first at {}: {}.",
                                 100 * verdict.outside_share, verdict.atol, verdict.rtol, name_of(*verdict.first_bad),
                                 pair_of(*verdict.first_bad));
  } else {
    verdict.first_bad = comparison.worst;
    verdict.reason = fmt::format(
        "The relative Frobenius error {:.3g} is over its limit {:.3g}, though every element is within "
        "tolerance; the largest error is at {}: {}.",
        verdict.rel_frobenius, verdict.rel_frobenius_limit, name_of(comparison.worst), pair_of(comparison.worst));
  }
}

// ‖difference‖ / ‖reference‖; if the reference is all zero, the norm of the difference itself.
double relative_norm(double sum_sq_error, double sum_sq_reference) {
  return sum_sq_reference > 0 ? std::sqrt(sum_sq_error / sum_sq_reference) : std::sqrt(sum_sq_error);
}

double cosine_of(const Comparison& c) {
  if (c.sum_sq_reference == 0 || c.sum_sq_output == 0) return c.sum_sq_reference == c.sum_sq_output ? 1 : 0;
  return c.sum_products / (std::sqrt(c.sum_sq_reference) * std::sqrt(c.sum_sq_output));
}

}  // namespace

Tolerance tolerance_of(Accumulate accumulate, DType dtype) {
  if (accumulate == Accumulate::f16) return {1e-2, 1e-2};
  return dtype == DType::bf16 ? Tolerance{8e-3, 8e-3} : Tolerance{};
}

double rel_frobenius_limit(double naive_rel_frobenius) { return std::max(2 * naive_rel_frobenius, 0x1p-11); }

BadElement element_of(std::span<const std::byte> output, const Reference& reference, int64_t index) {
  const Problem& p = reference.problem;
  const int64_t row = reference.rows[static_cast<size_t>(index / p.head_dim)], d = index % p.head_dim;
  const RowPlace at = place_of(p, row);
  const double got = static_cast<double>(load_element(p.dtype, output.data(), offset_of(p, row) + d));
  return {at.b, at.h, at.i, d, expected_value(reference, index), got};
}

BadElement unwritten_element(const Reference& reference, int64_t index) {
  const Problem& p = reference.problem;
  const int64_t row = index / p.head_dim, d = index % p.head_dim, found = reference.find_row(row);
  const RowPlace at = place_of(p, row);
  const double expected = found < 0 ? std::nan("") : expected_value(reference, found * p.head_dim + d);
  return {at.b, at.h, at.i, d, expected, std::nan("")};
}

Comparison compare(std::span<const std::byte> output, const Reference& reference, bool partial) {
  Comparison comparison;
  compare_rows(output, reference, partial, comparison);
  find_unwritten(output, reference, partial, comparison);
  return comparison;
}

Verdict conclude(const Comparison& comparison, const Reference& reference) {
  const Tolerance tolerance = tolerance_of(reference.accumulate, reference.problem.dtype);
  Verdict verdict;
  verdict.nonfinite = comparison.nonfinite;
  verdict.max_abs = comparison.max_abs;
  verdict.mean_abs = comparison.compared > 0 ? comparison.sum_abs / double(comparison.compared) : 0;
  verdict.rel_frobenius = relative_norm(comparison.sum_sq_error, comparison.sum_sq_reference);
  verdict.cosine = cosine_of(comparison);
  verdict.outside_share = comparison.elements > 0 ? double(comparison.outside) / double(comparison.elements) : 0;
  verdict.atol = tolerance.atol;
  verdict.rtol = tolerance.rtol;
  verdict.naive_rel_frobenius = reference.naive_rel_frobenius;
  verdict.rel_frobenius_limit = rel_frobenius_limit(reference.naive_rel_frobenius);
  verdict.rows_checked = comparison.rows;
  verdict.rows_total = reference.rows_total();
  if (comparison.rows == 0 && comparison.unwritten == 0) {
    verdict.reason = "None of the rows that have a reference were computed.";
    return verdict;  // state: unchecked
  }
  // Written so that NaN is refused.
  const bool close = verdict.rel_frobenius <= verdict.rel_frobenius_limit;
  const bool faulty =
      comparison.unwritten > 0 ||
      std::any_of(std::begin(comparison.faults), std::end(comparison.faults), [](int64_t count) { return count > 0; });
  if (faulty || !close)
    refuse(verdict, comparison);
  else
    verdict.state = VerdictState::correct;
  return verdict;
}

Result<Verdict> judge(std::span<const std::byte> output, const Reference& reference, const JudgeOptions& options) {
  const Problem& p = reference.problem;
  if (output.size() != static_cast<size_t>(p.q_elements()) * bytes_of(p.dtype))
    return fail(Stage::internal, "the size of the output is not the problem's", "Report this with the problem.");
  return conclude(compare(output, reference, options.partial), reference);
}

Verdict unchecked(std::string reason) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  return verdict;
}

}  // namespace attnscope::check
