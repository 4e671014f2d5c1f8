// Only `attnscope worker`, without the rest of the command line: the fault tests start this.
#include <string_view>

#include "worker/worker.h"

int main(int argc, char** argv) {
  using namespace attnscope::worker;
  const bool executor = argc > 2 && std::string_view(argv[2]) == "--executor";
  return executor ? executor_main(Purpose::run) : supervisor_main(Purpose::run);
}
