#include "emulator/isa/recorded_forms.h"

#include <algorithm>

namespace attnscope::emulator {

namespace {

constexpr RecordedForm forms[] = {
#include "emulator/isa/recorded_forms.inc"
};

}  // namespace

std::span<const RecordedForm> recorded_forms() { return forms; }

uint8_t recorded_on(std::string_view spelling) {
  const auto found =
      std::lower_bound(std::begin(forms), std::end(forms), spelling,
                       [](const RecordedForm& form, std::string_view wanted) { return form.spelling < wanted; });
  return found != std::end(forms) && found->spelling == spelling ? found->archs : 0;
}

}  // namespace attnscope::emulator
