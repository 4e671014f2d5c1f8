#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "emulator/exec/hot_places.h"
#include "emulator/exec/launch.h"
#include "emulator/exec/local_reuse.h"
#include "emulator/exec/memory.h"
#include "emulator/exec/observer.h"
#include "emulator/exec/random.h"
#include "emulator/exec/warp.h"
#include "emulator/isa/program.h"

// exec/ executes what isa/ decoded. A host thread has one CtaRunner, which runs a CTA's warps in turn. control.cpp
// moves a warp's lanes through the straight runs of a Program, and each Op of a run calls its handler: in lanes/ for
// the instructions in which kernels spend their time, compiled for each instruction set of the host, and in
// general_*.cpp for the rest. Handlers count as they run (counters.h). An Observer may watch; exec/ depends only on its
// interface.
namespace attnscope::emulator {

// Zeroed bytes. The system provides pages only when they are written, so a variable of gigabytes costs little if a
// kernel uses little of it.
class ZeroedBytes {
 public:
  // Returns false if the system refused the memory.
  bool take(size_t bytes) {
    data_.reset(static_cast<std::byte*>(std::calloc(bytes, 1)));
    size_ = data_ == nullptr ? 0 : bytes;
    return data_ != nullptr || bytes == 0;
  }
  std::span<std::byte> bytes() { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte[], Free> data_;
  size_t size_ = 0;
};

// A CTA with an observer of its own, to which its handlers report.
struct ObservedCta {
  uint32_t cta = 0;
  std::vector<Op> ops;
  Observer* observer = nullptr;
  std::atomic<bool> taken{false};  // a thread runs or ran it; another run of the same CTA is not observed
};

// State shared by all host threads of a run, constant while it runs.
struct BoundLaunch {
  const Program* program = nullptr;
  std::vector<Op> ops;              // with handlers for this CPU
  std::vector<uint32_t> constants;  // values of Program::constants
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t warps = 0;                         // per CTA
  uint32_t shared_low = 0, shared_bytes = 0;  // first legal address of the window, and the window's size
  uint32_t local_bytes = 0;                   // per thread
  bool cooperative = false;                   // see CtaRunner::run_together
  std::vector<std::byte> workspace;           // what grid.sync() counts arrivals in; empty: not cooperative
  std::vector<Poll> polls;                    // by instruction; empty: none waits for others by reading memory
  uint32_t poll_count = 0;
  std::vector<MemoryRange> ranges;
  const CtaOptions* options = nullptr;
  std::function<Observer*()> observe;     // creates an observer for another host thread; empty: no observers
  std::unique_ptr<ObservedCta> observed;  // null: none
  ZeroedBytes module;                     // __device__ variables
  std::array<std::vector<std::byte>, kConstantBanks> banks;
  std::array<ConstantImage, kConstantBanks> images;  // of banks
};

// stopped: another thread's CTA failed; cancelled: the run is no longer wanted; no_memory: this machine ran out of
// memory; polls: each warp waits at a barrier or polls memory. Only in a cooperative launch: grid_deadlock: all CTAs
// do.
enum class CtaEnd : uint8_t { done, fault, endless, deadlock, stopped, cancelled, no_memory, polls, grid_deadlock };

// Why a warp ended its turn; slice: its slice is used up and it can continue.
enum class WarpEnd : uint8_t { parked, exited, slice, fault };

// The output of one host thread's CTAs.
struct CtaLog {
  static constexpr size_t kMostCalls = 4096;
  std::vector<PrintedCall> calls;
  uint64_t more = 0;  // number of further calls
  uint32_t cta = 0;   // the CTA that is printing
};

// A CTA in execution: its warps and memory.
struct Resident {
  struct AlignedDelete {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  using Bytes = std::unique_ptr<std::byte[], AlignedDelete>;

  Bytes warps, shared, local;
  size_t warps_bytes = 0, shared_bytes = 0, local_bytes = 0;  // allocated
  const Op* ops = nullptr;
  std::vector<std::vector<uint32_t>> trace_buffers;  // one per warp: words that its folder has not taken yet
  std::vector<Folder> trace_folders;                 // one per warp
  std::vector<LocalReuse> local_reuse;               // one per warp
  bool traced = false;
  std::optional<Random> random;  // with a seed, the order of the warps' turns
  // Of a CTA that waits for its next turn:
  uint32_t linear = 0;
  bool done = false;
  Observer* observer = nullptr;
  CtaBarriers barriers;
  std::vector<uint64_t> polled;  // see Machine::polled
};

// One host thread's machine: the warps, shared and local memory of the CTA that it executes. prepare() allocates;
// running allocates only for what it records: traces, and where atomics go.
class CtaRunner {
 public:
  void prepare(const BoundLaunch& launch);
  // Runs CTA `linear` to its end. `stop` ends it early (another thread failed), as does the launch's `cancel`.
  CtaEnd run(uint32_t linear, const std::atomic<bool>& stop);
  // Told about a cooperative launch while it runs.
  struct Together {
    std::function<void(uint32_t cta)> ended;  // called for each CTA that ended
    std::function<bool()> goes_on;  // called when each CTA had a turn; false stops the run. Empty: always true
  };
  // Runs all CTAs of a cooperative launch, which exist at once and take turns: a CTA's turn ends when each of its warps
  // waits at a barrier or has read from memory what it read before. `linear` is the CTA that the result is about.
  CtaEnd run_together(const std::atomic<bool>& stop, const Together& told, uint32_t& linear);

  // The memory that one CTA takes.
  static uint64_t bytes_of_cta(const BoundLaunch& launch);

  Machine& machine() { return machine_; }
  const Machine& machine() const { return machine_; }
  const std::vector<OpCounts>& op_counts() const { return op_counts_; }
  const std::vector<BlockCounts>& block_counts() const { return block_counts_; }

  // What the kernel has printed since prepare().
  const CtaLog& log() const { return log_; }
  // The traces of the CTAs in BoundLaunch::trace_ctas that ran since prepare().
  const std::vector<CtaTrace>& traces() const { return traces_; }
  const LocalReuses& local_reuses() const { return local_reuses_; }
  const HotPlaces& hot_places() const { return hot_places_; }

  // After fault, endless or deadlock: what happened, as a message; after cancelled: where it was (the hint). `spot`: of
  // the fault's address.
  Failure describe(CtaEnd end, uint32_t linear, const BoundLaunch& launch, const GlobalMemory::Spot& spot) const;

 private:
  Warp& warp(uint32_t i) { return *reinterpret_cast<Warp*>(cta_.warps.get() + i * warp_stride_); }
  const Warp& warp(uint32_t i) const { return *reinterpret_cast<const Warp*>(cta_.warps.get() + i * warp_stride_); }
  void make_warps();
  void begin(uint32_t linear);
  void start(uint32_t linear);
  CtaEnd run_warps(const std::atomic<bool>& stop);
  CtaEnd run_polling(const std::atomic<bool>& stop);
  void end(uint32_t linear);
  void change_cta(Resident& other);
  CtaEnd run_round(const std::atomic<bool>& stop, const std::function<void(uint32_t cta)>& ended, uint32_t& linear);
  std::string state_of_grid();
  CtaEnd who_deadlocks(uint32_t& linear);
  bool waits_for_itself() const;
  std::optional<CtaEnd> end_of(WarpEnd warp_end, uint32_t w, const std::atomic<bool>& stop);
  bool release_barriers();
  void observe_loop(uint32_t warp_index, uint64_t steps);
  std::string observed_lines() const;
  std::string waiting_lines() const;
  bool spins_on_global() const;
  Failure grid_deadlock(const std::string& cta) const;

  const BoundLaunch* launch_ = nullptr;
  Machine machine_;
  Resident cta_;                     // the running CTA
  std::vector<Resident> residents_;  // of a cooperative launch: the other CTAs; the running one's place is empty
  uint32_t ended_ = 0;               // of residents_
  std::optional<Random> order_;      // with a seed: which of them begins a round
  size_t warp_stride_ = 0;
  void begin_trace();
  void fold_trace(uint32_t warp_index);
  void keep_trace(uint32_t linear);

  std::vector<CtaTrace> traces_;
  LocalReuses local_reuses_;
  HotPlaces hot_places_;
  CtaLog log_;
  std::vector<std::pair<uint32_t, uint32_t>> passing_;  // warps that pass the barrier that opens, and where they wait
  std::vector<OpCounts> op_counts_;
  std::vector<BlockCounts> block_counts_, before_loop_;
  std::vector<const Pattern*> last_;
  std::vector<Pattern> patterns_;
  std::vector<uint32_t> pattern_keys_;
  Pattern no_pattern_{};
  uint32_t loop_warp_ = 0, fault_warp_ = 0;
};

// Gives the instructions by which a warp waits for others, at an mbarrier or in a cooperative launch, a handler that
// notices it.
void observe_polls(BoundLaunch& bound);

// Performs a kernel's call of a driver function, which writes to the CtaLog at Machine::log.
void call_external(Warp& warp, uint32_t function, uint32_t lane, const Op& op);

// Sets an instruction's handlers: `entry` is for a full warp, and also handles the guard predicate and rounding mode.
void bind(Op& op, const HandlerTable& table, bool sets_mode);

// Runs the warp until all its lanes wait or have exited, or `slice` instructions have been issued. `ops` are the
// launch's, or those of its observed CTA.
WarpEnd run_warp(Warp& warp, const BoundLaunch& launch, const Op* ops, uint64_t slice);

}  // namespace attnscope::emulator
