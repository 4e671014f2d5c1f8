#pragma once
#include <chrono>
#include <memory>
#include <optional>

#include "core/result.h"
#include "session/session.h"

namespace attnscope::cli {

// What a session knows once every worker has said what devices it has, or is lost; with a limit, what it knows by then.
// The session is ended. Failure when it does not start.
Result<std::shared_ptr<const session::Snapshot>> snapshot_with_devices(
    session::SessionOptions options, std::optional<std::chrono::seconds> limit = std::nullopt);

}  // namespace attnscope::cli
