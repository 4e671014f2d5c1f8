#pragma once
// The names in DeviceSpec::rates that the latency model reads. Each entry is a measured or published figure with its
// source in DeviceSpec::sources under "rates/<name>". A missing name gets the default given here, and the model then
// widens its error bar (docs/model.md).
//
// Throughputs are per SM and clock, in lanes (threads) unless said otherwise: a warp instruction holds its pipe for 32
// / rate cycles of the SM. An SM has four sub-partitions, each of which issues one warp instruction per clock.
#include "core/device_spec.h"

namespace attnscope::model::rates {

struct Rate {
  const char* name;
  double fallback;  // for sm_89, unless the value is the same on every architecture named here
};

// Throughputs: lanes per SM and clock
inline constexpr Rate kIssue{"issue", 4};                 // warp instructions per SM and clock, all pipes together
inline constexpr Rate kFp32{"fp32", 128};                 // FADD, FMUL, FFMA
inline constexpr Rate kFp16x2{"fp16x2", 64};              // HADD2, HMUL2, HFMA2; a lane holds two halves
inline constexpr Rate kHalfToFloat{"half_to_float", 64};  // HADD2.F32
inline constexpr Rate kFp64{"fp64", 2};                   // DADD, DMUL, DFMA
inline constexpr Rate kInt{"int", 64};                // IADD3, LOP3, SHF, ISETP, FMNMX, SEL and the like (the ALU pipe)
inline constexpr Rate kImad{"imad", 64};              // IMAD
inline constexpr Rate kMufu{"mufu", 16};              // EX2, LG2, RCP, RSQ, SIN, COS
inline constexpr Rate kConversion{"conversion", 16};  // F2F, F2I, I2F (F2FP packs on the int pipe)
inline constexpr Rate kShuffle{"shuffle", 32};        // SHFL
inline constexpr Rate kUniform{"uniform", 64};  // the uniform datapath, as lanes so that a warp takes half a clock

// Clocks for which an mma.sync m16n8k16 of fp16 holds a scheduler's Tensor Core, if that was measured. On sm_90 only
// wgmma reaches the data sheet's throughput; elsewhere that throughput is used (DeviceSpec::tensor_tflops_f16).
inline constexpr const char* kMma16816 = "mma_16816";

// The highest clock, MHz, of a kernel that multiplies on Tensor Cores, except in fp64; without it such kernels run at
// the clock of all others. A figure of the device, not per clock.
inline constexpr const char* kTensorClock = "tensor_clock_mhz";

// The register file of a scheduler has two banks (kRegisterBanks): even and odd registers.
inline constexpr Rate kBankPorts{"bank_ports", 1};  // registers of all lanes that a bank delivers in a clock
inline constexpr Rate kReadWindow{"read_window",
                                  3};  // clocks for an instruction's sources before the next one is delayed

// Clocks for which an HMMA keeps the scheduler from issuing anything.
inline constexpr Rate kMmaIssue{"mma_issue", 1};
// The same for a shared load of 128 bits per lane: LDS.128, and LDSM of four matrices, which fills as many registers.
inline constexpr Rate kWideLoadIssue{"wide_load_issue", 1};
// Clocks after an HMMA's own reads in which its banks serve only other HMMAs.
inline constexpr Rate kMmaBanks{"mma_banks", 0};

// Memory throughputs
inline constexpr Rate kSharedWavefronts{"shared_wavefronts", 1};  // wavefronts of 128 B per SM and clock
inline constexpr Rate kWarpWavefronts{"warp_wavefronts", 0.5};    // the same, for a single warp
inline constexpr Rate kLsu{"lsu", 16};  // lanes per SM and clock of loads and stores, whatever their width
inline constexpr Rate kL2Sectors{"l2_sectors", 0.83};  // sectors of 32 B per SM and clock when every SM reads

inline constexpr Rate kL2Port{"l2_port", 2};                // the most that one SM takes: 64 B a clock
inline constexpr Rate kL2PortOfMany{"l2_port_of_many", 2};  // the same when eight SMs or more read

// Atomics of global memory. A request's lanes at one word take turns, and so do its sectors: turns per SM and clock
// when every SM makes them, and of one SM; clocks of the second level for each turn in the same 512 bytes, whichever SM
// it comes from; and in the same sector, of integers and of floating-point numbers.
inline constexpr Rate kL2Atomics{"l2_atomics", 0.405};
inline constexpr Rate kL2AtomicsPort{"l2_atomics_port", 1};
inline constexpr Rate kAtomicTurn{"atomic_turn", 1.17};
inline constexpr Rate kAtomicSector{"atomic_sector", 1.45};
inline constexpr Rate kAtomicFloatSector{"atomic_float_sector", 3.47};

// Kilobytes of an SM's first level, shared memory included.
inline constexpr Rate kL1Kb{"l1_kb", 128};

// Latencies: clocks from issue to a dependent instruction, unloaded. Instructions of fixed latency (FFMA, IADD3…) need
// no rate, because their code has the stall counts.
inline constexpr Rate kLatencyMufu{"latency_mufu", 17};  // MUFU and conversions
inline constexpr Rate kLatencyShuffle{"latency_shuffle", 24};
inline constexpr Rate kLatencyShared{"latency_shared", 23};      // LDS without conflict
inline constexpr Rate kLatencyConstant{"latency_constant", 30};  // LDC, S2R
inline constexpr Rate kLatencyL1{"latency_l1", 33};
inline constexpr Rate kLatencyL2{"latency_l2", 276};
inline constexpr Rate kLatencyDram{"latency_dram", 541.5};       // of what the second level cannot hold
inline constexpr Rate kLatencyBarrier{"latency_barrier", 12.5};  // BAR.SYNC, from the last arrival
inline constexpr Rate kBarrierArrival{"barrier_arrival", 2};     // between the arrivals of two warps
inline constexpr Rate kLatencyBranch{"latency_branch", 8};       // a jump taken, beyond the code's own stall count

// Instruction caches: kilobytes of a scheduler's own, of the one that the four share and of the next; the clocks that a
// jump waits for code that its scheduler's own cache lacks; and those in which 128 bytes of code, eight instructions,
// come from the last one and from beyond it.
inline constexpr Rate kCodeOwnKb{"code_own_kb", 6};
inline constexpr Rate kCodeOwn{"code_own", 19};
inline constexpr Rate kCodeNearKb{"code_near_kb", 32};
inline constexpr Rate kCodeFarKb{"code_far_kb", 128};
inline constexpr Rate kCodeLine{"code_line", 17.6};
inline constexpr Rate kCodeFarLine{"code_far_line", 45.6};

// Per kernel and per CTA
inline constexpr Rate kLaunchUs{"launch_us", 0.6};        // microseconds of an empty kernel in a graph of them
inline constexpr Rate kCtaStartClocks{"cta_start", 160};  // clocks of an SM for each CTA that starts on it

// SMs that get CTAs ahead of the others when a kernel starts, and the CTAs handed out before they get their second and
// third; of SMs with two places, before the second. Without them all SMs get one after the other.
inline constexpr const char* kAheadSms = "ahead_sms";
inline constexpr const char* kAheadSecond = "ahead_second";
inline constexpr const char* kAheadThird = "ahead_third";
inline constexpr const char* kAheadSecondOfTwo = "ahead_second_of_two";

inline constexpr const Rate* kAll[] = {&kIssue,
                                       &kFp32,
                                       &kFp16x2,
                                       &kHalfToFloat,
                                       &kFp64,
                                       &kInt,
                                       &kImad,
                                       &kMufu,
                                       &kConversion,
                                       &kShuffle,
                                       &kUniform,
                                       &kSharedWavefronts,
                                       &kL2Port,
                                       &kL2PortOfMany,
                                       &kBankPorts,
                                       &kReadWindow,
                                       &kMmaIssue,
                                       &kWideLoadIssue,
                                       &kMmaBanks,
                                       &kWarpWavefronts,
                                       &kLsu,
                                       &kL2Sectors,
                                       &kL2Atomics,
                                       &kL2AtomicsPort,
                                       &kAtomicTurn,
                                       &kAtomicSector,
                                       &kAtomicFloatSector,
                                       &kL1Kb,
                                       &kLatencyMufu,
                                       &kLatencyShuffle,
                                       &kLatencyShared,
                                       &kLatencyConstant,
                                       &kLatencyL1,
                                       &kLatencyL2,
                                       &kLatencyDram,
                                       &kLatencyBarrier,
                                       &kBarrierArrival,
                                       &kLatencyBranch,
                                       &kCodeOwnKb,
                                       &kCodeOwn,
                                       &kCodeNearKb,
                                       &kCodeFarKb,
                                       &kCodeLine,
                                       &kCodeFarLine,
                                       &kLaunchUs,
                                       &kCtaStartClocks};

// The clock, MHz, of a kernel that multiplies on Tensor Cores, at boost.
inline double tensor_clock_mhz(const DeviceSpec& spec) {
  const auto found = spec.rates.find(kTensorClock);
  return found == spec.rates.end() ? spec.clock_mhz : found->second;
}

// The device's figure, or the fallback if its spec has none.
inline double rate(const DeviceSpec& spec, const Rate& which) {
  const auto found = spec.rates.find(which.name);
  return found == spec.rates.end() ? which.fallback : found->second;
}

}  // namespace attnscope::model::rates
