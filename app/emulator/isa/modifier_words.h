#pragma once
#include <optional>
#include <vector>

#include "core/words.h"
#include "emulator/isa/modifiers.h"

namespace attnscope::emulator {

// The table's value for the first of its words that the instruction has.
template <class T, size_t N>
std::optional<T> chosen(const WordTable<T, N>& words, const Spelled& spelled) {
  for (const auto& [value, word] : words)
    if (spelled.has(word)) return value;
  return std::nullopt;
}

// The number types among the modifiers, in order.
std::vector<Number> types_of(const Spelled& spelled);
Number type_of(const Spelled& spelled, Number otherwise);

}  // namespace attnscope::emulator
