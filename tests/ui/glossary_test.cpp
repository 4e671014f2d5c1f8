// Words of the glossary: how they are read, and found in a sentence.
#include "ui/glossary.h"

#include <gmock/gmock.h>

#include "ui/actions.h"
#include "ui/found_words.h"

namespace attnscope::ui {
namespace {

using testing::ElementsAre;

TEST(Glossary, ReadsBoldWordsWithTheirSentence) {
  const Glossary read = Glossary::parse(
      "# Words\n- **Wave, waves**: CTAs that run at once.\n* **tail** What is left.\r\n"
      "A line with **no** word.\n- **open\n- **empty**\n\t- **BLOCK_M**  : rows  \n");
  EXPECT_EQ(read.entries().size(), 4u);
  EXPECT_EQ(read.find("wave"), "CTAs that run at once.");
  EXPECT_EQ(read.find("WAVES"), "CTAs that run at once.");
  EXPECT_EQ(read.find("tail"), "What is left.");
  EXPECT_EQ(read.find("block_m"), "rows");
  for (const char* none : {"no", "open", "empty", ""}) EXPECT_EQ(read.find(none), "") << none;
}

TEST(Glossary, FindsWholeWordsTheLongestFirstAndEachSentenceOnce) {
  const Glossary read = Glossary::parse(
      "- **bank**: A.\n- **bank conflict**: B.\n- **waves**: C.\n- **limit**: D.\n- **k**: E.\n- **pass**: F.\n"
      "- **CTA, block**: G.\n");
  const auto found = [&](const char* text) {
    std::vector<std::string> words;
    for (const Glossary::Found& one : read.words_in(text)) words.push_back(one.written + "=" + one.word);
    return words;
  };
  EXPECT_THAT(found("Bank conflicts, a bank."), ElementsAre("Bank conflicts=bank conflict", "bank=bank"));
  EXPECT_THAT(found("one wave and waves"), ElementsAre("wave=waves"));
  EXPECT_THAT(found("bankers, my_bank, bank_2, 2banks"), ElementsAre());
  EXPECT_THAT(found("the limit k is ordinary or short"), ElementsAre());
  EXPECT_THAT(found("passes pass"), ElementsAre("pass=pass"));
  EXPECT_THAT(found("CTAs of a block"), ElementsAre("CTAs=cta"));
  EXPECT_THAT(found(""), ElementsAre());
}

TEST(Words, AreFoundWhateverTheirCase) {
  EXPECT_TRUE(holds_words("Block_M=32", "block_m"));
  EXPECT_TRUE(holds_words("azAZ", "AZaz"));
  EXPECT_TRUE(holds_words("", ""));
  EXPECT_FALSE(holds_words("abc", "abcd"));
  EXPECT_FALSE(holds_words("[", "{"));
  EXPECT_FALSE(holds_words("@", "`"));
}

TEST(Chords, AreWrittenWithTheirModifiers) {
  EXPECT_EQ(chord_text(0), "");
  EXPECT_EQ(chord_text(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiMod_Alt | ImGuiKey_P), "Ctrl+Shift+Alt+P");
  EXPECT_EQ(chord_text(ImGuiMod_Ctrl | ImGuiKey_Equal), "Ctrl++");
  EXPECT_EQ(chord_text(ImGuiMod_Ctrl | ImGuiKey_Minus), "Ctrl+\u2212");
  EXPECT_EQ(chord_text(ImGuiKey_Escape), "Esc");
  EXPECT_EQ(chord_text(ImGuiKey_PageDown), "Page Down");
  EXPECT_EQ((Action{.id = "a", .title = "A", .chord = ImGuiKey_F5, .others = {ImGuiKey_PageUp}}).keys_text(),
            "F5, Page Up");
}

}  // namespace
}  // namespace attnscope::ui
