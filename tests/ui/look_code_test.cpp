// How the panes beside the source, the terms and the presentation look.
#include "support/made_up_timeline.h"
#include "ui/look.h"
#include "ui/still_code.h"
#include "ui/sweep_desk.h"

namespace attnscope::ui {
namespace {

// Keeps the parts of the windows whose names begin with `window`, named after what they show.
void keep(Drawing& kept, const std::string& shown, const Drawing& drawn, const std::string& window) {
  for (const auto& [part, lines] : drawn)
    if (part.starts_with(window)) kept[shown + ": " + part] = lines;
}

TEST_F(Look, OfThePanesBesideTheSource) {
  session::Snapshot snapshot = with_a_product(with_banks(snapshot_with_code()));
  Listing softmax;
  softmax.softmax = two_softmax_tiles();
  snapshot.listings[softmax_key(snapshot)] = session::share(std::move(softmax));
  open(std::move(snapshot), {2560, 1440}, ThemeMode::light);
  Drawing panes;
  for (const char* pane : {"SASS", "PTX", "Changes since A", "Banks", "Fragments", "Softmax"})
    keep(panes, pane, drawn_after([&](ImGuiTestContext* ctx) {
           bench_->open_panel("Source");
           ctx->Yield(4);
           ctx->ItemClick((std::string("//Source/") + pane).c_str());
         }),
         "Source");
  // What a chosen instruction highlights, and what the panes show about it.
  for (const char* pane : {"SASS", "Banks", "Fragments"})
    keep(panes, std::string("chosen, ") + pane, drawn_after([&](ImGuiTestContext* ctx) {
           ctx->ItemClick("//Source/SASS");
           ctx->Yield(4);
           ctx->ItemClick("//Source/**/##sass0");
           ctx->ItemClick((std::string("//Source/") + pane).c_str());
         }),
         "Source");
  expect_as_recorded("source_panes", panes);
}

TEST_F(Look, OfTheSourceInAUsualWindow) {
  open(with_a_product(with_banks(snapshot_with_code())), {1600, 900}, ThemeMode::dark);
  Drawing panes;
  for (const char* pane : {"Source", "SASS", "Banks", "Fragments"})
    keep(panes, pane, drawn_after([&](ImGuiTestContext* ctx) {
           bench_->open_panel("Source");
           ctx->Yield(4);
           ctx->ItemClick((std::string("//Source/") + pane).c_str());
         }),
         "Source");
  expect_as_recorded("source_usual", panes);
}

// CTAs by SM, of which one is chosen, and its warps: by state if they are modelled, as bars if a GPU's clocks were
// read.
TEST_F(Look, OfATimeline) {
  Drawing views;
  const auto add = [&](const char* view, session::Snapshot snapshot, const char* button) {
    if (bench_) close();
    open(std::move(snapshot), {1600, 900}, ThemeMode::dark);
    keep(views, view, drawn_after([&](ImGuiTestContext* ctx) {
           bench_->open_panel("Timeline");
           ctx->Yield(8);
           if (button != nullptr) ctx->ItemClick(button);
         }),
         "Timeline");
  };
  add("modelled", with_timeline(snapshot_after({"m32_w4"}), testing_support::made_up_timeline()), nullptr);
  add("measured", snapshot_with_clocks_of_both(), "//Timeline/measured");
  expect_as_recorded("timeline", views);
}

TEST_F(Look, OfTermsAndFindings) {
  Finding found = waiting_warps();
  found.rule = RuleId::lone_warps;
  std::vector<Finding> all{found};
  for (const RuleId rule :
       {RuleId::bank_conflicts, RuleId::shared_queue, RuleId::global_scattered, RuleId::global_narrow}) {
    Finding& one = all.emplace_back();
    one.rule = rule;
    one.sentence = std::string(one.rule.says()) + ".";
  }
  open(snapshot_with_terms(all), {2560, 1440}, ThemeMode::dark);
  Drawing why;
  keep(why, "why", drawn_after([&](ImGuiTestContext*) { bench_->open_panel("Why"); }), "Why");
  keep(why, "issue", drawn_after([&](ImGuiTestContext* ctx) { ctx->ItemClick("//Why/**/##issue"); }), "Why");
  keep(why, "all of memory", drawn_after([&](ImGuiTestContext* ctx) {
         ctx->ScrollToBottom(ctx->WindowInfo("//Why/lines and findings").Window->ID);
         ctx->ItemClick("//Why/**/###more of memory");
       }),
       "Why");
  expect_as_recorded("why", why);
}

// Panels that a usual window keeps behind tabs.
TEST_F(Look, OfEachPanelInFront) {
  open(snapshot_after({"minimal", "m32_w8", "m32_w4"}), {1600, 900}, ThemeMode::light);
  Drawing panels;
  for (const char* panel : {"Attention", "Counters", "Lessons", "Log"})
    keep(panels, panel, drawn_after([&](ImGuiTestContext* ctx) {
           bench_->open_panel(panel);
           ctx->Yield(8);
         }),
         panel);
  keep(panels, "Sweep", drawn_after([&](ImGuiTestContext* ctx) {
         bench_->open_panel("Sweep");
         ctx->Yield(8);
         wait(
             ctx, [&](const session::Snapshot&) { return !bench_->sweep().counts(); }, "the count of the configs");
       }),
       "Sweep");
  expect_as_recorded("each_panel", panels);
}

TEST_F(Look, OfAPresentation) {
  Drawing stages;
  for (const ShotSize size : {ShotSize{1280, 720}, {2560, 1440}}) {
    close();
    open(snapshot_after({"m32_w4", "m32_w8"}), size, ThemeMode::dark);
    for (const char* lesson : {"", "04_idle_warps"})
      keep(stages, std::to_string(size.width) + " " + lesson, drawn_after([&](ImGuiTestContext* ctx) {
             if (*lesson != 0) {
               ASSERT_TRUE(bench_->open_lesson(lesson));
             }
             if (!bench_->presents()) ctx->KeyPress(ImGuiKey_F11);
             ctx->Yield(12);
           }),
           "Presenter");
  }
  expect_as_recorded("presenter", stages);
}

}  // namespace
}  // namespace attnscope::ui
