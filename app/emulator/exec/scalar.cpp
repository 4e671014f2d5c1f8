// Code that runs once per warp: the uniform datapath and convergence barriers; also local memory, lane by lane.
#include <algorithm>
#include <cstring>

#include "emulator/exec/general.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/lines.h"
#include "emulator/exec/local_reuse.h"

namespace attnscope::emulator {

namespace {

uint64_t pair(Warp& warp, uint32_t offset) {
  return word(warp, offset) | static_cast<uint64_t>(word(warp, offset + 4)) << 32;
}
void set_pair(Warp& warp, uint32_t offset, uint64_t value) {
  word(warp, offset) = static_cast<uint32_t>(value);
  word(warp, offset + 4) = static_cast<uint32_t>(value >> 32);
}
uint32_t operand_a(Warp& warp, const Op& op) { return (word(warp, op.a) ^ op.xor_a) + op.sign_a; }
uint32_t operand_b(Warp& warp, const Op& op) { return (word(warp, op.b) ^ op.xor_b) + op.sign_b; }
uint32_t operand_c(Warp& warp, const Op& op) { return (word(warp, op.c) ^ op.xor_c) + op.sign_c; }
bool holds(Warp& warp, uint8_t predicate, uint8_t invert) { return (warp.pred[predicate] != 0) != (invert != 0); }
void set(Warp& warp, uint8_t predicate, bool value) { warp.pred[predicate] = value ? kFull : 0; }

void nop(Warp&, const Op&, uint32_t) {}

void bssy(Warp& warp, const Op& op, uint32_t mask) {
  if (mask == kFull) {
    std::fill_n(warp.barrier[op.barrier], 32, kFull);
    return;
  }
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) warp.barrier[op.barrier][__builtin_ctz(rest)] = mask;
}
void break_barrier(Warp& warp, const Op& op, uint32_t mask) { leave_barrier(warp, op.barrier, mask); }

void r2ur(Warp& warp, const Op& op, uint32_t mask) {
  if (mask != 0) word(warp, op.dst) = word(warp, op.a + 4 * first_lane(mask));
}
void umov(Warp& warp, const Op& op, uint32_t) { word(warp, op.dst) = word(warp, op.a); }
void umov_64(Warp& warp, const Op& op, uint32_t) { set_pair(warp, op.dst, pair(warp, op.a)); }

// x and y are the carries in (.X); p and q the carries out, as for IADD3.
void uiadd3(Warp& warp, const Op& op, uint32_t) {
  const uint64_t carry_in = static_cast<uint64_t>(holds(warp, op.x, op.x_invert)) + holds(warp, op.y, op.y_invert);
  const uint64_t sum = static_cast<uint64_t>(word(warp, op.a) ^ op.xor_a) + (word(warp, op.b) ^ op.xor_b) +
                       (word(warp, op.c) ^ op.xor_c) + op.sign_a + op.sign_b + op.sign_c + carry_in;
  word(warp, op.dst) = static_cast<uint32_t>(sum);
  set(warp, op.p, sum >> 32 >= 1);
  set(warp, op.q, sum >> 32 >= 2);
}
void uimad(Warp& warp, const Op& op, uint32_t) {
  word(warp, op.dst) = operand_a(warp, op) * operand_b(warp, op) + operand_c(warp, op);
}
void uimad_wide_u32(Warp& warp, const Op& op, uint32_t) {
  set_pair(warp, op.dst, static_cast<uint64_t>(word(warp, op.a)) * word(warp, op.b) + pair(warp, op.c));
}
void uisetp(Warp& warp, const Op& op, uint32_t) {
  // For unsigned compares, xor_a and xor_b hold the bias.
  const auto a = static_cast<int32_t>(operand_a(warp, op)), b = static_cast<int32_t>(operand_b(warp, op));
  const bool r = op.comparison.select[a < b ? 0 : a == b ? 1 : 2] != 0;
  const Answers answers = compared_both_ways(op, r, holds(warp, op.x, op.x_invert));
  set(warp, op.p, answers.p);
  set(warp, op.q, answers.q);
}
void ulea(Warp& warp, const Op& op, uint32_t) {
  const uint64_t sum = static_cast<uint64_t>(operand_a(warp, op) << op.imm) + operand_b(warp, op);
  word(warp, op.dst) = static_cast<uint32_t>(sum);
  set(warp, op.p, sum >> 32 != 0);
}
void lea_high(Warp& warp, const Op& op, uint32_t high) {
  const uint64_t value = static_cast<uint64_t>(high) << 32 | word(warp, op.a);
  const uint64_t sum = (value << op.imm >> 32) + operand_b(warp, op) + holds(warp, op.x, op.x_invert);
  word(warp, op.dst) = static_cast<uint32_t>(sum);
  set(warp, op.p, sum >> 32 != 0);
}
void ulea_hi(Warp& warp, const Op& op, uint32_t) { lea_high(warp, op, word(warp, op.c)); }
void ulea_hi_sx32(Warp& warp, const Op& op, uint32_t) {
  lea_high(warp, op, static_cast<uint32_t>(static_cast<int32_t>(word(warp, op.a)) >> 31));
}
void ulop3(Warp& warp, const Op& op, uint32_t) {
  const uint32_t r = looked_up(op.imm, operand_a(warp, op), operand_b(warp, op), operand_c(warp, op));
  word(warp, op.dst) = r;
  set(warp, op.p, r != 0);
}
void uplop3(Warp& warp, const Op& op, uint32_t) {
  const auto input = [&](uint8_t predicate, bool invert) { return holds(warp, predicate, invert) ? kFull : 0; };
  const uint32_t a = input(op.x, op.x_invert), b = input(op.y, op.y_invert), c = input(op.z, op.z_invert);
  set(warp, op.p, looked_up(op.imm, a, b, c) != 0);
  set(warp, op.q, looked_up(op.second, a, b, c) != 0);
}
void usel(Warp& warp, const Op& op, uint32_t) {
  word(warp, op.dst) = holds(warp, op.x, op.x_invert) ? operand_a(warp, op) : operand_b(warp, op);
}
// Amounts over the width clamp, as for SHF.
uint64_t left(uint64_t x, uint32_t by) { return by > 63 ? 0 : x << by; }
uint64_t right(uint64_t x, uint32_t by) { return by > 63 ? 0 : x >> by; }
void ushf_l_u32(Warp& warp, const Op& op, uint32_t) {
  word(warp, op.dst) = static_cast<uint32_t>(left(word(warp, op.a), word(warp, op.b)));
}
void ushf_l_u64_hi(Warp& warp, const Op& op, uint32_t) {
  const uint64_t value = static_cast<uint64_t>(word(warp, op.c)) << 32 | word(warp, op.a);
  word(warp, op.dst) = static_cast<uint32_t>(left(value, word(warp, op.b)) >> 32);
}
void ushf_r_u32_hi(Warp& warp, const Op& op, uint32_t) {
  word(warp, op.dst) = static_cast<uint32_t>(right(word(warp, op.c), word(warp, op.b)));
}
void ushf_r_s32_hi(Warp& warp, const Op& op, uint32_t) {
  const auto value = static_cast<int32_t>(word(warp, op.c));
  word(warp, op.dst) = static_cast<uint32_t>(value >> std::min(31u, word(warp, op.b)));
}

// Over the executing lanes; p becomes true if all, or any, of them have predicate x.
void voteu_all(Warp& warp, const Op& op, uint32_t mask) {
  set(warp, op.p, (mask & ~(warp.pred[op.x] ^ (op.x_invert ? kFull : 0))) == 0);
}
void voteu_any(Warp& warp, const Op& op, uint32_t mask) {
  set(warp, op.p, (mask & (warp.pred[op.x] ^ (op.x_invert ? kFull : 0))) != 0);
}

// Local memory has the hardware's layout: each 4-byte word of all 32 lanes together, 128 bytes. Spills copy such a row,
// with every lane at one address. Returns false for any other access.
template <bool kStore>
bool local_row(Warp& warp, const Op& op, OpCounts& counts) {
  const uint32_t* const addresses = &word(warp, op.a);
  uint32_t differ = 0;
  for (int lane = 1; lane < 32; ++lane) differ |= addresses[lane] ^ addresses[0];
  const uint32_t address = addresses[0] + op.imm;
  if (differ != 0 || address % 4 != 0 || address >= warp.local_bytes || warp.local_bytes - address < 4) return false;
  uint8_t* const row = warp.local + size_t{address} * 32;
  if constexpr (kStore) {
    std::memcpy(row, &word(warp, op.c), 128);
  } else {
    std::memcpy(&word(warp, op.dst), row, 128);
  }
  ++counts.requests;
  counts.sectors += 4;
  ++counts.lines;
  ++counts.passes;
  if (warp.local_reuse != nullptr) warp.local_reuse->access(op.index, address / 4, !kStore);
  return true;
}

template <bool kStore>
void local_32(Warp& warp, const Op& op, uint32_t mask) {
  Machine& machine = *warp.machine;
  OpCounts& counts = machine.ops[op.index];
  if (mask == 0) {
    ++counts.empty_requests;
    return;
  }
  if (mask == kFull && local_row<kStore>(warp, op, counts)) return;
  uint32_t sectors[32];
  int count = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest);
    const uint32_t address = word(warp, op.a + 4 * lane) + op.imm;
    const FaultKind fault = address >= warp.local_bytes || warp.local_bytes - address < 4 ? FaultKind::local_outside
                            : address % 4 != 0                                            ? FaultKind::local_misaligned
                                                                                          : FaultKind::none;
    if (fault != FaultKind::none) return set_fault(warp, op, fault, lane, address, 4);
    uint8_t* const at = warp.local + address * 32 + lane * 4;
    if constexpr (kStore) {
      std::memcpy(at, &word(warp, op.c + 4 * lane), 4);
    } else {
      std::memcpy(&word(warp, op.dst + 4 * lane), at, 4);
    }
    sectors[count++] = (address * 32 + lane * 4) / 32;
  }
  ++counts.requests;
  const uint64_t different = count_sectors(counts, sectors, count, 1);  // each lane has its bank
  if (warp.local_reuse != nullptr) warp.local_reuse->access(op.index, sectors, different, !kStore);
}

void put(HandlerTable& table, Family family, Handler handler) {
  for (HandlerPair& pair : table.pairs[static_cast<int>(family)]) pair = {handler, handler};
}

HandlerTable make_table(HostIsa isa) {
  HandlerTable table{};
  switch (isa) {
    case HostIsa::baseline:
      baseline::fill_lanes(table);
      break;
    case HostIsa::avx2:
      avx2::fill_lanes(table);
      break;
    case HostIsa::avx512:
      avx512::fill_lanes(table);
      break;
  }
  fill_scalar(table);
  return table;
}

}  // namespace

void fill_scalar(HandlerTable& table) {
  put(table, Family::nop, nop);
  put(table, Family::bssy, bssy);
  put(table, Family::break_barrier, break_barrier);
  put(table, Family::ldl_32, local_32<false>);
  put(table, Family::stl_32, local_32<true>);
  put(table, Family::r2ur, r2ur);
  put(table, Family::umov, umov);
  put(table, Family::umov_64, umov_64);
  put(table, Family::uiadd3, uiadd3);
  put(table, Family::uimad, uimad);
  put(table, Family::uimad_wide_u32, uimad_wide_u32);
  put(table, Family::uisetp, uisetp);
  put(table, Family::ulea, ulea);
  put(table, Family::ulea_hi, ulea_hi);
  put(table, Family::ulea_hi_sx32, ulea_hi_sx32);
  put(table, Family::ulop3, ulop3);
  put(table, Family::uplop3, uplop3);
  put(table, Family::usel, usel);
  put(table, Family::ushf_l_u32, ushf_l_u32);
  put(table, Family::ushf_l_u64_hi, ushf_l_u64_hi);
  put(table, Family::ushf_r_s32_hi, ushf_r_s32_hi);
  put(table, Family::ushf_r_u32_hi, ushf_r_u32_hi);
  put(table, Family::voteu_all, voteu_all);
  put(table, Family::voteu_any, voteu_any);
}

HostIsa best_host_isa() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return HostIsa::avx512;
  }
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  return avx2 ? HostIsa::avx2 : HostIsa::baseline;
}

const HandlerTable& handlers(HostIsa isa) {
  // Each table is made only on request, because even filling it runs code of that instruction set.
  static const auto of = []<HostIsa kIsa>() -> const HandlerTable& {
    static const HandlerTable table = make_table(kIsa);
    return table;
  };
  switch (isa) {
    case HostIsa::avx512:
      return of.operator()<HostIsa::avx512>();
    case HostIsa::avx2:
      return of.operator()<HostIsa::avx2>();
    case HostIsa::baseline:
      break;
  }
  return of.operator()<HostIsa::baseline>();
}

}  // namespace attnscope::emulator
