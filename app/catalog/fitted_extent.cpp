#include "catalog/fitted_extent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "catalog/times.h"

namespace attnscope::catalog {
namespace {

constexpr int kMostPower = 3;
constexpr int64_t kMostFactor = int64_t{1} << 20;
// An edge: up to this many rows of the longest dimension, and the rest of one.
constexpr int64_t kMostEdge = 8, kLeastEdged = 32;

std::string sum_text(const std::string& name, int64_t more) {
  if (more == 0) return name;
  return more > 0 ? fmt::format("{} + {}", name, more) : fmt::format("{} - {}", name, -more);
}

class Fit {
 public:
  Fit(const std::vector<ExtentPoint>& points, const std::vector<std::string>& names) : points_(points), names_(names) {}

  std::optional<FittedExtent> find() {
    if (points_.empty() || points_.front().elements < 1 || !find_single()) return std::nullopt;
    if (auto fitted = product(false)) return fitted;
    if (auto fitted = sum()) return fitted;
    if (auto fitted = with_margins()) return fitted;
    if (auto fitted = lesser()) return fitted;
    return product(true);
  }

 private:
  const ExtentPoint& base() const { return points_.front(); }
  int64_t size(const ExtentPoint& point, const std::string& name) const {
    const auto found = point.sizes.find(name);
    return found == point.sizes.end() ? 0 : found->second;
  }

  // By size, the point that differs from the base only in it. False if a size has none.
  bool find_single() {
    for (const std::string& name : names_) {
      const auto only = [&](const ExtentPoint& point) {
        return std::ranges::all_of(names_, [&](const std::string& other) {
          return (size(point, other) != size(base(), other)) == (other == name);
        });
      };
      const auto found = std::find_if(points_.begin() + 1, points_.end(), only);
      if (found == points_.end() || size(base(), name) < 1) return false;
      single_[name] = &*found;
      if (found->elements != base().elements) moving_.push_back(name);
    }
    return true;
  }

  // Whether a point besides those that say how the extent grows moves all sizes that it depends on.
  bool is_checked() const {
    const auto moves_all = [&](const ExtentPoint& point) {
      return std::ranges::all_of(moving_,
                                 [&](const std::string& name) { return size(point, name) != size(base(), name); });
    };
    // A fit through one size cannot be checked at that size.
    return moving_.empty() || std::ranges::count_if(points_, moves_all) >= (moving_.size() == 1 ? 2 : 1);
  }

  // The power of a size: 1 if the extent doubles with it. With `edge`, the nearest.
  std::optional<int> power_of(const std::string& name, bool edge) const {
    const ExtentPoint& point = *single_.at(name);
    const int64_t before = size(base(), name), now = size(point, name);
    std::optional<int> best;
    double nearest = 0;
    int64_t left = base().elements, right = point.elements;
    for (int power = 0; power <= kMostPower; ++power) {
      if (left == right) return power;
      const double off = std::abs(static_cast<double>(right) / static_cast<double>(left) - 1);
      if (!best || off < nearest) best = power, nearest = off;
      left = times(left, now), right = times(right, before);
    }
    return edge ? best : std::nullopt;
  }

  std::optional<FittedExtent> product(bool edge) const {
    if (!is_checked()) return std::nullopt;
    std::map<std::string, int> powers;
    int64_t of_sizes = 1, longest = 0;
    for (const std::string& name : names_) {
      const auto power = power_of(name, edge);
      if (!power) return std::nullopt;
      powers[name] = *power;
      for (int i = 0; i < *power; ++i) of_sizes = times(of_sizes, size(base(), name));
      if (*power > 0) longest = std::max(longest, size(base(), name));
    }
    if (of_sizes == INT64_MAX) return std::nullopt;
    if (!edge) return exact_product(powers, of_sizes);
    if (longest < kLeastEdged) return std::nullopt;
    const int64_t factor = (base().elements + of_sizes - 1) / of_sizes;
    const bool fits = std::ranges::all_of(points_, [&](const ExtentPoint& point) {
      const int64_t all = times(factor, product_at(point, powers));
      int64_t most = 0;
      for (const auto& [name, power] : powers)
        if (power > 0) most = std::max(most, size(point, name));
      return all >= point.elements && all - point.elements <= times(kMostEdge, all / most + 1);
    });
    if (!fits) return std::nullopt;
    return FittedExtent{dimensions(powers, factor), true};
  }

  std::optional<FittedExtent> exact_product(const std::map<std::string, int>& powers, int64_t of_sizes) const {
    const int64_t shared = std::gcd(base().elements, of_sizes);
    const int64_t factor = base().elements / shared, divisor = of_sizes / shared;
    if (factor > kMostFactor && of_sizes != 1) return std::nullopt;
    // 3/64 of a size would be a coincidence.
    if (divisor > 1 && (factor > 1 || divisor > kMostFactor)) return std::nullopt;
    const bool fits = std::ranges::all_of(points_, [&](const ExtentPoint& point) {
      const int64_t all = times(factor, product_at(point, powers));
      return (all + divisor - 1) / divisor == point.elements;
    });
    if (!fits) return std::nullopt;
    if (divisor == 1) return FittedExtent{dimensions(powers, factor), false};
    std::string text;
    for (const std::string& name : dimensions(powers, 1)) text += (text.empty() ? "" : " * ") + name;
    return FittedExtent{{fmt::format("ceil_div({}, {})", text, divisor)}, false};
  }

  int64_t product_at(const ExtentPoint& point, const std::map<std::string, int>& powers) const {
    int64_t all = 1;
    for (const auto& [name, power] : powers)
      for (int i = 0; i < power; ++i) all = times(all, size(point, name));
    return all;
  }

  std::vector<std::string> dimensions(const std::map<std::string, int>& powers, int64_t factor) const {
    std::vector<std::string> shape;
    for (const std::string& name : names_)
      for (int i = 0; i < powers.at(name); ++i) shape.push_back(name);
    if (factor > 1 || shape.empty()) shape.push_back(std::to_string(factor));
    return shape;
  }

  // How much the extent grows with one more of the size, or shrinks; empty: not by a whole number.
  std::optional<int64_t> slope(const std::string& name) const {
    const ExtentPoint& point = *single_.at(name);
    const int64_t by = size(point, name) - size(base(), name), more = point.elements - base().elements;
    if (more % by != 0 || more == 0) return std::nullopt;
    return more / by;
  }

  // N + K - 1, N - K + 1, or one size with a margin. A margin of two sizes or more needs a point that moves both.
  std::optional<FittedExtent> sum() const {
    if (moving_.empty()) return std::nullopt;
    std::map<std::string, int64_t> slopes;
    int64_t rest = base().elements;
    std::string text, subtracted;
    for (const std::string& name : moving_) {
      const auto one = slope(name);
      if (!one) return std::nullopt;
      slopes[name] = *one;
      rest -= *one * size(base(), name);
      const std::string term = std::abs(*one) == 1 ? name : fmt::format("{} * {}", std::abs(*one), name);
      if (*one > 0)
        text += (text.empty() ? "" : " + ") + term;
      else
        subtracted += " - " + term;
    }
    if (text.empty()) return std::nullopt;
    text += subtracted;
    for (const ExtentPoint& point : points_) {
      int64_t all = rest;
      for (const auto& [name, one] : slopes) all += one * size(point, name);
      if (all != point.elements) return std::nullopt;
    }
    if (!is_checked() || std::abs(rest) >= base().elements) return std::nullopt;
    if (moving_.size() == 1 && rest < 0) return std::nullopt;  // an edge
    return FittedExtent{{sum_text(text, rest)}, false};
  }

  // min(N, M), as of a[i % M] with i < N; the base may have both alike.
  std::optional<FittedExtent> lesser() const {
    for (const std::string& one : names_)
      for (const std::string& other : names_) {
        if (other <= one) continue;
        const auto fits = [&](const ExtentPoint& point) {
          return std::min(size(point, one), size(point, other)) == point.elements;
        };
        if (std::ranges::all_of(points_, fits)) return FittedExtent{{fmt::format("min({}, {})", one, other)}, false};
      }
    return std::nullopt;
  }

  // (N + 2) * (M + 4): what the extent grows with each size and with both.
  std::optional<FittedExtent> with_margins() const {
    if (moving_.size() != 2) return std::nullopt;
    const std::string &first = moving_[0], &second = moving_[1];
    const auto by_first = slope(first), by_second = slope(second);
    if (!by_first || !by_second || *by_first < 1 || *by_second < 1) return std::nullopt;
    const auto both = std::ranges::find_if(points_, [&](const ExtentPoint& point) {
      return size(point, first) != size(base(), first) && size(point, second) != size(base(), second);
    });
    if (both == points_.end()) return std::nullopt;
    const int64_t n = size(base(), first), m = size(base(), second);
    const int64_t more_n = size(*both, first) - n, more_m = size(*both, second) - m;
    const int64_t cross = both->elements - base().elements - *by_first * more_n - *by_second * more_m;
    if (more_n * more_m == 0 || cross % (more_n * more_m) != 0) return std::nullopt;
    const int64_t factor = cross / (more_n * more_m);
    if (factor < 1 || *by_first % factor != 0 || *by_second % factor != 0) return std::nullopt;
    const int64_t margin_m = *by_first / factor - m, margin_n = *by_second / factor - n;
    const bool fits = std::ranges::all_of(points_, [&](const ExtentPoint& point) {
      return times(factor, times(size(point, first) + margin_n, size(point, second) + margin_m)) == point.elements;
    });
    if (!fits || margin_m < 0 || margin_n < 0) return std::nullopt;
    FittedExtent fitted{{sum_text(first, margin_n), sum_text(second, margin_m)}, false};
    if (factor > 1) fitted.shape.push_back(std::to_string(factor));
    return fitted;
  }

  const std::vector<ExtentPoint>& points_;
  const std::vector<std::string>& names_;
  std::map<std::string, const ExtentPoint*> single_;
  std::vector<std::string> moving_;  // sizes that the extent depends on
};

}  // namespace

std::optional<FittedExtent> fit_extent(const std::vector<ExtentPoint>& points, const std::vector<std::string>& names) {
  return Fit(points, names).find();
}

}  // namespace attnscope::catalog
