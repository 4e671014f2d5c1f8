#include "check/known_reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "core/expression.h"
#include "core/reference_shapes.h"

namespace attnscope::check {
namespace {

using Values = std::vector<double>;

struct Table {
  Values values;
  std::vector<int64_t> shape;
  int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  int64_t rows() const { return columns() == 0 ? 0 : static_cast<int64_t>(values.size()) / columns(); }
};

const OperandContents* find(const Operands& operands, const std::string& name) {
  for (const OperandContents& one : operands.all)
    if (one.what.name == name) return &one;
  return nullptr;
}

Values values_of(const Operand& what, std::span<const std::byte> bytes) {
  Values values(static_cast<size_t>(what.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = load_value(what.type, bytes.data(), static_cast<int64_t>(i));
  return values;
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

// Computes one expected output.
class Maker {
 public:
  Maker(const ReferenceSpec& spec, const Operands& operands) : spec_(spec), operands_(operands) {}

  Result<Values> make() {
    const OperandContents* output = find(operands_, spec_.output);
    out_.shape = output->what.shape;
    out_.values.resize(static_cast<size_t>(output->what.elements()));
    for (const std::string& name : spec_.inputs) {
      const OperandContents* input = find(operands_, name);
      in_.push_back({values_of(input->what, input->bytes), input->what.shape});
    }
    const ReferenceKind kind = spec_.kind;
    if (kind == ReferenceKind::each) return each();
    if (kind == ReferenceKind::gemm) return gemm();
    if (kind == ReferenceKind::gemm_nt) return gemm_nt();
    if (kind == ReferenceKind::gemm_tn) return gemm_tn();
    if (kind == ReferenceKind::attention || kind == ReferenceKind::attention_causal)
      return attention(kind == ReferenceKind::attention_causal);
    if (kind == ReferenceKind::transpose) return transpose();
    if (kind == ReferenceKind::histogram) return histogram();
    if (kind == ReferenceKind::reduce_sum || kind == ReferenceKind::reduce_max || kind == ReferenceKind::reduce_min)
      return reduce();
    if (kind == ReferenceKind::softmax || kind == ReferenceKind::layernorm || kind == ReferenceKind::rmsnorm ||
        kind == ReferenceKind::scan || kind == ReferenceKind::sort)
      return by_row();
    return elementwise();
  }

 private:
  Result<Values> each() {
    auto expression = ElementExpression::parse(spec_.expr, names_with_index(), "reference/expr");
    if (!expression) return fail(expression.error());
    // An input with one element applies to every element of the output.
    Values row(in_.size() + 1);
    for (size_t i = 0; i < out_.values.size(); ++i) {
      for (size_t k = 0; k < in_.size(); ++k) row[k] = in_[k].values[in_[k].values.size() == 1 ? 0 : i];
      row.back() = double(i);
      out_.values[i] = (*expression)(row);
    }
    return out_.values;
  }
  std::vector<std::string> names_with_index() const {
    std::vector<std::string> names = spec_.inputs;
    names.push_back("index");
    return names;
  }

  Result<Values> elementwise() {
    const double value = spec_.value;
    const ReferenceKind kind = spec_.kind;
    for (size_t i = 0; i < out_.values.size(); ++i) {
      const double x = in_[0].values[i], y = in_.size() > 1 ? in_[1].values[i] : 0;
      out_.values[i] = kind == ReferenceKind::scale   ? value * x
                       : kind == ReferenceKind::relu  ? (x > 0    ? x
                                                         : x != x ? x
                                                                  : 0)
                       : kind == ReferenceKind::gelu  ? gelu(x)
                       : kind == ReferenceKind::silu  ? x / (1 + std::exp(-x))
                       : kind == ReferenceKind::add   ? x + y
                       : kind == ReferenceKind::mul   ? x * y
                       : kind == ReferenceKind::saxpy ? value * x + y
                                                      : x;  // copy
    }
    return out_.values;
  }

  Result<Values> gemm() {
    const int64_t m = in_[0].rows(), k = in_[0].columns();
    if (in_.size() > 2)
      for (size_t i = 0; i < out_.values.size(); ++i) out_.values[i] = spec_.beta.value_or(1) * in_[2].values[i];
    for (int64_t row = 0; row < m; ++row)
      for (int64_t inner = 0; inner < k; ++inner) {
        const double a = factor_or_one() * in_[0].values[static_cast<size_t>(row * k + inner)];
        add_row(a, in_[1], inner, row);
      }
    return out_.values;
  }

  Result<Values> gemm_tn() {
    const int64_t k = in_[0].rows(), m = in_[0].columns();
    for (int64_t inner = 0; inner < k; ++inner)
      for (int64_t row = 0; row < m; ++row)
        add_row(factor_or_one() * in_[0].values[static_cast<size_t>(inner * m + row)], in_[1], inner, row);
    return out_.values;
  }

  // out[row] += a · x[from]
  void add_row(double a, const Table& x, int64_t from, int64_t row) {
    const double* values = &x.values[static_cast<size_t>(from * x.columns())];
    double* to = &out_.values[static_cast<size_t>(row * out_.columns())];
    for (int64_t column = 0; column < out_.columns(); ++column) to[column] += a * values[column];
  }

  double factor_or_one() const { return spec_.value == 0 ? 1 : spec_.value; }

  // softmax(scale · q · kᵀ) · v for each index of the leading axes; causal: row i sees keys 0 … i + seq_k − seq_q.
  Result<Values> attention(bool causal) {
    const Table &q = in_[0], &k = in_[1], &v = in_[2];
    const size_t rank = out_.shape.size();
    const int64_t rows = q.shape[rank - 2], keys = k.shape[rank - 2], depth = q.columns();
    const double scale = spec_.value == 0 ? 1 / std::sqrt(double(depth)) : spec_.value;
    Values scores(static_cast<size_t>(keys));
    for (int64_t row = 0; row < out_.rows(); ++row) {
      const int64_t head = row / rows,
                    seen = causal ? std::clamp<int64_t>(row % rows + 1 + keys - rows, 0, keys) : keys;
      double top = -HUGE_VAL, sum = 0;
      for (int64_t key = 0; key < seen; ++key) {
        const double* a = &q.values[static_cast<size_t>(row * depth)];
        const double* b = &k.values[static_cast<size_t>((head * keys + key) * depth)];
        scores[static_cast<size_t>(key)] = scale * std::inner_product(a, a + depth, b, 0.0);
        top = std::max(top, scores[static_cast<size_t>(key)]);
      }
      for (int64_t key = 0; key < seen; ++key) {
        double& score = scores[static_cast<size_t>(key)];
        sum += score = std::exp(score - top);
      }
      for (int64_t key = 0; key < seen; ++key)
        add_row(scores[static_cast<size_t>(key)] / sum, v, head * keys + key, row);
    }
    return out_.values;
  }

  // For each index of the leading axes: rows of a times rows of b.
  Result<Values> gemm_nt() {
    const auto& [a, b] = std::tie(in_[0], in_[1]);
    const size_t rank = out_.shape.size();
    const auto m = static_cast<size_t>(out_.shape[rank - 2]), n = static_cast<size_t>(out_.columns());
    const auto k = static_cast<size_t>(a.columns());
    for (size_t i = 0; i < out_.values.size(); ++i) {
      const size_t batch = i / (m * n);
      const double* row = &a.values[i / n * k];
      const double* column = &b.values[(batch * n + i % n) * k];
      out_.values[i] = factor_or_one() * std::inner_product(row, row + k, column, 0.0);
    }
    return out_.values;
  }

  Result<Values> transpose() {
    const int64_t rows = in_[0].rows(), columns = in_[0].columns();
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        out_.values[static_cast<size_t>(c * rows + r)] = in_[0].values[static_cast<size_t>(r * columns + c)];
    return out_.values;
  }

  Result<Values> histogram() {
    for (const double x : in_[0].values)
      if (x >= 0 && x < double(out_.values.size())) ++out_.values[static_cast<size_t>(x)];
    return out_.values;
  }

  // The input's rows, one per element of the output.
  Result<Values> reduce() {
    const bool largest = spec_.kind == ReferenceKind::reduce_max, least = spec_.kind == ReferenceKind::reduce_min;
    const size_t groups = out_.values.size();
    const size_t length = in_[0].values.size() / groups;
    for (size_t g = 0; g < groups; ++g) {
      const auto begin = in_[0].values.begin() + static_cast<ptrdiff_t>(g * length);
      double sum = largest ? -HUGE_VAL : least ? HUGE_VAL : 0;
      for (auto x = begin; x != begin + static_cast<ptrdiff_t>(length); ++x)
        sum = largest ? std::max(sum, *x) : least ? std::min(sum, *x) : sum + *x;
      out_.values[g] = sum;
    }
    return out_.values;
  }

  Result<Values> by_row() {
    const auto length = static_cast<size_t>(in_[0].columns());
    for (size_t first = 0; length > 0 && first < out_.values.size(); first += length)
      row(std::span(in_[0].values).subspan(first, length), std::span(out_.values).subspan(first, length));
    return out_.values;
  }

  void row(std::span<const double> x, std::span<double> y) const {
    const auto n = double(x.size());
    if (spec_.kind == ReferenceKind::softmax) {
      const double top = *std::ranges::max_element(x);
      double sum = 0;
      for (size_t i = 0; i < x.size(); ++i) sum += y[i] = std::exp(x[i] - top);
      for (double& value : y) value /= sum;
    } else if (spec_.kind == ReferenceKind::scan) {
      double sum = 0;
      for (size_t i = 0; i < x.size(); ++i) y[i] = sum += x[i];
    } else if (spec_.kind == ReferenceKind::sort) {
      std::ranges::copy(x, y.begin());
      std::ranges::sort(y);
    } else {
      const bool centred = spec_.kind == ReferenceKind::layernorm;
      double mean = 0, square = 0;
      for (const double value : x) mean += centred ? value / n : 0;
      for (const double value : x) square += (value - mean) * (value - mean) / n;
      const double factor = 1 / std::sqrt(square + spec_.value);
      for (size_t i = 0; i < x.size(); ++i)
        y[i] =
            (x[i] - mean) * factor * (in_.size() > 1 ? in_[1].values[i] : 1) + (in_.size() > 2 ? in_[2].values[i] : 0);
    }
  }

  const ReferenceSpec& spec_;
  const Operands& operands_;
  std::vector<Table> in_;
  Table out_;
};

}  // namespace

Result<std::vector<double>> known_reference_values(const ReferenceSpec& spec, const Operands& operands) {
  std::vector<Operand> shapes;
  for (const OperandContents& one : operands.all) shapes.push_back(one.what);
  if (auto fits = check_shapes(spec, shapes, "the reference"); !fits) return fail(fits.error());
  return Maker(spec, operands).make();
}

}  // namespace attnscope::check
