#pragma once
#include <functional>

#include "core/scan.h"
#include "session/session.h"

namespace attnscope::sweep {

// What a wait for a scan shows and asks, on the waiting thread.
struct ScanWait {
  std::function<void(const session::Shared<Scan>&)> look;         // as the scan is after a change, and at the end
  std::function<void(const session::Snapshot&)> watch = nullptr;  // every snapshot
  std::function<bool()> interrupted = nullptr;                    // true: the scan is to end now
};

// Asks for a scan and waits until it is over. An interrupted one has what came before; null: nothing did.
session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request, const ScanWait& wait);

}  // namespace attnscope::sweep
