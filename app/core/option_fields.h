#pragma once
#include "core/config.h"
#include "core/fields.h"

namespace attnscope {

// A compile option as the window and the terminal show it; the label is also the glossary's term.
struct OptionRow {
  std::string_view label;
};

template <>
struct FieldsOf<CompileOptions> {
  static constexpr auto list = std::tuple{
      Shown{Field{"fast_math", &CompileOptions::fast_math}, OptionRow{"fast math"}},
      Shown{Field{"fmad", &CompileOptions::fmad}, OptionRow{"fmad"}},
      Shown{Field{"maxrregcount", &CompileOptions::maxrregcount, Limits{.low = 0, .high = 255}, "0: no limit"},
            OptionRow{"maxrregcount"}}};
};

// visit(key, label, member) for each compile option.
template <class Visit>
void for_each_option(Visit visit) {
  for_each_field(FieldsOf<CompileOptions>::list,
                 [&](const auto& option) { visit(option.key, label(option.row.label), option.member); });
}

inline std::string option_text(bool set) { return set ? "on" : "off"; }
inline std::string option_text(int limit) { return limit == 0 ? "none" : std::to_string(limit); }

}  // namespace attnscope
