#include "session/run_once.h"

namespace attnscope::session {

Result<Observation> run_once(SessionOptions options, Draft draft, std::function<void(const Observation&)> on_part) {
  options.state_dir.clear();
  options.watch_files = false;
  options.first_experiment = false;
  auto session = Session::start(std::move(options), {});
  if (!session) return fail(session.error());
  return (*session)->queue(std::move(draft), std::move(on_part)).get();
}

}  // namespace attnscope::session
