// Pictures of the window's other states, to look at: made only when ATTNSCOPE_SCENES names a folder for them.
#include <imgui_internal.h>

#include <algorithm>

#include "ui/scene.h"

namespace attnscope::ui {
namespace {

TEST_F(Scene, ManyRuns) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    wait_for_run(ctx, "NUM_WARPS", 4);
    for (const int warps : {8, 6, 2, 1, 4, 8}) {
      ctx->ItemClick(("//Experiment/NUM_WARPS/" + std::to_string(warps)).c_str());
      wait_for_run(ctx, "NUM_WARPS", warps);
    }
    ctx->ItemClick("//Experiment/BLOCK_M/64");
    bench_->open_panel("Counters");
    ctx->Yield(8);
  });
  picture("many_runs");
}

// An undo, a config that cannot run with its preset's note, and two runs that are not comparable, at the reference
// window sizes.
TEST_F(Scene, OneRunAtATime) {
  real_worker();
  for (const ShotSize size : {ShotSize{1280, 720}, ShotSize{1600, 900}, ShotSize{2560, 1440}}) {
    close();
    std::filesystem::remove_all(dir_ / "state");
    open(size);
    bench_->settings().theme = size.width == 1600 ? ThemeMode::light : ThemeMode::dark;
    const std::string at = std::to_string(size.width);
    flow([&](ImGuiTestContext* ctx) {
      wait_for_run(ctx, "NUM_WARPS", 4);
      ctx->ItemClick("//Experiment/NUM_WARPS/6");
      wait_for_run(ctx, "NUM_WARPS", 6);
      ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
      wait_for_run(ctx, "NUM_WARPS", 4);
    });
    picture("undone_" + at);
    flow([&](ImGuiTestContext* ctx) {
      bench_->drop(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "presets/report_m64_w4_v4.json");
      wait(
          ctx, [](const session::Snapshot& s) { return s.focus.failure.has_value(); }, "the refusal");
    });
    picture("notes_" + at);
    flow([&](ImGuiTestContext* ctx) {
      const Kernel* gemm = session::find_kernel(*now(), "gemm_tensorop");
      session_->focus(with_kernel(now()->focus.wanted, *gemm, nullptr, nullptr),
                      {next_gesture(), true, "kernel tiled \u2192 gemm_tensorop"});
      wait(
          ctx, [](const session::Snapshot& s) { return s.focus.wanted.kernel == "gemm_tensorop" && !s.focus.running; },
          "the gemm");
    });
    picture("not_comparable_" + at);
  }
}

// A change and its terms, at the reference window sizes in both themes.
TEST_F(Scene, Why) {
  real_worker();
  open({1280, 720});
  flow([&](ImGuiTestContext* ctx) {
    wait_for_run(ctx, "NUM_WARPS", 4);
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    wait_for_run(ctx, "NUM_WARPS", 8);
  });
  for (const ShotSize size : {ShotSize{1024, 640}, ShotSize{1280, 720}, ShotSize{1600, 900}, ShotSize{2560, 1440}})
    for (const ThemeMode theme : {ThemeMode::dark, ThemeMode::light}) {
      close_window();
      open_window(size);
      bench_->ignore_kept_settings();
      bench_->settings().theme = theme;
      bench_->settings().invited = true;
      flow([&](ImGuiTestContext* ctx) {
        ctx->Yield(12);
        bench_->open_panel("Why");
        wait(
            ctx, [&](const session::Snapshot&) { return bench_->settled(); }, "the maps");
        ctx->MouseMoveToPos({static_cast<float>(size.width) - 5, 5});
        ctx->Yield(8);
      });
      picture("why_" + std::to_string(size.width) + (theme == ThemeMode::dark ? "_dark" : "_light"));
      if (theme == ThemeMode::light) continue;
      flow([&](ImGuiTestContext* ctx) {
        bench_->open_panel("Counters");
        ctx->Yield(8);
      });
      picture("against_" + std::to_string(size.width));
      flow([&](ImGuiTestContext* ctx) {
        bench_->open_panel("Why");
        bench_->actions().find("tall")->run();
        wait(
            ctx,
            [](const session::Snapshot& s) {
              return !s.scans.empty() && std::ranges::all_of(s.scans, [](const auto& scan) { return scan->over(); });
            },
            "what findings propose");
        ctx->Yield(8);
      });
      picture("tried_" + std::to_string(size.width));
    }
}

TEST_F(Scene, Lesson) {
  real_worker();
  for (const ShotSize size : {ShotSize{1280, 720}, ShotSize{1600, 900}, ShotSize{2560, 1440}}) {
    std::filesystem::remove_all(dir_ / "state");
    const std::string name = "lesson_" + std::to_string(size.width);
    open(size);
    bench_->ignore_kept_settings();
    bench_->settings().theme = size.width == 1600 ? ThemeMode::light : ThemeMode::dark;
    flow([&](ImGuiTestContext* ctx) {
      ctx->Yield(12);
      bench_->open_panel("Lessons");
      ctx->Yield(12);
    });
    picture(name + "_list");
    flow([&](ImGuiTestContext* ctx) {
      ctx->ItemClick("//Lessons/04_idle_warps/##open");
      wait(
          ctx,
          [&](const session::Snapshot&) {
            return (ctx->ItemInfo("//Lessons/Next").ItemFlags & ImGuiItemFlags_Disabled) == 0;
          },
          "the first step");
      ctx->ItemClick("//Lessons/Next");
      ctx->Yield(4);
    });
    picture(name + "_asks");
    flow([&](ImGuiTestContext* ctx) {
      ctx->ItemClick("//Lessons/**/about twice as fast");
      wait(
          ctx,
          [&](const session::Snapshot&) {
            return (ctx->ItemInfo("//Lessons/Next").ItemFlags & ImGuiItemFlags_Disabled) == 0;
          },
          "the answer");
      ctx->Yield(8);
    });
    picture(name + "_told");
    close();
  }
}

TEST_F(Scene, Source) {
  real_worker();
  open();
  flow([&](ImGuiTestContext* ctx) {
    wait_for_run(ctx, "NUM_WARPS", 4);
    ctx->ItemClick("//Experiment/SWIZZLE_XOR/1");
    wait_for_run(ctx, "SWIZZLE_XOR", 1);
  });
  for (const ShotSize size : {ShotSize{1280, 720}, {1600, 900}, {2560, 1440}})
    for (const ThemeMode theme : {ThemeMode::dark, ThemeMode::light}) {
      close_window();
      open_window(size);
      bench_->ignore_kept_settings();
      bench_->settings().theme = theme;
      const std::string name = std::to_string(size.width) + (theme == ThemeMode::dark ? "_dark" : "_light");
      bench_->settings().invited = true;
      flow([&](ImGuiTestContext* ctx) {
        ctx->Yield(12);
        bench_->open_panel("Source");
        wait(
            ctx, [](const session::Snapshot& s) { return !s.listings.empty(); }, "the code");
        ctx->Yield(8);
        ctx->ItemClick("//Source/SASS");
        ctx->ItemClick("//Source/next hot");
        ctx->Yield(4);
      });
      picture("source_" + name);
      flow([&](ImGuiTestContext* ctx) {
        ctx->ItemClick("//Source/###tall");
        ctx->Yield(4);
      });
      picture("tall_" + name);
      flow([&](ImGuiTestContext* ctx) {
        ctx->ItemClick("//Source/Changes since A");
        wait(
            ctx, [](const session::Snapshot& s) { return s.listings.size() > 1; }, "A's code");
        ctx->Yield(8);
      });
      picture("changes_" + name);
      flow([&](ImGuiTestContext* ctx) {
        ctx->ItemClick("//Source/Banks");
        ctx->Yield(8);
      });
      picture("banks_" + name);
      if (theme == ThemeMode::light) continue;
      flow([&](ImGuiTestContext* ctx) {
        ctx->ItemClick("//Source/PTX");
        ctx->Yield(8);
      });
      picture("ptx_" + name);
    }
}

TEST_F(Scene, Attention) {
  real_worker();
  open();
  for (const Causal causal : {Causal::none, Causal::bottom_right}) {
    bench_->settings().theme = causal == Causal::none ? ThemeMode::dark : ThemeMode::light;
    flow([&](ImGuiTestContext* ctx) {
      wait_for_run(ctx, "NUM_WARPS", 4);
      if (causal != Causal::none) ctx->ItemClick("//Experiment/causal/bottom right");
      bench_->open_panel("Attention");
      wait(
          ctx,
          [&](const session::Snapshot& s) {
            return s.focus.wanted.problem.causal == causal && !s.focus.running && bench_->settled();
          },
          "the matrix");
    });
    picture(causal == Causal::none ? "attention" : "attention_causal");
  }
}

TEST_F(Scene, Failed) {
  fake_worker({"--crash", "NUM_WARPS=8"});
  open({1280, 720});
  flow([&](ImGuiTestContext* ctx) {
    wait_for_run(ctx, "NUM_WARPS", 4);
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    wait(
        ctx, [](const session::Snapshot& s) { return s.focus.failure.has_value() && !s.focus.running; }, "the failure");
    bench_->drop(dir_.write("broken.json", "not a preset"));
    wait(
        ctx, [](const session::Snapshot& s) { return !s.toasts.empty(); }, "the toast");
  });
  picture("failed");
}

TEST_F(Scene, Running) {
  fake_worker({"--stall", "NUM_WARPS=8"});
  open({1280, 720});
  flow([&](ImGuiTestContext* ctx) {
    wait_for_run(ctx, "NUM_WARPS", 4);
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    wait(
        ctx, [](const session::Snapshot& s) { return s.focus.running; }, "the run");
  });
  picture("running");
  flow([&](ImGuiTestContext* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    ctx->Yield(3);
  });
  picture("palette");
}

TEST_F(Scene, Race) {
  options_.watch_configs = true;
  real_worker();
  open({1280, 800});
  flow([&](ImGuiTestContext* ctx) {
    wait_for_run(ctx, "NUM_WARPS", 4);
    ctx->ItemClick("//Experiment/SYNC_POLICY/warp");
    wait(
        ctx, [](const session::Snapshot& s) { return s.focus.watch == session::WatchState::done && !s.focus.running; },
        "the watch");
    ctx->ItemClick("//Error/$$0/##finding");
    ctx->Yield(8);
  });
  picture("race");
}

TEST_F(Scene, Empty) {
  fake_worker({"--mute"});
  open({1280, 720});
  flow([&](ImGuiTestContext* ctx) { ctx->Yield(8); });
  picture("empty");
}

}  // namespace
}  // namespace attnscope::ui
