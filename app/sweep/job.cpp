#include "sweep/job.h"

#include <fmt/format.h>

#include "core/with_commas.h"
#include "platform/clock.h"

namespace attnscope::sweep {
namespace {

constexpr double kBetweenStatesMs = 100;  // sorting the trials of a large sweep takes a while

}  // namespace

std::string_view words_of(Phase phase) {
  switch (phase) {
    case Phase::ranking:
      return "ranking";
    case Phase::running:
      return "running";
    case Phase::watching:
      return "watching the fastest";
    case Phase::stopped:
      return "stopped";
    case Phase::done:
      return "done";
    case Phase::failed:
      return "failed";
  }
  return "";
}

std::string progress_text(const JobState& state, bool paused) {
  const bool ranks = state.phase == Phase::ranking;
  const std::string count = ranks ? modelled_text(state.ended, state.most)
                                  : fmt::format("{} of {}", with_commas(static_cast<int64_t>(state.ended)),
                                                with_commas(static_cast<int64_t>(state.most)));
  const bool both = !ranks && !state.over() && state.to_model > 0;
  return fmt::format("{}: {}{}{}", paused && !state.over() ? "paused" : words_of(state.phase), count,
                     state.over() ? "" : briefly_text(state.briefly),
                     both ? ", " + modelled_text(state.modelled, state.to_model) : "");
}

Job::Job(Plan plan, search::Candidates candidates, Place place, std::filesystem::path results, Watching watch,
         std::function<void()> changed)
    : plan_(std::move(plan)),
      candidates_(std::move(candidates)),
      place_(std::move(place)),
      results_(std::move(results)),
      watch_(watch),
      changed_(std::move(changed)),
      thread_([this] { work(); }) {}

Job::~Job() {
  stop();
  thread_.join();
}

std::shared_ptr<const JobState> Job::state() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

void Job::publish() {
  if (now_.scan) now_.trials = session::share(trials_of(*now_.scan, plan_.space, plan_.kernel));
  stale_ = false;
  published_ms_ = platform::steady_ms();
  auto next = std::make_shared<const JobState>(now_);
  {
    const std::lock_guard lock(mutex_);
    published_.swap(next);
  }
  if (changed_) changed_();
}

void Job::take(const Progress& now) {
  now_.ended = now.ended;
  now_.most = now.most;
  now_.briefly = now.briefly;
  now_.modelled = now.modelled;
  now_.to_model = now.to_model;
  now_.left_seconds = now.left_seconds;
  if (now_.phase != Phase::watching) now_.phase = now.of_model ? Phase::ranking : Phase::running;
  stale_ = true;
}

void Job::work() {
  auto opened = open_results(results_);
  if (!opened) {
    now_.failure = opened.error();
    now_.phase = Phase::failed;
    return publish();
  }
  place_.results = std::move(opened->results);
  Search::Settings settings;
  settings.watch = watch_;
  settings.control = &control_;
  settings.on_scan = [this](const session::Shared<Scan>& scan) { now_.scan = scan; };
  settings.on_gate = [this] { now_.phase = Phase::watching; };
  settings.on_progress = [this](const Progress& now) { take(now); };
  settings.on_look = [this](const session::Snapshot&) {
    if (stale_ && platform::steady_ms() - published_ms_ >= kBetweenStatesMs) publish();
  };
  Search search(plan_, candidates_, place_, std::move(settings));
  const auto done = search.run();
  now_.notes = search.notes();
  if (!opened->note.empty()) now_.notes.push_back(opened->note);
  if (!search.scan().points.empty()) now_.scan = session::share(Scan(search.scan()));
  if (!done) now_.failure = done.error();
  now_.phase = !done ? Phase::failed : control_.stopped() ? Phase::stopped : Phase::done;
  now_.left_seconds.reset();
  if (const size_t tried = search.scan().points.size(); tried > 0 && now_.phase != Phase::failed) {
    now_.ended = tried;  // the last progress may be that of the final watch
    if (now_.phase == Phase::done) now_.most = tried;
  }
  publish();
}

}  // namespace attnscope::sweep
