#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/random.h"

namespace attnscope::search {

// Extremely randomised regression trees (Geurts, Ernst and Wehenkel, Machine Learning 63, 2006) over positions on a
// grid: each tree splits every node at a random place of the axis that parts the values best. The mean of the trees is
// the prediction; where they disagree, little is known.
class Forest {
 public:
  struct Prediction {
    double mean = 0, spread = 0;  // the trees' standard deviation
  };

  explicit Forest(size_t trees) : trees_(trees) {}

  // `values` of the points at `positions`, as many rows of `axes` numbers; at least one.
  void learn(const std::vector<uint32_t>& positions, size_t axes, const std::vector<double>& values, Random& random);
  // The same, but only the next `some` trees learn, and the others stay as they are. learn() must have been called.
  void renew(size_t some, const std::vector<uint32_t>& positions, size_t axes, const std::vector<double>& values,
             Random& random);
  bool has_learnt() const { return !trees_.front().empty(); }
  Prediction predict(const std::vector<size_t>& positions) const;

 private:
  struct Node {
    static constexpr uint32_t kLeaf = UINT32_MAX;
    uint32_t axis = kLeaf;
    uint32_t from = 0;  // positions from here on go to the second child
    size_t first = 0;   // child; the second one is after it
    double value = 0;   // of a leaf
  };
  using Tree = std::vector<Node>;
  struct Rows;  // what learn() was given

  static void split(Tree& tree, size_t node, size_t begin, size_t end, Rows& rows, Random& random);

  std::vector<Tree> trees_;
  size_t next_ = 0;  // tree to renew
};

}  // namespace attnscope::search
