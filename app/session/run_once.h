#pragma once
#include <atomic>
#include <functional>

#include "core/observation.h"
#include "session/session.h"

namespace attnscope::session {

// Starts a session that keeps nothing, queues one draft, waits for its end and returns the observation. Blocks. If the
// draft is refused or fails, that is the observation's failure; the Result is a Failure only if no session could start.
// `meanwhile` runs several times a second until the end. `stop`, once set, ends the run: then its failure says so.
Result<Observation> run_once(SessionOptions options, Draft draft, Watch watch,
                             const std::function<void(const Snapshot&)>& meanwhile = {},
                             const std::atomic<bool>* stop = nullptr);

}  // namespace attnscope::session
