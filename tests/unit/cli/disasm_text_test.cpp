#include "cli/disasm_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Listing listing() {
  Listing made{.experiment_hash = "x", .files = {"k.cu"}};
  made.lines = {{.text = "LDS R0, [R2]", .places = {{0, 2}}, .counts = CodeCounts{10, 320, 40, 10, 0, 5}},
                {.text = "EXIT\x1b[2J", .places = {{0, 3}}, .counts = CodeCounts{10, 320, 0, 0, 0, 1}}};
  made.counted = true;
  made.emulated_ctas = 3;
  made.total_ctas = 128;
  return made;
}

Kernel kernel() {
  Kernel made;
  made.source_name = "k.cu";
  made.source = "// one\n  load();\n}\n";
  return made;
}

TEST(DisasmText, OnlyColumnsWithFiguresAreThere) {
  const Listing made = listing();
  const charts::CodeView view = charts::code_view(made, nullptr, SourceLines("k.cu"), 3);
  EXPECT_THAT(columns_of(view), ElementsAre(charts::HeatColumn::time, charts::HeatColumn::instructions,
                                            charts::HeatColumn::wavefronts, charts::HeatColumn::conflicts));
  const std::string text = sass_text(made, view, {0, 1});
  EXPECT_THAT(text, HasSubstr("confl"));
  EXPECT_THAT(text, Not(HasSubstr("sectors")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, testing::ContainsRegex("0 +5.00 \u00b5s +10 +40 +30 .*LDS R0, \\[R2\\] +k.cu:2"));
}

TEST(DisasmText, LinesComeInTheOrderThatIsAsked) {
  const Listing made = listing();
  const charts::CodeView view = charts::code_view(made, nullptr, SourceLines("k.cu"), 3);
  const std::string text = lines_text(kernel(), view, {3, 2});
  EXPECT_LT(text.find("}"), text.find("load();"));
  EXPECT_THAT(text, Not(HasSubstr("// one")));
}

TEST(DisasmText, SaysWhatWasCounted) {
  Listing made = listing();
  EXPECT_EQ(counted_text(made), "Counted over 3 of 128 CTAs; time is modelled for all.");
  made.emulated_ctas = 128;
  EXPECT_EQ(counted_text(made), "Counted over all 128 CTAs; time is modelled.");
  made.counted = false;
  EXPECT_THAT(counted_text(made), HasSubstr("Nothing is counted"));
}

TEST(DisasmText, ADifferenceShowsChangesAndTheLinesBesideThem) {
  std::vector<std::string> a, b;
  for (int i = 0; i < 20; ++i) a.push_back("line " + std::to_string(i));
  b = a;
  b[4] = "new";
  b[19] = "end";
  const std::string text = diff_text("source", charts::diff_of(a, b), a, b);
  EXPECT_EQ(text,
            "source: 2 removed, 2 added\n"
            "  ...\n"
            "  line 2\n  line 3\n- line 4\n+ new\n  line 5\n  line 6\n"
            "  ...\n"
            "  line 17\n  line 18\n- line 19\n+ end\n");
  EXPECT_EQ(diff_text("SASS", charts::diff_of(a, a), a, a), "SASS: 0 removed, 0 added\n");
}

}  // namespace
}  // namespace attnscope::cli
