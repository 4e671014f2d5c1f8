#include "session/lanes.h"

#include <algorithm>
#include <utility>

namespace attnscope::session {

Lanes::Step Lanes::ask(Lane lane, JobId job) {
  Step step;
  std::deque<JobId>& jobs = waiting(lane);
  jobs.push_back(job);
  const bool too_many = lane == Lane::focus ? jobs.size() > 1 : lane == Lane::view && jobs.size() > kMaxViews;
  if (too_many) end(take_first(jobs), step.superseded);
  if (lane == Lane::focus && flies(Lane::focus)) cancel_flight(step);
  const bool preempts = lane == Lane::focus || lane == Lane::view;
  const bool gives_way = flies(Lane::background) || flies(Lane::scan);
  if (preempts && gives_way && !flight_->cancel_sent) {
    flight_->again = true;
    cancel_flight(step);
  }
  pump(step);
  return step;
}

Lanes::Step Lanes::cancel(Lane lane) {
  Step step;
  for (JobId job : std::exchange(waiting(lane), {})) end(job, step.superseded);
  if (flies(lane)) {
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
  if (!flight_ || flight_->again) return disconnected();
  Step step;
  connected_ = false;
  end(flight_->job, flight_->cancel_sent ? step.superseded : step.lost);
  flight_.reset();
  return step;
}

Lanes::Step Lanes::give_up() {
  Step step = disconnected();
  for (std::deque<JobId>& jobs : waiting_)
    for (JobId job : std::exchange(jobs, {})) end(job, step.lost);
  return step;
}

Lanes::Step Lanes::done(JobId job, bool cancelled) {
  Step step;
  if (in_flight() != job) return step;
  const Flight flight = *std::exchange(flight_, std::nullopt);
  attempts_.erase(job);
  step.answered = !(flight.again && cancelled);
  if (!step.answered) waiting(flight.lane).push_front(job);
  pump(step);
  return step;
}

Lanes::Step Lanes::hold(std::function<bool(JobId)> waits) {
  Step step;
  waits_ = std::move(waits);
  pump(step);
  return step;
}

void Lanes::answered_here() {
  flight_->cancel_sent = true;
  flight_->again = false;
}

std::optional<JobId> Lanes::in_flight() const { return flight_ ? std::optional(flight_->job) : std::nullopt; }

bool Lanes::idle() const {
  return !flight_ && std::ranges::all_of(waiting_, [](const auto& jobs) { return jobs.empty(); });
}

JobId Lanes::take_first(std::deque<JobId>& jobs) {
  const JobId job = jobs.front();
  jobs.pop_front();
  return job;
}

void Lanes::end(JobId job, std::vector<JobId>& how) {
  how.push_back(job);
  attempts_.erase(job);
}

void Lanes::pump(Step& step) {
  if (!connected_ || flight_) return;
  for (const Lane lane : {Lane::focus, Lane::view, Lane::queue, Lane::background, Lane::scan}) {
    std::deque<JobId>& jobs = waiting(lane);
    const auto next = std::ranges::find_if(jobs, [this](JobId job) { return !waits_ || !waits_(job); });
    if (next == jobs.end()) continue;
    flight_ = Flight{*next, lane};
    jobs.erase(next);
    ++attempts_[flight_->job];
    return step.send.push_back(flight_->job);
  }
}

void Lanes::cancel_flight(Step& step) {
  if (!std::exchange(flight_->cancel_sent, true)) step.cancel.push_back(flight_->job);
}

// Returns a request to its lane after the connection was lost. A request that was being cancelled ends instead.
void Lanes::put_back(const Flight& flight, Step& step) {
  const bool unwanted = flight.cancel_sent && !flight.again;
  const bool newer_focus = flight.lane == Lane::focus && !waiting(Lane::focus).empty();
  if (unwanted || newer_focus)
    end(flight.job, step.superseded);
  else if (attempts_[flight.job] >= kMaxAttempts)
    end(flight.job, step.lost);
  else
    waiting(flight.lane).push_front(flight.job);
}

}  // namespace attnscope::session
