#include "emulator/watch_global.h"

#include <algorithm>

namespace attnscope::emulator {

void GlobalOrder::Known::join(const Known& other) {
  for (size_t w = 0; w < seen.size(); ++w) {
    seen[w] = std::max(seen[w], other.seen[w]);
    visible[w] = std::max(visible[w], other.visible[w]);
  }
}

void GlobalOrder::start(uint32_t cta, uint32_t warps) {
  cta_ = cta + 1;
  step_ = 0;
  known_.assign(warps, {});
  given_ = {};
  lanes_synced_.assign(warps, 0);
  words_.clear();
  taken_.clear();
}

void GlobalOrder::fenced(uint32_t warp) {
  Known& own = known_[warp];
  own.seen[warp] = step_;
  own.visible = own.seen;
  ++step_;
}

void GlobalOrder::arrived(uint32_t warp, uint32_t barrier) {
  known_[warp].seen[warp] = step_;
  given_[barrier].join(known_[warp]);
  ++step_;
}

void GlobalOrder::released(uint32_t barrier, uint32_t from, uint32_t to) {
  Known all = given_[barrier];
  given_[barrier] = {};
  for (uint32_t w = 0; w < known_.size(); ++w) {
    if (!(from >> w & 1)) continue;
    known_[w].seen[w] = step_;
    all.join(known_[w]);
  }
  ++step_;
  for (uint32_t w = 0; w < known_.size(); ++w) {
    if (!(to >> w & 1)) continue;
    known_[w] = all;
    lanes_synced_[w] = step_;
  }
}

void GlobalOrder::atomic(uint32_t warp, uint64_t word) {
  Known& there = words_[word];
  Known& own = known_[warp];
  own.join(there);
  own.seen[warp] = step_;
  there = own;
}

void GlobalOrder::take(uint32_t warp, uint32_t cta, const StepClock& visible) {
  for (Taken& one : taken_) {
    if (one.cta != cta || one.warp != warp) continue;
    if (one.visible != visible) one.visible = visible, one.step = step_;
    return;
  }
  taken_.push_back({cta, visible, warp, step_});
}

GlobalOrder::Relation GlobalOrder::relation(const GlobalRecord& earlier, uint32_t warp, uint32_t lane,
                                            uint32_t step) const {
  const uint32_t other = earlier.thread / 32;
  if (earlier.cta != cta_) {
    for (const Taken& one : taken_) {
      if ((one.cta == earlier.cta || one.cta == 0) && earlier.step <= one.visible[other] && knows(warp, one))
        return Relation::ordered;
    }
    return Relation::ctas;
  }
  if (other != warp) return earlier.step <= known_[warp].seen[other] ? Relation::ordered : Relation::warps;
  const bool own = earlier.thread % 32 == lane || earlier.step == step || earlier.step <= lanes_synced_[warp];
  return own ? Relation::ordered : Relation::lanes;
}

bool GlobalOrder::gives(uint32_t warp) const {
  const StepClock& visible = known_[warp].visible;
  return std::any_of(visible.begin(), visible.end(), [](uint32_t step) { return step != 0; });
}

uint32_t GlobalShadow::find(uint64_t address) const {
  for (uint32_t i = 0; i < areas_.size(); ++i)
    if (address - areas_[i].address < areas_[i].bytes) return i + 1;
  return 0;
}

GlobalShadow::Cell& GlobalShadow::cell(uint32_t area, uint64_t unit) {
  auto& pages = areas_[area - 1].pages;
  const uint64_t page = unit / kPageUnits;
  if (page >= pages.size()) pages.resize(page + 1);
  if (pages[page] == nullptr) pages[page] = std::make_unique<Cell[]>(kPageUnits);
  return pages[page][unit % kPageUnits];
}

void GlobalShadow::give(uint64_t word, const GlobalOrder& order, uint32_t warp) {
  if (!order.gives(warp)) return;
  Given& given = given_[word];
  const auto add = [&](uint32_t cta, const StepClock& visible) {
    StepClock& all = given.ctas[cta];
    for (size_t w = 0; w < all.size(); ++w) all[w] = std::max(all[w], visible[w]);
  };
  add(order.cta(), order.visible(warp));
  order.each_taken(warp, [&](const GlobalOrder::Taken& one) { add(one.cta, one.visible); });
  if (given.ctas.size() > kMostGivers) given.ctas.clear(), given.too_many = true;
}

void GlobalShadow::take(uint64_t word, GlobalOrder& order, uint32_t warp) const {
  const auto found = given_.find(word);
  if (found == given_.end()) return;
  if (found->second.too_many) {
    StepClock everything;
    everything.fill(~0u);
    order.take(warp, 0, everything);
  }
  for (const auto& [cta, visible] : found->second.ctas)
    if (cta != order.cta()) order.take(warp, cta, visible);
}

}  // namespace attnscope::emulator
