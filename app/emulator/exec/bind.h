#pragma once
#include "emulator/exec/cta.h"

namespace attnscope::emulator {

// `launch` and `options` must outlive the result.
Result<BoundLaunch> bind_launch(const Launch& launch, const CtaOptions& options, HostIsa isa);

}  // namespace attnscope::emulator
