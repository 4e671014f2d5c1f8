// The tested list itself: the decoder's assumptions about its rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emulator/isa/forms.h"
#include "emulator/isa/program.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

std::vector<std::string> operands_of(const std::string& spelling) {
  std::vector<std::string> operands;
  for (size_t at = spelling.find(' ') + 1; at < spelling.size();) {
    const size_t end = std::min(spelling.find(',', at), spelling.size());
    operands.push_back(spelling.substr(at, end - at));
    at = end + 1;
  }
  return operands;
}

TEST(Forms, HaveARoleForEachOperand) {
  for (const std::string& spelling : supported_forms()) {
    if (spelling == kHalfConstant) continue;
    EXPECT_EQ(find_form(spelling)->roles.size(), operands_of(spelling).size()) << spelling;
  }
  EXPECT_EQ(find_form(kHalfConstant)->roles.size(), 5u);
}

// A lane family has code for one source that all lanes share, not for two (Variant).
TEST(Forms, OfLaneFamiliesShareOneSourceAtMost) {
  for (const std::string& spelling : supported_forms()) {
    const Form& form = *find_form(spelling);
    if (spelling == kHalfConstant || form.family == Family::general || is_uniform(form.family) ||
        is_shuffle(form.family) || is_control(form.family))
      continue;
    const std::vector<std::string> operands = operands_of(spelling);
    int shared = 0;
    for (size_t i = 0; i < operands.size(); ++i)
      shared += std::string_view("abckwv").find(form.roles[i]) != std::string_view::npos &&
                std::string_view("UIFC").find(operands[i][0]) != std::string_view::npos;
    EXPECT_LE(shared, 1) << spelling;
  }
}

// A previous instruction may have left another rounding mode on the host.
TEST(Forms, OfDoublesRoundAsTheySayWhateverCameBefore) {
  for (const std::string text : {"DMMA.8x8x4 R8, R2, R4, R6", "DADD R8, R2, R4", "DFMA R8, R2, R4, R6"}) {
    const auto program = decode(from_text("FADD.FTZ.RM R0, R0, R1\n" + text + "\nEXIT", {}));
    ASSERT_TRUE(program.has_value()) << program.error().message;
    const Op& before = (*program)->ops[0];
    const Op& op = (*program)->ops[1];
    EXPECT_NE(op.mxcsr, 0u) << text;
    EXPECT_NE(op.mxcsr, before.mxcsr) << text;
  }
}

}  // namespace
}  // namespace attnscope::emulator::testing
