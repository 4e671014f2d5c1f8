#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "catalog/catalog.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/places.h"
#include "cli/waiting_words.h"
#include "core/escape.h"
#include "core/joined.h"
#include "core/json.h"
#include "lesson/check.h"
#include "session/session.h"

namespace attnscope::cli {
namespace {

struct LessonOptions {
  std::vector<std::string> files;  // empty: every lesson
  std::vector<std::string> kernel_dirs;
  bool json = false;
};

// The shipped lessons, then the user's own. A lesson that cannot be read is reported.
Result<std::vector<lesson::Lesson>> known_lessons(std::vector<Failure>& faults) {
  auto places = find_places();
  if (!places) return fail(places.error());
  std::vector<lesson::Lesson> lessons;
  for (const auto& folder : {places->resources / "assets" / "lessons", own_lessons_of(*places)})
    for (lesson::Lesson& one : lesson::list_lessons(folder, faults)) lessons.push_back(std::move(one));
  return lessons;
}

Result<std::vector<lesson::Lesson>> named_lessons(const std::vector<std::string>& files, std::vector<Failure>& faults) {
  if (files.empty()) return known_lessons(faults);
  std::vector<lesson::Lesson> lessons;
  for (const std::string& file : files) {
    auto lesson = lesson::read_lesson(file);
    if (lesson)
      lessons.push_back(std::move(*lesson));
    else
      faults.push_back(lesson.error());
  }
  return lessons;
}

int list(const LessonOptions& options) {
  std::vector<Failure> faults;
  auto lessons = known_lessons(faults);
  if (!lessons) return report(lessons.error());
  Json all = Json::array();
  std::string text;
  for (const lesson::Lesson& one : *lessons) {
    all.push_back({{"id", one.id},
                   {"title", one.title},
                   {"summary", one.summary},
                   {"minutes", one.minutes},
                   {"steps", one.steps.size()},
                   {"questions", one.questions}});
    text += fmt::format("{:<24} {:>2} min  {}\n", one_line(one.id), one.minutes, one_line(one.title));
  }
  print_result(options.json ? json_text(all, 2) : text);
  int status = kCorrectOrUnchecked;
  for (const Failure& fault : faults) status = report(fault);
  return status;
}

// Runs each draft once, even if several lessons use it.
class Runs {
 public:
  explicit Runs(session::Session& session) : session_(session) {}
  Observation operator()(const Draft& draft, bool watch) {
    for (const auto& [known, watched, observation] : kept_)
      if (known == draft && watched >= watch) return observation;
    const auto how = watch ? session::Watch::always : session::Watch::never;
    return kept_.emplace_back(draft, watch, waiting_.wait(session_, draft, how)).observation;
  }

 private:
  struct Kept {
    Draft draft;
    bool watched;
    Observation observation;
  };
  session::Session& session_;
  WaitingWords waiting_;
  std::vector<Kept> kept_;
};

int check_lesson(const LessonOptions& options) {
  std::vector<Failure> faults;
  auto lessons = named_lessons(options.files, faults);
  if (!lessons) return report(lessons.error());
  auto dirs = kernel_dirs(options.kernel_dirs);
  if (!dirs) return report(dirs.error());
  const catalog::Catalog catalog = catalog::load_catalog(*dirs);
  auto with = session_options(options.kernel_dirs, false);
  if (!with) return report(with.error());
  with->watch_files = with->first_experiment = false;
  auto session = session::Session::start(std::move(*with), {});
  if (!session) return report(session.error());
  Runs runs(**session);
  int status = kCorrectOrUnchecked;
  for (const Failure& fault : faults) status = report(fault);
  Json all = Json::array();
  std::string text;
  for (const lesson::Lesson& one : *lessons) {
    const lesson::Checked checked = lesson::check(
        one, catalog.kernels, [&](const Draft& draft, bool watch) -> Result<Observation> { return runs(draft, watch); },
        [&](const Experiment& experiment, const lesson::Run& run) {
          return run.softmax ? wait_for_softmax(**session, experiment, {0, 0, *run.softmax})
                             : wait_for_code(**session, experiment);
        });
    Json messages = Json::array();
    for (const Failure& fault : checked.faults) messages.push_back(fault.message);
    all.push_back({{"id", one.id}, {"claims", checked.claims}, {"faults", messages}});
    text += fmt::format("{:<24} {:>3} claims, {}\n", one_line(one.id), checked.claims,
                        checked.faults.empty()
                            ? "all hold"
                            : fmt::format("{} fault{}", checked.faults.size(), checked.faults.size() == 1 ? "" : "s"));
    for (const Failure& fault : checked.faults) report(fault);
    if (!checked.faults.empty()) status = std::max<int>(status, kWrong);
  }
  print_result(options.json ? json_text(all, 2) : text);
  return status;
}

}  // namespace

void add_lesson(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("lesson", "List the lessons, or check that what they say still holds");
  command->require_subcommand(1);
  auto options = std::make_shared<LessonOptions>();
  CLI::App* listing = command->add_subcommand("list", "List the lessons");
  CLI::App* checking = command->add_subcommand("check", "Run every step and say which claims do not hold");
  checking->add_option("files", options->files, "Lessons; else all of them")->type_name("FILE");
  add_kernels_option(*checking, options->kernel_dirs);
  for (CLI::App* one : {listing, checking}) one->add_flag("--json", options->json, "As JSON");
  listing->callback([options, &chosen] { chosen = [options] { return list(*options); }; });
  checking->callback([options, &chosen] { chosen = [options] { return check_lesson(*options); }; });
}

}  // namespace attnscope::cli
