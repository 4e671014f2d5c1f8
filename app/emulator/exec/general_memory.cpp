// Loads, stores, atomics and copies of the general handlers: every space, one lane at a time.
#include <algorithm>
#include <atomic>

#include "emulator/exec/general.h"
#include "emulator/exec/hot_places.h"
#include "emulator/exec/lane_address.h"
#include "emulator/exec/lines.h"
#include "emulator/exec/local_reuse.h"

namespace attnscope::emulator {

namespace {

// The bytes of one lane's access: in local memory each 4-byte word is 128 bytes after the previous one.
struct Place {
  uint8_t* host = nullptr;
  uint32_t stride = 4;
};

FaultKind find_place(Warp& warp, const LaneAddress& at, uint32_t lane, uint32_t bytes, bool store, Place& place) {
  Machine& machine = *warp.machine;
  switch (at.space) {
    case Space::shared: {
      const uint64_t address = at.address;
      if (address < warp.shared_low || address + bytes > warp.shared_high) return FaultKind::shared_outside;
      if (address % bytes != 0) return FaultKind::shared_misaligned;
      place = {warp.shared + address, 4};
      return FaultKind::none;
    }
    case Space::local: {
      const uint64_t address = at.address;
      if (address >= warp.local_bytes || warp.local_bytes - address < bytes) return FaultKind::local_outside;
      if (address % bytes != 0) return FaultKind::local_misaligned;
      place = {warp.local + address / 4 * 128 + lane * 4 + address % 4, 128};
      return FaultKind::none;
    }
    default: {
      const MemoryRange* range = find_range(machine, at.address);
      if (range == nullptr || at.address + bytes > range->address + range->bytes) return FaultKind::global_outside;
      if (at.address % bytes != 0) return FaultKind::global_misaligned;
      if (store && !range->writable) return FaultKind::global_read_only;
      place = {range->host + (at.address - range->address), 4};
      return FaultKind::none;
    }
  }
}

// Counts the access: sectors of global and local memory, wavefronts of shared memory. Shared accesses of one byte
// follow the rule for two.
void count(Warp& warp, const Op& op, uint32_t mask, const LaneAddress* at, bool store) {
  OpCounts& counts = warp.machine->ops[op.index];
  ++counts.requests;
  uint64_t sectors[32], at_global[32], local[128];
  int count = 0, local_count = 0;
  uint32_t shared = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = first_lane(rest);
    if (at[lane].space == Space::shared) {
      shared |= 1u << lane;
    } else if (at[lane].space == Space::local) {
      for (uint32_t word = 0; word < std::max(1u, op.bytes / 4u); ++word) {
        local[local_count++] = ((at[lane].address / 4 + word) * 128 + lane * 4) / 32;
      }
    } else {
      at_global[count] = at[lane].address;
      sectors[count++] = at[lane].address / 32;
    }
  }
  count_sectors(counts, sectors, count, busiest_bank(at_global, count, op.bytes));
  // The part of a generic access that goes to local memory counts as local.
  const bool generic = op.space == Space::generic;
  const uint64_t rows = local_count > 0 ? std::max(1u, op.bytes / 4u) : 0;  // each lane has its bank
  const uint64_t different = generic ? distinct(local, local_count) : count_sectors(counts, local, local_count, rows);
  if (generic) counts.local_sectors += different;
  if (warp.local_reuse != nullptr) warp.local_reuse->access(op.index, local, different, !store);
  if (shared == 0) return;
  const uint64_t base = at[__builtin_ctz(shared)].address;
  int32_t delta[32] = {};
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (shared >> lane & 1) delta[lane] = static_cast<int32_t>(at[lane].address - base);
  }
  const int width = op.bytes <= 2 ? 0 : op.bytes == 4 ? 1 : op.bytes == 8 ? 2 : 3;
  const Access narrowest = op.lane_wavefronts > 0 ? Access::shared_atomic_2
                           : store                ? Access::shared_store_2
                                                  : Access::shared_load_2;
  const Pattern& pattern =
      find_pattern(*warp.machine, op.index, static_cast<Access>(static_cast<int>(narrowest) + width), delta, shared,
                   static_cast<uint32_t>(base & 3));
  const uint32_t times = std::max<uint32_t>(1, op.lane_wavefronts);
  counts.wavefronts += times * pattern.wavefronts;
  counts.ideal += times * pattern.ideal;
}

// Counts where the lanes of an atomic take turns.
void count_meeting(Warp& warp, const Op& op, uint32_t mask, const LaneAddress* at) {
  Machine& machine = *warp.machine;
  uint64_t words[32];
  uint32_t banks[32] = {}, of_shared = 0;
  int count = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const LaneAddress& one = at[first_lane(rest)];
    if (one.space == Space::shared) of_shared = std::max(of_shared, ++banks[one.address / 4 % 32]);
    if (one.space == Space::global) words[count++] = one.address / 4;
  }
  std::sort(words, words + count);
  uint32_t most = 0;  // lanes at one word of the sector
  for (int first = 0, next = 0; first < count; first = next) {
    while (next < count && words[next] == words[first]) ++next;
    most = std::max(most, static_cast<uint32_t>(next - first));
    if (next < count && words[next] / 8 == words[first] / 8) continue;
    machine.hot_places->add(words[first] / 8, most, op.index, machine.cta);
    machine.ops[op.index].turns += most;
    most = 0;
  }
  machine.ops[op.index].turns += of_shared;
}

enum class Counts : uint8_t { nothing, access, atomic };

// Finds all lanes' places, or sets a fault without any effect.
bool find_places(Warp& warp, const Op& op, uint32_t mask, bool store, Place (&places)[32], Counts counts) {
  if (mask == 0) {
    ++warp.machine->ops[op.index].empty_requests;
    return false;
  }
  LaneAddress at[32];
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = first_lane(rest);
    at[lane] = lane_address(warp, op, lane);
    const FaultKind fault = find_place(warp, at[lane], lane, op.bytes, store, places[lane]);
    if (fault == FaultKind::none) continue;
    set_fault(warp, op, fault, lane, at[lane].address, op.bytes);
    return false;
  }
  if (counts != Counts::nothing) count(warp, op, mask, at, store);
  if (counts == Counts::atomic) count_meeting(warp, op, mask, at);
  return true;
}

// Calls f(lane, its place) for the lanes of `mask`, or sets a fault without any effect.
template <class F>
void each_place(Warp& warp, const Op& op, uint32_t mask, bool store, F f) {
  Place places[32];
  if (find_places(warp, op, mask, store, places, Counts::access))
    each_lane(warp, op, mask, [&](const Lane& l) { f(l, places[l.lane]); });
}
template <class F>
void each_atomic_place(Warp& warp, const Op& op, uint32_t mask, F f) {
  Place places[32];
  if (find_places(warp, op, mask, true, places, Counts::atomic))
    each_lane(warp, op, mask, [&](const Lane& l) { f(l, places[l.lane]); });
}

uint32_t extended(uint32_t value, Number type) {
  switch (type) {
    case Number::u8:
      return value & 0xff;
    case Number::s8:
      return static_cast<uint32_t>(static_cast<int8_t>(value));
    case Number::u16:
      return value & 0xffff;
    case Number::s16:
      return static_cast<uint32_t>(static_cast<int16_t>(value));
    default:
      return value;
  }
}

// Returns the old value at `at` and replaces it by f(old), atomically, because threads of other CTAs may access it too.
template <class Word, class F>
Word exchange(uint8_t* at, F f) {
  std::atomic_ref<Word> place(*reinterpret_cast<Word*>(at));
  Word old = place.load(std::memory_order_relaxed);
  while (!place.compare_exchange_weak(old, f(old), std::memory_order_relaxed)) {
  }
  return old;
}

template <class Word>
Word combine_whole(const Op& op, Word old, Word value) {
  using Signed = std::make_signed_t<Word>;
  const Number type = op.type;
  const bool is_signed = type == Number::s32 || type == Number::s64;
  const bool less = is_signed ? static_cast<Signed>(value) < static_cast<Signed>(old) : value < old;
  switch (op.detail.atomic) {
    case Atomic::add:
      return old + value;
    case Atomic::min:
      return less ? value : old;
    case Atomic::max:
      return less ? old : value;
    case Atomic::inc:
      return old >= value ? 0 : old + 1;
    case Atomic::dec:
      return old == 0 || old > value ? value : old - 1;
    case Atomic::and_:
      return old & value;
    case Atomic::or_:
      return old | value;
    case Atomic::xor_:
      return old ^ value;
    default:
      return value;
  }
}

uint32_t combine_32(const Op& op, uint32_t old, uint32_t value) {
  const Number type = op.type;
  if (type == Number::f32) {
    const float r = flushed(op, flushed(op, bits_as<float>(old)) + flushed(op, bits_as<float>(value)));
    return bits_of_float(r);
  }
  if (type == Number::f16 || type == Number::bf16) {
    uint32_t r = 0;
    for (int k = 0; k < 32; k += 16) {
      const double sum =
          add_to_odd(widen(static_cast<uint16_t>(old >> k), type), widen(static_cast<uint16_t>(value >> k), type));
      r |= static_cast<uint32_t>(narrow(sum, type, Rounding::nearest)) << k;
    }
    return r;
  }
  return combine_whole(op, old, value);
}
uint64_t combine_64(const Op& op, uint64_t old, uint64_t value) {
  if (op.type != Number::f64) return combine_whole(op, old, value);
  const double r = bits_as<double>(old) + bits_as<double>(value);
  if (r == r) return bits_as<uint64_t>(r);
  // The unit beside the cache passes a NaN through unchanged, not made quiet (recorded).
  if (std::isnan(bits_as<double>(value))) return value;
  return std::isnan(bits_as<double>(old)) ? old : 0xfff8000000000000ull;
}

void atomic(Warp& warp, const Op& op, uint32_t mask, bool returns) {
  each_atomic_place(warp, op, mask, [&](const Lane& l, const Place& place) {
    if (op.bytes == 8) {
      const uint64_t value = l.raw64(op.c, 2);
      const auto old = exchange<uint64_t>(place.host, [&](uint64_t x) { return combine_64(op, x, value); });
      if (returns) l.set64(old);
    } else {
      const uint32_t value = l.raw(op.c, 2);
      const auto old = exchange<uint32_t>(place.host, [&](uint32_t x) { return combine_32(op, x, value); });
      if (returns) l.set(old);
    }
  });
}

}  // namespace

LaneAddress lane_address(Warp& warp, const Op& op, uint32_t lane) {
  const uint8_t* const file = bytes_of(warp);
  uint32_t low, high = 0;
  std::memcpy(&low, file + op.a + 4 * lane, 4);
  uint64_t uniform = 0;
  const Space space = op.space;
  if (op.flags & op_address_uniform) std::memcpy(&uniform, file + op.b, space == Space::shared ? 4 : 8);
  if (space == Space::shared) {
    return {static_cast<uint32_t>((low << op.shift) + op.imm + static_cast<uint32_t>(uniform)), space};
  }
  if (space == Space::local) return {static_cast<uint32_t>(low + op.imm), space};
  std::memcpy(&high, file + op.a + 128 + 4 * lane, 4);
  const uint64_t address =
      Lane::join(low, high) + uniform + static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(op.imm)));
  if (space == Space::generic) {
    if (address >> 32 == kSharedWindow >> 32) return {address & 0xffffffff, Space::shared};
    if (address >> 32 == kLocalWindow >> 32) return {address & 0xffffffff, Space::local};
  }
  return {address, Space::global};
}

void g_load(Warp& warp, const Op& op, uint32_t mask) {
  each_place(warp, op, mask, false, [&](const Lane& l, const Place& place) {
    if (op.bytes < 4) {
      uint32_t value = 0;
      std::memcpy(&value, place.host, op.bytes);
      return l.set(extended(value, op.type));
    }
    for (uint32_t word = 0; word < op.bytes / 4u; ++word) {
      uint32_t value;
      std::memcpy(&value, place.host + word * place.stride, 4);
      l.set(value, word);
    }
  });
}
void g_store(Warp& warp, const Op& op, uint32_t mask) {
  each_place(warp, op, mask, true, [&](const Lane& l, const Place& place) {
    for (uint32_t word = 0; word < std::max(1u, op.bytes / 4u); ++word) {
      const uint32_t value = l.raw(op.c, 2, word);
      std::memcpy(place.host + word * place.stride, &value, std::min<uint32_t>(4, op.bytes));
    }
  });
}
namespace {
// Constants at an offset in a bank; the target words are `stride` bytes apart.
void load_constants(Warp& warp, const Op& op, uint32_t mask, uint32_t stride) {
  const ConstantImage& bank = warp.machine->banks[op.detail.bank];
  each_lane(warp, op, mask, [&](const Lane& l) {
    const uint64_t address = uint64_t{l.raw(op.a, 0) + op.imm};
    if (bank.data == nullptr || address + op.bytes > bank.bytes)
      return set_fault(warp, op, FaultKind::constant_outside, l.lane, address, op.bytes);
    for (uint32_t at = 0; at < op.bytes; at += 4) {
      uint32_t value = 0;
      std::memcpy(&value, bank.data + address + at, op.bytes < 4u ? op.bytes : 4u);
      if (op.bytes < 4) value = extended(value, op.type);
      std::memcpy(l.file + op.dst + stride * (at / 4) + 4 * l.lane, &value, 4);
    }
  });
}
}  // namespace

void g_ldc(Warp& warp, const Op& op, uint32_t mask) { load_constants(warp, op, mask, 128); }
void g_uldc(Warp& warp, const Op& op, uint32_t) { load_constants(warp, op, 1, 4); }  // uniform registers are one word

namespace {
// If an atomic has a predicate (packed halves and 64 bits at a generic address), the hardware performs it only in
// global memory. The predicate says for which lanes, and the code handles the others itself (recorded).
uint32_t lanes_done(Warp& warp, const Op& op, uint32_t mask) {
  if (op.p == kPredicateTrash) return mask;
  uint32_t global = mask;
  each_lane(warp, op, mask, [&](const Lane& l) {
    if (lane_address(warp, op, l.lane).space != Space::global) global &= ~(1u << l.lane);
  });
  set_predicate(warp, op.p, global, mask);
  return global;
}
}  // namespace

void g_atomic(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t done = lanes_done(warp, op, mask);
  if (done != 0 || mask == 0) atomic(warp, op, done, true);
}
void g_reduce(Warp& warp, const Op& op, uint32_t mask) { atomic(warp, op, mask, false); }
// Every lane adds 1; the hardware combines lanes with the same address.
void g_count_in(Warp& warp, const Op& op, uint32_t mask) {
  each_atomic_place(warp, op, mask, [](const Lane&, const Place& place) {
    exchange<uint32_t>(place.host, [](uint32_t x) { return x + 1; });
  });
}
struct Swapped {
  uint64_t old;
  bool stored;
};
// Stores c if the word at `at`, of 4 or 8 bytes, equals e.
Swapped compare_and_swap(const Op& op, const Lane& l, uint8_t* at) {
  const auto swap = [&](auto wanted, auto value) -> Swapped {
    const auto old = exchange<decltype(wanted)>(at, [&](auto x) { return x == wanted ? value : x; });
    return {old, old == wanted};
  };
  if (op.bytes != 8) return swap(l.raw(op.e, 3), l.raw(op.c, 2));
  return swap(l.raw64(op.e, 3), l.raw64(op.c, 2));
}
void set_word(const Lane& l, uint32_t bytes, uint64_t value) {
  bytes == 8 ? l.set64(value) : l.set(static_cast<uint32_t>(value));
}
// Returns the previous word.
void g_cas(Warp& warp, const Op& op, uint32_t all) {
  const uint32_t mask = lanes_done(warp, op, all);
  if (mask == 0 && all != 0) return;
  each_atomic_place(warp, op, mask, [&](const Lane& l, const Place& place) {
    set_word(l, op.bytes, compare_and_swap(op, l, place.host).old);
  });
}
// CAS that returns 1 if it stored. Of several lanes in one bank only the lowest succeeds (recorded).
void g_cast_spin(Warp& warp, const Op& op, uint32_t mask) {
  uint32_t banks = 0;
  each_atomic_place(warp, op, mask, [&](const Lane& l, const Place& place) {
    uint8_t* const at = place.host;
    const uint32_t bank = 1u << (static_cast<uint32_t>(at - warp.shared) / 4 & 31);
    if (op.bytes == 4 && (banks & bank) != 0) return l.set(0);
    banks |= bank;
    set_word(l, op.bytes, compare_and_swap(op, l, at).stored);
  });
}
void g_qspc(Warp& warp, const Op& op, uint32_t mask) {
  uint32_t shared = 0;
  each_lane(warp, op, mask, [&](const Lane& l) {
    if (lane_address(warp, op, l.lane).space == Space::shared) shared |= 1u << l.lane;
  });
  set_predicate(warp, op.p, shared, mask);
}

// From global (e, f) to shared memory (a), at once, which a race-free program cannot distinguish from later. Lanes
// whose x is false store zeros. The lane families have a faster version for the usual case (lanes/tiles.inc).
void copy_one_by_one(Warp& warp, const Op& op, uint32_t mask) {
  Place to[32];
  if (!find_places(warp, op, mask, true, to, Counts::nothing)) return;
  const uint32_t reads = predicate(warp, op.x, op.x_invert);
  uint64_t sectors[32], at[32];
  int count = 0;
  each_lane(warp, op, mask, [&](const Lane& l) {
    if (!(reads >> l.lane & 1)) {
      std::memset(to[l.lane].host, 0, op.bytes);
      return;
    }
    const uint64_t address = source_address(warp, op, l.lane);
    Place from;
    const FaultKind fault = find_place(warp, {address, Space::global}, l.lane, op.bytes, false, from);
    if (fault != FaultKind::none) return set_fault(warp, op, fault, l.lane, address, op.bytes);
    std::memcpy(to[l.lane].host, from.host, op.bytes);
    at[count] = address;
    sectors[count++] = address / 32;
  });
  // The hardware counts its stores in none of its shared-store figures.
  OpCounts& counts = warp.machine->ops[op.index];
  ++counts.requests;
  count_sectors(counts, sectors, count, busiest_bank(at, count, op.bytes));
}
uint64_t source_address(Warp& warp, const Op& op, uint32_t lane) {
  uint32_t low, high;
  std::memcpy(&low, bytes_of(warp) + op.e + 4 * lane, 4);
  std::memcpy(&high, bytes_of(warp) + op.e + 128 + 4 * lane, 4);
  return Lane::join(low, high) + static_cast<uint64_t>(int64_t{op.detail.source_offset});
}

}  // namespace attnscope::emulator
