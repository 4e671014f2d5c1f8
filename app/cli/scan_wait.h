#pragma once
#include "core/scan.h"
#include "session/session.h"

namespace attnscope::cli {

// Starts a scan and waits for its end; on a terminal it says which value runs. Says what it waits for, as run does.
session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request);

}  // namespace attnscope::cli
