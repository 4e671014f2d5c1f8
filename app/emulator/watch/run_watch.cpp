#include "emulator/watch/run_watch.h"

namespace attnscope::emulator {

namespace {

bool is_workspace(const MemoryRange& range, const BoundLaunch& bound) {
  return bound.cooperative && range.host == reinterpret_cast<const uint8_t*>(bound.workspace.data());
}

// The global memory that a watch tracks: everything that may be written.
std::vector<GlobalShadow::Area> areas_of(const Launch& launch, const BoundLaunch& bound) {
  std::vector<GlobalShadow::Area> areas;
  for (const MemoryRange& range : bound.ranges) {
    if (!range.writable) continue;
    const bool workspace = is_workspace(range, bound);
    GlobalShadow::Area area{
        range.address, range.bytes, range.host, workspace ? "grid.sync()'s workspace" : "the __device__ variables",
        true,          nullptr,     {}};
    if (launch.memory != nullptr) {
      for (const GlobalBuffer& buffer : launch.memory->buffers())
        if (buffer.address == range.address) {
          area.name = buffer.name;
          area.initial = buffer.initial;
          area.written = buffer.written;
        }
    }
    areas.push_back(std::move(area));
  }
  return areas;
}

}  // namespace

RunWatch::RunWatch(const Launch& launch, BoundLaunch& bound)
    : bound_(bound),
      unwatched_(bound.ops.size()),
      shadow_(areas_of(launch, bound), least_width(*bound.program, Space::global)) {
  for (const MemoryRange& range : bound.ranges)
    if (is_workspace(range, bound))
      shadow_.set_grid_barrier(range.address + 4, bound.grid[0] * bound.grid[1] * bound.grid[2]);
  for (Op& op : bound.ops) Watch::bind(op, unwatched_[op.index]);
  bound.observe = [this] { return add_thread(); };
}

Watch* RunWatch::add_thread() {
  threads_.push_back(std::make_unique<Watch>());
  threads_.back()->prepare(*bound_.program, unwatched_, &shadow_, bound_.warps, bound_.shared_low, bound_.shared_bytes,
                           bound_.local_bytes);
  return threads_.back().get();
}

uint64_t RunWatch::bytes_of_one() const {
  return Watch::bytes_taken(*bound_.program, bound_.warps, bound_.shared_bytes, bound_.local_bytes);
}

std::vector<WatchFinding> RunWatch::findings(const std::vector<SharedPlace>& names, bool suspected) const {
  WatchLog::Seen seen;
  for (const auto& thread : threads_) {
    for (const auto& [key, one] : thread->seen()) {
      if ((key.kind == WatchKind::shared_part_never_written) != suspected) continue;
      WatchSeen& all = seen[key];
      const uint64_t count = all.count + one.count;
      if (all.count == 0 || one.cta < all.cta) all = one;
      all.count = count;
    }
  }
  return findings_of(*bound_.program, seen, names, shadow_);
}

}  // namespace attnscope::emulator
