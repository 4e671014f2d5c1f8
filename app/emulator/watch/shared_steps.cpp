#include "emulator/watch/shared_steps.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "emulator/exec/lane_address.h"

namespace attnscope::emulator {
namespace {

constexpr int64_t kBankRow = 128;  // bytes: one word of each bank

bool may_access_shared(const Op& op) {
  return op.access != AccessKind::none && (op.space == Space::shared || op.space == Space::generic);
}

SharedUse use_of(const Op& op) {
  if (is_matrix_load(op)) return SharedUse::matrices;
  if (op.effect == Effect::copies) return SharedUse::copy;
  if (op.lane_wavefronts > 0) return SharedUse::atomic;
  return op.access == AccessKind::load ? SharedUse::load : SharedUse::store;
}

// The lanes' bytes relative to the CTA's shared memory. No lane is active if none accesses shared memory.
SharedAccess access_of(Warp& warp, const Op& op, uint32_t mask) {
  SharedAccess access{{}, 0, op.bytes, use_of(op)};
  if (access.use == SharedUse::matrices) mask = op.detail.matrices == 4 ? kFull : (1u << 8 * op.detail.matrices) - 1;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest);
    const LaneAddress at = lane_address(warp, op, lane);
    if (at.space != Space::shared) continue;
    access.mask |= int64_t{1} << lane;
    access.at[lane] = static_cast<int64_t>(at.address) - warp.shared_low;
  }
  return access;
}

// Moves the access to the first row of banks. Returns by how many bytes.
int64_t take_base(SharedAccess& access) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int lane = 0; lane < 32; ++lane)
    if (access.active(lane)) least = std::min(least, access.at[static_cast<size_t>(lane)]);
  const int64_t base = least / kBankRow * kBankRow;
  for (int lane = 0; lane < 32; ++lane)
    if (access.active(lane)) access.at[static_cast<size_t>(lane)] -= base;
  return base;
}

}  // namespace

SharedStepLog::SharedStepLog(BoundLaunch& bound, uint32_t cta, uint32_t turns)
    : warps_(bound.warps), turns_(turns), seen_(bound.ops.size()) {
  bound.observed = std::make_unique<ObservedCta>();
  bound.observed->cta = cta;
  bound.observed->ops = bound.ops;
  bound.observed->observer = this;
  for (Op& op : bound.observed->ops)
    if (may_access_shared(op)) seen_[op.index].own = observe(op, look, true);
}

void SharedStepLog::look(Warp& warp, const Op& op, uint32_t mask) {
  auto& log = static_cast<SharedStepLog&>(*warp.machine->observer);
  Seen& seen = log.seen_[op.index];
  // Runs before the instruction, which may overwrite the registers that hold the addresses.
  if (mask != 0) log.add(warp, op, mask, seen);
  seen.own.handle(warp, op, mask);
}

void SharedStepLog::add(Warp& warp, const Op& op, uint32_t mask, Seen& seen) const {
  if (seen.turns.empty()) seen.turns.resize(warps_);
  const uint32_t turn = seen.turns[warp.id]++;
  SharedSteps& steps = seen.steps;
  if (turn >= turns_ || steps.steps.size() == SharedSteps::kMost) return;
  SharedAccess access = access_of(warp, op, mask);
  if (access.mask == 0) return;
  const int64_t base = take_base(access);
  const auto known = std::ranges::find(steps.shapes, access);
  const auto shape = known - steps.shapes.begin();
  if (known == steps.shapes.end()) steps.shapes.push_back(access);
  steps.steps.push_back({warp.id, turn, shape, base});
}

std::map<uint32_t, SharedSteps> SharedStepLog::steps() const {
  std::map<uint32_t, SharedSteps> all;
  for (uint32_t i = 0; i < seen_.size(); ++i) {
    if (seen_[i].steps.steps.empty()) continue;
    SharedSteps& steps = all[i] = seen_[i].steps;
    std::ranges::sort(steps.steps, {}, [](const SharedStep& one) { return std::tuple(one.warp, one.turn); });
  }
  return all;
}

}  // namespace attnscope::emulator
