#include "model/code_cache.h"

#include <algorithm>
#include <cstdint>

#include "model/rates.h"

namespace attnscope::model {
namespace {

constexpr double kLineBytes = CodeCache::kLine * 16;

}  // namespace

CodeCache::Level::Level(double kilobytes)
    : lines_(std::max<size_t>(1, static_cast<size_t>(kilobytes * 1024 / kLineBytes) / kWays) * kWays, kNone) {}

bool CodeCache::Level::touch(size_t line) {
  const auto set = static_cast<std::ptrdiff_t>(line % (lines_.size() / kWays) * kWays);
  const auto first = lines_.begin() + set, last = first + kWays;
  if (*first == line) return true;
  auto at = std::find(first, last, line);
  const bool held = at != last;
  if (!held) *--at = line;
  std::rotate(first, at, at + 1);
  return held;
}

CodeCache::CodeCache(const DeviceSpec& spec, const KernelSchedule& schedule)
    : near_(rates::rate(spec, rates::kCodeNearKb)),
      far_(rates::rate(spec, rates::kCodeFarKb)),
      own_clocks_(rates::rate(spec, rates::kCodeOwn)),
      line_clocks_(rates::rate(spec, rates::kCodeLine)),
      far_line_clocks_(rates::rate(spec, rates::kCodeFarLine)),
      there_(schedule.code.size() / kLine + 2, 0),
      all_fits_(there_.size() <= near_.lines()) {
  own_.fill(Level(rates::rate(spec, rates::kCodeOwnKb)));
  if (all_fits_) return;
  for (const Visit& visit : schedule.traces.front().warps.front()) {
    const CodeBlock& block = schedule.blocks[visit.block];
    for (size_t line = line_of(block.first); line <= line_of(block.first + std::max(block.count, 1U) - 1); ++line) {
      near_.touch(line);
      far_.touch(line);
    }
  }
}

void CodeCache::bring(size_t line, double now) {
  if (near_.touch(line)) return;
  busy_ = std::max(now, busy_) + (far_.touch(line) ? line_clocks_ : far_line_clocks_);
  there_[line] = busy_;
}

double CodeCache::fetch(size_t scheduler, size_t from, size_t line, double now, double ready) {
  const bool own = own_[scheduler].touch(line);
  const bool jumps = from != SIZE_MAX && line != from + 1;
  const double there = jumps && !own ? ready + own_clocks_ : 0;
  if (all_fits_) return there;
  bring(line, now);
  bring(line + 1, now);
  return std::max(there, there_[line]);
}

}  // namespace attnscope::model
