#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/number_checks.h"
#include "cli/places.h"
#include "cli/worker_options.h"
#ifdef ATTNSCOPE_HAS_UI
#include "core/text.h"
#include "ui/app.h"
#include "ui/film_script.h"
#endif

namespace attnscope::cli {
namespace {

struct ShotOptions {
  std::string file;
  ExperimentOptions experiment;
  WorkerOptions workers;
  std::string size = "1600x900";
  float zoom = 1.0f;
  bool light = false, contrast = false, presents = false;
  std::string lesson;
  size_t step = 1, answer = 0;
  std::string film;  // a script's file or a lesson's id; empty: a still picture
  std::string panel;
  bool only = false;
  int64_t fragments = 0, softmax = -1, tile = 1;
};

#ifdef ATTNSCOPE_HAS_UI
// "1600x900": both sides in 320…8192 pixels.
Result<ui::ShotSize> size_of(const std::string& text) {
  constexpr int kLeast = 320, kMost = 8192;
  ui::ShotSize size;
  const size_t cross = text.find('x');
  const auto side = [](std::string_view digits, int& out) {
    const auto number = number_of<int>(digits);
    if (number) out = *number;
    return number && out >= kLeast && out <= kMost;
  };
  if (cross == std::string::npos || !side(std::string_view(text).substr(0, cross), size.width) ||
      !side(std::string_view(text).substr(cross + 1), size.height))
    return fail(Stage::input, "--size " + text + ": must be WIDTHxHEIGHT, each 320 to 8192", "Write --size 1600x900.");
  return size;
}

// FILE.json is a script; anything else names a lesson.
bool is_script(const std::string& film) { return std::filesystem::path(film).extension() == ".json"; }

int shoot(const ShotOptions& given) {
  auto size = size_of(given.size);
  if (!size) return report(size.error());
  Result<ui::FilmScript> script = is_script(given.film) ? ui::read_film(given.film) : ui::FilmScript{};
  if (!script) return report(script.error());
  const ExperimentOptions& named = given.experiment;
  auto draft = draft_of(named);
  if (!draft) return report(draft.error());
  auto places = find_places();
  if (!places) return report(places.error());
  auto options = session_options(named.kernel_dirs, false);
  if (!options) return report(options.error());
  if (auto added = add_workers(*options, given.workers, Named::asked, options->first_device); !added)
    return report(added.error());
  options->watch_configs = true;
  auto session = session::Session::start(*options, [] { ui::wake(); });
  if (!session) return report(session.error());
  if (!named.preset.empty() && named.kernel.empty() && named.settings.empty() && named.problem.empty())
    (*session)->load_preset(named.preset);  // including its view
  else if (!named.kernel.empty() || !named.settings.empty() || !named.problem.empty())
    (*session)->focus(draft->draft, {0, true, "start"});
  ui::ShotOptions shot;
  shot.resources = places->resources;
  shot.own_lessons = own_lessons_of(*places);
  shot.light = given.light;
  shot.contrast = given.contrast;
  shot.presents = given.presents;
  if (!given.lesson.empty()) {
    auto& step = shot.step.emplace(ui::ShotStep{given.lesson, given.step, {}});
    if (given.answer > 0) step.answer = given.answer;
  }
  if (!given.film.empty() && !is_script(given.film)) shot.step.emplace(ui::ShotStep{given.film, 1, {}});
  shot.panel = given.panel;
  shot.only = given.only;
  shot.fragments = given.fragments;
  shot.softmax_row = given.softmax;
  shot.softmax_tile = given.tile;
  shot.zoom = given.zoom;
  auto done = given.film.empty() ? ui::shot(**session, given.file, *size, shot)
                                 : ui::film(**session, given.file, *size, shot, *script);
  (*session)->stop();
  if (!done) return report(done.error());
  spdlog::info("wrote {}", given.file);
  return kCorrectOrUnchecked;
}
#else
int shoot(const ShotOptions&) {
  return report({Stage::device, "this attnscope was built without its window", "Build it with ATTNSCOPE_UI=ON."});
}
#endif

}  // namespace

void add_shot(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("shot", "Write a picture or a film of the window; needs no display");
  auto options = std::make_shared<ShotOptions>();
  command->add_option("file", options->file, "The picture to write")->type_name("OUT.png")->required();
  add_experiment_options(*command, options->experiment);
  add_worker_options(*command, options->workers);
  command->add_option("--size", options->size, "Its size in pixels")->type_name("1600x900");
  command->add_option("--zoom", options->zoom, "Larger or smaller, as for a screen of many pixels")
      ->check(CLI::Range(0.7, 2.0));
  command->add_flag("--light", options->light, "The light theme");
  command->add_flag("--contrast", options->contrast, "High contrast");
  command->add_flag("--present", options->presents, "Presenter mode, as F11");
  CLI::Option* panel = command->add_option("--panel", options->panel, "This panel in front of its neighbours");
  panel->type_name("TITLE");
  command->add_flag("--only", options->only, "Only the panel of --panel, cut out of the window")->needs(panel);
  command
      ->add_option("--fragments", options->fragments,
                   "The Source panel with the matrices of this source line, lane by lane")
      ->type_name("LINE")
      ->check(above_zero())
      ->excludes(panel);
  CLI::Option* softmax = command->add_option("--softmax", options->softmax,
                                             "The Source panel with the online softmax of this query row, stepped");
  softmax->type_name("ROW")->check(zero_or_more())->excludes(panel);
  command->add_option("--tile", options->tile, "Which tile of keys, from 1, for --softmax")
      ->check(above_zero())
      ->needs(softmax);
  CLI::Option* film =
      command
          ->add_option("--steps", options->film,
                       "An animated PNG: what FILE.json does to the window, or a lesson from step to step")
          ->type_name("FILE.json|LESSON")
          ->excludes(panel)
          ->excludes("--fragments")
          ->excludes(softmax);
  CLI::Option* lesson = command->add_option("--lesson", options->lesson, "A step of this lesson, in presenter mode");
  lesson->type_name("ID")->excludes(film);
  command->add_option("--step", options->step, "Which step; by default the first")
      ->type_name("N")
      ->needs(lesson)
      ->check(above_zero());
  command->add_option("--answer", options->answer, "Answer the step's question; else it is open")
      ->type_name("N")
      ->needs(lesson)
      ->check(above_zero());
  command->callback([options, &chosen] { chosen = [options] { return shoot(*options); }; });
}

}  // namespace attnscope::cli
