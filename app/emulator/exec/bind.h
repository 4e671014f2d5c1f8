#pragma once
#include "emulator/exec/cta.h"

namespace attnscope::emulator {

Result<BoundLaunch> bind_launch(const Launch& launch, const RunOptions& options, HostIsa isa);

}  // namespace attnscope::emulator
