#include "emulator/watch/order.h"

#include <algorithm>

namespace attnscope::emulator {

using namespace watch_time;

void SharedOrder::prepare(uint32_t warps) {
  warps_ = warps;
  time_ = base_ = met_ = 0;
}

bool SharedOrder::start() {
  const bool starts_over = time_ == 0 || time_ > kCopy / 2;  // so that times never run out
  if (starts_over) time_ = 0;
  base_ = met_ = time_ += kStep;
  clocks_.assign(warps_, {});
  before_.assign(warps_, {});
  given_ = {};
  words_.clear();
  for (uint32_t w = 0; w < warps_; ++w) {
    clocks_[w].fill(base_);
    advance(w);
  }
  return starts_over;
}

void SharedOrder::joined(uint32_t warp) {
  auto& before = before_[warp];
  std::copy_n(clocks_[warp].begin(), warps_, before.begin());
  before[warp] = last_before(clocks_[warp][warp]);
  safe_[warp] = std::max(*std::min_element(before.begin(), before.begin() + warps_), base_);
  before[kManyWarps >> 1] = safe_[warp];
}

void SharedOrder::step() {
  if (!ran_out()) time_ += kStep;
}

void SharedOrder::advance(uint32_t warp) {
  step();
  clocks_[warp][warp] = time_ | own_bits(warp);
  joined(warp);
}

void SharedOrder::arrived(uint32_t warp, uint32_t barrier) {
  for (uint32_t k = 0; k < warps_; ++k) given_[barrier][k] = std::max(given_[barrier][k], clocks_[warp][k]);
  advance(warp);
}

bool SharedOrder::released(uint32_t barrier, uint32_t passing, uint32_t exited) {
  const uint32_t come = passing | exited;
  Clock all = given_[barrier];
  given_[barrier] = {};
  for (uint32_t rest = come; rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<uint32_t>(__builtin_ctz(rest));
    for (uint32_t k = 0; k < warps_; ++k) all[k] = std::max(all[k], clocks_[warp][k]);
  }
  // Includes all accesses of these warps so far, whenever each of them last synchronised.
  for (uint32_t rest = come; rest != 0; rest &= rest - 1) all[static_cast<uint32_t>(__builtin_ctz(rest))] = many();
  const bool everyone = static_cast<uint32_t>(__builtin_popcount(come)) == warps_;
  if (everyone) met_ = many();
  for (uint32_t rest = passing; rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<uint32_t>(__builtin_ctz(rest));
    clocks_[warp] = all;
    advance(warp);
  }
  return everyone;
}

// The warp is ordered after everything that earlier atomics on this word are ordered after.
void SharedOrder::atomic(uint32_t warp, uint32_t word) {
  Clock& there = words_[word];
  Clock& own = clocks_[warp];
  for (uint32_t k = 0; k < warps_; ++k) own[k] = there[k] = std::max(own[k], there[k]);
  advance(warp);
}

void SharedOrder::give(uint32_t warp, Clock& to) {
  for (uint32_t k = 0; k < warps_; ++k) to[k] = std::max(to[k], clocks_[warp][k]);
  advance(warp);
}

void SharedOrder::take(uint32_t warp, const Clock& from) {
  for (uint32_t k = 0; k < warps_; ++k) clocks_[warp][k] = std::max(clocks_[warp][k], from[k]);
  advance(warp);
}

uint32_t SharedOrder::open_group() {
  step();
  return time_;
}

}  // namespace attnscope::emulator
