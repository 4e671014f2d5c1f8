#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check/reference.h"

namespace attnscope::check {

// Keys are padded with zeros to a multiple of kKeyTile, and the head dimension to a multiple of kDimTile, so that the
// inner loops have no tails at any vector width. kKeyBlock keys of either tensor stay in the nearest caches while all
// rows are multiplied by them.
inline constexpr int64_t kKeyTile = 32;
inline constexpr int64_t kDimTile = 32;
inline constexpr int64_t kKeyBlock = 64;
inline constexpr int64_t kRowTile = 4;  // query rows computed together

// One key head as floats, decoded once for all query rows that use it.
struct DecodedHead {
  int64_t keys = 0, padded_keys = 0, dim = 0, padded_dim = 0;
  std::vector<float> k;  // [blocks of keys][dim][kKeyBlock]
  std::vector<float> v;  // [padded_keys][padded_dim]
  bool v_safe = true;    // every |V| is small enough that an average of rows cannot round to infinity

  // Resizes and fills with zeros. Without values, only scores can be computed.
  void resize(int64_t new_keys, int64_t new_dim, bool with_values = true);
  // Stores keys block·kKeyBlock … + count, given as consecutive rows of `dim` floats.
  void put_keys(int64_t block, int64_t count, const float* rows);
};

// Query rows of one head, padded to a multiple of kRowTile. `visible` is the number of keys that each row sees (0:
// masked, or padding).
struct QueryRows {
  std::vector<float> q;  // [rows][dim]
  std::vector<int64_t> visible;

  void resize(int64_t rows, int64_t dim);
  int64_t rows() const { return static_cast<int64_t>(visible.size()); }
};

// Scratch memory of one thread, reused.
struct Scratch {
  std::vector<double> q, scores, sums, out;  // [rows][dim], [rows][padded_keys], [rows], [rows][padded_dim]
  std::vector<float> naive_scores, naive_out;
  std::vector<char> naive_scores_finite;  // one per row, before rounding
};

// exp(score - the row's maximum) for every row in scratch.scores, in fp64; zero for keys that are not visible. Each
// row's sum goes to scratch.sums.
void weigh_exact(const DecodedHead& head, const QueryRows& rows, double scale, Scratch& scratch);
// Fills scratch.out with the fp64 attention of the rows, and scratch.naive_out with the naive one: fp32 (or fp16)
// accumulation, with S, P and O rounded to dtype. Sums run in the order of the keys or of the head dimension.
void attend_exact(const DecodedHead& head, const QueryRows& rows, double scale, Scratch& scratch);
void attend_naive(const DecodedHead& head, const QueryRows& rows, float scale, DType dtype, Accumulate accumulate,
                  Scratch& scratch);

}  // namespace attnscope::check
