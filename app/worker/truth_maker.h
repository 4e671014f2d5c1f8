#pragma once
#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "check/inputs.h"
#include "check/reference.h"
#include "check/reference_store.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::worker {

using InputsResult = Result<std::shared_ptr<const check::AttentionInputs>>;
using ReferenceResult = Result<std::shared_ptr<const check::Reference>>;

// What a problem's runs are fed and held against. Both come up on a thread of their own while the kernel compiles.
struct Truth {
  std::shared_future<InputsResult> inputs;
  std::shared_future<ReferenceResult> reference;  // Stage::cancelled when another problem was asked for meanwhile
};

// Makes inputs and references, keeps the last problem's in memory and all references on disk. The reference of a run
// that was cancelled is still made, since turning a knob keeps the problem; only another problem ends it.
class TruthMaker {
 public:
  explicit TruthMaker(std::filesystem::path reference_folder);  // empty: nothing on disk
  ~TruthMaker();
  TruthMaker(const TruthMaker&) = delete;
  TruthMaker& operator=(const TruthMaker&) = delete;

  // Who makes the reference: this maker's thread, or a device, which then hands it in by keep().
  enum class By { cpu, device };
  // By::device: `reference` is one of all rows out of the store, or null.
  Truth want(const Problem& problem, check::Accumulate accumulate, By by = By::cpu);
  // The reference of what was wanted last, for the next to want it.
  void keep(std::shared_ptr<const check::Reference> reference);

 private:
  void stop_making();
  ReferenceResult reference_of(const Problem& problem, const check::AttentionInputs& inputs,
                               check::Accumulate accumulate, By by, const std::atomic<bool>& cancel) const;

  std::optional<check::ReferenceStore> store_;
  std::string key_;
  Truth truth_;
  std::shared_ptr<std::atomic<bool>> cancel_;
  std::thread making_;
};

}  // namespace attnscope::worker
