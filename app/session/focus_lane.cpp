#include "session/focus_lane.h"

#include <algorithm>

#include "session/complete.h"
#include "session/naming.h"

namespace attnscope::session {
namespace {

constexpr size_t kMaxOwners = 32;  // configs remembered for one machine code

}  // namespace

FocusLane::Next FocusLane::ask(Request request, const Resolution& resolution) {
  held_.reset();
  const Experiment& experiment = resolution.experiment;
  const Shared<Kernel>& kernel = resolution.kernel;
  const Gesture& gesture = request.gesture;
  if (resolution.wait) {
    gesture_ = 0;
    want(experiment, kernel, gesture.change);
    held_ = std::move(request);
    return Next::wait;
  }
  Observation blank = blank_observation(experiment);
  const bool same = !resolution.failure && blank.hash == wanted_hash();
  // The end of a drag repeats the request of its last step.
  const bool same_gesture = gesture.id != 0 && gesture.id == gesture_;
  if (same && !request.again && (settled() || same_gesture)) return Next::nothing;
  gesture_ = gesture.id;
  UndoState state{experiment, blank.hash, kernel, gesture.change, nullptr, 0};
  if (resolution.failure) {
    refuse(experiment, kernel, gesture.change, *resolution.failure);
    blank.failure = resolution.failure;
    state.observation = share(std::move(blank));
  } else {
    want(experiment, kernel, gesture.change);
  }
  remember_asked();
  if (!same || !request.again) undo_.push(std::move(state), gesture.id);
  return resolution.failure ? Next::show : Next::run;
}

FocusLane::Next FocusLane::step_to(const UndoState* state, const DeviceTable& devices, DeviceTable::Place& place) {
  if (!state) return Next::nothing;
  held_.reset();
  gesture_ = 0;
  if (state->observation) {
    show(state->observation, state->kernel, state->change, state->run);
    remember_asked();
    note_same_code();
    return Next::show;
  }
  // The state was left before its run ended, so there is nothing to show and it must run.
  if (devices.find(state->experiment.device, place) != DeviceTable::Answer::here) {
    refuse(state->experiment, state->kernel, state->change,
           Failure{Stage::device, devices.missing(state->experiment.device), ""});
    return Next::show;
  }
  want(state->experiment, state->kernel, state->change);
  remember_asked();
  return Next::run;
}

// Skipped if the kernel is unknown: such a request is refused and has no config to keep.
void FocusLane::remember_asked() {
  if (!kernel()) return;
  LastAskedByKernel asked = *last_asked_;
  asked.insert_or_assign(wanted().kernel, wanted());
  set_last_asked(std::move(asked));
}

void FocusLane::take_part(const protocol::Part& part) {
  if (!is(part.id)) return;
  apply(part);
  if (has(part, &Observation::variant)) note_same_code();
}

// Checks whether another config has given the same machine code as the wanted experiment.
void FocusLane::note_same_code() {
  if (!own().variant || own().variant->code_hash.empty()) return;
  std::vector<CodeOwner>& owners = code_owners_[own().variant->code_hash];
  const auto same_config = [&](const CodeOwner& owner) {
    return owner.experiment.config == wanted().config && owner.experiment.kernel == wanted().kernel;
  };
  const auto other = std::ranges::find_if_not(owners, same_config);
  if (other != owners.end()) set_same_code_as(difference_text(other->experiment, wanted(), other->kernel.get()));
  if (owners.size() < kMaxOwners && std::ranges::none_of(owners, same_config)) owners.push_back({wanted(), kernel()});
}

void FocusLane::keep(const Shared<Observation>& observation, uint64_t run) {
  undo_.keep(observation->hash, observation, run);
  set_run(run);
}

void FocusLane::amend(const Shared<Observation>& before, const Shared<Observation>& after) {
  FocusState::amend(after);
  undo_.amend(before, after);
}

}  // namespace attnscope::session
