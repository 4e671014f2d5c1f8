#pragma once
#include <string>
#include <vector>

#include "core/result.h"
#include "session/session.h"

namespace CLI {
class App;
}

namespace attnscope::cli {

// --worker, as often as wanted: a worker that the settings name, NAME=COMMAND, or a COMMAND.
void add_worker_options(CLI::App& command, std::vector<std::string>& workers);

enum class Named {
  asked,  // of the workers that the settings name, those that `device` or --worker asks for
  all     // every one
};

// Puts the workers asked for behind this program's own. With --worker and no device, `device` becomes the first worker's
// name, which stands for its best device.
Result<void> add_workers(session::SessionOptions& options, const std::vector<std::string>& given, Named named,
                         std::string& device);

}  // namespace attnscope::cli
