#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/exec/memory.h"
#include "emulator/exec/warp.h"
#include "emulator/watch/seen.h"

namespace attnscope::emulator {

// The last access to a part of global memory.
struct GlobalRecord {
  uint32_t cta = 0;   // the CTA's number plus 1; 0: none
  uint32_t step = 0;  // step of that CTA, as counted by GlobalOrder
  uint32_t op = 0;
  uint16_t thread = 0;
  bool strong = false;  // volatile or atomic; two of these are never a race
};

// For each warp of a CTA, its last step that is ordered before.
using StepClock = std::array<uint32_t, 32>;

// What orders the accesses of one CTA's warps to global memory, among each other and after those of other CTAs. Steps
// are counted per CTA: one for each instruction that accesses global memory and for each synchronisation.
//
// Barriers and atomics order accesses within a CTA as they do for shared memory. Between CTAs, a fence of the device's
// scope publishes what was written before it, and an atomic or volatile store after the fence passes that on: a warp
// that then reads the word by an atomic or volatile load is ordered after it. A fence counts for the warp as a whole.
class GlobalOrder {
 public:
  struct Known {
    // Steps ordered before the warp, and those of them that fences have published to the device.
    StepClock seen{}, visible{};
    void join(const Known& other);
  };
  // What a warp received from another CTA, and at which step.
  struct Taken {
    uint32_t cta = 0;
    StepClock visible{};
    uint32_t warp = 0, step = 0;
  };
  enum class Relation : uint8_t { ordered, lanes, warps, ctas };

  void start(uint32_t cta, uint32_t warps);
  uint32_t next_step() { return ++step_; }
  uint32_t cta() const { return cta_; }  // plus 1
  void lanes_synced(uint32_t warp) { lanes_synced_[warp] = ++step_; }
  void fenced(uint32_t warp);
  void arrived(uint32_t warp, uint32_t barrier);
  // `from`: the warps whose clocks the barrier joins; `to`: the warps that pass it. One bit per warp.
  void released(uint32_t barrier, uint32_t from, uint32_t to);
  void atomic(uint32_t warp, uint64_t word);
  // At an mbarrier, as in SharedOrder.
  void give(uint32_t warp, Known& to);
  void take(uint32_t warp, const Known& from);
  // The warp has seen that the grid's barrier opened for the `epoch`th time.
  void pass(uint32_t warp, uint32_t epoch);
  // The last time that it opened before what the warp does now; 0: it did not.
  uint32_t passed(uint32_t warp) const;
  void take(uint32_t warp, uint32_t cta, const StepClock& visible);

  Relation relation(const GlobalRecord& earlier, uint32_t warp, uint32_t lane, uint32_t step) const;
  bool gives(uint32_t warp) const;  // true if a fence has published any of it
  const StepClock& visible(uint32_t warp) const { return known_[warp].visible; }
  template <class Each>
  void each_taken(uint32_t warp, Each each) const {
    for (const Taken& one : taken_)
      if (knows(warp, one)) each(one);
  }

 private:
  bool knows(uint32_t warp, const Taken& one) const {
    return one.warp == warp || one.step <= known_[warp].seen[one.warp];
  }
  struct Pass {
    uint32_t epoch = 0, warp = 0, step = 0;
  };
  std::array<Pass, 2> passes_{};  // the last one first
  uint32_t cta_ = 0, step_ = 0;
  std::vector<Known> known_;
  std::array<Known, 16> given_{};
  std::vector<uint32_t> lanes_synced_;
  std::unordered_map<uint64_t, Known> words_;
  std::vector<Taken> taken_;
};

// All global memory that a launch may write, for all its CTAs. The host threads of a run share it and take turns by
// `mutex`. Memory for records is allocated when part of a buffer is first accessed.
class GlobalShadow {
 public:
  struct Cell {
    GlobalRecord write;
    GlobalRecord reads[2];  // the last read, and the last by any other warp
  };
  struct Area {
    uint64_t address = 0, bytes = 0;
    const uint8_t* host = nullptr;
    std::string name;
    bool initial = true;                   // has contents from the start
    std::vector<bool>* written = nullptr;  // for each byte, for the launches that follow; null: there are none
    std::vector<std::unique_ptr<Cell[]>> pages;
  };
  struct Given {
    std::map<uint32_t, StepClock> ctas;
    // More than the list holds: from then on a warp that reads the word counts as ordered after everything.
    bool too_many = false;
  };

  // `unit`: the bytes of one cell: 1, 2 or 4.
  GlobalShadow(std::vector<Area> areas, uint32_t unit) : areas_(std::move(areas)), unit_(unit) {}

  std::mutex& mutex() { return mutex_; }
  uint32_t unit() const { return unit_; }
  const std::vector<Area>& areas() const { return areas_; }
  // The number of the area that contains `address`, plus 1; 0: none.
  uint32_t find(uint64_t address) const;
  Cell& cell(uint32_t area, uint64_t unit);
  // The buffers that start without contents and have a part that nothing wrote. Those of a program with several
  // launches are left out.
  std::vector<UnwrittenBuffer> unwritten(const Program& program) const;

  // grid.sync() of a cooperative launch counts the CTAs' arrivals in this word.
  void set_grid_barrier(uint64_t word, uint32_t ctas);
  bool is_grid_barrier(uint64_t address) const { return grid_.word != 0 && address == grid_.word; }
  void arrive(const GlobalOrder& order, uint32_t warp);
  void pass(GlobalOrder& order, uint32_t warp) const;
  // True if the grid's barrier orders that access of another CTA before what the warp does now.
  bool before_barrier(const GlobalRecord& earlier, const GlobalOrder& order, uint32_t warp) const;

  // An atomic or volatile access to a word: the word receives what its CTA has published, and passes on what it had.
  void give(uint64_t word, const GlobalOrder& order, uint32_t warp);
  void take(uint64_t word, GlobalOrder& order, uint32_t warp) const;

 private:
  static constexpr uint64_t kPageUnits = 1024;
  static constexpr size_t kMostGivers = 1024;
  std::mutex mutex_;
  std::vector<Area> areas_;
  uint32_t unit_ = 4;
  std::unordered_map<uint64_t, Given> given_;
  // By epoch, which is how often a CTA has arrived, modulo kEpochs, and by CTA: what it had published. A CTA that has
  // arrived and not passed keeps the others from going two epochs further.
  static constexpr uint32_t kEpochs = 3;
  struct Grid {
    uint64_t word = 0;
    std::array<std::vector<StepClock>, kEpochs> arrived;
    std::array<uint32_t, kEpochs> come{};  // CTAs
    std::vector<uint32_t> epochs;          // by CTA
    uint32_t over = 0;                     // the last epoch in which all have arrived
  };
  Grid grid_;
};

// Checks one host thread's accesses to global memory that may be written.
class GlobalWatch {
 public:
  void prepare(const Program& program, GlobalShadow& shadow, WatchLog& log);
  void start(uint32_t cta, uint32_t warps) { order_.start(cta, warps); }
  GlobalOrder& order() { return order_; }

  // Held while an access is checked and performed, because a store is compared with the value that it overwrites.
  std::unique_lock<std::mutex> turn() { return std::unique_lock(shadow_->mutex()); }
  // True if all lanes read one buffer that nothing may write. Such an access needs no check.
  bool reads_inputs(Warp& warp, const Op& op, uint32_t mask) const;
  void access(Warp& warp, const Op& op, uint32_t mask);
  // Checks the source of an LDGSTS. Calls turn() itself.
  void copy_source(Warp& warp, const Op& op, uint32_t mask);
  // `step`: the warp instruction's step, from order().
  void lane_access(Warp& warp, const Op& op, uint32_t lane, uint64_t address, AccessKind access, uint32_t step);

 private:
  bool conflicts(const GlobalRecord& earlier, const GlobalRecord& now, WatchKind kind, uint64_t byte, uint32_t area);

  GlobalShadow* shadow_ = nullptr;
  WatchLog* log_ = nullptr;
  GlobalOrder order_;
  std::vector<bool> strong_;  // by instruction: volatile or atomic
  bool has_fences_ = false;   // without fences, nothing is passed between CTAs
};

// The smallest width of the program's accesses that may go to that space, at most 4 bytes.
uint32_t least_width(const Program& program, Space space);

}  // namespace attnscope::emulator
