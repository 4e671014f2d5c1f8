#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/bars.h"

namespace attnscope::model {

// assets/model/bars.json: bars by architecture. An architecture without bars of its own has those of `arch`, wider.
class BarsTable {
 public:
  explicit BarsTable(std::string_view json);

  Bar bar_of(Bound bound, bool traced, int arch) const;
  // Of the ratio of two times, in either direction. `unlike`: the share of the one that the other's terms do not have,
  // from 0 to 1.
  double of_one_kernel(double unlike, int arch) const;
  double of_two_kernels(int arch) const;
  ApartFrom apart_from() const;

 private:
  struct Class {
    double unlike, factor;  // for terms that differ by at most this
  };
  struct OfArch {
    std::map<std::string, Bar> of_bound;
    Bar other;                      // bounds with few measured times
    std::vector<Class> one_kernel;  // ascending
    double other_kernels = 1;
  };
  const OfArch& of(int arch) const;
  double widened(double factor, int arch) const;

  std::map<int, OfArch> measured_;
  int arch_ = 0;
  Bar counters_;                                                  // without a path
  double other_architecture_ = 1, other_architecture_pairs_ = 1;  // in either direction; a factor on the logarithm
};

}  // namespace attnscope::model
