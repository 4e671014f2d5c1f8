#include "worker/truth_maker.h"

#include <nlohmann/json.hpp>

#include "platform/process.h"

namespace attnscope::worker {

TruthMaker::TruthMaker(std::filesystem::path reference_folder) {
  if (!reference_folder.empty()) store_.emplace(std::move(reference_folder));
}

TruthMaker::~TruthMaker() { stop_making(); }

void TruthMaker::stop_making() {
  if (cancel_) *cancel_ = true;
  if (making_.joinable()) making_.join();
}

ReferenceResult TruthMaker::reference_of(const Problem& problem, const check::AttentionInputs& inputs,
                                         check::Accumulate accumulate, By by, const std::atomic<bool>& cancel) const {
  const check::ReferenceStore* store = store_ ? &*store_ : nullptr;
  if (by == By::cpu) return check::reference_for(problem, inputs, accumulate, {.threads = 0, .cancel = &cancel}, store);
  auto found = store ? store->find(problem, accumulate) : nullptr;
  return found && found->all_rows ? found : nullptr;
}

void TruthMaker::keep(std::shared_ptr<const check::Reference> reference) {
  // What the disk does not take is made again in the next process; this one has it.
  if (store_) static_cast<void>(store_->keep(*reference));
  std::promise<ReferenceResult> made;
  made.set_value(std::move(reference));
  truth_.reference = made.get_future().share();
}

Truth TruthMaker::want(const Problem& problem, check::Accumulate accumulate, By by) {
  const std::string key = to_json(problem).dump() + (accumulate == check::Accumulate::f16 ? "f16" : "f32") +
                          (by == By::device ? " by a device" : "");
  const auto failed = [&] {
    return truth_.reference.wait_for(std::chrono::seconds(0)) == std::future_status::ready && !truth_.reference.get();
  };
  if (key == key_ && !failed()) return truth_;
  stop_making();
  key_ = key;
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  auto inputs = std::make_shared<std::promise<InputsResult>>();
  auto reference = std::make_shared<std::promise<ReferenceResult>>();
  truth_ = {inputs->get_future().share(), reference->get_future().share()};
  making_ = std::thread([this, problem, accumulate, by, inputs, reference, cancel = cancel_] {
    platform::lower_thread_priority();
    auto made = check::make_inputs(problem);
    if (!made) {
      inputs->set_value(fail(made.error()));
      reference->set_value(fail(made.error()));
      return;
    }
    const auto shared = std::make_shared<const check::AttentionInputs>(std::move(*made));
    inputs->set_value(shared);
    reference->set_value(reference_of(problem, *shared, accumulate, by, *cancel));
  });
  return truth_;
}

}  // namespace attnscope::worker
