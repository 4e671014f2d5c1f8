#pragma once
#include <functional>

#include "core/observation.h"
#include "session/session.h"

namespace attnscope::session {

// Starts a session that keeps nothing, queues one draft, waits for its end and returns what came of it. Blocks. A
// refusal of the draft, and whatever happens to it, is the observation's failure; the Result's is that no session could
// be started. `on_part` runs on the session's thread with the observation so far, `meanwhile` on the caller's, some
// times a second until the end.
Result<Observation> run_once(SessionOptions options, Draft draft, std::function<void(const Observation&)> on_part = {},
                             const std::function<void(const Snapshot&)>& meanwhile = {});

}  // namespace attnscope::session
