#include "session/run_once.h"

#include <chrono>

namespace attnscope::session {

Result<Observation> run_once(SessionOptions options, Draft draft, Watch watch,
                             const std::function<void(const Snapshot&)>& meanwhile, const std::atomic<bool>* stop) {
  options.state_dir.clear();
  options.watch_files = false;
  options.first_experiment = false;
  auto session = Session::start(std::move(options), {});
  if (!session) return fail(session.error());
  auto answer = (*session)->queue(std::move(draft), watch);
  while ((meanwhile || stop) && answer.wait_for(std::chrono::milliseconds(200)) != std::future_status::ready) {
    if (meanwhile) meanwhile(*(*session)->snapshot());
    if (stop && *stop) (*session)->stop();
  }
  return answer.get();
}

}  // namespace attnscope::session
