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

// A file of `attnscope validate`; what cannot be read is a Failure (Stage::input) that names the file.
Result<report::Validation> read_validation(const std::string& file);

// Models the draft as `device` and adds its figures to the set, in `timed`: the time of a GPU, with its problem and
// config. If `timed` has a hash of machine code, this build must make the same code. What is not modelled is refused in
// the set, with the reason.
void model_row(session::Session& session, Draft draft, const DeviceSpec& device, report::ValidationRow timed,
               report::ValidationSet& set);

// The set with each row modelled by this build as `device`. Those that it does not model are among the refused.
report::ValidationSet model_again(session::Session& session, const DeviceSpec& device,
                                  const std::vector<Kernel>& kernels, report::ValidationSet set);

}  // namespace attnscope::cli
