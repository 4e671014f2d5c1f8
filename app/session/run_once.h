#pragma once
#include <atomic>
#include <functional>

#include "core/observation.h"
#include "session/session.h"

namespace attnscope::session {

// Starts a session that keeps nothing, queues one draft, waits until it has run and returns the observation. Blocks. A
// refusal or failure of the draft is the observation's failure; the Result is a Failure only if no session could start.
// `meanwhile` runs several times a second until then. Setting `stop` ends the run, and its failure says so.
Result<Observation> run_once(SessionOptions options, Draft draft, Watch watch,
                             const std::function<void(const Snapshot&)>& meanwhile = {},
                             const std::atomic<bool>* stop = nullptr);

}  // namespace attnscope::session
