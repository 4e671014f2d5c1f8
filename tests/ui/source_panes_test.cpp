// What the Source panel's lines and panes say of code that is not the usual: parts of other files, an access of one
// phase, a change in the first instruction.
#include "ui/still_code.h"
#include "ui/still_window.h"

namespace attnscope::ui {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class SourcePanes : public StillWindow {
 protected:
  void open_source(session::Snapshot snapshot) {
    StillWindow::open_still<StillSession>(std::move(snapshot), {2560, 1440}, "Source");
  }
  // The lines of the live run's kernel as they are drawn.
  std::set<std::string> lines(ImGuiTestContext* ctx) {
    for (auto& [part, lines] : drawn(ctx, "Source"))
      if (part.ends_with("lines")) return lines;
    return {};
  }
};

session::Shared<Listing> changed(const session::Snapshot& snapshot, size_t run,
                                 const std::function<void(Listing&)>& change) {
  auto listing =
      std::make_shared<Listing>(*snapshot.listings.at(hash_of(snapshot.history.at(run).observation->experiment)));
  change(*listing);
  return listing;
}

TEST_F(SourcePanes, ALineOfAnotherFileHasItsNumberThere) {
  session::Snapshot snapshot = snapshot_with_code();
  auto kernels = std::make_shared<std::vector<Kernel>>(*snapshot.kernels);
  for (Kernel& kernel : *kernels)
    kernel.source =
        "__global__ void attention(const half* q, half* out) {\n#line 40 \"parts.cuh\"\n  out[0] = q[4];\n}\n";
  snapshot.kernels = kernels;
  open_source(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) {
    const std::set<std::string> drawn = lines(ctx);
    EXPECT_THAT(drawn, Contains(HasSubstr("faint \"1\""))) << "of the kernel's own file";
    EXPECT_THAT(drawn, Contains(HasSubstr("faint \"40\""))) << "of the file that the directive names";
    EXPECT_THAT(drawn, Contains(HasSubstr("faint \"41\"")));
    EXPECT_THAT(drawn, Not(Contains(HasSubstr("faint \"3\""))));
  });
}

TEST_F(SourcePanes, AnAccessOfOnePhaseSaysItsLanesAndOffersNoChoice) {
  session::Snapshot snapshot = with_banks(snapshot_with_code());
  const std::string hash = hash_of(snapshot.focus.shown->experiment);
  snapshot.listings[hash] = changed(snapshot, 1, [](Listing& listing) {
    for (SharedAccess& shape : listing.lines[0].shared->shapes) shape.bytes = 4;
  });
  open_source(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/**/##sass0", 0, ImGuiTestOpFlags_NoError);
    ctx->ItemClick("//Source/Banks");
    ctx->Yield(4);
    const std::string words = drawn_words(ctx);
    EXPECT_THAT(words, HasSubstr("one phase: lanes 0 to 31: "));
    EXPECT_THAT(words, Not(HasSubstr("1 phases")));
    EXPECT_THAT(words, Not(HasSubstr("all phases")));
  });
}

TEST_F(SourcePanes, ASearchGoesThroughEveryInstructionOfCodeThatHasJustCome) {
  open_source(snapshot_with_code());
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/SASS");
    ctx->ItemInput("//Source/##search");
    ctx->KeyCharsReplaceEnter("exit");
    ctx->Yield(4);
    EXPECT_EQ(bench_->source_line(), 3) << "of the last instruction";
    ctx->ItemInput("//Source/##search");
    ctx->KeyCharsReplaceEnter("ldg");
    ctx->Yield(4);
    EXPECT_EQ(bench_->source_line(), 2) << "of the first one, after the last";
  });
}

TEST_F(SourcePanes, AClickOnAChangeChoosesItsInstruction) {
  session::Snapshot snapshot = snapshot_with_code();
  const std::string hash = hash_of(snapshot.focus.shown->experiment);
  snapshot.listings[hash] = changed(snapshot, 1, [](Listing& listing) { listing.lines[0].text = "LDS.64 R4, [R2]"; });
  open_source(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Source/Changes since A");
    ctx->Yield(4);
    const auto click_on = [&](const char* text) {  // a row has a number only
      const Drawing all = drawn(ctx, "Source/beside");
      for (const auto& [part, rows] : all)
        for (const std::string& row : rows)
          if (const size_t at = row.find(" at "); row.find(text) != std::string::npos && at != std::string::npos) {
            ctx->MouseTeleportToPos({std::stof(row.substr(at + 4)) + 5, std::stof(row.substr(row.rfind(',') + 1)) + 5});
            ctx->MouseClick();
            ctx->Yield(4);
            return true;
          }
      return false;
    };
    ASSERT_TRUE(click_on("LDS.64 R4"));
    EXPECT_EQ(bench_->source_line(), 2) << "the first instruction's line";
    ASSERT_TRUE(click_on("q[8]"));
    EXPECT_EQ(bench_->source_line(), 2);
  });
}

}  // namespace
}  // namespace attnscope::ui
