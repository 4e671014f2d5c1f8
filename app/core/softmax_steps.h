#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attnscope {

// A query row of an attention problem.
struct SoftmaxRow {
  int64_t batch = 0, head = 0, row = 0;
  bool operator==(const SoftmaxRow&) const = default;
};

// The state of a kernel's online softmax for one query row, key tile by key tile. It is read from the registers and
// shared memory of the emulated machine while the row's CTA runs, at the places that the manifest names. Beside it is
// the state of an online softmax of the same inputs in fp64.
struct SoftmaxSteps {
  static constexpr int64_t kMostSteps = 1024;      // later steps are not recorded
  static constexpr int64_t kMostFloats = 1 << 22;  // per list

  SoftmaxRow row;
  int64_t cta = 0;      // the CTA that computed the row: x + grid.x·(y + grid.y·z)
  int64_t keys = 0;     // per tile
  int64_t visible = 0;  // number of keys that the row may see
  int64_t head_dim = 0;
  double unit = 1;          // m is in units of score × this: 1, or log2(e) if the kernel uses powers of 2
  std::vector<float> m, l;  // running maximum and sum after each tile
  std::vector<float> exact_m, exact_l;
  // `keys` per tile, as first read after they were written; empty: the manifest does not name them.
  std::vector<float> scores;
  std::vector<float> weights;  // the same memory at the tile's end
  std::vector<float> o;        // `head_dim` per tile, at the tile's end, not yet divided by l
  std::vector<float> output;   // the row that the kernel stored
  // Line numbers in the kernel's text, from 1: where m and l are written, where the scores are read, and where the tile
  // ends. 0: none.
  int64_t m_line = 0, l_line = 0, scores_line = 0, end_line = 0;

  size_t steps() const { return m.size(); }
  bool operator==(const SoftmaxSteps&) const = default;
};

// One key tile of a row's online softmax, with the state after it.
struct SoftmaxTile {
  int64_t first_key = 0, end_key = 0;  // the keys that the row may see; empty if it sees none of the tile
  float m = 0, l = 0, exact_m = 0, exact_l = 0;
  float largest = 0;    // the tile's largest score; NaN: the scores are not known
  double factor = 1;    // by which earlier l and O were multiplied: exp of (m before - m); 0 in a row's first tile
  double added = 0;     // what the tile's keys add to l
  bool raised = false;  // the tile raised the maximum
};
std::vector<SoftmaxTile> tiles_of(const SoftmaxSteps& steps);
// True if the tiles cover all keys that the row may see; beyond kMostSteps they do not.
bool has_all_tiles(const SoftmaxSteps& steps);

// A tile's part of the lists; empty if the kernel's manifest does not name them.
std::span<const float> scores_of(const SoftmaxSteps& steps, size_t tile);
std::span<const float> weights_of(const SoftmaxSteps& steps, size_t tile);
std::span<const float> o_of(const SoftmaxSteps& steps, size_t tile);

// "batch 0, head 3, row 17"
std::string row_text(const SoftmaxRow& row);

}  // namespace attnscope
