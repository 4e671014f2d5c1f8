#pragma once
#include <functional>

#include "core/observation.h"
#include "session/session.h"

namespace attnscope::session {

// Starts a session that keeps nothing, queues one draft, waits for its end and returns what came of it. Blocks. A
// refusal of the draft, and whatever happens to it, is the observation's failure; the Result's is that no session could
// be started. `meanwhile` runs some times a second until the end.
Result<Observation> run_once(SessionOptions options, Draft draft, Watch watch,
                             const std::function<void(const Snapshot&)>& meanwhile = {});

}  // namespace attnscope::session
