#include "check/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "check/float_formats.h"
#include "check/guarded_buffer.h"

namespace attnscope::check {
namespace {

// Why an element is refused, gravest first.
enum class Fault { never_written, non_finite, masked_row, outside, none };

struct Figures {
  int64_t rows = 0, elements = 0, compared = 0, outside = 0, nonfinite = 0;
  int64_t faults[4] = {};    // elements by Fault
  BadElement first[4] = {};  // the first of each
  double max_abs = 0, sum_abs = 0, difference = 0, reference = 0, output = 0, product = 0;
  BadElement worst;  // of max_abs
};

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

void note_fault(Figures& figures, Fault fault, const BadElement& element) {
  const auto kind = static_cast<size_t>(fault);
  if (figures.faults[kind]++ == 0) figures.first[kind] = element;
}

void compare(Figures& figures, const BadElement& at, bool poison, bool masked, const Tolerance& tolerance) {
  const double expected = at.expected, got = at.got;
  ++figures.elements;
  if (!same_class(expected, got)) {
    ++figures.nonfinite;
    ++figures.outside;
    note_fault(figures, poison ? Fault::never_written : Fault::non_finite, at);
    return;
  }
  if (!std::isfinite(expected)) return;
  ++figures.compared;
  const double error = std::abs(got - expected);
  figures.sum_abs += error;
  figures.difference += error * error;
  figures.reference += expected * expected;
  figures.output += got * got;
  figures.product += expected * got;
  if (error > figures.max_abs || figures.compared == 1) figures.max_abs = error, figures.worst = at;
  if (masked && got != 0) note_fault(figures, Fault::masked_row, at);
  if (error > tolerance.atol + tolerance.rtol * std::abs(expected)) {
    ++figures.outside;
    note_fault(figures, Fault::outside, at);
  }
}

Figures compare_rows(std::span<const std::byte> output, const Reference& reference, const Tolerance& tolerance,
                     bool partial) {
  const Problem& p = reference.problem;
  Figures figures;
  for (size_t r = 0; r < reference.rows.size(); ++r) {
    const RowPlace at = place_of(p, reference.rows[r]);
    const int64_t offset = offset_of(p, reference.rows[r]);
    if (partial && is_poison_row(p.dtype, output.data(), offset, p.head_dim)) continue;
    ++figures.rows;
    const bool masked = visible_keys(p, at.i) == 0;
    for (int64_t d = 0; d < p.head_dim; ++d) {
      const double expected = expected_value(reference, static_cast<int64_t>(r) * p.head_dim + d);
      const double got = static_cast<double>(load_element(p.dtype, output.data(), offset + d));
      const bool poison = std::isnan(got) && is_poison(p.dtype, output.data(), offset + d);
      compare(figures, {at.b, at.h, at.i, d, expected, got}, poison, masked, tolerance);
    }
  }
  return figures;
}

struct Unwritten {
  int64_t elements = 0;
  BadElement first;  // expected is NaN where the row has no reference
};

// Elements never written, in rows without a reference too. Elements go in the order of BHSD whatever the layout.
Unwritten find_unwritten(std::span<const std::byte> output, const Reference& reference, bool partial) {
  const Problem& p = reference.problem;
  Unwritten found;
  for (int64_t row = 0; row < reference.rows_total(); ++row) {
    const int64_t offset = offset_of(p, row);
    int64_t in_row = 0, first = -1;
    for (int64_t d = 0; d < p.head_dim; ++d) {
      if (!is_poison(p.dtype, output.data(), offset + d)) continue;
      ++in_row;
      if (first < 0) first = d;
    }
    if (in_row == 0 || (partial && in_row == p.head_dim)) continue;
    if (found.elements == 0) {
      const RowPlace at = place_of(p, row);
      const int64_t index = reference.find_row(row);
      const double expected = index < 0 ? std::nan("") : expected_value(reference, index * p.head_dim + first);
      found.first = {at.b, at.h, at.i, first, expected, std::nan("")};
    }
    found.elements += in_row;
  }
  return found;
}

std::string name_of(const BadElement& e) {
  return fmt::format("batch {}, head {}, row {}, column {}", e.batch, e.head, e.row, e.column);
}

std::string pair_of(const BadElement& e) {
  return std::isnan(e.expected) ? fmt::format("expected NaN, got {:.6g}", e.got)
                                : fmt::format("expected {:.6g}, got {:.6g}", e.expected, e.got);
}

const char* times(int64_t count) { return count == 1 ? "element" : "elements"; }

// One sentence for the gravest fault, and the element it names.
void refuse(Verdict& verdict, const Figures& figures, const Unwritten& unwritten) {
  const auto count = [&](Fault fault) { return figures.faults[static_cast<size_t>(fault)]; };
  const auto first = [&](Fault fault) { return figures.first[static_cast<size_t>(fault)]; };
  verdict.state = "wrong";
  if (unwritten.elements > 0) {
    verdict.first_bad = unwritten.first;
    verdict.reason = fmt::format("{} {} never written, first at {}.", unwritten.elements,
                                 unwritten.elements == 1 ? "element was" : "elements were", name_of(unwritten.first));
  } else if (count(Fault::non_finite) > 0) {
    verdict.first_bad = first(Fault::non_finite);
    verdict.reason = fmt::format(
        "NaN or Inf is where an fp32 attention has none, or missing where it has one, in {} {}, "
        "first at {}: {}.",
        count(Fault::non_finite), times(count(Fault::non_finite)), name_of(*verdict.first_bad),
        pair_of(*verdict.first_bad));
  } else if (count(Fault::masked_row) > 0) {
    verdict.first_bad = first(Fault::masked_row);
    verdict.reason = fmt::format("A fully masked row must be 0; {} {} not, first at {}: {}.", count(Fault::masked_row),
                                 count(Fault::masked_row) == 1 ? "element is" : "elements are",
                                 name_of(*verdict.first_bad), pair_of(*verdict.first_bad));
  } else if (count(Fault::outside) > 0) {
    verdict.first_bad = first(Fault::outside);
    verdict.reason = fmt::format("{:.3g} % of the elements are outside {:g} + {:g}·|reference|, first at {}: {}.",
                                 100 * verdict.outside_share, verdict.atol, verdict.rtol, name_of(*verdict.first_bad),
                                 pair_of(*verdict.first_bad));
  } else {
    verdict.first_bad = figures.worst;
    verdict.reason = fmt::format(
        "The relative Frobenius error {:.3g} is over its limit {:.3g}, though every element is within "
        "tolerance; the largest error is at {}: {}.",
        verdict.rel_frobenius, verdict.rel_frobenius_limit, name_of(figures.worst), pair_of(figures.worst));
  }
}

// ‖difference‖ / ‖reference‖; of an all-zero reference the difference's norm itself.
double relative_norm(double difference, double reference) {
  return reference > 0 ? std::sqrt(difference / reference) : std::sqrt(difference);
}

double cosine_of(const Figures& f) {
  if (f.reference == 0 || f.output == 0) return f.reference == f.output ? 1 : 0;
  return f.product / (std::sqrt(f.reference) * std::sqrt(f.output));
}

}  // namespace

Tolerance tolerance_of(Accumulate accumulate) {
  return accumulate == Accumulate::f16 ? Tolerance{1e-2, 1e-2} : Tolerance{};
}

double rel_frobenius_limit(double naive_rel_frobenius) { return std::max(2 * naive_rel_frobenius, 0x1p-11); }

Result<Verdict> judge(std::span<const std::byte> output, const Reference& reference, const JudgeOptions& options) {
  const Problem& p = reference.problem;
  if (output.size() != static_cast<size_t>(p.q_elements()) * bytes_of(p.dtype))
    return fail(Stage::internal, "the output has another size than its problem", "Report this with the problem.");
  const Tolerance tolerance = tolerance_of(reference.accumulate);
  const Figures figures = compare_rows(output, reference, tolerance, options.partial);
  const Unwritten unwritten = find_unwritten(output, reference, options.partial);
  Verdict verdict;
  verdict.nonfinite = figures.nonfinite;
  verdict.max_abs = figures.max_abs;
  verdict.mean_abs = figures.compared > 0 ? figures.sum_abs / double(figures.compared) : 0;
  verdict.rel_frobenius = relative_norm(figures.difference, figures.reference);
  verdict.cosine = cosine_of(figures);
  verdict.outside_share = figures.elements > 0 ? double(figures.outside) / double(figures.elements) : 0;
  verdict.atol = tolerance.atol;
  verdict.rtol = tolerance.rtol;
  verdict.naive_rel_frobenius = reference.naive_rel_frobenius;
  verdict.rel_frobenius_limit = rel_frobenius_limit(reference.naive_rel_frobenius);
  verdict.rows_checked = figures.rows;
  verdict.rows_total = reference.rows_total();
  if (figures.rows == 0 && unwritten.elements == 0) {
    verdict.reason = "None of the rows that have a reference were computed.";
    return verdict;  // unchecked
  }
  // Written so that a NaN figure refuses.
  const bool close = verdict.rel_frobenius <= verdict.rel_frobenius_limit;
  const bool faulty = unwritten.elements > 0 || std::any_of(std::begin(figures.faults), std::end(figures.faults),
                                                            [](int64_t count) { return count > 0; });
  if (faulty || !close)
    refuse(verdict, figures, unwritten);
  else
    verdict.state = "correct";
  return verdict;
}

Verdict unchecked(std::string reason) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  return verdict;
}

}  // namespace attnscope::check
