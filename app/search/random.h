#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace attnscope::search {

// Gives the same numbers from the same seed on every machine, which the standard library's distributions do not
// guarantee.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // 0 … count - 1; count > 0. Values are equally likely up to count / 2^64.
  size_t below(size_t count) { return static_cast<size_t>(engine_() % count); }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[below(left)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace attnscope::search
