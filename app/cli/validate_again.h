#pragma once
#include <string>
#include <vector>

#include "core/device_spec.h"
#include "core/experiment.h"
#include "core/kernel.h"
#include "core/result.h"
#include "report/validation.h"
#include "session/session.h"

namespace attnscope::cli {

// Reads a file of `attnscope validate`. A fault is a Failure (Stage::input) that names the file.
Result<report::Validation> read_validation(const std::string& file);

// Models the draft on `device` and adds its figures to the set. `timed` has the GPU's time, problem and config. If it
// also has a hash of machine code, this build must produce the same code. A draft that cannot be modelled is listed as
// refused, with the reason.
void model_row(session::Session& session, Draft draft, const DeviceSpec& device, report::ValidationRow timed,
               report::ValidationSet& set);

// The set with each row modelled again by this build on `device`. Rows that cannot be modelled are listed as refused.
report::ValidationSet model_again(session::Session& session, const DeviceSpec& device,
                                  const std::vector<Kernel>& kernels, report::ValidationSet set);

}  // namespace attnscope::cli
