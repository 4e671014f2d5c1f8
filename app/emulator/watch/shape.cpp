#include "emulator/watch/shape.h"

#include <algorithm>

namespace attnscope::emulator {

size_t WatchShapes::Hash::operator()(const WatchShape& shape) const {
  uint64_t hash = shape.mask * 0x9e3779b97f4a7c15u + shape.bytes;
  for (const int32_t delta : shape.delta) hash = (hash ^ static_cast<uint32_t>(delta)) * 0x100000001b3u + (hash >> 29);
  return static_cast<size_t>(hash);
}

void WatchShapes::prepare(uint32_t unit) {
  unit_ = unit;
  kept_.clear();
  kept_.resize(1);
  numbers_.clear();
}

uint32_t WatchShapes::find(const Pattern& pattern, uint32_t bytes) {
  WatchShape shape;
  std::copy_n(pattern.delta, 32, shape.delta.begin());
  shape.mask = pattern.mask;
  shape.bytes = bytes;
  const auto found = numbers_.find(shape);
  if (found != numbers_.end()) return found->second;
  if (kept_.size() >= kMost) return 0;
  const auto number = static_cast<uint32_t>(kept_.size());
  kept_.emplace_back().shape = shape;
  numbers_.emplace(shape, number);
  return number;
}

const WatchSpans& WatchShapes::spans(uint32_t shape, uint32_t base) {
  const uint32_t place = base % kWatchLine / unit_;
  Kept& kept = kept_[shape];
  if (kept.spans[place] == nullptr) {
    kept.spans[place] = std::make_unique<WatchSpans>(cut(kept.shape, place));
    kept.spans[place]->shape = shape;
  }
  return *kept.spans[place];
}

WatchSpans WatchShapes::cut(const WatchShape& shape, uint32_t place) const {
  const auto line_units = static_cast<int32_t>(kWatchLine / unit_), unit = static_cast<int32_t>(unit_);
  std::vector<int32_t> touched;  // units from the start of the first lane's line
  for (uint32_t rest = shape.mask; rest != 0; rest &= rest - 1) {
    const int32_t first = static_cast<int32_t>(place) + shape.delta[static_cast<size_t>(__builtin_ctz(rest))] / unit;
    for (int32_t i = 0; i < static_cast<int32_t>(shape.bytes) / unit; ++i) touched.push_back(first + i);
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  WatchSpans all;
  for (const int32_t at : touched) {
    const int32_t line = at >= 0 ? at / line_units : (at + 1) / line_units - 1;
    const auto from = static_cast<uint16_t>(at - line * line_units);
    if (all.spans.empty() || all.spans.back().line != line)
      all.spans.push_back({0, line, static_cast<uint32_t>(all.stretches.size()), 0});
    WatchSpan& span = all.spans.back();
    span.units |= uint64_t{1} << from;
    if (span.stretches != 0 && all.stretches.back().from + all.stretches.back().units == from) {
      ++all.stretches.back().units;
    } else {
      all.stretches.push_back({from, 1});
      ++span.stretches;
    }
  }
  return all;
}

}  // namespace attnscope::emulator
