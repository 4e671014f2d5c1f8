#include "emulator/watch/probe.h"

#include <algorithm>
#include <cstring>

#include "emulator/exec/lane_address.h"

namespace attnscope::emulator {

ProbeLog::ProbeLog(BoundLaunch& bound, uint32_t cta, const std::vector<Probe>& probes)
    : probes_(probes), shared_low_(bound.shared_low), shared_bytes_(bound.shared_bytes), fired_(probes.size()) {
  bound.observed = std::make_unique<ObservedCta>();
  bound.observed->cta = cta;
  bound.observed->ops = bound.ops;
  bound.observed->observer = this;
  for (uint32_t i = 0; i < probes.size(); ++i)
    for (const uint32_t op : probes[i].ops)
      if (probes[i].when != Probe::When::passes && op < bound.ops.size()) seen_[op].probes.push_back(i);
  // A barrier has no handler, so the first instruction that every warp executes tells where shared memory is.
  const auto first = std::ranges::find_if(
      bound.ops, [](const Op& op) { return op.full != nullptr && op.pred == kPredicateTrue && op.pred_invert == 0; });
  if (first != bound.ops.end()) seen_[first->index];
  for (auto& [op, seen] : seen_) seen.own = observe(bound.observed->ops[op], look, true);
}

void ProbeLog::look(Warp& warp, const Op& op, uint32_t mask) {
  auto& log = static_cast<ProbeLog&>(*warp.machine->observer);
  log.shared_ = warp.shared;
  const Seen& seen = log.seen_.at(op.index);
  // Runs before the instruction, which may overwrite the registers that hold the addresses.
  for (const uint32_t i : seen.probes) {
    const Probe& probe = log.probes_[i];
    if (probe.when == Probe::When::loads && log.is_armed(i) && log.loads_one_of(warp, op, mask, probe))
      log.add(i, op.index, log.shared_words(probe));
  }
  seen.own.handle(warp, op, mask);
  for (const uint32_t i : seen.probes) {
    const Probe& probe = log.probes_[i];
    if (probe.when != Probe::When::executes || probe.warp != warp.id || (mask >> probe.lane & 1) == 0) continue;
    if (!log.is_armed(i)) continue;
    std::vector<uint32_t> words = log.shared_words(probe);
    if (probe.result) words.push_back(word(warp, op.dst + 4 * probe.lane));
    log.add(i, op.index, std::move(words));
  }
}

void ProbeLog::released(uint32_t, const std::vector<std::pair<uint32_t, uint32_t>>& waiting, bool, uint32_t) {
  for (uint32_t i = 0; i < probes_.size(); ++i) {
    if (probes_[i].when != Probe::When::passes || !is_armed(i)) continue;
    const auto at = std::ranges::find_if(
        waiting, [&](const auto& one) { return std::ranges::count(probes_[i].ops, one.second) > 0; });
    if (at != waiting.end() && shared_ != nullptr) add(i, at->second, shared_words(probes_[i]));
  }
}

bool ProbeLog::is_armed(uint32_t probe) const {
  const std::optional<uint32_t>& until = probes_[probe].once_until;
  return !until || fired_[probe] == 0 || fired_[*until] > fired_[probe];
}

bool ProbeLog::loads_one_of(Warp& warp, const Op& op, uint32_t mask, const Probe& probe) const {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const LaneAddress at = lane_address(warp, op, first_lane(rest));
    if (at.space != Space::shared) continue;
    const int64_t first = static_cast<int64_t>(at.address) - shared_low_;
    if (std::ranges::any_of(probe.bytes, [&](uint32_t byte) { return byte + 4 > first && byte < first + op.bytes; }))
      return true;
  }
  return false;
}

std::vector<uint32_t> ProbeLog::shared_words(const Probe& probe) const {
  std::vector<uint32_t> words(probe.bytes.size());
  for (size_t i = 0; i < words.size(); ++i)
    if (uint64_t{probe.bytes[i]} + 4 <= shared_bytes_)
      std::memcpy(&words[i], shared_ + shared_low_ + probe.bytes[i], sizeof words[i]);
  return words;
}

void ProbeLog::add(uint32_t probe, uint32_t op, std::vector<uint32_t> words) {
  if (words_ + words.size() > ProbeHits::kMostWords || hits_.all.size() >= ProbeHits::kMostWords) {
    hits_.whole = false;
    return;
  }
  words_ += words.size();
  hits_.all.push_back({probe, op, std::move(words)});
  fired_[probe] = hits_.all.size();
}

}  // namespace attnscope::emulator
