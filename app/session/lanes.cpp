#include "session/lanes.h"

#include <utility>

namespace attnscope::session {

Lanes::Step Lanes::focus(JobId job) {
  Step step;
  if (focus_) {
    step.superseded.push_back(*focus_);
    attempts_.erase(*focus_);
  }
  focus_ = job;
  if (flight_ && flight_->lane == Lane::focus) cancel_flight(step);
  preempt_background(step);
  pump(step);
  return step;
}

Lanes::Step Lanes::view(JobId job) {
  Step step;
  views_.push_back(job);
  if (views_.size() > kMaxViews) {
    step.superseded.push_back(views_.front());
    attempts_.erase(views_.front());
    views_.pop_front();
  }
  preempt_background(step);
  pump(step);
  return step;
}

Lanes::Step Lanes::queue(JobId job) {
  Step step;
  queue_.push_back(job);
  pump(step);
  return step;
}

Lanes::Step Lanes::background(JobId job) {
  Step step;
  background_.push_back(job);
  pump(step);
  return step;
}

Lanes::Step Lanes::cancel_focus() {
  Step step;
  if (focus_) {
    step.superseded.push_back(*focus_);
    attempts_.erase(*focus_);
    focus_.reset();
  }
  if (flight_ && flight_->lane == Lane::focus) cancel_flight(step);
  return step;
}

Lanes::Step Lanes::drop_background() {
  Step step;
  for (JobId job : std::exchange(background_, {})) {
    step.superseded.push_back(job);
    attempts_.erase(job);
  }
  if (flight_ && flight_->lane == Lane::background) {
    flight_->again = false;
    cancel_flight(step);
  }
  return step;
}

Lanes::Step Lanes::connected() {
  Step step;
  connected_ = true;
  pump(step);
  return step;
}

Lanes::Step Lanes::disconnected() {
  Step step;
  connected_ = false;
  if (flight_) put_back(*std::exchange(flight_, std::nullopt), step);
  return step;
}

Lanes::Step Lanes::abandon() {
  Step step;
  connected_ = false;
  if (!flight_) return step;
  const Flight flight = *std::exchange(flight_, std::nullopt);
  if (flight.again) {
    put_back(flight, step);
  } else {
    (flight.cancel_sent ? step.superseded : step.lost).push_back(flight.job);
    attempts_.erase(flight.job);
  }
  return step;
}

Lanes::Step Lanes::give_up() {
  Step step = disconnected();
  if (focus_) step.lost.push_back(*focus_);
  focus_.reset();
  for (std::deque<JobId>* lane : {&views_, &queue_, &background_})
    for (JobId job : std::exchange(*lane, {})) step.lost.push_back(job);
  attempts_.clear();
  return step;
}

Lanes::Step Lanes::done(JobId job, bool cancelled) {
  Step step;
  if (!flight_ || flight_->job != job) return step;
  const Flight flight = *std::exchange(flight_, std::nullopt);
  attempts_.erase(job);
  step.answered = !(flight.again && cancelled);
  if (!step.answered) background_.push_front(job);
  pump(step);
  return step;
}

std::optional<JobId> Lanes::in_flight() const { return flight_ ? std::optional(flight_->job) : std::nullopt; }

size_t Lanes::queue_waiting() const { return queue_.size() + (flight_ && flight_->lane == Lane::queue ? 1 : 0); }

bool Lanes::idle() const { return !flight_ && !focus_ && views_.empty() && queue_.empty() && background_.empty(); }

void Lanes::pump(Step& step) {
  if (!connected_ || flight_) return;
  flight_ = take_next();
  if (!flight_) return;
  ++attempts_[flight_->job];
  step.send.push_back(flight_->job);
}

void Lanes::cancel_flight(Step& step) {
  if (std::exchange(flight_->cancel_sent, true)) return;
  step.cancel.push_back(flight_->job);
}

void Lanes::preempt_background(Step& step) {
  if (!flight_ || flight_->lane != Lane::background || flight_->cancel_sent) return;
  flight_->again = true;
  cancel_flight(step);
}

std::optional<Lanes::Flight> Lanes::take_next() {
  if (focus_) return Flight{*std::exchange(focus_, std::nullopt), Lane::focus};
  const std::pair<std::deque<JobId>*, Lane> rest[] = {
      {&views_, Lane::view}, {&queue_, Lane::queue}, {&background_, Lane::background}};
  for (auto [jobs, lane] : rest) {
    if (jobs->empty()) continue;
    const JobId job = jobs->front();
    jobs->pop_front();
    return Flight{job, lane};
  }
  return std::nullopt;
}

// A request whose connection was lost. One that was being cancelled has no one waiting for it any more.
void Lanes::put_back(const Flight& flight, Step& step) {
  const bool unwanted = flight.cancel_sent && !flight.again;
  const bool newer_focus = flight.lane == Lane::focus && focus_.has_value();
  if (unwanted || newer_focus) {
    step.superseded.push_back(flight.job);
    attempts_.erase(flight.job);
    return;
  }
  if (attempts_[flight.job] >= kMaxAttempts) {
    step.lost.push_back(flight.job);
    attempts_.erase(flight.job);
    return;
  }
  switch (flight.lane) {
    case Lane::focus:
      focus_ = flight.job;
      break;
    case Lane::view:
      views_.push_front(flight.job);
      break;
    case Lane::queue:
      queue_.push_front(flight.job);
      break;
    case Lane::background:
      background_.push_front(flight.job);
      break;
  }
}

}  // namespace attnscope::session
