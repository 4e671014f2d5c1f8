// What every item of a panel tells and does, over fixed snapshots.
#include "ui/tour.h"
#include "support/made_up_timeline.h"
#include "ui/still_code.h"

namespace attnscope::ui {
namespace {

// Two runs of a kernel with a listing; the live one has banks, a product, its softmax, and findings with places.
session::Snapshot with_everything() {
  session::Snapshot snapshot = with_a_product(with_banks(snapshot_with_code()));
  snapshot.own_kernels_dir = "/own";
  Listing softmax;
  softmax.softmax = two_softmax_tiles();
  snapshot.listings[softmax_key(snapshot)] = session::share(std::move(softmax));
  return snapshot;
}

TEST_F(Tour, OfTheSource) {
  open(with_everything(), {1600, 900}, ThemeMode::light);
  stop("open", [&](ImGuiTestContext* ctx) {
    bench_->open_panel("Source");
    ctx->Yield(4);
    ctx->ItemClick("//Source/###tall");
  });
  const std::vector<std::string> cells = {"A ", "B ", "C ", "D "};  // of matrices: each does the same
  hover("source", "//Source", {90, 24});
  click("source", "//Source", {"copy", "###edit", "###tall"});
  for (const char* pane : {"SASS", "PTX", "Changes since A", "Banks", "Fragments", "Softmax"}) {
    stop(pane, [&](ImGuiTestContext* ctx) { ctx->ItemClick((std::string("//Source/") + pane).c_str()); });
    hover(pane, "//Source/beside", {50, 40}, cells);
    click(pane, "//Source/beside", cells);
  }
  expect_as_recorded("source");
}

TEST_F(Tour, OfTheLatency) {
  open(snapshot_after({"minimal", "m32_w4", "m32_w8", "m64_w4", "m32_w2"}), {1600, 900});
  for (const char* view : {"runs", "by knob", "roofline"}) {
    stop(view, [&](ImGuiTestContext* ctx) { ctx->ItemClick((std::string("//Latency/") + view).c_str()); });
    hover(view, "//Latency", {12, 40});
    click(view, "//Latency");
  }
  expect_as_recorded("latency");
}

TEST_F(Tour, OfTheExperiment) {
  open(snapshot_after({"m32_w4", "m32_w8"}), {1600, 900}, ThemeMode::light);
  hover("experiment", "//Experiment", {40, 20});
  click("experiment", "//Experiment");
  expect_as_recorded("experiment");
}

TEST_F(Tour, OfTheHistory) {
  open(snapshot_after({"minimal", "m32_w4", "m64_w4", "m32_w8"}), {1600, 900});
  hover("history", "//History", {40, 20});
  click("history", "//History");
  expect_as_recorded("history");
}

TEST_F(Tour, OfTheReadouts) {
  open(snapshot_after({"m32_w4", "m32_w8"}), {1600, 900}, ThemeMode::light);
  for (const char* panel : {"Shared memory", "Error", "Attention", "Counters", "Lessons", "Log"}) {
    stop(panel, [&](ImGuiTestContext*) { bench_->open_panel(panel); });
    hover(panel, std::string("//") + panel, {36, 30});
    click(panel, std::string("//") + panel);
  }
  expect_as_recorded("readouts");
}

TEST_F(Tour, OfWhy) {
  Finding found = waiting_warps();
  found.rule = RuleId::lone_warps;
  open(snapshot_with_terms({found}), {1600, 900});
  stop("Why", [&](ImGuiTestContext*) { bench_->open_panel("Why"); });
  hover("Why", "//Why", {40, 20});
  click("Why", "//Why");
  expect_as_recorded("why");
}

TEST_F(Tour, OfTheTimeline) {
  open(with_timeline(snapshot_after({"m32_w4", "m32_w8"}), testing_support::made_up_timeline()), {1600, 900});
  stop("modelled", [&](ImGuiTestContext*) { bench_->open_panel("Timeline"); });
  hover("modelled", "//Timeline", {30, 20});
  click("modelled", "//Timeline");
  open(snapshot_with_clocks_of_both(), {1600, 900});
  stop("measured", [&](ImGuiTestContext* ctx) {
    bench_->open_panel("Timeline");
    ctx->Yield(8);
    ctx->ItemClick("//Timeline/measured");
  });
  hover("measured", "//Timeline", {30, 20});
  click("measured", "//Timeline");
  expect_as_recorded("timeline");
}

// The status bar.
TEST_F(Tour, OfTheFrame) {
  open(snapshot_after({"m32_w4", "m32_w8"}), {1600, 900});
  hover("status", "//##status", {40, 10});
  click("status", "//##status");
  expect_as_recorded("frame");
}

}  // namespace
}  // namespace attnscope::ui
