#include "model/warp_recorder.h"

#include <algorithm>
#include <cmath>

namespace attnscope::model {
namespace {

WarpState state_of(const Awaited& awaited) {
  if (is_shared(awaited.unit)) return WarpState::shared;
  return is_global(awaited.unit) ? WarpState::memory : WarpState::result;
}

}  // namespace

WarpRecorder::WarpRecorder(double from, double to, size_t columns)
    : from_(from), width_(1), grows_(to <= from), columns_(columns) {
  if (grows_ || columns == 0) return;
  width_ = std::max(1.0, (to - from) / double(columns));
  columns_ = std::min(columns, static_cast<size_t>(std::ceil((to - from) / width_)));
}

void WarpRecorder::begin_cta(size_t nth, size_t place, double free) {
  if (running_.size() <= place) running_.resize(place + 1);
  running_[place] = ctas_.size();
  ctas_.push_back({nth, place, free});
}

void WarpRecorder::end_cta(size_t place, double time) { ctas_[running_[place]].to = time; }

void WarpRecorder::begin_warp(size_t index, const SimulatedWarp& warp, double free) {
  if (places_.size() <= index) {
    places_.resize(index + 1);
    until_.resize(index + 1);
    clocks_.resize(index + 1);
    clocks_[index].resize(columns_ * kWarpStates);
  }
  places_[index] = {int64_t(warp.cta), int64_t(warp.of_cta), int64_t(warp.scheduler)};
  until_[index] = free;
}

void WarpRecorder::issue(size_t index, const SimulatedWarp& warp, const ScheduledInstruction& instruction, double now) {
  const auto piece = [&](WarpState state, double until) {
    until = std::min(until, now);
    if (until <= until_[index]) return;
    add(index, state, until_[index], until);
    until_[index] = until;
  };
  piece(WarpState::result, warp.stalled);
  piece(warp.held_by == TermKind::launch ? WarpState::start : WarpState::barrier, warp.held);
  piece(WarpState::result, std::max(warp.ready, warp.fetched));  // a jump, or code that has not arrived yet
  data_ready(warp, instruction, [&](const Awaited& awaited, double) { piece(state_of(awaited), awaited.until); });
  piece(WarpState::turn, now);
  add(index, WarpState::issue, now, now + 1);
  until_[index] = now + 1;
}

void WarpRecorder::end_warp(size_t index, double done, const Awaited* last, double end) {
  if (done > until_[index]) {
    add(index, WarpState::result, until_[index], done);
    until_[index] = done;
  }
  if (last == nullptr || end <= until_[index]) return;
  add(index, state_of(*last), until_[index], end);
  until_[index] = end;
}

// Merges pairs of columns.
void WarpRecorder::widen() {
  width_ *= 2;
  for (std::vector<float>& clocks : clocks_) {
    for (size_t at = 0; at < columns_; ++at)
      for (size_t state = 0; state < kWarpStates; ++state) {
        const size_t first = 2 * at * kWarpStates + state, second = first + kWarpStates;
        float sum = 0;
        if (2 * at < columns_) sum += clocks[first];
        if (2 * at + 1 < columns_) sum += clocks[second];
        clocks[at * kWarpStates + state] = sum;
      }
  }
}

void WarpRecorder::add(size_t index, WarpState state, double from, double to) {
  if (columns_ == 0) return;
  while (grows_ && to > from_ + width_ * double(columns_)) widen();
  from = std::max(from - from_, 0.0);
  to = std::min(to - from_, width_ * double(columns_));
  while (from < to) {
    const auto at = static_cast<size_t>(from / width_);
    if (at >= columns_) return;
    const double until = std::min(to, double(at + 1) * width_);
    if (until <= from) return;
    clocks_[index][at * kWarpStates + static_cast<size_t>(state)] += static_cast<float>(until - from);
    from = until;
  }
}

size_t WarpRecorder::columns_until(double end) const {
  if (end <= from_) return 0;
  return std::min(columns_, static_cast<size_t>(std::ceil((end - from_) / width_)));
}

std::vector<float> WarpRecorder::shares(double end) const {
  const size_t columns = columns_until(end);
  std::vector<float> all;
  all.reserve(clocks_.size() * columns * kWarpStates);
  for (const std::vector<float>& clocks : clocks_)
    for (size_t i = 0; i < columns * kWarpStates; ++i)
      all.push_back(std::min(1.0f, clocks[i] / static_cast<float>(width_)));
  return all;
}

}  // namespace attnscope::model
