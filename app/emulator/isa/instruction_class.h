#pragma once
#include <cstdint>
#include <string_view>

#include "core/words.h"

namespace attnscope::emulator {

// Classes of warp instructions, by the unit that executes them.
enum class InstructionClass : uint8_t {
  fp32,
  fp16,
  fp64,
  integer,
  conversion,
  mufu,
  tensor,
  uniform,
  move,
  predicate,
  shuffle,
  barrier,
  control,
  global_load,
  global_store,
  shared_load,
  shared_store,
  local_load,
  local_store,
  constant_load,
  atomic,
  other,
  count
};
constexpr WordTable<InstructionClass, static_cast<size_t>(InstructionClass::count)> kClassWords{{
    {InstructionClass::fp32, "fp32"},
    {InstructionClass::fp16, "fp16"},
    {InstructionClass::fp64, "fp64"},
    {InstructionClass::integer, "integer"},
    {InstructionClass::conversion, "conversion"},
    {InstructionClass::mufu, "mufu"},
    {InstructionClass::tensor, "tensor"},
    {InstructionClass::uniform, "uniform"},
    {InstructionClass::move, "move"},
    {InstructionClass::predicate, "predicate"},
    {InstructionClass::shuffle, "shuffle"},
    {InstructionClass::barrier, "barrier"},
    {InstructionClass::control, "control"},
    {InstructionClass::global_load, "global_load"},
    {InstructionClass::global_store, "global_store"},
    {InstructionClass::shared_load, "shared_load"},
    {InstructionClass::shared_store, "shared_store"},
    {InstructionClass::local_load, "local_load"},
    {InstructionClass::local_store, "local_store"},
    {InstructionClass::constant_load, "constant_load"},
    {InstructionClass::atomic, "atomic"},
    {InstructionClass::other, "other"},
}};
inline std::string_view to_string(InstructionClass one) { return word_of(kClassWords, one); }

}  // namespace attnscope::emulator
