// The Source panel: figures by line, SASS and PTX beside the source, what changed since A.
#include <imgui_internal.h>

#include <thread>

#include "support/sanitized.h"
#include "ui/drawing.h"
#include "ui/own_allocations.h"
#include "ui/still_code.h"
#include "ui/still_window.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

// Keeps the runs whose code the window asks for.
class CodeSession : public StillSession {
 public:
  using StillSession::StillSession;
  void request_code(Experiment experiment, std::optional<int64_t>) override { asked.push_back(std::move(experiment)); }
  void show_listing(const std::string& key, session::Shared<Listing> listing) {
    auto next = std::make_shared<session::Snapshot>(*snapshot());
    ++next->version;
    next->listings[key] = std::move(listing);
    next_ = std::move(next);
  }
  session::Shared<session::Snapshot> snapshot() const override { return next_ ? next_ : StillSession::snapshot(); }
  std::vector<Experiment> asked;

 private:
  session::Shared<session::Snapshot> next_;
};

class SourceFlow : public StillWindow {
 protected:
  CodeSession& open_still(session::Snapshot snapshot, ShotSize size = {2560, 1440}) {
    return StillWindow::open_still<CodeSession>(std::move(snapshot), size, "Source");
  }
};

TEST_F(SourceFlow, LinesAndInstructionsHaveTheirFigures) {
  CodeSession& session = open_still(snapshot_with_code(), {5120, 1440});  // room for every column
  flow([&](ImGuiTestContext* ctx) {
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("LDG.E R4, [R2]"));
    EXPECT_THAT(drawn, HasSubstr("------:R-:W0:-:S02"));
    EXPECT_THAT(drawn, HasSubstr("10.00 \u00b5s")) << "the second line's: those of its three instructions";
    EXPECT_THAT(drawn, HasSubstr("26.7")) << "its active lanes";
    EXPECT_THAT(drawn, HasSubstr("counted over 128 CTAs"));
  });
  EXPECT_TRUE(session.asked.empty()) << "it is there";
}

TEST_F(SourceFlow, AMissingListingIsAskedFor) {
  CodeSession& session = open_still(snapshot_with_code(false));
  ASSERT_FALSE(session.asked.empty());
  EXPECT_EQ(session.asked.front(), now()->focus.shown->experiment);
  flow([&](ImGuiTestContext* ctx) { EXPECT_THAT(drawn_words(ctx), HasSubstr("The code is being read.")); });
}

TEST_F(SourceFlow, ARefusalSaysWhyAndIsNotAskedAgain) {
  session::Snapshot snapshot = snapshot_with_code(false);
  snapshot.refused_listings[hash_of(snapshot.focus.shown->experiment)] = {Stage::decode, "No nvdisasm was found.", ""};
  CodeSession& session = open_still(std::move(snapshot));
  EXPECT_TRUE(session.asked.empty());
  flow([&](ImGuiTestContext* ctx) { EXPECT_THAT(drawn_words(ctx), HasSubstr("No nvdisasm was found.")); });
}

TEST_F(SourceFlow, AnInstructionChoosesItsLineAndALineItsInstructions) {
  open_still(snapshot_with_code());
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/**/##sass3");
    ctx->Yield(2);
    EXPECT_EQ(bench_->source_line(), 3);
    ctx->ItemClick("//Source/**/##sass1");
    ctx->Yield(2);
    EXPECT_EQ(bench_->source_line(), 2) << "through the call that is inlined there";
    ctx->ItemClick("//Source/**/##line3");
    ctx->Yield(2);
    EXPECT_EQ(bench_->source_line(), 3);
  });
}

TEST_F(SourceFlow, TheNextHotLineIsTheHottestByTheChosenColumn) {
  open_still(snapshot_with_code());
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/next hot");
    EXPECT_EQ(bench_->source_line(), 2);
    ctx->ItemClick("//Source/next hot");
    EXPECT_EQ(bench_->source_line(), 3);
    ctx->ItemClick("//Source/next hot");
    EXPECT_EQ(bench_->source_line(), 2) << "and from the first again";
    ctx->ItemClick("//Source/##by");
    ctx->ItemClick("//$FOCUSED/sectors");
    ctx->ItemClick("//Source/next hot");
    EXPECT_EQ(bench_->source_line(), 2) << "no other line has sectors";
  });
}

TEST_F(SourceFlow, SearchGoesThroughTheSourceThenTheCode) {
  open_still(snapshot_with_code());
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemInput("//Source/##search");
    ctx->KeyCharsReplaceEnter("OUT[0]");
    ctx->Yield(2);
    EXPECT_EQ(bench_->source_line(), 2);
    ctx->ItemInput("//Source/##search");
    ctx->KeyCharsReplaceEnter("exit");
    ctx->Yield(2);
    EXPECT_EQ(bench_->source_line(), 3) << "the instruction's line";
  });
}

TEST_F(SourceFlow, PtxIsBesideTheSource) {
  open_still(snapshot_with_code());
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/PTX");
    ctx->Yield(4);
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("ld.global.f16"));
    EXPECT_THAT(drawn, Not(HasSubstr(".loc 1 2 3")));
    ctx->ItemClick("//Source/**/##ptx2");
    ctx->Yield(2);
    EXPECT_EQ(bench_->source_line(), 3);
  });
}

TEST_F(SourceFlow, BanksAreOfTheChosenInstructionStepByStep) {
  open_still(with_banks(snapshot_with_code()), {5120, 1440});
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/**/##sass0");
    ctx->ItemClick("//Source/Banks");
    ctx->Yield(4);
    std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("warp 1, its execution 5: load of 16 B a lane from K_tile + 0 on")) << "the worst";
    EXPECT_THAT(drawn, HasSubstr("as recorded\n32 wavefronts for 4"));
    EXPECT_THAT(drawn, HasSubstr("16 B behind each row\n4 wavefronts for 4"));
    EXPECT_THAT(drawn, HasSubstr("chunks permuted by the row\n4 wavefronts for 4"));
    EXPECT_THAT(drawn, HasSubstr("4 phases"));
    EXPECT_THAT(drawn, HasSubstr("K_tile: 4,096 to 12,287: 64 rows of 128 B; every row begins in the same bank"));
    ctx->ItemClick("//Source/**/3##phase");
    EXPECT_THAT(drawn_words(ctx), HasSubstr("lanes 16 to 23: 8 wavefronts"));
    ctx->ItemClick("//Source/**/##before");
    ctx->Yield(2);
    drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("warp 0, its execution 1"));
    EXPECT_THAT(drawn, HasSubstr("as recorded\n4 wavefronts for 4"));
  });
}

TEST_F(SourceFlow, AnAccessIsChosenAmongAll) {
  open_still(with_banks(snapshot_with_code()), {5120, 1440});
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/**/##line3");
    ctx->ItemClick("//Source/Banks");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Line 3 makes no access to shared memory"));
    const ImGuiID beside = ctx->WindowInfo("//Source/beside").ID;
    ctx->ItemClick(ctx->GetID("##access", beside));
    ctx->ItemClick("//$FOCUSED/0020  STG.E [R6], R7##all2");
    ctx->Yield(2);
    EXPECT_EQ(bench_->source_line(), 2) << "the line of the chosen store";
    EXPECT_THAT(drawn_words(ctx), HasSubstr("store of 16 B a lane from Q_tile + 0 on"));
    ctx->ItemClick(ctx->GetID("##rows", beside));
    ctx->ItemClick("//$FOCUSED/128 B");
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("16 B behind each row\n4 wavefronts for 4"));
  });
}

TEST_F(SourceFlow, CodeWithoutAccessesHasNoBanks) {
  open_still(snapshot_with_code());
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/Banks");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("This run made no access to shared memory."));
  });
}

TEST_F(SourceFlow, ChangesSinceAAreOfSourceAndCodeButNotOfRegisters) {
  open_still(snapshot_with_code());
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/Changes since A");
    ctx->Yield(4);
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("Source, with the knobs' values: 1 removed, 1 added"));
    EXPECT_THAT(drawn, HasSubstr("q[4]"));
    EXPECT_THAT(drawn, HasSubstr("q[8]"));
    EXPECT_THAT(drawn, HasSubstr("SASS, registers ignored: 1 removed, 1 added")) << "STG has only other registers";
    EXPECT_THAT(drawn, HasSubstr("HMUL2 R5, R4, R4"));
  });
}

TEST_F(SourceFlow, WithoutARunBeforeThereIsNothingToCompare) {
  session::Snapshot snapshot = snapshot_with_code();
  auto chunk = std::make_shared<session::HistoryChunk>();
  chunk->entries = {snapshot.history.chunks.front()->entries.back()};
  chunk->entries.front().id = snapshot.focus.run = 1;
  snapshot.history = {{chunk}, 1};
  open_still(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/Changes since A");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("There is no run A beside the shown one."));
  });
}

TEST_F(SourceFlow, ANarrowPanelShowsOneOfThem) {
  open_still(snapshot_with_code(), {1024, 640});
  flow([&](ImGuiTestContext* ctx) {
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("LDG.E")));
    ctx->ItemClick("//Source/SASS");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("LDG.E"));
  });
}

TEST_F(SourceFlow, FragmentsShowWhichLaneHoldsWhat) {
  open_still(with_a_product(snapshot_with_code()), {5120, 1440});  // all three side by side
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/Fragments");
    ctx->Yield(4);
    std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("HMMA.16816.F32 R4, R8, R12, RZ")) << "the code's first with matrices";
    EXPECT_THAT(drawn, HasSubstr("A  16 x 16 of 16 bits"));
    EXPECT_THAT(drawn, HasSubstr("C in RZ: zeros"));
    EXPECT_THAT(drawn, HasSubstr("R9 (9, 6) (9, 7)")) << "of lane 7";
    ctx->ItemClick("//Source/**/##A 12 5");  // row 12, columns 10 and 11
    ctx->MouseMove("//Source/Fragments");
    ctx->Yield(4);
    drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("Lane 17 holds of A"));
    EXPECT_THAT(drawn, HasSubstr("R11 (12, 10) (12, 11)"));
    EXPECT_THAT(drawn, HasSubstr("R6 (12, 2)")) << "its part of D";
    ctx->MouseMove("//Source/**/##B 3 1");  // rows 6 and 7 of column 1
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Lane 7 holds of D")) << "the lane under the pointer";
    ctx->ItemInputValue("//Source/**/##lane", 31);
    ctx->Yield(4);
    ctx->MouseMove("//Source/Fragments");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Lane 31 holds of A"));
  });
}

TEST_F(SourceFlow, FragmentsFollowTheChosenInstructionAndLine) {
  open_still(with_a_product(snapshot_with_code()));
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/Fragments");
    ctx->ItemClick("//Source/**/##line3");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("LDSM.16.MT88.2 R20, [R3]"));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("2 matrices of 8 x 8"));
    ctx->ItemClick("//Source/**/##line1");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("The chosen line has no matrices; these are of another."));
    ctx->ItemClick("//Source/**/<##fragment");
    ctx->Yield(4);
    EXPECT_EQ(bench_->source_line(), 2) << "the product's line";
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("The chosen line has no")));
    ctx->SetRef(ctx->WindowInfo("//Source/beside").ID);  // a combo has no label to be found by
    ctx->ItemClick("##fragments");
    ctx->ItemClick("//$FOCUSED/###at4");
    ctx->Yield(4);
    EXPECT_EQ(bench_->source_line(), 3);
  });
}

TEST_F(SourceFlow, CodeWithoutMatricesSaysSo) {
  open_still(snapshot_with_code());
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/Fragments");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("This code has no Tensor Core products"));
  });
}

// The figures stay beside the code when it scrolls sideways.
TEST_F(SourceFlow, FiguresStayInSightWhenTheCodeIsScrolled) {
  session::Snapshot snapshot = snapshot_with_code();
  const std::string hash = hash_of(snapshot.focus.shown->experiment);
  auto wide = std::make_shared<Listing>(*snapshot.listings.at(hash));
  wide->lines[1].text += std::string(200, ' ') + "end";
  snapshot.listings[hash] = wide;
  open_still(std::move(snapshot), {1280, 720});
  const auto figure = [] {
    for (const auto& [part, lines] : last_frame())
      for (const std::string& line : lines)
        if (part.starts_with("Source") && line.find("\"7.00 \u00b5s\"") != std::string::npos) return line;
    return std::string();
  };
  const std::string before = figure();
  EXPECT_NE(before, "");
  flow([&](ImGuiTestContext* ctx) {
    ImGuiWindow* sass = ctx->ItemInfo("//Source/**/##sass0").Window;
    ASSERT_NE(sass, nullptr);
    const float widest = sass->ScrollMax.x;
    ASSERT_GT(widest, 20);
    ImGui::SetScrollX(sass, 20);
    ctx->Yield(3);
    EXPECT_EQ(sass->Scroll.x, 20);
    EXPECT_EQ(sass->ScrollMax.x, widest) << "the rows make no room of their own";
  });
  EXPECT_EQ(figure(), before);
}

TEST_F(SourceFlow, TheStripCanBeTallAndLeavesTheHeadlines) {
  open_still(snapshot_with_code(), {1280, 720});
  flow([&](ImGuiTestContext* ctx) {
    const auto height = [&](const char* title) { return ctx->GetWindowByRef(title)->Size.y; };
    const float before = height("//Source");
    ctx->MouseMove("//Source/###tall");
    const auto tells = [&](const session::Snapshot&) {  // a tooltip comes after a time, not after so many frames
      return drawn_words(ctx).find("Shrinks the panels above to their headlines") != std::string::npos;
    };
    if (!wait(ctx, tells, "the button's tooltip")) return;
    ctx->ItemClick("//Source/###tall");
    ctx->Yield(4);
    EXPECT_GT(height("//Source"), 1.8f * before);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("per CTA")) << "the headlines stay in sight";
    EXPECT_GT(height("//Latency"), 100);
    ctx->ItemClick("//Source/###tall");
    ctx->Yield(4);
    EXPECT_NEAR(height("//Source"), before, 2);
    ctx->MenuClick("//##MainMenuBar/View/Lower panels taller, or as before");
    ctx->Yield(4);
    EXPECT_GT(height("//Source"), 1.8f * before);
    bench_->open_panel("Why");
    ctx->Yield(4);
    EXPECT_GT(height("//Why"), 1.8f * before) << "its neighbours too";
  });
}

// In a large window the history stands beside the source; made tall, the source takes most of the width too.
TEST_F(SourceFlow, ATallSourceIsWiderThanTheHistoryBesideIt) {
  open_still(snapshot_with_code(), {2560, 1440});
  flow([&](ImGuiTestContext* ctx) {
    const auto width = [&](const char* title) { return ctx->GetWindowByRef(title)->Size.x; };
    const float before = width("//Source");
    ctx->ItemClick("//Source/###tall");
    ctx->Yield(4);
    EXPECT_GT(width("//Source"), 1.3f * before);
    EXPECT_GT(width("//Source"), 2 * width("//History"));
    EXPECT_GT(width("//History"), 300) << "its rows are still read";
    ctx->ItemClick("//Source/###tall");
    ctx->Yield(4);
    EXPECT_NEAR(width("//Source"), before, 2);
  });
}

constexpr size_t kLong = 20000;  // instructions

// The listing of the live run, repeated until it is long.
session::Shared<Listing> long_listing(const session::Snapshot& snapshot) {
  auto large = std::make_shared<Listing>(*snapshot.listings.at(hash_of(snapshot.focus.shown->experiment)));
  const std::vector<CodeLine> few = large->lines;
  while (large->lines.size() < kLong) large->lines.insert(large->lines.end(), few.begin(), few.end());
  return large;
}

TEST_F(SourceFlow, OnlyRowsInSightAreDrawn) {
  session::Snapshot snapshot = snapshot_with_code();
  snapshot.listings[hash_of(snapshot.focus.shown->experiment)] = long_listing(snapshot);
  open_still(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) {
    while (!ctx->ItemExists("//Source/**/##sass0")) ctx->Yield();
    EXPECT_FALSE(ctx->ItemExists("//Source/**/##sass19999"));
  });
}

// Counted, not timed: what a frame makes and drops of long code takes an operator new or delete or more for each
// instruction.
TEST_F(SourceFlow, LongCodeIsMadeAndDroppedByAnotherThread) {
  if (testing_support::kSanitized) GTEST_SKIP() << "a sanitizer counts its own allocations";
  session::Snapshot snapshot = snapshot_with_code();
  const std::string hash = hash_of(snapshot.focus.shown->experiment);
  const auto longer = long_listing(snapshot);
  CodeSession& session = open_still(snapshot);
  const auto most = [&](const std::function<bool()>& there) {  // calls of one frame until then
    int64_t calls = 0;
    for (int frames = 0; frames < 8 || !there(); ++frames) {
      const int64_t before = own_allocations();
      frame();
      calls = std::max(calls, own_allocations() - before);
      std::this_thread::yield();
    }
    return calls;
  };
  const auto any = [] { return true; };
  const auto rows = [] {
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
      if (window->WasActive && std::string_view(window->Name).find("/sass_") != std::string_view::npos)
        return window->ContentSize.y;
    return 0.0f;
  };
  const int64_t still = most(any);
  const float few = rows();
  session.show_listing(hash, longer);
  const auto another = std::make_shared<Listing>(*longer);
  EXPECT_LT(most([&] { return rows() > 100 * few; }) - still, int64_t{kLong / 4}) << "it arrives";
  session.show_listing(hash, another);
  EXPECT_LT(most(any) - still, int64_t{kLong / 4}) << "another takes its place";
  session.show_listing(hash, snapshot.listings.at(hash));
  EXPECT_LT(most([&] { return rows() < 2 * few; }) - still, int64_t{kLong / 4}) << "it goes";
}

}  // namespace
}  // namespace attnscope::ui
