#include "ui/sweep_desk.h"

#include <algorithm>
#include <new>
#include <system_error>

#include "catalog/validate.h"
#include "core/device_id.h"
#include "core/json.h"
#include "core/options.h"
#include "platform/memory.h"
#include "platform/process.h"
#include "ui/context.h"

namespace attnscope::ui {
namespace {

// Checked again after this time if a count is not finished.
constexpr double kCountSeconds = 0.05;

Result<search::Space> space_of(const Kernel& kernel, const Config& held, const SweepWishes& wishes) {
  search::Space space;
  space.held = held;
  for (const Knob& knob : kernel.knobs) {
    const auto found = wishes.ticked.find(knob.name);
    search::Axis axis{knob.name, {}};
    const bool holds = wishes.held.contains(knob.name);
    for (const KnobValue& value : knob.values)
      if (holds ? value.value == held.knobs.at(knob.name)
                : found == wishes.ticked.end() || found->second.contains(value.value))
        axis.values.push_back(value.value);
    if (axis.values.empty())
      return fail(Stage::input, "no value of " + knob.name + " is ticked", "Tick the values to try.");
    space.axes.push_back(std::move(axis));
  }
  for (const auto& [name, ticked] : wishes.options) {
    if (ticked.empty()) return fail(Stage::input, "no value of " + name + " is ticked", "Tick the values to try.");
    if (ticked == std::set{option_value(held.options, name)}) continue;
    space.axes.push_back({name, {ticked.begin(), ticked.end()}, true});
  }
  return search::space_from_json(search::to_json(space, kernel), kernel, held, "the ticked values");
}

SweepPreview count(const Kernel& kernel, const Draft& draft, const DeviceSpec& device, const SweepWishes& wishes) {
  SweepPreview preview;
  const auto refused = [&](const Failure& why) {
    preview.refusal = why;
    return std::move(preview);
  };
  sweep::Plan& plan = preview.plan;
  plan.kernel = kernel;
  plan.strategy = wishes.strategy;
  plan.budget = static_cast<size_t>(std::max(wishes.budget, 0));
  static_cast<Draft&>(plan.held) = draft;
  plan.held.kernel_hash = kernel.content_hash;
  if (kernel.knobs.empty()) return refused({Stage::input, kernel.id + " has no knobs", "Choose another kernel."});
  if (const auto runs = catalog::check_runs(kernel, device); !runs) return refused(runs.error());
  auto held = catalog::complete_config(kernel, draft.config.knobs, draft.config.options);
  if (!held) return refused(held.error());
  plan.held.config = *held;
  auto space = space_of(kernel, *held, wishes);
  if (!space) return refused(space.error());
  plan.space = std::move(*space);
  preview.candidates = search::candidates_of(plan.space, kernel, draft.problem, device);
  preview.by_nvcc = sweep::by_nvcc(preview.candidates.configs);
  if (!preview.candidates.configs.empty()) return preview;
  const auto common = sweep::most_common(preview.candidates.excluded);
  return refused({Stage::input, "no config is left to try; " + common, preview.candidates.excluded.front().hint});
}

}  // namespace

size_t SweepPreview::most() const {
  return plan.budget > 0 ? std::min(plan.budget, candidates.configs.size()) : candidates.configs.size();
}

std::vector<OtherDevice> SweepDesk::others(const session::Snapshot& snapshot, const std::string& device, bool by_nvcc) {
  const DeviceSpec* own = session::find_device(snapshot, device);
  const session::WorkerStatus* worker = session::worker_of(snapshot, device);
  if (own == nullptr || worker == nullptr) return {};
  std::vector<OtherDevice> found;
  std::map<std::string, size_t> of_worker;  // its place in `found`
  for (const DeviceSpec& other : *snapshot.devices) {
    const session::WorkerStatus* its = session::worker_of(snapshot, other.id);
    if (its == nullptr || its->name == worker->name) continue;
    if (other.name != own->name || other.emulated != own->emulated) continue;
    OtherDevice one{other.id, session::unlike(*own, worker->versions, other, its->versions, by_nvcc)};
    const auto [at, added] = of_worker.try_emplace(its->name, found.size());
    if (added)
      found.push_back(std::move(one));
    else if (!found[at->second].why_not.empty() && one.why_not.empty())
      found[at->second] = std::move(one);
  }
  return found;
}

// The devices that share the sweep; empty if no other worker takes part. A device that is gone, or is now another one,
// is left out.
std::optional<session::Sharing> SweepDesk::sharing(const sweep::Found& device) const {
  const auto wished = wishes_.find(preview_->plan.kernel.id);
  if (wished == wishes_.end()) return std::nullopt;
  session::Sharing sharing{{device.device.id}, device.device, device.versions};
  for (const OtherDevice& one : others(*session_.snapshot(), device.device.id, preview_->by_nvcc))
    if (one.why_not.empty() && wished->second.devices.contains(one.id)) sharing.devices.push_back(one.id);
  return sharing.devices.size() > 1 ? std::optional(std::move(sharing)) : std::nullopt;
}

const SweepPreview* SweepDesk::preview(const Context& context) {
  const session::Snapshot& snapshot = context.snapshot;
  const Draft& draft = context.draft.current();
  const Kernel* kernel = session::find_kernel(snapshot, draft.kernel);
  const DeviceSpec* device = session::find_device(snapshot, draft.device);
  if (kernel == nullptr) return nullptr;
  if (counting_.valid()) {
    if (counting_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      context.wake_within(kCountSeconds);
      return nullptr;
    }
    preview_ = counting_.get();
  }
  Asked now{draft, kernel->content_hash, device != nullptr, wishes(kernel->id)};
  if (preview_ && now == asked_) return preview_.get();
  asked_ = std::move(now);
  preview_.reset();
  const auto refused = [](const Failure& why) {
    SweepPreview none;
    none.refusal = why;
    return std::make_shared<const SweepPreview>(std::move(none));
  };
  if (device == nullptr) {
    preview_ = refused({Stage::device, "the experiment's device is not there", "Choose another device."});
    return preview_.get();
  }
  // Restrictions are expressions, so counting a large space takes longer than a frame.
  try {
    counting_ = std::async(std::launch::async, [kernel = *kernel, device = *device, asked = asked_, refused] {
      try {
        return std::make_shared<const SweepPreview>(count(kernel, asked.draft, device, asked.wishes));
      } catch (const std::bad_alloc&) {
        return refused(platform::out_of_memory("the configs of " + kernel.id));
      }
    });
  } catch (const std::system_error&) {
    preview_ = refused(platform::no_thread("counting configs"));
    return preview_.get();
  }
  context.wake_within(kCountSeconds);
  return nullptr;
}

sweep::Place SweepDesk::place() const {
  sweep::Place place;
  place.session = &session_;
  place.resources = resources_;
  place.find = [session = &session_](const std::string& id) -> Result<sweep::Found> {
    const auto now = session->snapshot();
    const DeviceSpec* device = session::find_device(*now, id);
    const session::WorkerStatus* worker = session::worker_of(*now, id);
    if (device == nullptr || worker == nullptr)
      return fail(Stage::device, "there is no device " + id, "The device list of the experiment has those that are.");
    return sweep::Found{*device, worker->versions};
  };
  place.new_id = next_gesture;
  for (const DeviceSpec& spec : *session_.snapshot()->devices)
    if (spec.emulated && DeviceId(spec.id).is_own()) place.emulated.push_back(spec);
  return place;
}

void SweepDesk::start() {
  if (!preview_ || preview_->refusal || runs()) return;
  sweep::Place here = place();
  auto found = here.find(preview_->plan.held.device);
  if (!found) return;  // it has just gone away; the next preview says so
  here.device = std::move(*found);
  here.sharing = sharing(here.device);
  job_.reset();
  ++started_;
  job_ = std::make_unique<sweep::Job>(preview_->plan, preview_->candidates, std::move(here), results_,
                                      sweep::Watching::leaders, wake_);
}

void SweepDesk::pause() {
  if (job_) job_->pause();
}

void SweepDesk::resume() {
  if (job_) job_->resume();
}

void SweepDesk::stop() {
  if (job_) job_->stop();
}

}  // namespace attnscope::ui
