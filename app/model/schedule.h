#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/folded.h"

namespace attnscope::model {

// The unit of an SM that an instruction occupies.
enum class Unit : uint8_t {
  fp32,           // FADD, FMUL, FFMA
  fp16x2,         // HADD2, HMUL2, HFMA2
  half_to_float,  // HADD2.F32
  fp64,
  integer,  // IADD3, LOP3, SHF, ISETP, FMNMX, SEL, PRMT, MOV…
  imad,
  mufu,
  conversion,  // F2I, I2F, F2F
  tensor,
  uniform,  // the uniform datapath
  shuffle,  // SHFL, VOTE and MATCH
  shared_load,
  shared_store,
  global_load,
  global_store,
  local_load,
  local_store,
  async_copy,     // LDGSTS: from global to shared memory, past the registers
  constant_load,  // LDC, ULDC with a scoreboard; S2R and the like
  barrier,        // BAR
  control,        // BRA, BSSY, BSYNC, EXIT, NOP…: takes an issue slot, but no unit
  count
};

// One SASS instruction as the warp scheduler sees it. Stalls and scoreboards come from the code (compile::SassControl).
struct ScheduledInstruction {
  Unit unit = Unit::control;
  uint8_t stall = 1;             // clocks before the warp's next instruction
  uint8_t write_scoreboard = 7;  // released when the result is ready; 7: none
  uint8_t read_scoreboard = 7;   // released when the operands have been read; 7: none
  uint8_t wait_mask = 0;         // scoreboards that must be free before it issues
  bool branch = false;           // may jump
  bool bypasses_l1 = false;      // cp.async.cg, atomics: always from the second level
  bool closes_copies = false;    // LDGDEPBAR: groups the asynchronous copies since the last one
  int8_t copies_pending = -1;    // DEPBAR.LE SB, n: waits until at most n groups are pending; -1: does not wait
  // The distance in instructions back to the one whose fixed-latency result determines the stall count before this one;
  // 0: unknown.
  uint8_t waits_for = 0;
  // Source registers that it reads from each bank of the register file, each 32 bits of all lanes: directly after its
  // warp's last instruction, whose operands marked .reuse are still available, and after another warp's.
  std::array<uint8_t, 2> bank_reads{}, bank_reads_alone{};
  bool wide = false;  // a shared load of 128 bits per lane
  // Mean over the issues. Shared and async_copy: wavefronts. Global, local: clocks of the L1 data cache, for its banks
  // and its look-ups.
  float passes = 0;
  // The share of the passes that are bank conflicts, wavefronts beyond those that the access needs.
  float conflicts = 0;
  float sectors = 0;  // mean over the issues; global and local: 32-byte sectors of a request
  // Mean over the issues; atomics: the turns that a request's lanes take, in global memory those at one word of a
  // sector and then its sectors, in shared memory those in one bank. 0: no atomic.
  float turns = 0;
  float lanes = 32;    // mean over the issues; passes and sectors scale with it
  float products = 1;  // work of a Tensor Core instruction, in units of kProductFlop
  bool fp64 = false;   // for a Tensor Core instruction: DMMA, which does not lower the clock
  int64_t issued = 0;  // by all warps of the emulated CTAs
};

// One m16n8k16 product of fp16, the unit in which Tensor Core instructions are counted.
inline constexpr double kProductFlop = 2.0 * 16 * 8 * 16;
inline constexpr double kSectorBytes = 32;

// A straight run of instructions.
struct CodeBlock {
  uint32_t first = 0;
  uint32_t count = 0;
};

// One execution of a block by a warp.
struct Visit {
  uint32_t block = 0;
  uint32_t lanes = 32;  // active, 1 to 32
};

// What the warps of one CTA executed: each warp's blocks in order.
struct CtaTrace {
  int64_t cta = 0;  // x + grid.x·(y + grid.y·z)
  std::vector<std::vector<Visit>> warps;
  std::vector<std::vector<Folded::Loop>> loops = {};  // for each warp: runs of its visits; empty: no visit repeats

  const std::vector<Folded::Loop>& loops_of(size_t warp) const {
    static const std::vector<Folded::Loop> none;
    return warp < loops.size() ? loops[warp] : none;
  }
  // Calls see(visit, times) for each stored visit, with the number of times the warp makes it.
  template <class See>
  void for_each_visit(size_t warp, See see) const {
    auto loop = loops_of(warp).begin();
    for (size_t at = 0; at < warps[warp].size(); ++at) {
      while (loop != loops_of(warp).end() && at >= loop->first + loop->length) ++loop;
      const bool inside = loop != loops_of(warp).end() && at >= loop->first;
      see(warps[warp][at], inside ? loop->times : int64_t{1});
    }
  }
};

// How far apart a warp's accesses to the same line of its local memory are, whatever the size of the cache.
struct LocalReuse {
  int64_t warps = 0;  // of a CTA: those that access local memory
  // By load, an index into the code: lines loaded, by the number of other lines that the warp accessed in between.
  std::map<uint32_t, std::map<uint32_t, uint64_t>> loads;
};

// Of the buffers that a launch gets, those that it may read and those that it may write.
struct BufferBytes {
  double read = 0, written = 0;
};

// Where global memory gets the most atomics of the whole grid.
struct HotSpots {
  double sector = 0;         // turns (ScheduledInstruction::turns) in the sector with the most
  double piece = 0;          // those in the 512 bytes with the most
  bool floating = false;     // the sector's are of floating-point numbers
  uint32_t instruction = 0;  // one of the sector's
};

// A kernel's code and what a few of its CTAs did with it: the latency model's input besides the counters. device/ makes
// it from an emulator run; here it is a plain value.
struct KernelSchedule {
  std::vector<ScheduledInstruction> code;
  std::vector<CodeBlock> blocks;
  std::vector<CtaTrace> traces;  // ascending by cta; at least one
  LocalReuse local_reuse;
  // Distinct bytes that a CTA reads; 0: unknown, every request goes to the second level.
  double global_bytes_per_cta = 0;
  HotSpots hottest;
  BufferBytes buffers;  // of the whole launch; unused for attention, whose problem says what must be moved
};

}  // namespace attnscope::model
