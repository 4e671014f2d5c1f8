#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check/reference.h"

namespace attnscope::check {

// One key head, decoded once for all the query rows that use it. Keys are padded with zeros to a multiple of kKeyTile
// and the head dimension to one of kDimTile, so that the inner loops have no tails at any vector width.
inline constexpr int64_t kKeyTile = 32;
inline constexpr int64_t kDimTile = 32;
inline constexpr int64_t kRowTile = 4;  // query rows computed together

template <class T>
struct KeyHead {
  std::vector<T> k_transposed;  // [head_dim][padded_keys]
  std::vector<T> v;             // [padded_keys][padded_dim]
};

struct DecodedHead {
  int64_t keys = 0, padded_keys = 0, dim = 0, padded_dim = 0;
  KeyHead<double> exact;
  KeyHead<float> naive;
  bool v_safe = true;  // every |V| is small enough that an average of rows cannot round to infinity
};

// Four query rows of one head. `q` is [4][head_dim]; `visible` the keys each may see (0: masked; a row that is not
// there).
struct RowTile {
  std::vector<float> q;
  int64_t visible[kRowTile] = {};
};

// Scratch of one thread, reused.
struct Scratch {
  std::vector<double> scores, out;  // [4][padded_keys], [4][padded_dim]
  std::vector<float> naive_scores, naive_out;
  bool naive_scores_finite[kRowTile] = {};  // before rounding
};

// Fills scratch.out with the fp64 attention of the tile's rows, and scratch.naive_out with the naive one: fp32 (or
// fp16) accumulation, S, P and O rounded to dtype.
void attend_exact(const DecodedHead& head, const RowTile& tile, double scale, Scratch& scratch);
void attend_naive(const DecodedHead& head, const RowTile& tile, float scale, DType dtype, Accumulate accumulate,
                  Scratch& scratch);

}  // namespace attnscope::check
