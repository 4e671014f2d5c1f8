#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/device_spec.h"
#include "model/rates.h"
#include "model/schedule.h"

namespace attnscope::model {

inline constexpr int kSchedulers = 4;  // per SM

// The scheduler of a CTA's warp, by the CTA's place on the SM: one CTA's warps follow another's; if each uses all
// schedulers, the next one begins one scheduler further (bench/results/placing_h200.txt).
inline size_t scheduler_of(size_t place, size_t warps, size_t warp) {
  return (place * warps + (warps % kSchedulers == 0 ? place : 0) + warp) % kSchedulers;
}
inline constexpr size_t kRegisterBanks = 2;  // per scheduler
// If this many SMs read, each gets less from the second level than when only a few do.
inline constexpr int64_t kManyReaders = 8;

// The device's figures, looked up once.
struct Machine {
  // Clocks for which a warp instruction holds a scheduler's unit.
  std::array<double, static_cast<size_t>(Unit::count)> unit_clocks{};
  double fp64_product;  // the same for a product of doubles
  double shuffle_clocks, wavefront, warp_wavefront, sector, port_sector,
      port_sector_of_many;                                               // clocks each, per SM
  double mma_issue, mma_banks, wide_load_issue, bank_port, read_window;  // clocks of a scheduler
  double addresses;  // clocks of the SM for a warp's load or store, whatever its width
  double sms;
  double turn, port_turn;  // clocks each, per SM
  double shared, l1, l2, dram, mufu, shuffle, constant, barrier, arrival, branch, start;

  // FP32 has two pipes with half the rate; the heavy one also executes IMAD and HADD2.F32.
  bool two_fma_pipes;

  // Clocks of the SM for a warp's load or store of that many wavefronts or lines.
  double access_clocks(double passes) const { return std::max(passes * wavefront, addresses); }

  explicit Machine(const DeviceSpec& spec) {
    using namespace rates;
    two_fma_pipes = spec.arch >= 86;
    const auto clocks = [&](const Rate& which) { return 32.0 * kSchedulers / rate(spec, which); };
    const auto set = [&](Unit unit, const Rate& which) { unit_clocks[static_cast<size_t>(unit)] = clocks(which); };
    set(Unit::fp32, kFp32);
    set(Unit::fp16x2, kFp16x2);
    set(Unit::half_to_float, kHalfToFloat);
    set(Unit::fp64, kFp64);
    set(Unit::integer, kInt);
    set(Unit::imad, kImad);
    set(Unit::mufu, kMufu);
    set(Unit::conversion, kConversion);
    set(Unit::uniform, kUniform);
    unit_clocks[static_cast<size_t>(Unit::tensor)] = tensor_clocks(spec);
    // Products of doubles do not lower the clock, and are no faster than the data sheet's rate.
    fp64_product = std::max(tensor_clocks(spec), data_sheet_clocks(spec, spec.clock_mhz));
    shuffle_clocks = 32 / rate(spec, kShuffle);
    wavefront = 1 / rate(spec, kSharedWavefronts);
    warp_wavefront = 1 / rate(spec, kWarpWavefronts);
    addresses = 32 / rate(spec, kLsu);
    sector = 1 / rate(spec, kL2Sectors);
    port_sector = 1 / rate(spec, kL2Port);
    port_sector_of_many = 1 / std::min(rate(spec, kL2Port), rate(spec, kL2PortOfMany));
    turn = 1 / rate(spec, kL2Atomics);
    port_turn = 1 / rate(spec, kL2AtomicsPort);
    sms = double(std::max<int64_t>(1, spec.sms));
    mma_issue = rate(spec, kMmaIssue);
    mma_banks = rate(spec, kMmaBanks);
    wide_load_issue = rate(spec, kWideLoadIssue);
    bank_port = 1 / rate(spec, kBankPorts);
    read_window = rate(spec, kReadWindow);
    shared = rate(spec, kLatencyShared);
    l1 = rate(spec, kLatencyL1);
    l2 = rate(spec, kLatencyL2);
    dram = std::max(l2, rate(spec, kLatencyDram));
    mufu = rate(spec, kLatencyMufu);
    shuffle = rate(spec, kLatencyShuffle);
    constant = rate(spec, kLatencyConstant);
    barrier = rate(spec, kLatencyBarrier);
    arrival = rate(spec, kBarrierArrival);
    branch = rate(spec, kLatencyBranch);
    start = rate(spec, kCtaStartClocks);
  }
  // Clocks in which an SM gets a sector if that many SMs read: for one or a few its own port decides, for many what
  // they share.
  double sector_of(int64_t readers) const {
    const double port = readers < kManyReaders ? port_sector : port_sector_of_many;
    return std::max(port, sector * double(readers) / sms);
  }

  // The same for a turn of an atomic.
  double turn_of(int64_t readers) const { return std::max(port_turn, turn * double(readers) / sms); }

  // Clocks of one product on one scheduler's Tensor Core.
  static double tensor_clocks(const DeviceSpec& spec) {
    if (const auto measured = spec.rates.find(rates::kMma16816); measured != spec.rates.end()) return measured->second;
    return data_sheet_clocks(spec, rates::tensor_clock_mhz(spec));
  }
  static double data_sheet_clocks(const DeviceSpec& spec, double mhz) {
    if (spec.tensor_tflops_f16 <= 0) return 32;
    const double clocks = mhz * 1e6 * double(spec.sms) * kSchedulers;
    const double flop = spec.tensor_tflops_f16 * 1e12 / clocks;
    return kProductFlop / std::max(1.0, flop);
  }
};

}  // namespace attnscope::model
