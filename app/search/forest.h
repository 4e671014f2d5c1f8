#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/places.h"
#include "search/prediction.h"
#include "search/random.h"

namespace attnscope::search {

// Extremely randomised regression trees (Geurts, Ernst and Wehenkel, Machine Learning 63, 2006) over the places of
// points: each tree splits every node at a random position of the axis that parts the values best. The mean of the
// trees is the prediction; where they disagree, little is known. What each tree says of each point is kept: a
// tree that learns again is walked once for each point, and a prediction walks no tree.
class Forest {
 public:
  // `places` must outlive it.
  Forest(const Places& places, size_t trees) : places_(places), trees_(trees) {}

  // The values of these points; at least one.
  void learn(const std::vector<size_t>& points, const std::vector<double>& values, Random& random);
  // The same, but only the next `some` trees learn, and the others stay as they are. learn() must have been called.
  void renew(size_t some, const std::vector<size_t>& points, const std::vector<double>& values, Random& random);
  bool has_learnt() const { return !trees_.front().empty(); }
  // The places have changed: what the trees say of the points is read from them again.
  void read_again();
  Prediction predict(size_t point) const;

 private:
  struct Node {
    static constexpr uint32_t kLeaf = UINT32_MAX;
    uint32_t axis = kLeaf;
    uint32_t from = 0;   // positions from here on go to the second child
    uint32_t first = 0;  // child; the second one is after it
    float value = 0;     // of a leaf
  };
  using Tree = std::vector<Node>;
  struct Rows;  // what learn() was given

  static void split(Tree& tree, size_t node, size_t begin, size_t end, Rows& rows, Random& random);
  void read(size_t tree);

  const Places& places_;
  std::vector<Tree> trees_;
  std::vector<float> said_;  // for each point, by each tree
  size_t next_ = 0;          // tree to renew
};

}  // namespace attnscope::search
