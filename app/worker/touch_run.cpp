#include "worker/touch_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "core/escape.h"
#include "core/observation_fields.h"
#include "device/emulated/emulated_device.h"
#include "worker/pipeline.h"
#include "worker/recorder.h"

namespace attnscope {

template <>
struct FieldsOf<worker::TouchQuestion::Run> {
  using Of = worker::TouchQuestion::Run;
  static constexpr auto list = std::tuple{Field{"manifest", &Of::manifest, Limits{.bytes = 8 << 20, .required = true}},
                                          Field{"sizes", &Of::sizes}};
};

template <>
struct FieldsOf<worker::TouchQuestion> {
  using Of = worker::TouchQuestion;
  static constexpr auto list = std::tuple{Field{"id", &Of::id, Limits{.line = true, .required = true}},
                                          Field{"source_name", &Of::source_name, Limits{.required = true}},
                                          Field{"source", &Of::source, Limits{.bytes = 64 << 20, .required = true}},
                                          Field{"most_work", &Of::most_work, Limits{.low = 0, .high = 0x1p62}},
                                          Field{"limit_ms", &Of::limit_ms, Limits{.low = 0, .high = 600'000}},
                                          Field{"runs", &Of::runs, Limits{.most = 64, .required = true}}};
};

template <>
struct FieldsOf<worker::TouchAnswer> {
  using Of = worker::TouchAnswer;
  static constexpr auto list = std::tuple{Field{"touches", &Of::touches}, Field{"failure", &Of::failure}};
};

namespace worker {
namespace {

// Sets the flag after so much time, unless it is destroyed before.
class Limit {
 public:
  Limit(std::atomic<bool>& flag, std::chrono::milliseconds most)
      : timer_([this, &flag, most] {
          std::unique_lock lock(mutex_);
          if (!over_.wait_for(lock, most, [this] { return ended_; })) flag = true;
        }) {}
  ~Limit() {
    {
      std::lock_guard lock(mutex_);
      ended_ = true;
    }
    over_.notify_all();
    timer_.join();
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool ended_ = false;
  std::thread timer_;
};

// The emulated device, except that a run only shows what the kernel accesses.
class Touching final : public device::Device {
 public:
  Touching(std::shared_ptr<device::Device> own, uint64_t most_work, const std::atomic<bool>& cancel)
      : own_(std::move(own)), most_work_(most_work), cancel_(cancel) {}
  const DeviceSpec& spec() const override { return own_->spec(); }
  Result<std::shared_ptr<const device::Loaded>> load(const compile::Variant& variant) override {
    return own_->load(variant);
  }
  Result<device::LaunchOutcome> run(const device::LaunchRequest& request, const device::LaunchEvents&) override {
    auto made = device::touches_of(request, most_work_, cancel_);
    if (!made) return fail(made.error());
    touches = std::move(*made);
    return device::LaunchOutcome{};
  }

  Touches touches;

 private:
  std::shared_ptr<device::Device> own_;
  const uint64_t most_work_;
  const std::atomic<bool>& cancel_;
};

Result<Touches> touches_of(Services& services, const TouchQuestion& question, const TouchQuestion::Run& run,
                           uint64_t most_work, const std::atomic<bool>& cancel) {
  const auto device = std::ranges::find_if(services.devices, [](const auto& one) { return one->spec().emulated; });
  if (device == services.devices.end())
    return fail(Stage::device, "no emulated device is known", "Install attnscope's assets again.");
  Request request;
  auto kernel = catalog::parse_kernel({question.id + ".json", run.manifest, question.source_name, question.source});
  if (!kernel) return fail(kernel.error());
  auto config = catalog::complete_config(*kernel, {}, kernel->options);
  if (!config) return fail(config.error());
  request.kernel = std::move(*kernel);
  Experiment& experiment = request.experiment;
  experiment.problem = request.kernel.default_problem();
  for (const auto& [name, value] : run.sizes)
    if (experiment.problem.sizes.contains(name)) experiment.problem.sizes[name] = value;
  experiment.kernel = request.kernel.id;
  experiment.config = std::move(*config);
  experiment.device = (*device)->spec().id;
  experiment.kernel_hash = request.kernel.content_hash;
  request.stages = {.run = false};
  request.cancel = &cancel;
  Quiet sink;
  const auto trial = [](const model::LaunchShape&, const compile::Variant&,
                        const std::vector<SharedBuffer>&) -> Result<device::Trial> { return device::Trial{}; };
  const auto watching = std::make_shared<Touching>(*device, most_work, cancel);
  const std::shared_ptr<device::Device> own = std::exchange(*device, watching);
  const auto outcome = run_trial(services, request, trial, sink);
  *device = own;
  if (!outcome) return fail(outcome.error());
  return std::move(watching->touches);
}

}  // namespace

std::vector<TouchAnswer> answer_touches(Services& services, const TouchQuestion& question) {
  std::atomic<bool> cancel = question.limit_ms == 0;  // the timer's thread may begin late
  const Limit limit(cancel, std::chrono::milliseconds(question.limit_ms));
  std::vector<TouchAnswer> answers;
  int64_t left = question.most_work;
  for (const TouchQuestion::Run& run : question.runs) {
    TouchAnswer& answer = answers.emplace_back();
    if (cancel) {
      answer.failure = Failure{Stage::cancelled, "The time was used up.", ""};
      continue;
    }
    auto touches = touches_of(services, question, run, static_cast<uint64_t>(left), cancel);
    if (touches) {
      left = std::max<int64_t>(left - touches->work, 0);
      answer.touches = std::move(*touches);
      continue;
    }
    answer.failure = touches.error();
    // The most useful runs are asked for first. A run that leaves a buffer ended early and did little.
    if (answer.failure->stage == Stage::deadline) left = 0;
  }
  return answers;
}

std::string question_text(const TouchQuestion& question) { return json_text(write_fields(question)); }

Result<TouchQuestion> question_of(const std::string& text, const std::string& where) {
  auto json = parse_json(text, where);
  if (!json) return fail(json.error());
  return read_fields<TouchQuestion>(*json, where, Stage::input);
}

std::string answers_text(const std::vector<TouchAnswer>& answers) {
  Json json = Json::array();
  for (const TouchAnswer& one : answers) json.push_back(write_fields(one));
  return json_text(json);
}

Result<std::vector<TouchAnswer>> answers_of(const std::string& text, const std::string& where) {
  auto json = parse_json(text, where);
  if (!json) return fail(json.error());
  return fields::read_value<std::vector<TouchAnswer>>(*json, where, {}, Stage::input);
}

}  // namespace worker
}  // namespace attnscope
