#include "lesson/progress.h"

#include <fmt/format.h>

#include <utility>

namespace attnscope::lesson {

Progress::Progress(Lesson lesson) : lesson_(std::move(lesson)), left_(lesson_.steps.size()) {}

Progress::State Progress::state() const {
  if (step().predict && !chosen_) return State::asks;
  if (step().run && !ran_) return State::waits;
  return step().goal && !reached_ ? State::practises : State::told;
}

void Progress::choose(size_t choice) {
  if (state() == State::asks && choice < step().predict->choices.size()) chosen_ = choice;
}

Result<size_t> Progress::right() const {
  if (step().predict)
    for (size_t at = 0; at < step().predict->choices.size(); ++at) {
      const auto holds = observed_.holds(step().predict->choices[at].holds);
      if (!holds) return fail(holds.error());
      if (*holds) return at;
    }
  return fail(Stage::input, fmt::format("{}, step {}: no choice holds", lesson_.id, at_ + 1),
              "`attnscope lesson check` says what does not hold.");
}

const Run* Progress::wanted() const { return step().run && state() != State::asks ? &*step().run : nullptr; }

void Progress::take(const Observation& observation, const Listing* code) {
  if (state() == State::asks || !step().run) return;
  if (!ran_) {
    observed_.set(step().run->name, observation, code);
    runs_.insert_or_assign(at_, observation);
  } else {
    own_ = observation;
  }
  ran_ = true;
  observed_.set("now", observation, code);
  if (step().goal && !reached_) reached_ = observed_.holds(step().goal->holds).value_or(false);
}

bool Progress::may_go_on() const { return state() == State::told || state() == State::practises; }

std::vector<Progress::Told> Progress::told() const {
  std::vector<Told> all;
  for (const auto& [at, observation] : runs_)
    if (at < at_ || (at == at_ && may_go_on())) all.push_back({&*lesson_.steps[at].run, &observation});
  if (own_ && may_go_on()) all.push_back({nullptr, &*own_});
  return all;
}

void Progress::enter(size_t at) {
  own_.reset();
  left_[at_] = {chosen_, ran_, reached_};
  at_ = at;
  chosen_ = left_[at].chosen;
  ran_ = left_[at].ran;
  reached_ = left_[at].reached;
}

void Progress::next() {
  if (!is_last()) enter(at_ + 1);
}

void Progress::back() {
  if (at_ > 0) enter(at_ - 1);
}

}  // namespace attnscope::lesson
