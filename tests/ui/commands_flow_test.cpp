// Presets and the program's commands, from the window.
#include <nlohmann/json.hpp>

#include "core/command_words.h"
#include "ui/command_lines.h"
#include "ui/tool_output.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using session::Snapshot;
using testing::ElementsAre;
using testing::HasSubstr;

class Commands : public WindowFlow {
 protected:
  void type_into_palette(ImGuiTestContext* ctx, const char* words) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    ctx->Yield(4);
    ctx->KeyChars(words);
    ctx->Yield(4);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(6);
  }
};

TEST_F(Commands, ExportOpensFromThePaletteAndRunsInTheBackground) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    type_into_palette(ctx, "export");
    ASSERT_TRUE(bench_->command().is_open());
    ctx->ItemInput("//###Command/##out");
    ctx->KeyCharsReplaceEnter((dir_ / "exported").c_str());
    ctx->Yield(4);
    EXPECT_THAT(bench_->command().shown_line(), HasSubstr("attnscope export --kernel tiled --set NUM_WARPS=8 "));
    ctx->ItemClick("//###Command/###run");
    if (!wait(
            ctx, [&](const Snapshot&) { return bench_->command().tool() && bench_->command().tool()->exit_code(); },
            "the end of the export"))
      return;
    EXPECT_EQ(bench_->command().tool()->exit_code(), 0) << bench_->command().tool()->output();
    EXPECT_TRUE(std::filesystem::exists(dir_ / "exported/tiled_sm89.cu"));
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    EXPECT_FALSE(bench_->command().is_open());
  });
}

TEST_F(Commands, AKernelIsImportedAndChosen) {
  const auto file = dir_.write("add.cu", R"(
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
)");
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    type_into_palette(ctx, "Import a kernel");
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Name the file to import"));
    bench_->drop(file);
    ctx->Yield(4);
    EXPECT_THAT(bench_->command().shown_line(), HasSubstr("attnscope import " + file.string() + " --out "));
    ctx->ItemClick("//###Command/###run");
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("import: ")) << "the status bar shows it";
    if (!wait(
            ctx, [](const Snapshot& s) { return session::find_kernel(s, "add") != nullptr; }, "the imported kernel"))
      return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("import: done"));
    ctx->ItemClick("//##status/show###show command");
    ctx->Yield(4);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("a first manifest for add"));
    ctx->ItemClick("//###Command/###choose");
    wait(
        ctx, [](const Snapshot& s) { return s.focus.wanted.kernel == "add"; }, "its experiment");
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), testing::Not(HasSubstr("import: ")));
  });
}

TEST(ToolOutput, NotesAreReadAndTheRestIsText) {
  const ToolOutput said = read_notes(
      "{\"note\":\"worker box: queued\"}\n{\"progress\":{\"done\":3,\"of\":12,\"text\":\"mma\"}}\nresult\n"
      "{\"failure\":{\"stage\":\"input\",\"message\":\"no\",\"hint\":\"do\"}}\n{\"other\":1}\n{\"prog");
  EXPECT_EQ(said.text, "worker box: queued\nresult\ninput: no\n  do\n{\"other\":1}\n{\"prog");
  EXPECT_EQ(said.progress, "mma");
  EXPECT_EQ(said.done, 3u);
  EXPECT_EQ(said.of, 12u);
}

TEST_F(Commands, BestAndBenchOpenFromTheRunMenuAndThePalette) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    type_into_palette(ctx, "bench");
    EXPECT_THAT(bench_->command().shown_line(), HasSubstr("attnscope bench --kernel tiled"));
    ctx->MenuClick("//##MainMenuBar/Run/Find the best config\u2026");
    ctx->Yield(4);
    EXPECT_THAT(bench_->command().shown_line(),
                HasSubstr("attnscope best --kernel tiled --problem B=1,H=8,S=512,D=64"));
  });
}

TEST_F(Commands, APresetIsChosenInAFolder) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_O);
    ctx->Yield(3);
    ctx->ItemClick("//Open a preset/Shipped");
    ctx->ItemClick("//Open a preset/**/###report_m32_w8_v4.json");
    ctx->ItemClick("//Open a preset/Open");
    wait_for_run(ctx, "NUM_WARPS", 8);
  });
}

TEST_F(Commands, APresetOfOnesOwnIsDescribedAndDeleted) {
  dir_.write("mine/own.json", R"({"attnscope_preset":1,"kernel":"tiled","title":"Own"})");
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->MenuClick("//##MainMenuBar/Presets/Manage presets\u2026");
    ctx->Yield(3);
    ctx->ScrollToBottom(ctx->WindowInfo("//Presets/list").ID);  // own presets come last
    ctx->ItemClick("//Presets/**/###own.json");
    ctx->ItemInput("//Presets/##title");
    ctx->KeyCharsReplace("Renamed");
    ctx->ItemClick("//Presets/###keep");
    if (!wait(
            ctx, [](const Snapshot& s) { return s.presets->back().name == "Renamed"; }, "the new title"))
      return;
    ctx->ItemClick("//Presets/Delete");
    if (!wait(
            ctx, [](const Snapshot& s) { return !s.presets->back().own; }, "the deletion"))
      return;
    EXPECT_TRUE(std::filesystem::exists(dir_ / "mine/deleted/own.json"));
  });
}

TEST_F(Commands, TheGalleryFindsDuplicatesAndKeepsWhatIsDropped) {
  const auto dropped =
      dir_.write("theirs.json", R"({"attnscope_preset":1,"kernel":"tiled","title":"From a colleague"})");
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    const auto has = [](const char* name) {
      return [name](const Snapshot& s) {
        return std::ranges::any_of(*s.presets,
                                   [&](const session::PresetItem& one) { return one.name == name && one.own; });
      };
    };
    ctx->MenuClick("//##MainMenuBar/Presets/Manage presets\u2026");
    ctx->Yield(3);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Minimal, as it starts"));
    ctx->ItemInput("//Presets/##search");
    ctx->KeyCharsReplace("MINIMAL, AS IT");
    ctx->Yield(3);
    ctx->ItemClick("//Presets/**/###minimal.json");
    ctx->ItemClick("//Presets/Duplicate");
    if (!wait(ctx, has("Minimal, as it starts copy"), "the copy")) return;
    bench_->drop(dropped);
    if (!wait(ctx, has("From a colleague"), "what was dropped")) return;
    EXPECT_TRUE(std::filesystem::exists(dir_ / "mine/theirs.json"));
    EXPECT_NE(now()->preset_path, dropped.string()) << "with the gallery open it is kept, not loaded";
    ctx->PopupCloseAll();
    ctx->Yield(2);
    bench_->drop(dropped);
    wait(
        ctx, [&](const Snapshot& s) { return s.preset_path == dropped.string(); }, "the loaded preset");
    const auto recent = now()->settings->find(session::kRecentPresets);
    ASSERT_NE(recent, now()->settings->end());
    EXPECT_EQ(recent->at(0), dropped.string());
    ctx->MenuClick("//##MainMenuBar/Presets/Recent");
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("theirs"));
  });
}

TEST_F(Commands, EveryGroupOfPresetsIsListedOnce) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    std::vector<std::string> groups;
    for (const session::PresetItem& preset : *now()->presets)
      if (groups.empty() || groups.back() != preset.group) groups.push_back(preset.group);
    EXPECT_THAT(groups, ElementsAre("Defaults", "Reports"));
    EXPECT_EQ(now()->presets->front().name, "Minimal, as it starts");
  });
}

TEST(CommandLines, SayTheExperimentAsTheProgramReadsIt) {
  Kernel tiled;
  tiled.id = "tiled";
  tiled.knobs = {{"NUM_WARPS", {{4, ""}, {8, ""}}, 4, ""}, {"SHARED", {{0, "static"}, {1, "dynamic"}}, 0, ""}};
  Draft draft;
  draft.kernel = "tiled";
  draft.config.knobs = {{"NUM_WARPS", 8}, {"SHARED", 1}};
  draft.device = "emulated:l4";
  EXPECT_EQ(shell_text(command_line(CommandKind::bench, draft, &tiled, "", "").arguments),
            "bench --kernel tiled:NUM_WARPS=8,SHARED=dynamic --problem B=1,H=8,S=512,D=64 --device emulated:l4");
  const CommandLine line = command_line(CommandKind::export_config, draft, &tiled, "", "/tmp/a b");
  EXPECT_EQ(line.refusal, "");
  EXPECT_THAT(shell_text(line.arguments), HasSubstr("--set NUM_WARPS=8 --set SHARED=dynamic"));
  EXPECT_THAT(shell_text(line.arguments), HasSubstr("--out '/tmp/a b'"));
  draft.config.options.fmad = false;  // which only a preset can set
  EXPECT_THAT(command_line(CommandKind::export_config, draft, &tiled, "", "/tmp").refusal, HasSubstr("preset"));
  EXPECT_EQ(command_line(CommandKind::export_config, draft, &tiled, "mine.json", "/tmp").refusal, "");
  const CommandLine run = command_line(CommandKind::run, draft, &tiled, "", "");
  EXPECT_EQ(run.refusal, "");
  EXPECT_EQ(shell_text(run.arguments),
            "run --kernel tiled --set NUM_WARPS=8 --set SHARED=dynamic --option fmad=off --problem B=1,H=8,S=512,D=64 "
            "--device emulated:l4");
  draft.device = "box/cuda:0";
  EXPECT_THAT(command_line(CommandKind::best, draft, &tiled, "", "").refusal, HasSubstr("another machine"));
  draft.config.options.fmad = true;
  session::WorkerStatus worker;
  worker.name = "l4box";
  worker.command = {"ssh", "l4box", "attnscope", "worker"};
  worker.remote = true;
  const CommandLine far = command_line(CommandKind::best, draft, &tiled, "", "", &worker);
  EXPECT_EQ(far.refusal, "");
  EXPECT_THAT(shell_text(far.arguments), HasSubstr("--worker 'l4box=ssh l4box attnscope worker'"));
  EXPECT_THAT(command_line(CommandKind::export_config, draft, &tiled, "", "/tmp", &worker).refusal,
              HasSubstr("another machine"));
  EXPECT_NE(command_line(CommandKind::best, draft, nullptr, "", "").refusal, "");
}

TEST(CommandLines, AProblemIsReadBackAsItWas) {
  Problem problem;
  problem.batch = 4;
  problem.heads = 16;
  problem.kv_heads = 4;
  problem.seq_q = 333;
  problem.seq_k = 512;
  problem.causal = Causal::top_left;
  problem.dtype = DType::bf16;
  problem.seed = 7;
  for (const Problem& one : {Problem{}, problem}) {
    const auto read = problem_from_text(problem_words(one));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, one) << problem_words(one);
  }
}

}  // namespace
}  // namespace attnscope::ui
