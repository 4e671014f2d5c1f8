// Only `attnscope worker`, without the rest of the command line: the fault tests start this.
#include <string_view>

#include "worker/worker.h"

int main(int argc, char** argv) {
  const bool executor = argc > 2 && std::string_view(argv[2]) == "--executor";
  return executor ? attnscope::worker::executor_main() : attnscope::worker::supervisor_main();
}
