// The Why panel: terms beside the baseline's, their lines, findings with proposals.
#include <gmock/gmock.h>
#include <imgui_internal.h>

#include "ui/still_code.h"
#include "ui/still_window.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

// Keeps the window's requests.
class AskedSession : public StillSession {
 public:
  using StillSession::StillSession;
  void focus(Draft draft, session::Gesture gesture) override {
    asked = std::move(draft);
    change = gesture.change;
  }
  std::optional<Draft> asked;
  std::string change;
};

class WhyFlow : public StillWindow {
 protected:
  AskedSession& open_still(session::Snapshot snapshot, ShotSize size = {1600, 900}) {
    return StillWindow::open_still<AskedSession>(std::move(snapshot), size, "Why");
  }
};

TEST_F(WhyFlow, AChangeIsExplainedTermByTerm) {
  open_still(snapshot_with_terms());
  flow([&](ImGuiTestContext* ctx) {
    const std::string drawn = drawn_words(ctx);
    const size_t table = drawn.find("the largest difference first");
    ASSERT_NE(table, std::string::npos);
    const size_t first = drawn.find("barriers", table), second = drawn.find("issue", first);
    EXPECT_NE(first, std::string::npos);
    EXPECT_NE(second, std::string::npos) << "barriers differ most";
    EXPECT_THAT(drawn, HasSubstr("Where: barriers"));
  });
}

TEST_F(WhyFlow, ATermLeadsToItsLinesAndALineToTheSource) {
  open_still(snapshot_with_terms());
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Why/**/##issue");
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Where: issue"));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("out[0] = q[0];"));
    const std::string place = session::find_kernel(*now(), "tiled")->source_name + ":3";
    ctx->ItemClick(("//Why/**/##" + place).c_str());
    ctx->Yield(8);
    EXPECT_EQ(bench_->source_line(), 3);
    EXPECT_TRUE(ctx->GetWindowByRef("//Source")->DockTabIsVisible);
  });
}

TEST_F(WhyFlow, ABarsSegmentChoosesItsTerm) {
  open_still(snapshot_with_terms());
  flow([&](ImGuiTestContext* ctx) {
    const ImGuiTestItemInfo bar = ctx->ItemInfo("//Why/**/B/##bar");
    ctx->MouseMoveToPos({bar.RectFull.Min.x + bar.RectFull.GetWidth() * 0.1f, bar.RectFull.GetCenter().y});
    ctx->MouseClick();
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Where: issue"));
  });
}

TEST_F(WhyFlow, AFindingSetsItsKnobsAndCopiesItsCommandLine) {
  Finding found;
  found.severity = Severity::warning;
  found.sentence = "Three of four warps wait.";
  found.evidence = {{"idle", 75, "%", FigureKind::counted}};
  found.next = Next{{{"NUM_WARPS", 2}, {"VEC_WIDTH", 8}}};
  AskedSession& session = open_still(snapshot_with_terms({found}), {2560, 1440});
  flow([&](ImGuiTestContext* ctx) {
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Three of four warps wait."));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("idle 75 %, counted"));
    ctx->ItemClick("//Why/**/###copy");
    EXPECT_THAT(ImGui::GetClipboardText(),
                HasSubstr("attnscope run --kernel tiled --set NUM_WARPS=2 --set VEC_WIDTH=8"));
    ctx->ItemClick("//Why/**/###next");
    ctx->Yield(2);
    ASSERT_TRUE(session.asked);
    EXPECT_EQ(session.asked->config.knobs.at("NUM_WARPS"), 2);
    EXPECT_EQ(session.asked->config.knobs.at("VEC_WIDTH"), 8);
    EXPECT_THAT(session.change, HasSubstr("NUM_WARPS 2"));
  });
}

TEST_F(WhyFlow, FindingsAreGroupedAndAGroupShowsThreeUntilMoreAreAsked) {
  std::vector<Finding> found;
  for (const RuleId rule : {RuleId::bank_conflicts, RuleId::lone_warps, RuleId::shared_queue, RuleId::global_scattered,
                            RuleId::global_narrow}) {
    Finding& one = found.emplace_back();
    one.rule = rule;
    one.sentence = "Found by " + one.rule.name() + ".";
  }
  open_still(snapshot_with_terms(found), {2560, 1440});
  flow([&](ImGuiTestContext* ctx) {
    const std::string drawn = drawn_words(ctx);
    size_t at = drawn.find("Findings");
    for (const char* words : {"memory", "Found by banks.conflicts.", "Found by global.scattered.", "1 more",
                              "warps and waits", "Found by warps.lone."}) {
      at = drawn.find(words, at);
      ASSERT_NE(at, std::string::npos) << words << " in " << drawn;
    }
    EXPECT_THAT(drawn, Not(HasSubstr("Found by global.narrow.")));
    ctx->ItemClick("//Why/**/###more of memory");
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Found by global.narrow."));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("fewer"));
  });
}

TEST_F(WhyFlow, WithoutTermsThePanelSaysWhatGivesThem) {
  session::Snapshot snapshot = snapshot_with_terms();
  auto seen = std::make_shared<Observation>(*snapshot.focus.shown);
  seen->timing->kind = FigureKind::measured;
  seen->timing->terms.reset();
  snapshot.focus.shown = seen;
  open_still(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) { EXPECT_THAT(drawn_words(ctx), HasSubstr("A measured time has no terms")); });
}

TEST_F(WhyFlow, TheVerdictAndTheKeyLeadHere) {
  open_still(snapshot_with_terms());
  flow([&](ImGuiTestContext* ctx) {
    const auto in_front = [&] { return ctx->GetWindowByRef("//Why")->DockTabIsVisible; };
    for (const bool by_key : {false, true}) {
      bench_->open_panel("History");
      ctx->Yield(8);
      ASSERT_FALSE(in_front());
      if (by_key)
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_E);
      else
        ctx->ItemClick("//##baseline/###verdict");
      ctx->Yield(8);
      EXPECT_TRUE(in_front()) << by_key;
    }
  });
}

// The panel is in every window size, and whatever it shows, nothing below it moves.
TEST_F(WhyFlow, NothingMovesWhenAnotherTermIsChosen) {
  Finding found;
  found.sentence = "Found.";
  found.next = Next{{{"NUM_WARPS", 2}}};
  open_still(snapshot_with_terms({found}), {2560, 1440});
  flow([&](ImGuiTestContext* ctx) {
    const auto where = [&] { return ctx->ItemInfo("//Why/**/###next").RectFull.Min; };
    const ImVec2 before = where();
    ctx->ItemClick("//Why/**/##issue");
    ctx->Yield(2);
    EXPECT_EQ(where().x, before.x);
    EXPECT_EQ(where().y, before.y);
  });
}

TEST(TermGlossary, EveryTermHasItsSentence) {
  const auto glossary = Glossary::load(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets/glossary.md");
  ASSERT_TRUE(glossary);
  for (const auto& [kind, word] : Words<TermKind>::table) EXPECT_NE(glossary->find(word), "") << word;
  // Its word, which recordings have, leaves out what else it covers.
  EXPECT_THAT(glossary->find(word_of(Bound::short_latency)), ::testing::HasSubstr("constants"));
}

}  // namespace
}  // namespace attnscope::ui
