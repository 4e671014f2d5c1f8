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

// What a kernel's online softmax held for one query row, key tile by key tile: read from the registers and the shared
// memory of the emulated machine while it executed the row's CTA, where the manifest says that the kernel keeps them.
// Beside it stands what an online softmax of the same inputs holds in fp64.
struct SoftmaxSteps {
  static constexpr int64_t kMostSteps = 1024;      // further ones are not recorded
  static constexpr int64_t kMostFloats = 1 << 22;  // of one list

  SoftmaxRow row;
  int64_t cta = 0;      // that computed the row: x + grid.x·(y + grid.y·z)
  int64_t keys = 0;     // of a tile
  int64_t visible = 0;  // keys that the row may see
  int64_t head_dim = 0;
  double unit = 1;          // m counts scores times this: 1, or log2(e) where the kernel uses exponents of 2
  std::vector<float> m, l;  // after each tile: the running maximum and sum
  std::vector<float> exact_m, exact_l;
  std::vector<float> scores;   // tile after tile, `keys` each, as first read after they were written; empty: not named
  std::vector<float> weights;  // the same at the tile's end
  std::vector<float> o;        // tile after tile, `head_dim` each, at the tile's end: not yet divided by l
  std::vector<float> output;   // the row as the kernel stored it
  // Lines of the kernel's text, from 1: where m and l were written, the scores read, and the tile ends. 0: none.
  int64_t m_line = 0, l_line = 0, scores_line = 0, end_line = 0;

  size_t steps() const { return m.size(); }
  bool operator==(const SoftmaxSteps&) const = default;
};

// One key tile of a row's online softmax: what the kernel held after it.
struct SoftmaxTile {
  int64_t first_key = 0, end_key = 0;  // without keys that the row may not see; empty where it sees none of them
  float m = 0, l = 0, exact_m = 0, exact_l = 0;
  float largest = 0;    // of the tile's scores; NaN: they are not known
  double factor = 1;    // what l and O before were multiplied by: exp of (m before - m); 0 in a row's first tile
  double added = 0;     // what the tile's keys add to l
  bool raised = false;  // the tile has a larger maximum than those before
};
std::vector<SoftmaxTile> tiles_of(const SoftmaxSteps& steps);
// Whether the tiles reach all keys that the row may see; past kMostSteps they do not.
bool has_all_tiles(const SoftmaxSteps& steps);

// A tile's part of the lists; empty: the kernel's manifest does not name them.
std::span<const float> scores_of(const SoftmaxSteps& steps, size_t tile);
std::span<const float> weights_of(const SoftmaxSteps& steps, size_t tile);
std::span<const float> o_of(const SoftmaxSteps& steps, size_t tile);

// "batch 0, head 3, row 17"
std::string row_text(const SoftmaxRow& row);

}  // namespace attnscope
