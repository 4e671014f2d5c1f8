#pragma once
#include <chrono>
#include <memory>
#include <optional>

#include "core/result.h"
#include "session/session.h"

namespace attnscope::cli {

// A session's state once every worker has listed its devices or is lost, or when a time limit is reached. The session
// is then ended. Failure if it does not start.
Result<std::shared_ptr<const session::Snapshot>> snapshot_with_devices(
    session::SessionOptions options, std::optional<std::chrono::seconds> limit = std::nullopt);

}  // namespace attnscope::cli
