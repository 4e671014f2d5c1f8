#include "charts/attention_tiles.h"

#include <fmt/format.h>

#include <algorithm>

namespace attnscope::charts {
namespace {

std::string or_all(int64_t count) { return count > 0 ? std::to_string(count) : "all"; }

std::string short_tiles(const AttentionTiles& tiles) {
  return fmt::format("{} \u00d7 {}", or_all(tiles.rows), or_all(tiles.keys));
}

}  // namespace

AttentionTiles attention_tiles_of(const Experiment& experiment) {
  const auto knob = [&](const char* name) {
    const auto found = experiment.config.knobs.find(name);
    return found == experiment.config.knobs.end() ? int64_t{0} : std::max<int64_t>(found->second, 0);
  };
  return {knob("BLOCK_M"), knob("BLOCK_N")};
}

std::string tiles_text(const AttentionTiles& tiles) {
  return fmt::format("{} query rows by {} keys", or_all(tiles.rows), or_all(tiles.keys));
}

std::string tiles_beside(const AttentionTiles* a, const AttentionTiles& b) {
  const std::string own = b.known() ? short_tiles(b) : "not known";
  if (a == nullptr) return own;
  return own + (*a == b ? "; A the same" : !a->known() ? "; A's are not known" : "; A " + short_tiles(*a));
}

std::string tile_words(const AttentionTiles& tiles, const Problem& problem, int64_t row, int64_t key) {
  std::string words;
  const auto add = [&](const char* what, const char* of, const char* elements, int64_t at, int64_t each, int64_t all) {
    const int64_t first = at / each * each;
    words += fmt::format("{}{} {} of {}: {} {}\u2013{}", words.empty() ? "" : "\n", what, at / each, of, elements,
                         first, std::min(first + each, all) - 1);
  };
  if (tiles.rows > 0) add("CTA", "this head", "rows", row, tiles.rows, problem.seq_q);
  if (tiles.keys > 0) add("tile", "its walk", "keys", key, tiles.keys, problem.seq_k);
  return words;
}

}  // namespace attnscope::charts
