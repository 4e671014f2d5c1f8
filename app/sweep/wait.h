#pragma once
#include <functional>

#include "core/scan.h"
#include "session/session.h"

namespace attnscope::sweep {

// Callbacks during a wait for a scan, on the waiting thread.
struct ScanWait {
  std::function<void(const session::Shared<Scan>&)> look;         // gets the scan after each change and at the end
  std::function<void(const session::Snapshot&)> watch = nullptr;  // gets every snapshot
  std::function<bool()> interrupted = nullptr;                    // returns true to end the scan
};

// Waits until a requested scan is over. An interrupted scan has the results so far; null: there are none.
session::Shared<Scan> wait_for_scan(session::Session& session, uint64_t id, const ScanWait& wait);
// Requests a scan and waits for it.
session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request, const ScanWait& wait);

}  // namespace attnscope::sweep
