#include "emulator/isa/report.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "emulator/isa/forms.h"
#include "emulator/isa/recorded_forms.h"

namespace attnscope::emulator {

namespace {

// Forms whose results are an approximation of the hardware's (docs/emulator.md).
bool is_approximate(std::string_view spelling) {
  constexpr std::string_view exact[] = {"MUFU.EX2 ", "MUFU.RCP ", "MUFU.RSQ "};  // approximation_tables.h
  return spelling.starts_with("MUFU.") &&
         std::ranges::none_of(exact, [&](std::string_view one) { return spelling.starts_with(one); });
}

std::string_view basis(std::string_view spelling) {
  if (is_approximate(spelling)) return "within the documented error";
  switch (basis_of(spelling)) {
    case Basis::recorded:
      return "recorded, bit-equal";
    case Basis::kin:
      return "recorded for sources of another kind";
    default:
      return "by definition and output";
  }
}

std::string architectures(uint8_t bits) {
  std::string text;
  constexpr std::string_view names[] = {"sm_80", "sm_89", "sm_90"};
  for (int i = 0; i < 3; ++i) {
    if (bits >> i & 1) text += (text.empty() ? "" : ", ") + std::string(names[i]);
  }
  return text;
}

// How many recorded forms each architecture's code contains. The recordings are sm_90's, and older code must match
// them.
std::string by_architecture() {
  constexpr std::string_view names[] = {"sm_80", "sm_89", "sm_90"};
  size_t held[3] = {}, alone[3] = {};
  for (const RecordedForm& form : recorded_forms()) {
    for (int i = 0; i < 3; ++i) {
      held[i] += form.archs >> i & 1;
      alone[i] += form.archs == 1 << i;
    }
  }
  std::string text = fmt::format("  {:<16} {:>10} {:>12} {:>12}\n", "architecture", "recorded", "bound", "only there");
  for (int i = 0; i < 3; ++i) {
    const bool measured = i == 2;
    text += fmt::format("  {:<16} {:>10} {:>12} {:>12}\n", names[i], measured ? std::to_string(held[i]) : "-",
                        measured ? "-" : std::to_string(held[i]), alone[i]);
  }
  return text +
         "\nrecorded: forms of sm_90's code whose results on an NVIDIA H200 are recorded. bound: forms of older code "
         "that "
         "compiles from\nthe same sources and must give the same words. only there: no other architecture spells it "
         "so.\n\n";
}

}  // namespace

std::string isa_report() {
  constexpr size_t kClasses = static_cast<size_t>(InstructionClass::count);
  std::array<size_t, kClasses> recorded{}, approximate{}, kin{}, other{};
  const std::vector<std::string> forms = supported_forms();
  std::string list;
  for (const std::string& spelling : forms) {
    const auto kind = static_cast<size_t>(find_form(spelling)->instruction_class);
    const uint8_t archs = recorded_on(spelling);
    const Basis rests_on = basis_of(spelling);
    ++(is_approximate(spelling)      ? approximate
       : rests_on == Basis::recorded ? recorded
       : rests_on == Basis::kin      ? kin
                                     : other)[kind];
    list +=
        fmt::format("  {:<60} {}{}\n", spelling, basis(spelling), archs != 0 ? " (" + architectures(archs) + ")" : "");
  }
  std::string text = fmt::format(
      "Opcode forms that the emulator executes: {}. Any other is refused with its name and source line.\n\n",
      forms.size());
  text += by_architecture();
  text += fmt::format("  {:<16} {:>10} {:>12} {:>12} {:>12}\n", "class", "recorded", "approximate", "source kind",
                      "by output");
  size_t sum[4] = {};
  for (size_t k = 0; k < kClasses; ++k) {
    if (recorded[k] + approximate[k] + kin[k] + other[k] == 0) continue;
    text += fmt::format("  {:<16} {:>10} {:>12} {:>12} {:>12}\n", to_string(static_cast<InstructionClass>(k)),
                        recorded[k], approximate[k], kin[k], other[k]);
    sum[0] += recorded[k];
    sum[1] += approximate[k];
    sum[2] += kin[k];
    sum[3] += other[k];
  }
  text += fmt::format("  {:<16} {:>10} {:>12} {:>12} {:>12}\n\n", "all", sum[0], sum[1], sum[2], sum[3]);
  text +=
      "recorded: equal to an NVIDIA H200 bit for bit at edge and random values. approximate: within the documented "
      "error of the\n"
      "hardware's own approximation. source kind: the same operation is recorded with its sources from elsewhere "
      "(register, "
      "uniform\nregister, constant, immediate, half of it), or without a predicate that another width is recorded "
      "with. by "
      "output: by the instruction's definition, and by kernels whose whole output is "
      "correct.\n\n";
  return text + list;
}

}  // namespace attnscope::emulator
