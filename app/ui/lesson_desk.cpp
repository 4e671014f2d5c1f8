#include "ui/lesson_desk.h"

#include <utility>

#include "core/joined.h"
#include "session/listings.h"
#include "ui/context.h"

namespace attnscope::ui {

std::optional<Observation> settled(const session::Focus& focus, bool watch) {
  if (focus.running || focus.wanted_hash.empty()) return std::nullopt;
  const auto timing = static_cast<size_t>(session::Part::timing);
  if (focus.failure) {
    Observation refused;
    if (focus.shown && hash_of(focus.shown->experiment) == focus.wanted_hash) refused = *focus.shown;
    refused.experiment = focus.wanted;
    refused.failure = focus.failure;
    return refused;
  }
  if (!focus.shown || focus.parts[timing] != session::PartState::fresh) return std::nullopt;
  const bool watched = focus.watch == session::WatchState::done || focus.watch == session::WatchState::failed;
  if (watch && !watched && !focus.shown->watch) return std::nullopt;
  return *focus.shown;
}

std::string words_of(const lesson::Run& run) {
  return run.set.empty() ? run.kernel : run.kernel + " with " + joined(run.set, {}, " ");
}

void LessonDesk::open(const lesson::Lesson& lesson) {
  progress_.emplace(lesson);
  drafted_.reset();  // the new lesson has other runs
  fault_.clear();
  taken_.clear();
  start_ = runs_ = false;
}

void LessonDesk::choose(size_t choice) {
  if (!progress_ || progress_->state() != lesson::Progress::State::asks) return;
  progress_->choose(choice);
  start_ = progress_->state() == lesson::Progress::State::waits;
}

void LessonDesk::run() {
  if (progress_ && progress_->state() == lesson::Progress::State::waits && !runs_) start_ = true;
}

void LessonDesk::next() {
  if (!progress_ || !progress_->may_go_on() || progress_->is_last()) return;
  progress_->next();
  fault_.clear();
  start_ = runs_ = false;
  if (!progress_->may_go_on()) taken_.clear();  // the shown run may be this step's
}

void LessonDesk::back() {
  if (!progress_ || progress_->at() == 0) return;
  progress_->back();
  fault_.clear();
  start_ = runs_ = false;
}

// Completed once for each run of the lesson, not in every frame.
const Result<Draft>& LessonDesk::draft_of(const Context& context, const lesson::Run& run) {
  const std::pair now{&run, context.snapshot.kernels};
  if (drafted_ == now) return draft_;
  drafted_ = now;
  draft_ = lesson::draft_of(progress_->lesson(), run, *context.snapshot.kernels);
  return draft_;
}

void LessonDesk::follow(Context& context) {
  runs_ = false;
  if (!progress_) return;
  const session::Focus& focus = context.snapshot.focus;
  const lesson::Run* run = progress_->wanted();
  if (run == nullptr || !context.snapshot.kernels) return;
  const Result<Draft>& draft = draft_of(context, *run);
  if (std::exchange(start_, false)) {
    fault_ = draft ? "" : draft.error().message;
    taken_.clear();
    if (draft) context.post(*draft, {.id = next_gesture(), .finished = true, .change = progress_->lesson().title});
  }
  const bool asked = draft && (context.draft.pending() || asks_for(*draft, focus.wanted));
  runs_ = progress_->state() == lesson::Progress::State::waits && asked &&
          (context.draft.pending() || focus.running || run->watch || run->code || run->softmax);
  if (focus.wanted_hash == taken_ || context.draft.pending()) return;
  if (!draft || (progress_->state() == lesson::Progress::State::waits && !asks_for(*draft, focus.wanted))) return;
  const auto observation = settled(focus, run->watch);
  if (!observation) return;
  session::Shared<Listing> code;
  if ((run->code || run->softmax) && !observation->failure) {
    const SoftmaxRow row{0, 0, run->softmax.value_or(0)};
    const std::string key = run->softmax ? session::listing_key(focus.wanted_hash, row) : focus.wanted_hash;
    const auto known = context.snapshot.listings.find(key);
    const bool there = known != context.snapshot.listings.end();
    if (!there && !context.snapshot.refused_listings.contains(key)) {
      if (run->softmax)
        context.session.request_softmax(observation->experiment, row);
      else
        context.session.request_code(observation->experiment);
      return;
    }
    if (there) code = known->second;
  }
  taken_ = focus.wanted_hash;
  progress_->take(*observation, code.get());
  runs_ = false;
}

}  // namespace attnscope::ui
