#pragma once
#include <cstdint>
#include <map>

#include "emulator/isa/program.h"
#include "emulator/watch/finding.h"
#include "emulator/watch/order.h"

namespace attnscope::emulator {

// Each pair of instructions is recorded once: both orders of a race share one key, in the order seen first.
struct WatchKey {
  WatchKind kind;
  uint32_t low, high;
  auto operator<=>(const WatchKey&) const = default;
};

struct WatchSeen {
  uint64_t count = 0;
  WatchKind kind = WatchKind::shared_write_write;
  uint32_t op = 0, other = 0;
  uint32_t cta = 0, other_cta = 0;
  uint32_t thread = 0, other_thread = 0;
  uint64_t address = 0;  // shared and local: in bytes; global: from the buffer's start
  uint32_t area = 0;     // area of global memory, as numbered by GlobalShadow::find; 0: not in global memory
};

// The faults that one host thread's watch has seen, over its CTAs.
class WatchLog {
 public:
  using Seen = std::map<WatchKey, WatchSeen>;

  void prepare(const Program& program, const SharedOrder& order);
  void start(uint32_t cta) { cta_ = cta; }

  // Nothing is recorded once the CTA's times have run out.
  WatchSeen& report(WatchKind kind, uint32_t op, uint32_t other, uint64_t address, uint32_t thread,
                    uint32_t other_thread);
  // True if the two instructions are parts of one atomic operation in the source.
  bool one_atomic(uint32_t op, uint32_t other) const;
  const Seen& seen() const { return seen_; }

 private:
  const Program* program_ = nullptr;
  const SharedOrder* order_ = nullptr;
  uint32_t cta_ = 0;
  Seen seen_;
  WatchSeen unheard_;
};

}  // namespace attnscope::emulator
