#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace attnscope::emulator {

// How many other lines of its local memory a warp accessed since it last accessed the one that it loads now: what a
// cache of lines holds of them follows from this, whatever the cache's size. A line is one 4-byte word of all 32 lanes.
class LocalReuse {
 public:
  // Lines further back count as never accessed: 512 KB, twice the first level of any GPU.
  static constexpr size_t kMost = 4096;
  // By instruction, by number of other lines: lines loaded. kMost: never accessed before.
  using Counts = std::map<uint32_t, std::map<uint32_t, uint64_t>>;

  // The instruction accesses these sectors, ascending; four are a line.
  template <class Sector>
  void access(uint32_t instruction, const Sector* sectors, uint64_t count, bool load) {
    for (uint64_t i = 0; i < count; ++i)
      if (i == 0 || sectors[i] / 4 != sectors[i - 1] / 4) access(instruction, uint32_t(sectors[i] / 4), load);
  }

  void access(uint32_t instruction, uint32_t line, bool load) {
    const auto at = std::find(recent_.begin(), recent_.end(), line);
    const bool known = at != recent_.end();
    const auto others = static_cast<uint32_t>(known ? at - recent_.begin() : kMost);
    if (known) {
      std::rotate(recent_.begin(), at, at + 1);
    } else {
      if (recent_.size() == kMost) recent_.pop_back();
      recent_.insert(recent_.begin(), line);
    }
    if (load) ++counts_[instruction][others];
  }

  bool accessed() const { return !recent_.empty(); }
  const Counts& counts() const { return counts_; }

 private:
  std::vector<uint32_t> recent_;  // lines, the most recently accessed first
  Counts counts_;
};

// Of several warps.
struct LocalReuses {
  LocalReuse::Counts counts;
  uint32_t warps = 0;  // of a CTA: the most that access local memory

  void add(const LocalReuse::Counts& others) {
    for (const auto& [instruction, from] : others)
      for (const auto& [apart, lines] : from) counts[instruction][apart] += lines;
  }
};

}  // namespace attnscope::emulator
