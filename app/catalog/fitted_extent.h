#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attnscope::catalog {

// How many elements of a buffer a run accessed, from the first of the buffer to the last one accessed.
struct ExtentPoint {
  std::map<std::string, int64_t> sizes;
  int64_t elements = 0;
};

// An extent as dimensions of a manifest.
struct FittedExtent {
  std::vector<std::string> shape;
  bool edge = false;  // it has some elements more than the runs accessed: the edge of a stencil
};

// Finds the extent as a function of the sizes that every point obeys: a product of sizes, with a factor or a divisor; a
// size or a product of two with a margin; a sum of sizes. The first point is the base; of the others, each that differs
// from it in one size says how the extent depends on that size, and the rest check. Empty if no such function fits, or
// if nothing says how it depends on a size of `names`. The names' order is the order of the dimensions.
std::optional<FittedExtent> fit_extent(const std::vector<ExtentPoint>& points, const std::vector<std::string>& names);

}  // namespace attnscope::catalog
