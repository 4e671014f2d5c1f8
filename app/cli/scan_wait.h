#pragma once
#include "core/scan.h"
#include "session/session.h"

namespace attnscope::cli {

// Asks for a scan and waits until it is over, with a line that says which value runs.
session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request);

}  // namespace attnscope::cli
