#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>

#include "faults/support/worker_client.h"
#include "support/temp_dir.h"

namespace attnscope::testing_support {

// A real worker with its own caches, started when first used.
class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() { setenv("ATTNSCOPE_HOME", home_.path().c_str(), 1); }
  ~WorkerTest() override {
    client_.reset();
    unsetenv("ATTNSCOPE_HOME");
  }
  // The command that starts the worker.
  std::vector<std::string> command_{ATTNSCOPE_WORKER, "worker"};
  WorkerClient& client() {
    if (!client_) {
      auto worker = platform::spawn_piped(command_);
      if (!worker)
        ADD_FAILURE() << worker.error().message;
      else
        client_ = std::make_unique<WorkerClient>(*worker);
    }
    return *client_;
  }
  // The worker's executors, with the spare once it is up.
  std::vector<int> executors() { return children_of(supervisor()); }
  // The worker's first process is the supervisor's keeper.
  int supervisor() {
    const std::vector<int> kept = children_of(client().pid());
    return kept.empty() ? -1 : kept.front();
  }
  const TempDir& home() const { return home_; }
  void restart() { client_.reset(); }

 private:
  TempDir home_;
  std::unique_ptr<WorkerClient> client_;
};

}  // namespace attnscope::testing_support
