#include "cli/softmax_text.h"

#include <fmt/format.h>

#include <span>

#include "charts/softmax_view.h"
#include "core/escape.h"

namespace attnscope::cli {
namespace {

using charts::value_text;

std::string keys_text(const SoftmaxTile& tile) {
  if (tile.end_key == tile.first_key) return "none visible";
  return fmt::format("{} to {}", tile.first_key, tile.end_key - 1);
}

std::string lines_text(const SoftmaxSteps& steps, const Kernel& kernel) {
  const auto place = [&](int64_t line) {
    return line > 0 ? fmt::format("{}:{}", one_line(kernel.source_name), line)
                    : std::string("a line that is not known");
  };
  std::string text = fmt::format("m is written at {}, l at {}; ", place(steps.m_line), place(steps.l_line));
  if (!steps.scores.empty()) text += fmt::format("the scores are first read at {}; ", place(steps.scores_line));
  return text + fmt::format("a tile ends with the barrier at {}.\n", place(steps.end_line));
}

// Eight per line, each line with the number of its first.
std::string list_text(const std::string& name, std::span<const float> values, int64_t first) {
  if (values.empty()) return "";
  std::string text = name + "\n";
  for (size_t at = 0; at < values.size(); at += 8) {
    text += fmt::format("{:>7} ", first + static_cast<int64_t>(at));
    for (const float value : values.subspan(at, std::min<size_t>(8, values.size() - at)))
      text += fmt::format(" {:>10}", value_text(double(value)));
    text += "\n";
  }
  return text;
}

}  // namespace

Result<std::string> softmax_text(const SoftmaxSteps& steps, const Kernel& kernel, int64_t tile) {
  const std::vector<SoftmaxTile> tiles = tiles_of(steps);
  if (tile > static_cast<int64_t>(tiles.size()))
    return fail(Stage::input, fmt::format("{} has no tile {}", row_text(steps.row), tile),
                has_all_tiles(steps)
                    ? fmt::format("Its CTA takes {} tiles of {} keys.", tiles.size(), steps.keys)
                    : fmt::format("The first {} tiles of {} keys are kept.", tiles.size(), steps.keys));
  std::string text = fmt::format("{}, {}, in CTA {} as emulated; it sees {} keys, in tiles of {}", one_line(kernel.id),
                                 row_text(steps.row), steps.cta, steps.visible, steps.keys);
  text += has_all_tiles(steps) ? "\n" : fmt::format("; here are the first {} tiles\n", tiles.size());
  text += fmt::format("{:>5} {:>14} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12}\n", "tile", "keys", "largest", "m",
                      "factor", "l", "m in fp64", "l in fp64");
  for (size_t at = 0; at < tiles.size(); ++at) {
    const SoftmaxTile& one = tiles[at];
    text += fmt::format("{:>5} {:>14} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12}\n", at + 1, keys_text(one),
                        value_text(double(one.largest)), value_text(double(one.m)), value_text(one.factor),
                        value_text(double(one.l)), value_text(double(one.exact_m)), value_text(double(one.exact_l)));
  }
  text += lines_text(steps, kernel);
  if (tile == 0) return text;
  const auto at = static_cast<size_t>(tile) - 1;
  const int64_t first = static_cast<int64_t>(at) * steps.keys;
  text += fmt::format("\nTile {}: l = {}\n", tile, charts::sum_text(steps, at));
  text += list_text("Scores, by key", scores_of(steps, at), first);
  text += list_text("What became of them at the tile's end, by key", weights_of(steps, at), first);
  text += list_text("O, not yet divided by l, by column", o_of(steps, at), 0);
  if (at + 1 == tiles.size()) text += list_text("The row as the kernel stored it, by column", steps.output, 0);
  return text;
}

}  // namespace attnscope::cli
