#pragma once
#include <cstdint>
#include <string>

#include "core/experiment.h"

namespace attnscope::charts {

// The size of the tiles in which a kernel walks the attention matrix; 0: its knobs do not say.
struct AttentionTiles {
  int64_t rows = 0, keys = 0;
  bool known() const { return rows > 0 || keys > 0; }
  bool operator==(const AttentionTiles&) const = default;
};
AttentionTiles attention_tiles_of(const Experiment& experiment);

// "64 query rows by 32 keys", "64 query rows by all keys"
std::string tiles_text(const AttentionTiles& tiles);
// B's tiles beside A's: "64 × 32; A 32 × 32", "64 × all; A the same", "64 × 32; A's are not known". `a` null: only B's.
std::string tiles_beside(const AttentionTiles* a, const AttentionTiles& b);
// Which CTA and which tile of its walk has an element, a line for each that is known:
// "CTA 1 of this head: rows 64–127\ntile 0 of its walk: keys 0–31".
std::string tile_words(const AttentionTiles& tiles, const Problem& problem, int64_t row, int64_t key);

}  // namespace attnscope::charts
