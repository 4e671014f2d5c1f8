// Films of the window: a script's acts, or a lesson from step to step.
#include <imgui.h>

#include <algorithm>

#include "catalog/validate.h"
#include "platform/clock.h"
#include "platform/output_file.h"
#include "ui/app.h"
#include "ui/film_script.h"
#include "ui/png.h"
#include "ui/studio.h"

namespace attnscope::ui {
namespace {

constexpr int kGlideMs = 40, kGlides = 12;       // for the pointer's movement to a value
constexpr int kWaitMs = 120, kMostWaiting = 12;  // ms per frame while waiting for a run, and the most frames of a wait
constexpr int kLoadMs = 700;                     // for what a panel or a command loads, such as code
constexpr int kReadMs = 2500;                    // to read a lesson's question or what a step reveals

int ms_of(double seconds) { return static_cast<int>(seconds * 1000); }

class Director {
 public:
  Director(session::Session& session, Studio& studio, ShotSize size)
      : session_(session),
        studio_(studio),
        bench_(studio.bench()),
        film_({size.width, size.height}),
        pointer_{static_cast<float>(size.width) * 0.45f, static_cast<float>(size.height) * 0.6f} {}

  // Draws until nothing is in progress, for at least `at_least_ms`, then shows the result for `hold_ms`. The wait is
  // filmed if `shown`.
  Result<void> settle(bool shown, int hold_ms, int at_least_ms = 0) {
    studio_.start_waiting();
    const double begin = platform::steady_ms();
    double next = begin;
    // A click or an act takes a frame to become a request.
    const auto under_way = [&] { return !bench_.settled() || platform::steady_ms() < begin + at_least_ms; };
    for (int frames = 0, waited = 0; frames < 4 || under_way(); ++frames) {
      const bool take = shown && waited < kMostWaiting && platform::steady_ms() >= next;
      studio_.frame(take);
      if (take) {
        if (auto added = film_.add(studio_.pixels(), kWaitMs); !added) return added;
        next += kWaitMs;
        ++waited;
      }
      if (auto going = studio_.wait_on(); !going) return going;
    }
    studio_.settle_frames();
    return film_.add(studio_.pixels(), hold_ms);
  }

  Result<void> act(const FilmAct& act) {
    if (!act.turn.empty()) return turn(act);
    if (!act.panel.empty())
      if (auto shown = bench_.show_panel(act.panel); !shown) return shown;
    if (!act.action.empty())
      if (auto done = run_action(act.action); !done) return done;
    return settle(true, ms_of(act.hold), kLoadMs);
  }

  Result<void> lesson(const std::string& id) {
    if (auto begun = begin_step(bench_, {id, 1, {}}); !begun) return begun;
    bench_.present(true);
    if (auto ready = settle(false, kReadMs); !ready) return ready;
    LessonDesk& desk = bench_.lesson();
    const lesson::Progress& progress = *desk.progress();
    using State = lesson::Progress::State;
    for (;;) {
      const bool told = progress.state() == State::told || progress.state() == State::practises;
      if (told && progress.is_last()) return {};
      // Chooses an answer, starts the step's run, or goes to the next step.
      const auto led = lead(desk, {id, progress.at() + (told ? 2 : 1), 1});
      if (!led) return fail(led.error());
      if (auto seen = settle(true, kReadMs); !seen) return seen;
    }
  }

  const AnimatedPng& film() const { return film_; }

 private:
  Result<void> run_action(const std::string& title) {
    const auto& all = bench_.actions().all();
    const auto found = std::ranges::find_if(all, [&](const Action& one) { return one.title == title && one.run; });
    if (found == all.end())
      return fail(Stage::input, "there is no command \"" + title + "\"", "The command palette lists them.");
    if (const std::string refusal = found->refusal(); !refusal.empty())
      return fail(Stage::input, "the command \"" + title + "\" is not available: " + refusal);
    studio_.frame(false, found->run);
    return {};
  }

  // Moves the pointer to the value and clicks it, as a person does.
  Result<void> turn(const FilmAct& act) {
    const auto now = session_.snapshot();
    const Kernel* kernel = session::find_kernel(*now, bench_.draft().current().kernel);
    if (kernel == nullptr) return fail(Stage::input, act.turn + ": no kernel is shown, so it has no knobs");
    const auto setting = catalog::parse_setting(*kernel, act.turn);
    if (!setting) return fail(setting.error());
    const auto& [knob, value] = *setting;
    const auto cell = bench_.cell_of(knob, value);
    if (!cell)
      return fail(Stage::input, act.turn + ": that value is not visible in a window of this size",
                  "Film a larger window, with --size.");
    const ImVec2 to{cell->x + cell->width / 2, cell->y + cell->height / 2}, from = pointer_;
    ImGuiIO& io = ImGui::GetIO();
    io.MouseDrawCursor = true;
    for (int at = 1; at <= kGlides; ++at) {
      const float way = static_cast<float>(at) / kGlides, share = way * way * (3 - 2 * way);
      pointer_ = {from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
      io.AddMousePosEvent(pointer_.x, pointer_.y);
      studio_.frame(true);
      if (auto added = film_.add(studio_.pixels(), kGlideMs); !added) return added;
    }
    for (const bool down : {true, false}) {
      io.AddMouseButtonEvent(ImGuiMouseButton_Left, down);
      studio_.frame(false);
    }
    if (auto seen = settle(true, ms_of(act.hold)); !seen) return seen;
    const auto& knobs = bench_.draft().current().config.knobs;
    const auto set = knobs.find(knob);
    if ((set == knobs.end() || set->second != value) && bench_.refusal_of(knob).empty())
      return fail(Stage::internal, act.turn + ": the click had no effect", "Please report it.");
    return {};
  }

  session::Session& session_;
  Studio& studio_;
  Workbench& bench_;
  AnimatedPng film_;
  ImVec2 pointer_;
};

}  // namespace

Result<void> film(session::Session& session, const std::filesystem::path& file, ShotSize size,
                  const ShotOptions& options, const FilmScript& script) {
  if (auto possible = platform::check_output(file); !possible) return possible;
  auto opened = Studio::open(session, size, options);
  if (!opened) return fail(opened.error());
  Director director(session, **opened, size);
  if (options.step) {
    if (auto filmed = director.lesson(options.step->lesson); !filmed) return filmed;
  } else {
    if (options.presents) (*opened)->bench().present(true);
    if (auto ready = director.settle(false, ms_of(script.hold)); !ready) return ready;
    for (size_t at = 0; at < script.acts.size(); ++at)
      if (auto filmed = director.act(script.acts[at]); !filmed) {
        Failure failure = filmed.error();
        failure.message = "act " + std::to_string(at + 1) + ": " + failure.message;
        return fail(failure);
      }
  }
  return platform::write_output(file, director.film().bytes());
}

}  // namespace attnscope::ui
