#include "worker/truth_maker.h"

#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "platform/memory.h"
#include "platform/process.h"

namespace attnscope::worker {
namespace {

template <class T>
void fail_unless_made(std::promise<Result<T>>& promise, const Failure& failure) {
  try {
    promise.set_value(fail(failure));
  } catch (const std::future_error&) {
    return;  // a reference that was made before memory ran out stays
  }
}

}  // namespace

TruthMaker::TruthMaker(std::filesystem::path reference_folder) {
  if (!reference_folder.empty()) store_.emplace(std::move(reference_folder));
}

TruthMaker::~TruthMaker() { stop_making(); }

void TruthMaker::stop_making() {
  if (cancel_) *cancel_ = true;
  if (making_.joinable()) making_.join();
}

void TruthMaker::make(const Problem& problem, check::Accumulate accumulate, Wanted wanted,
                      const std::atomic<bool>& cancel, std::shared_ptr<const check::Reference> kept,
                      std::promise<InputsResult>& inputs, std::promise<ReferenceResult>& reference) const {
  const check::ReferenceStore* store = store_ ? &*store_ : nullptr;
  if (wanted == Wanted::stored_reference) inputs.set_value(nullptr);
  if (wanted != Wanted::all && kept == nullptr && store) {
    auto found = store->find(problem, accumulate);
    if (found && found->all_rows) kept = std::move(found);
  }
  if (wanted != Wanted::all || kept) reference.set_value(kept);
  if (wanted == Wanted::stored_reference) return;
  auto made = check::make_inputs(problem);
  if (!made) {
    inputs.set_value(fail(made.error()));
    if (wanted == Wanted::all && !kept) reference.set_value(fail(made.error()));
    return;
  }
  const auto shared = std::make_shared<const check::AttentionInputs>(std::move(*made));
  inputs.set_value(shared);
  if (wanted == Wanted::all && !kept)
    reference.set_value(check::reference_for(problem, *shared, accumulate, {.threads = 0, .cancel = &cancel}, store));
}

// Null while it is being made, or if making it failed.
std::shared_ptr<const check::Reference> TruthMaker::reference_if_made() const {
  if (!truth_.reference.valid() || truth_.reference.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return nullptr;
  const ReferenceResult& made = truth_.reference.get();
  return made ? *made : nullptr;
}

void TruthMaker::keep(std::shared_ptr<const check::Reference> reference) {
  // If it cannot be stored, this process still has it and the next one makes it again.
  if (store_) static_cast<void>(store_->keep(*reference));
  std::promise<ReferenceResult> made;
  made.set_value(std::move(reference));
  truth_.reference = made.get_future().share();
}

Truth TruthMaker::want(const Problem& problem, check::Accumulate accumulate, Wanted wanted) {
  const std::string key = to_json(problem).dump() + std::string(word_of(accumulate));
  const auto failed = [&] {
    return truth_.reference.wait_for(std::chrono::seconds(0)) == std::future_status::ready && !truth_.reference.get();
  };
  const bool same = key == key_;
  if (same && wanted <= made_ && !failed()) return truth_;
  stop_making();
  auto kept = same ? reference_if_made() : nullptr;
  key_ = key;
  made_ = wanted;
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  auto inputs = std::make_shared<std::promise<InputsResult>>();
  auto reference = std::make_shared<std::promise<ReferenceResult>>();
  truth_ = {inputs->get_future().share(), reference->get_future().share()};
  const auto give_up = [inputs, reference](const Failure& failure) {
    fail_unless_made(*inputs, failure);
    fail_unless_made(*reference, failure);
  };
  try {
    making_ = std::thread([this, problem, accumulate, wanted, kept, inputs, reference, give_up, cancel = cancel_] {
      platform::lower_thread_priority();
      try {
        make(problem, accumulate, wanted, *cancel, kept, *inputs, *reference);
      } catch (const std::bad_alloc&) {
        give_up(platform::out_of_memory(short_text(problem)));
      }
    });
  } catch (const std::system_error&) {
    give_up(platform::no_thread("the reference of " + short_text(problem)));
  }
  return truth_;
}

}  // namespace attnscope::worker
