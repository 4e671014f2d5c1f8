#pragma once
#include "core/scan.h"
#include "session/session.h"

namespace attnscope::cli {

// Requests a scan and waits until it is over. A status line shows the current value.
session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request);

}  // namespace attnscope::cli
