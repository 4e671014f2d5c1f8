// What a user does with the window, step by step.
#include <imgui_internal.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ui/icons.h"
#include "ui/settings.h"
#include "ui/view_state.h"
#include "ui/widgets/map_view.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using session::Part;
using session::PartState;
using session::Snapshot;

class Flow : public WindowFlow {
 protected:
  static int64_t shared(const Observation& seen) {
    return seen.variant->static_shared_bytes + seen.variant->dynamic_shared_bytes;
  }
  // All readouts belong to the experiment that the knobs describe.
  static void expect_all_fresh(const Snapshot& s) {
    for (const Part part : {Part::variant, Part::occupancy, Part::counters, Part::verdict, Part::timing}) {
      EXPECT_EQ(s.focus.parts[static_cast<int>(part)], PartState::fresh) << "part " << static_cast<int>(part);
      EXPECT_EQ(s.focus.part_hash[static_cast<int>(part)], s.focus.wanted_hash) << "part " << static_cast<int>(part);
    }
  }
  void move_num_warps_and_expect_every_readout_to_answer() {
    open();
    flow([&](ImGuiTestContext* ctx) {
      if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
      const Observation before = *now()->focus.shown;
      ctx->ItemClick("//Experiment/NUM_WARPS/8");
      if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
      const Observation after = *now()->focus.shown;
      expect_all_fresh(*now());
      EXPECT_NE(after.timing->p50, before.timing->p50);
      EXPECT_EQ(shared(before), 36896);
      EXPECT_EQ(shared(after), 36928);
      EXPECT_EQ(after.occupancy->warps_per_sm, 2 * before.occupancy->warps_per_sm);
      EXPECT_EQ(after.verdict->state, VerdictState::correct);
      EXPECT_EQ(now()->focus.change, "NUM_WARPS 4 \u2192 8");
      EXPECT_TRUE(bench_->settings().invited);
    });
  }
};

TEST_F(Flow, MovingNumWarpsMovesEveryReadout) { move_num_warps_and_expect_every_readout_to_answer(); }

TEST_F(Flow, MovingNumWarpsMovesEveryReadoutWithTheRealWorker) {
  real_worker();
  move_num_warps_and_expect_every_readout_to_answer();
}

TEST_F(Flow, TheAttentionMatrixIsOfTheRunAndItsHeadIsTheMapsHead) {
  real_worker();
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    bench_->open_panel("Attention");
    const auto matrix_of = [](int64_t head) {
      return [head](const Snapshot& s) {
        return std::any_of(s.tiles.begin(), s.tiles.end(), [&](const auto& tile) {
          return tile.second->request.map == MapKind::attention && tile.second->request.head == head &&
                 tile.second->request.experiment_hash == s.focus.wanted_hash;
        });
      };
    };
    if (!wait(ctx, matrix_of(0), "the matrix of head 0")) return;
    EXPECT_TRUE(bench_->settled());
    ctx->ItemClick("//Attention/head/more");
    if (!wait(ctx, matrix_of(1), "the matrix of head 1")) return;
    EXPECT_EQ(bench_->view().head, 1);
  });
}

TEST_F(Flow, TheInvitationIsAButtonAndLeaves) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/**/###invitation");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    EXPECT_FALSE(ctx->ItemExists("//Experiment/**/###invitation"));
  });
}

TEST_F(Flow, AnIllegalValueSaysWhyAndChangesNothing) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "BLOCK_M", 32)) return;
    const std::string hash = now()->focus.wanted_hash;
    ctx->ItemClick("//Experiment/BLOCK_M/64");
    ctx->Yield(4);
    EXPECT_THAT(
        bench_->refusal_of("BLOCK_M"),
        testing::AllOf(testing::HasSubstr("57,376"), testing::HasSubstr("49,152"), testing::HasSubstr("dynamic")));
    EXPECT_EQ(now()->focus.wanted_hash, hash);
    EXPECT_EQ(runs(), 1u);
    ctx->ItemClick("//Experiment/compiler/nvcc");  // the fake worker's machine has none
    ctx->Yield(4);
    EXPECT_EQ(now()->focus.wanted_hash, hash);
    // The remedy that the message names works.
    ctx->ItemClick("//Experiment/SHARED/dynamic");
    ctx->Yield(4);
    EXPECT_EQ(bench_->refusal_of("BLOCK_M"), "");
    // The fake worker has no recording of the intermediate step: that run fails, and no knob may move.
    const ImVec2 before = ctx->ItemInfo("//Experiment/BLOCK_M/64").RectFull.Min;
    if (!wait(
            ctx, [](const Snapshot& s) { return !s.focus.running && s.focus.failure.has_value(); }, "the step between"))
      return;
    const ImVec2 after = ctx->ItemInfo("//Experiment/BLOCK_M/64").RectFull.Min;
    EXPECT_EQ(after.y, before.y);
    ctx->ItemClick("//Experiment/BLOCK_M/64");
    if (!wait_for_run(ctx, "BLOCK_M", 64)) return;
    EXPECT_EQ(shared(*now()->focus.shown), 57376);
  });
}

// Whatever notes appear, no control moves: a click on "causal" hits "causal".
TEST_F(Flow, NoNoteMovesAControl) {
  open({1280, 720});
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "BLOCK_M", 32)) return;
    const auto place = [&] { return ctx->ItemInfo("//Experiment/causal/none").RectFull.Min.y; };
    const float before = place();
    const auto expect_still = [&](const char* after) {
      ctx->Yield(4);
      EXPECT_EQ(place(), before) << after;
    };
    EXPECT_TRUE(ctx->ItemExists("//Experiment/###invitation"));
    ctx->ItemClick("//Experiment/BLOCK_M/64");
    ctx->Yield(2);
    EXPECT_NE(bench_->refusal_of("BLOCK_M"), "");
    expect_still("a refusal");
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    expect_still("the invitation that was taken up");
    ctx->ItemClick("//Experiment/BLOCK_M/64");
    ctx->Yield(2);
    ctx->ItemClick("//Experiment/BLOCK_M/###remedy");
    if (!wait(
            ctx, [](const Snapshot& s) { return !s.focus.running && s.focus.wanted.config.knobs.at("BLOCK_M") == 64; },
            "the way out"))
      return;
    expect_still("the way out, which the fake worker has no recording of");
    bench_->drop(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "presets/report_m64_w4_v4.json");
    if (!wait(
            ctx, [](const Snapshot& s) { return s.focus.failure && s.focus.failure->stage == Stage::limits; },
            "the refusal"))
      return;
    EXPECT_TRUE(ctx->ItemExists("//Experiment/note/" ICON_CLOSE "##put away"));
    expect_still("a preset's note and a config that cannot run");
    ctx->ItemClick("//Experiment/note/" ICON_CLOSE "##put away");
    expect_still("the note put away");
  });
}

TEST_F(Flow, EachKernelKeepsItsOwnKnobs) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    const auto choose = [&](const char* kernel) {
      ctx->ItemClick((std::string("//Experiment/") + kernel + "/##rung").c_str());
      return wait(
          ctx, [&](const Snapshot& s) { return !s.focus.running && s.focus.wanted.kernel == kernel; }, kernel);
    };
    const auto knob = [&](const char* name) { return now()->focus.wanted.config.knobs.at(name); };
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    if (!choose("gemm_tensorop")) return;
    ctx->ItemClick("//Experiment/STAGES/4");
    if (!wait(
            ctx, [](const Snapshot& s) { return !s.focus.running && s.focus.wanted.config.knobs.at("STAGES") == 4; },
            "four stages"))
      return;
    if (!choose("mma")) return;
    EXPECT_EQ(knob("STAGES"), 2) << "the gemm's four are its own";
    EXPECT_EQ(knob("NUM_WARPS"), 4) << "and tiled's eight";
    if (!choose("tiled")) return;
    EXPECT_EQ(knob("NUM_WARPS"), 8);
    if (!choose("gemm_tensorop")) return;
    EXPECT_EQ(knob("STAGES"), 4);
  });
}

TEST_F(Flow, AKnobAKernelAndAProblemAreReset) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    const auto asked = [&](const std::function<bool(const Experiment&)>& condition) {
      return wait(
          ctx, [&](const Snapshot& s) { return !s.focus.running && condition(s.focus.wanted); }, "what was asked");
    };
    const auto holds = [&](int64_t warps, int64_t width) {
      return asked([=](const Experiment& e) {
        return e.config.knobs.at("NUM_WARPS") == warps && e.config.knobs.at("VEC_WIDTH") == width;
      });
    };
    EXPECT_FALSE(ctx->ItemExists("//Experiment/NUM_WARPS/reset")) << "it is at its default";
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!holds(8, 4)) return;
    ctx->ItemClick("//Experiment/VEC_WIDTH/8");
    if (!holds(8, 8)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/reset");
    if (!holds(4, 8)) return;
    EXPECT_EQ(now()->focus.change, "NUM_WARPS 8 \u2192 4");
    ctx->ItemClick("//Experiment/fast math");
    if (!asked([](const Experiment& e) { return !e.config.options.fast_math; })) return;
    ctx->ItemClick("//Experiment/reset knobs");
    if (!holds(4, 4)) return;
    EXPECT_TRUE(now()->focus.wanted.config.options.fast_math);
    ctx->ItemClick("//Experiment/causal/bottom right");
    if (!asked([](const Experiment& e) { return e.problem.causal == Causal::bottom_right; })) return;
    ctx->ItemClick("//Experiment/reset problem");
    asked([](const Experiment& e) { return e.problem == Problem{}; });
  });
}

TEST_F(Flow, TheWayOutOfARefusalIsAButtonAndOneStepOfUndo) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "BLOCK_M", 32)) return;
    ctx->ItemClick("//Experiment/BLOCK_M/64");
    ctx->Yield(4);
    ctx->ItemClick("//Experiment/BLOCK_M/###remedy");
    if (!wait_for_run(ctx, "BLOCK_M", 64)) return;
    EXPECT_EQ(shared(*now()->focus.shown), 57376);
    EXPECT_EQ(now()->focus.wanted.config.knobs.at("SHARED"), 1);
    EXPECT_EQ(bench_->refusal_of("BLOCK_M"), "");
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    if (!wait_for_run(ctx, "BLOCK_M", 32)) return;
    EXPECT_EQ(now()->focus.wanted.config.knobs.at("SHARED"), 0);
  });
}

TEST_F(Flow, AConfigThatCannotRunOffersTheOneWayOut) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "BLOCK_M", 32)) return;
    bench_->drop(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "presets/report_m64_w4_v4.json");
    if (!wait(
            ctx, [](const Snapshot& s) { return s.focus.failure && s.focus.failure->stage == Stage::limits; },
            "the refusal"))
      return;
    ctx->Yield(4);
    EXPECT_NE(now()->preset_note.find("1140 us is not a time of this code"), std::string::npos);
    EXPECT_TRUE(ctx->ItemExists("//Experiment/note/" ICON_CLOSE "##put away"));
    ctx->ItemClick("//Experiment/##illegal/###remedy");
    if (!wait_for_run(ctx, "SHARED", 1)) return;
    EXPECT_EQ(shared(*now()->focus.shown), 57376);
  });
}

TEST_F(Flow, WhatTheWatchFoundLeadsToItsLine) {
  options_.watch_configs = true;
  fake_worker({"--race", "NUM_WARPS=8"});
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait(
            ctx,
            [](const Snapshot& s) {
              return s.focus.shown && s.focus.shown->watch && !s.focus.shown->watch->findings.empty();
            },
            "the race"))
      return;
    EXPECT_EQ(bench_->source_line(), 0);
    ctx->ItemClick("//Error/$$0/##finding");
    ctx->Yield(8);
    EXPECT_EQ(bench_->source_line(), 203);
    EXPECT_TRUE(ctx->GetWindowByRef("//Source")->DockTabIsVisible);
    ctx->ItemClick("//Source/<##before");
    EXPECT_EQ(bench_->source_line(), 126);
    ctx->ItemClick("//Source/<##before");  // and round again
    EXPECT_EQ(bench_->source_line(), 203);
  });
}

TEST_F(Flow, AMapOfARunThatIsNotKeptSaysSoAndComesWithTheNextRun) {
  const std::filesystem::path kept = dir_ / "kept";
  fake_worker({"--views-after", kept});
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    bench_->open_panel("Attention");
    if (!wait(
            ctx, [&](const Snapshot&) { return bench_->map_of(MapKind::attention).refusal() != nullptr; },
            "the refusal"))
      return;
    EXPECT_EQ(bench_->map_of(MapKind::attention).refusal()->hint, "Run the experiment again.");
    EXPECT_EQ(bench_->map_of(MapKind::attention).tile(), nullptr);
    dir_.write("kept", "");
    ctx->KeyPress(ImGuiKey_F5);
    wait(
        ctx, [&](const Snapshot&) { return bench_->map_of(MapKind::attention).tile() != nullptr; }, "the matrix");
    EXPECT_EQ(bench_->map_of(MapKind::attention).refusal(), nullptr);
  });
}

TEST_F(Flow, KernelsThatDoNotLoadTakeOneLine) {
  std::filesystem::create_directories(dir_ / "broken");
  for (const char* name : {"one", "two"}) dir_.write(std::string("broken/") + name + ".json", "{}");
  options_.kernel_dirs.push_back(dir_ / "broken");
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ASSERT_EQ(now()->kernel_failures->size(), 2u);
    EXPECT_FALSE(ctx->ItemExists("//Experiment/##kernel failure 1"));
    ctx->ItemClick("//Experiment/###failures");
    ctx->Yield(2);
    EXPECT_TRUE(ctx->ItemExists("//Experiment/##kernel failure 1"));
  });
}

TEST_F(Flow, TheRunBeforeIsComparedFromTheKeyboard) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
    EXPECT_EQ(bench_->compared_run(), 0u);
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
    ctx->Yield(4);
    EXPECT_EQ(bench_->compared_run(), now()->history.at(0).id);
  });
}

TEST_F(Flow, WhatWasFoundIsShown) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->MenuClick("//##MainMenuBar/Help/What was found");
    ctx->Yield(3);
    EXPECT_TRUE(ctx->ItemExists("//What was found/Close"));
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    EXPECT_FALSE(ctx->ItemExists("//What was found/Close"));
  });
}

TEST_F(Flow, ALostWorkerIsTriedAgainFromTheStatusBar) {
  fake_worker({"--exit-at-start"});
  open();
  flow([&](ImGuiTestContext* ctx) {
    const auto lost = [](const Snapshot& s) {
      return !s.workers.empty() && s.workers[0].state == session::WorkerState::lost;
    };
    if (!wait(ctx, lost, "the end of all attempts")) return;
    const auto log_size = [this] { return now()->log->size(); };
    const size_t before = log_size();
    ctx->ItemClick("//##status/local/try again");
    wait(
        ctx, [&](const Snapshot& s) { return !lost(s) || s.log->size() > before; }, "another attempt");
  });
}

TEST_F(Flow, UndoShowsTheKeptObservationAndRunsNothing) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    const Observation first = *now()->focus.shown;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    const size_t asked = runs();
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    EXPECT_EQ(*now()->focus.shown, first);
    EXPECT_EQ(bench_->draft().current().config.knobs.at("NUM_WARPS"), 4);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z);
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    EXPECT_EQ(runs(), asked);
  });
}

// Headline, delta, highlighted column and map belong to one run: run 1 after the undo, although run 2 is the newest.
TEST_F(Flow, UndoShowsOneRunEverywhere) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/6");
    if (!wait_for_run(ctx, "NUM_WARPS", 6)) return;
    EXPECT_EQ(shown_of(*now()).run, 2u);
    EXPECT_EQ(bench_->baseline().delta->against, "against run 1");
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    EXPECT_EQ(shown_of(*now()).run, 1u);
    EXPECT_EQ(shown_of(*now()).observation, now()->history.at(0).observation);
    EXPECT_FALSE(bench_->baseline().delta) << "the first run is against no other";
    wait(
        ctx,
        [&](const Snapshot& s) {
          const Tile* tile = bench_->map_of(MapKind::error).tile();
          return tile != nullptr && tile->request.experiment_hash == s.history.at(0).observation->hash;
        },
        "the map of run 1");
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
    EXPECT_EQ(bench_->compared_run(), 0u) << "no run is before the first";
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z);
    if (!wait_for_run(ctx, "NUM_WARPS", 6)) return;
    EXPECT_EQ(shown_of(*now()).run, 2u);
    EXPECT_EQ(bench_->baseline().delta->against, "against run 1");
  });
}

TEST_F(Flow, ADragIsOneStepOfUndo) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    const ImVec2 from = ctx->ItemInfo("//Experiment/NUM_WARPS/4").RectFull.GetCenter();
    const ImVec2 middle = ctx->ItemInfo("//Experiment/NUM_WARPS/6").RectFull.GetCenter();
    const ImVec2 to = ctx->ItemInfo("//Experiment/NUM_WARPS/8").RectFull.GetCenter();
    ctx->MouseMove("//Experiment/NUM_WARPS/4");
    ctx->MouseDown();
    for (const ImVec2& at : {from, middle, to}) {
      ctx->MouseMoveToPos(at);
      ctx->Yield(2);
    }
    ctx->MouseUp();
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    EXPECT_EQ(now()->history.size, 2u);
    EXPECT_EQ(now()->history.at(1).change, "NUM_WARPS 4 \u2192 8");
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    wait_for_run(ctx, "NUM_WARPS", 4);
  });
}

TEST_F(Flow, APresetIsSavedDroppedAndRefused) {
  open();
  const std::filesystem::path mine = dir_ / "mine/eight-warps.json";
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S);
    ctx->Yield(2);
    ctx->ItemInput("//Save the preset/##title");
    ctx->KeyCharsReplaceEnter("Eight warps");
    if (!wait(
            ctx, [&](const Snapshot& s) { return std::filesystem::exists(mine) && s.preset_path == mine; },
            "the saved preset"))
      return;
    // A file that exists is replaced, and the button says so.
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S);
    ctx->Yield(2);
    ctx->ItemInput("//Save the preset/##title");
    ctx->KeyCharsReplace("Eight warps");
    EXPECT_THAT(drawn_words(ctx), testing::Not(testing::HasSubstr("Replace"))) << "another file is proposed";
    ctx->ItemInput("//Save the preset/##file");
    ctx->KeyCharsReplace(mine.c_str());
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), testing::HasSubstr("Replace"));
    ctx->ItemClick("//Save the preset/Cancel");
    ctx->Yield(2);
    ctx->ItemClick("//Experiment/NUM_WARPS/2");
    if (!wait_for_run(ctx, "NUM_WARPS", 2)) return;
    bench_->drop(mine);
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    // A file that is not a preset causes a message and changes nothing.
    const std::string hash = now()->focus.wanted_hash;
    bench_->drop(
        dir_.write("broken.json", "{\"attnscope_preset\": 1, \"kernel\": \"tiled\", \"knobs\": {\"NO_SUCH\": 1}}"));
    const auto complains = [](const session::Toast& toast) {
      return (toast.text + toast.hint).find("NO_SUCH") != std::string::npos &&
             (toast.text + toast.hint).find("broken.json") != std::string::npos;
    };
    if (!wait(
            ctx, [&](const Snapshot& s) { return std::any_of(s.toasts.begin(), s.toasts.end(), complains); },
            "the refusal"))
      return;
    EXPECT_EQ(now()->focus.wanted_hash, hash);
  });
}

TEST_F(Flow, APresetThatShipsIsSavedElsewhereOnly) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    bench_->drop(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "presets/report_m32_w8_v4.json");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
    ctx->Yield(2);
    EXPECT_TRUE(ctx->WindowInfo("//Save the preset", ImGuiTestOpFlags_NoError).Window);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    EXPECT_TRUE(std::none_of(now()->toasts.begin(), now()->toasts.end(),
                             [](const session::Toast& toast) { return toast.text.starts_with("Saved"); }));
  });
}

TEST_F(Flow, APresetOpensAsItWasSaved) {
  open();
  const std::filesystem::path mine = dir_ / "mine/output-of-head-three.json";
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    bench_->view() = {MapKind::output, 0, 3, charts::AxisChoice::logarithmic};
    bench_->open_panel("Counters");
    ctx->Yield(8);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S);
    ctx->Yield(2);
    ctx->ItemInput("//Save the preset/##title");
    ctx->KeyCharsReplaceEnter("Output of head three");
    if (!wait(
            ctx, [&](const Snapshot& s) { return s.preset_path == mine; }, "the saved preset"))
      return;
    bench_->view() = {};
    bench_->open_panel("History");
    ctx->Yield(8);
    bench_->drop(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "presets/report_m32_w8_v4.json");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    bench_->drop(mine);
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->Yield(8);
    EXPECT_EQ(bench_->view(), (ViewState{MapKind::output, 0, 3, charts::AxisChoice::logarithmic}));
    EXPECT_TRUE(ctx->GetWindowByRef("//Counters")->DockTabIsVisible);
  });
}

TEST(CommandPalette, TitlesThatBeginWithTheQueryComeFirstAndNothingIsLeftOut) {
  const std::vector<PaletteEntry> entries = {{"Save preset", "", "", {}},
                                             {"Show Log", "", "", {}},
                                             {"Set NUM_WARPS to 8", "", "", {}},
                                             {"Load preset Reports: M32 W8", "", "", {}},
                                             {"Preset folder", "", "", {}}};
  EXPECT_EQ(matching(entries, ""), (std::vector<size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(matching(entries, "preset"), (std::vector<size_t>{4, 0, 3}));
  EXPECT_EQ(matching(entries, "warps 8"), (std::vector<size_t>{2}));
  EXPECT_TRUE(matching(entries, "no such").empty());
}

TEST(ViewState, TakesWhatItKnowsAndKeepsTheRest) {
  const ViewState view{MapKind::reference, 1, 2, charts::AxisChoice::logarithmic};
  ViewState read;
  adopt(read, to_json(view));
  EXPECT_EQ(read, view);
  adopt(read, Json{{"map", "no such map"}, {"head", -4}, {"latency_axis", 7}, {"theirs", true}});
  EXPECT_EQ(read, (ViewState{MapKind::reference, 1, 2, charts::AxisChoice::logarithmic}));
  for (const Json& head : {Json(1.5), Json("3"), Json(true), Json()}) {
    adopt(read, Json{{"head", head}});
    EXPECT_EQ(read.head, 2) << head;
  }
  adopt(read, Json{{"head", 0}, {"map", word_of(MapKind::attention)}});
  EXPECT_EQ(read.head, 0);
  EXPECT_EQ(read.map, MapKind::reference) << "the attention map has a panel of its own";
  adopt(read, Json::array({1}));
  EXPECT_EQ(read.batch, 1);
}

TEST_F(Flow, AWorkerThatDiesLeavesTheWindowAlive) {
  fake_worker({"--crash", "NUM_WARPS=8"});
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait(
            ctx, [](const Snapshot& s) { return s.focus.failure.has_value() && !s.focus.running; }, "the failure"))
      return;
    EXPECT_EQ(now()->focus.failure->stage, Stage::crash);
    EXPECT_FALSE(now()->focus.failure->message.empty());
    EXPECT_TRUE(ctx->ItemExists("//Latency"));
    const size_t asked = runs();
    ctx->ItemClick("//Latency/**/###again");
    if (!wait(
            ctx, [&](const Snapshot& s) { return runs() > asked && !s.focus.running; }, "the run again"))
      return;
    ctx->ItemClick("//Experiment/NUM_WARPS/2");
    if (!wait_for_run(ctx, "NUM_WARPS", 2)) return;
    EXPECT_FALSE(now()->focus.failure.has_value());
  });
}

TEST_F(Flow, ARunThatHangsIsCancelledFromTheKeyboard) {
  fake_worker({"--stall", "NUM_WARPS=8"});
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait(
            ctx, [](const Snapshot& s) { return s.focus.running && s.focus.wanted.config.knobs.at("NUM_WARPS") == 8; },
            "the run"))
      return;
    EXPECT_EQ(now()->focus.parts[static_cast<int>(Part::timing)], PartState::kept);
    EXPECT_FALSE(now()->focus.part_from[static_cast<int>(Part::timing)].empty());
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Period);
    if (!wait(
            ctx, [](const Snapshot& s) { return !s.focus.running; }, "the end of the cancelled run"))
      return;
    ctx->ItemClick("//Experiment/NUM_WARPS/2");
    wait_for_run(ctx, "NUM_WARPS", 2);
  });
}

TEST_F(Flow, ARunPickedInTheHistoryIsShownUntilEscape) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    const uint64_t first = now()->history.at(0).id;
    ctx->ItemClick(("//History/runs/$$" + std::to_string(first) + "/###run").c_str());
    if (!wait(
            ctx, [&](const Snapshot& s) { return s.selected && s.selected->id == first; }, "the picked run"))
      return;
    EXPECT_EQ(shared(*now()->selected->observation), 36896);
    bench_->open_panel("Error");
    if (!wait(
            ctx,
            [&](const Snapshot& s) {
              const Tile* const tile = bench_->map_of(MapKind::error).tile();
              return tile && s.selected && tile->request.experiment_hash == s.selected->observation->hash;
            },
            "the picked run's map"))
      return;
    ctx->KeyPress(ImGuiKey_Escape);
    wait(
        ctx, [](const Snapshot& s) { return !s.selected; }, "the live run");
  });
}

TEST_F(Flow, TheHistoryIsListedAgainAfterARestartOldestFirst) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    wait_for_run(ctx, "NUM_WARPS", 8);
  });
  close();
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ASSERT_EQ(now()->history.size, 3u);
    const auto row = [&](int run) {
      const std::string id = std::to_string(run);
      return ctx->ItemInfo(("//History/runs/$$" + id + "/###run").c_str()).RectFull.Min.y;
    };
    EXPECT_LT(row(1), row(2));
    EXPECT_LT(row(2), row(3));
    ctx->ItemClick("//History/runs/$$1/###run");
    wait(
        ctx, [](const Snapshot& s) { return s.selected && s.selected->id == 1; }, "a run of the session before");
  });
}

TEST_F(Flow, TheCommandPaletteFindsAndRuns) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    EXPECT_TRUE(ctx->GetWindowByRef("//History")->DockTabIsVisible);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    ctx->Yield(4);
    ctx->KeyChars("Show Counters");
    ctx->Yield(4);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(10);
    EXPECT_TRUE(ctx->GetWindowByRef("//Counters")->DockTabIsVisible);
    EXPECT_FALSE(ctx->GetWindowByRef("//Command palette")->Active);
  });
}

TEST_F(Flow, TheLayoutIsResetAndTheThemeIsKept) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->SetRef("##MainMenuBar");
    ctx->MenuClick("View/Counters");
    ctx->Yield(2);
    EXPECT_TRUE(bench_->settings().closed.contains("Counters"));
    ctx->MenuClick("View/Reset the layout");
    ctx->Yield(6);
    EXPECT_TRUE(bench_->settings().closed.empty());
    for (const char* title :
         {"Experiment", "Latency", "Shared memory", "Error", "Attention", "History", "Counters", "Source", "Log"}) {
      const ImGuiWindow* window = ctx->GetWindowByRef((std::string("//") + title).c_str());
      if (window == nullptr || window->DockNode == nullptr) ADD_FAILURE() << title << " is not in the layout";
    }
    const ThemeMode before = bench_->settings().theme;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_T);
    const char* wanted = before == ThemeMode::dark ? "light" : "dark";
    wait(
        ctx,
        [&](const Snapshot& s) {
          return s.settings->contains(kSettingsKey) && (*s.settings)[kSettingsKey]["theme"] == wanted;
        },
        "the kept theme");
  });
}

}  // namespace
}  // namespace attnscope::ui
