#pragma once
// What a person does to the machine code of a long kernel, as a script in the window's hooks: lets it arrive several
// times, scrolls it, points at instructions, searches it and chooses instructions. bench/ui_bench.cpp plays it.
#include <imgui.h>
#include <imgui_internal.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "ui/layout.h"
#include "ui_scripts.h"

namespace attnscope {

constexpr size_t kLongCode = 20000;  // instructions, at least

// A kernel whose loops are unrolled: its machine code is long, and comes from a few hundred lines.
inline void write_long_kernel(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::ofstream source(folder / "long_code.cu");
  source << "extern \"C\" __global__ void long_code(const float* x, float* y) {\n"
            "  __shared__ float tile[64];\n"
            "  const int i = blockIdx.x * 64 + threadIdx.x;\n"
            "  float sum = x[i];\n";
  for (int part = 0; part < 120; ++part)
    source << "  __syncthreads();\n"
              "  tile[threadIdx.x] = sum;\n"
              "  __syncthreads();\n"
              "#pragma unroll\n"
              "  for (int k = 0; k < 128; ++k) sum = fmaf(sum, 0.5f, tile[(threadIdx.x + k) & 63]);\n";
  source << "  y[i] = sum;\n}\n";
  std::ofstream(folder / "long_code.json")
      << R"json({"id": "long_code", "title": "Long code", "source": "long_code.cu", "entry": "long_code",)json"
      << R"json("problem": "custom", "sizes": {"n": 256}, "args": ["x", "y"],)json"
      << R"json("launch": {"grid": ["ceil_div(n, 64)", 1, 1], "block": [64, 1, 1]}, "buffers": [)json"
      << R"json({"name": "x", "role": "in", "dtype": "f32", "shape": ["n"]},)json"
      << R"json({"name": "y", "role": "out", "dtype": "f32", "shape": ["n"]}]})json";
}

class LongCode : public Script {
  using Script::Script;
  static constexpr double kPartSeconds = 8;
  static constexpr int kArrivals = 9;
  static constexpr int kFramesAfter = 30;  // that belong to an arrival
  enum class State { first_run, own_run, pane, acting, next_run, arriving };
  State state_ = State::first_run;
  double begun_ = 0;
  int frames_of_part_ = 0, part_ = -1;
  int arrivals_ = 0, frames_since_ = 0;

  void step(ui::Workbench& bench, const session::Snapshot& now) override {
    switch (state_) {
      case State::first_run:
        if (!all_fresh(now.focus)) return;
        run_long_kernel(now);
        state_ = State::own_run;
        return;
      case State::own_run:
        if (!all_fresh(now.focus)) return;
        phase("arrival_0");
        bench.open_panel("Source");
        ui::set_tall("Source", true);
        state_ = State::pane;
        return;
      case State::pane:
        if (pane() != nullptr && ++frames_since_ > kFramesAfter) begin(now);
        return;
      case State::next_run:
        if (!all_fresh(now.focus)) return;
        phase(fmt::format("arrival_{}", arrivals_).c_str());
        state_ = State::arriving;
        return;
      case State::arriving:
        if (now.listings.contains(hash_of(now.focus.shown->experiment))) ++frames_since_;
        if (frames_since_ > kFramesAfter) arrived(now);
        return;
      case State::acting:
        return act();
    }
  }
  void run_long_kernel(const session::Snapshot& now) {
    const Kernel* kernel = session::find_kernel(now, "long_code");
    if (kernel == nullptr) return end("the long kernel is not in the catalog");
    Draft wish = now.focus.wanted;
    wish.kernel = kernel->id;
    wish.problem = kernel->default_problem();
    wish.config.knobs.clear();
    wish.problem.sizes["n"] += 64 * arrivals_;  // the same code, of another experiment
    session_.focus(std::move(wish), {ui::next_gesture(), true, "long_code"});
  }
  // Lets the code of another experiment take the place of the shown one, and then begins.
  void arrived(const session::Snapshot& now) {
    if (arrivals_ + 1 == kArrivals) {
      begun_ = platform::steady_ms();
      state_ = State::acting;
      return;
    }
    ++arrivals_;
    frames_since_ = 0;
    phase("between");
    run_long_kernel(now);
    state_ = State::next_run;
  }
  // The list of instructions, once it is drawn.
  static const ImGuiWindow* pane() {
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
      if (window->WasActive && std::string_view(window->Name).find("/sass_") != std::string_view::npos) return window;
    return nullptr;
  }
  void begin(const session::Snapshot& now) {
    const auto listing = now.listings.find(hash_of(now.focus.shown->experiment));
    if (listing == now.listings.end()) return;
    const size_t instructions = listing->second->lines.size();
    if (instructions < kLongCode) return end(fmt::format("the code has only {} instructions", instructions));
    figure("instructions", static_cast<double>(instructions));
    const ImGuiWindow& list = *pane();
    figure("rows", std::floor(static_cast<double>(list.InnerRect.GetHeight() / ImGui::GetTextLineHeightWithSpacing())));
    arrived(now);
  }
  void act() {
    const ImGuiWindow* list = pane();
    if (list == nullptr) return end("the list of instructions went away");
    const double seconds = (platform::steady_ms() - begun_) / 1000;
    const int part = static_cast<int>(seconds / kPartSeconds);
    if (part != part_) frames_of_part_ = 0;
    part_ = part;
    static constexpr const char* kParts[] = {"scroll", "hover", "search", "choose"};
    if (static_cast<size_t>(part) >= std::size(kParts)) return end();
    phase(kParts[part]);
    const int frame = frames_of_part_++;
    const ImRect& room = list->InnerRect;
    const double across = static_cast<double>(room.Min.x + room.GetWidth() * 0.5f);
    const double down = part == 1 ? 0.5 - 0.45 * std::cos(seconds * 2) : 0.5;
    point_at(across, static_cast<double>(room.Min.y) + down * static_cast<double>(room.GetHeight()));
    if (part == 0) ImGui::GetIO().AddMouseWheelEvent(0, frame % 64 < 32 ? -90.0f : 70.0f);
    if (part == 2) search(frame);
    // From the top on, where the instructions are on which thousands of others depend.
    if (part == 3) ImGui::GetIO().AddMouseWheelEvent(0, frame == 0 ? 1e6f : frame % 8 == 4 ? -1.0f : 0.0f);
    if (part == 3) button(frame % 8 < 2);
  }
  // Types a word a letter at a time, with Enter after each: the last letter makes it one that no line has, so that all
  // are searched. Then empties the field.
  void search(int frame) {
    static constexpr std::string_view kWord = "FFMAQ";
    constexpr int kEvery = 3, kEnters = 4;
    if (frame % kEvery != 0) return;
    const int letters = static_cast<int>(kWord.size()), at = frame / kEvery % (2 + letters * (1 + kEnters));
    ImGuiIO& io = ImGui::GetIO();
    const auto press = [&](ImGuiKey key) {
      io.AddKeyEvent(key, true);
      io.AddKeyEvent(key, false);
    };
    if (at == 0) {
      const ImGuiWindow* panel = ImGui::FindWindowByName("Source");
      if (panel == nullptr) return end("the Source panel went away");
      ImGui::ActivateItemByID(const_cast<ImGuiWindow*>(panel)->GetID("##search"));
    } else if (at > letters * (1 + kEnters)) {
      for (int i = 0; i < letters; ++i) press(ImGuiKey_Backspace);
    } else if (const int step = at - 1; step % (1 + kEnters) == 0) {
      io.AddInputCharacter(static_cast<unsigned char>(kWord[static_cast<size_t>(step / (1 + kEnters))]));
    } else {
      press(ImGuiKey_Enter);
    }
  }
};

}  // namespace attnscope
