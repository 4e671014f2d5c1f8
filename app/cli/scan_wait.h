#pragma once
#include <functional>

#include "core/scan.h"
#include "session/session.h"

namespace attnscope::cli {

// Asks for a scan and waits until it is over. `look` sees it as it is after every change, and at the end; `watch` sees
// every snapshot.
session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request,
                                    const std::function<void(const Scan&)>& look,
                                    const std::function<void(const session::Snapshot&)>& watch);

// With a line that says which value runs.
session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request);

}  // namespace attnscope::cli
