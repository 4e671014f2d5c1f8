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

// The inputs and the reference of a problem's runs. Each is made on its own thread while the kernel compiles.
struct Truth {
  std::shared_future<InputsResult> inputs;
  std::shared_future<ReferenceResult> reference;  // Stage::cancelled if another problem was requested in the meantime
};

// Makes inputs and references; keeps the last problem's in memory and all references on disk. The reference of a
// cancelled run is still finished, because turning a knob does not change the problem; only another problem ends it.
class TruthMaker {
 public:
  explicit TruthMaker(std::filesystem::path reference_folder);  // empty: nothing is kept on disk
  ~TruthMaker();
  TruthMaker(const TruthMaker&) = delete;
  TruthMaker& operator=(const TruthMaker&) = delete;

  // How much to make; each value includes those before it. A reference that is not made is null unless the store has
  // one of all rows; inputs that are not made are null. A device that computes the reference itself passes it to
  // keep().
  enum class Wanted { stored_reference, inputs, all };
  Truth want(const Problem& problem, check::Accumulate accumulate, Wanted wanted = Wanted::all);
  // Keeps the reference of the last request for the next request.
  void keep(std::shared_ptr<const check::Reference> reference);

 private:
  void stop_making();
  // If `kept` already has the reference, it is not made again.
  void make(const Problem& problem, check::Accumulate accumulate, Wanted wanted, const std::atomic<bool>& cancel,
            std::shared_ptr<const check::Reference> kept, std::promise<InputsResult>& inputs,
            std::promise<ReferenceResult>& reference) const;
  std::shared_ptr<const check::Reference> reference_if_made() const;

  std::optional<check::ReferenceStore> store_;
  std::string key_;
  Wanted made_ = Wanted::stored_reference;
  Truth truth_;
  std::shared_ptr<std::atomic<bool>> cancel_;
  std::thread making_;
};

}  // namespace attnscope::worker
