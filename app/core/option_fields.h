#pragma once
#include <array>
#include <span>

#include "core/config.h"
#include "core/fields.h"

namespace attnscope {

// A compile option as the window and the terminal show it; the label is also the glossary's term. A switch and an
// enumeration need nothing more.
struct OptionRow {
  std::string_view label;
  // For a number: what it is, what 0 means (in a word or two, and as a sentence), its range otherwise, and the values
  // that the window offers.
  std::string_view what = {}, zero = {}, stands_for = {};
  int64_t least = 0, most = 1;
  std::span<const int64_t> offered = {};
};

// Registers per thread that leave room for 64, 32, 21, 16, 12 and 8 warps on an SM with 65,536 registers; 0: no limit.
inline constexpr std::array<int64_t, 7> kOfferedRegisters{0, 32, 64, 96, 128, 168, 255};
inline constexpr std::array<int64_t, 6> kOfferedCtas{0, 1, 2, 3, 4, 6};

template <>
struct FieldsOf<CompileOptions> {
  static constexpr auto list = std::tuple{
      Shown{Field{"fast_math", &CompileOptions::fast_math}, OptionRow{"fast math"}},
      Shown{Field{"fmad", &CompileOptions::fmad}, OptionRow{"fmad"}},
      Shown{Field{"maxrregcount", &CompileOptions::maxrregcount, Limits{.low = 0, .high = 255}, "0: no limit"},
            OptionRow{"maxrregcount", "limit of registers", "none", "no limit", 16, 255, kOfferedRegisters}},
      Shown{Field{"launch_bounds", &CompileOptions::launch_bounds, Limits{.low = 0, .high = 32, .sparse = true},
                  "CTAs an SM that registers must suffice for; left out where it is as the source says"},
            OptionRow{"launch bounds", "number of CTAs an SM", "as written", "what the source says", 1, 32,
                      kOfferedCtas}},
      Shown{Field{"compiler", &CompileOptions::compiler, Limits{.sparse = true},
                  "left out where it is nvrtc; nvcc is the one that the machine has"},
            OptionRow{"compiler"}}};
};

// Calls visit(key, label, member) for each compile option.
template <class Visit>
void for_each_option(Visit visit) {
  for_each_field(FieldsOf<CompileOptions>::list,
                 [&](const auto& option) { visit(option.key, label(option.row.label), option.member); });
}

}  // namespace attnscope
