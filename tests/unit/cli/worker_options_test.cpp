#include "cli/worker_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/temp_dir.h"
#include "support/variable.h"

namespace attnscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A home with the workers l4box and hopper in its settings.
class WorkerOptionsTest : public testing::Test {
 protected:
  WorkerOptionsTest() {
    settings(R"({"workers": {"hopper": "srun attnscope worker", "l4box": "ssh l4box attnscope worker"}})");
  }
  void settings(const std::string& text) { home_.write("data/settings.json", text); }

  // The workers' names after adding these; a failure's message if they are refused.
  std::vector<std::string> names(std::vector<std::string> given, std::string device = "", Named named = Named::asked) {
    options_ = {};
    options_.workers.push_back({"local", {"attnscope", "worker"}, false});
    device_ = std::move(device);
    const auto added = add_workers(options_, {std::move(given), 30}, named, device_);
    if (!added) return {added.error().message};
    std::vector<std::string> all;
    for (const session::WorkerCommand& worker : options_.workers) all.push_back(worker.name);
    return all;
  }

  testing_support::TempDir home_;
  const testing_support::Variable named_home_{"ATTNSCOPE_HOME", home_.path()}, no_python_{"ATTNSCOPE_PYTHON", nullptr};
  session::SessionOptions options_;
  std::string device_;
};

TEST_F(WorkerOptionsTest, OnlyWhatIsAskedForIsAdded) {
  EXPECT_THAT(names({}), ElementsAre("local"));
  EXPECT_THAT(names({}, "cuda:0"), ElementsAre("local"));
  EXPECT_THAT(names({}, "l4box/cuda:0"), ElementsAre("local", "l4box"));
  EXPECT_THAT(names({}, "l4box"), ElementsAre("local", "l4box"));
  EXPECT_THAT(names({}, "l4box2/cuda:0"), ElementsAre("local"));
  EXPECT_EQ(device_, "l4box2/cuda:0");
  EXPECT_THAT(names({"l4box"}), ElementsAre("local", "l4box"));
  EXPECT_THAT(options_.workers[1].argv, ElementsAre("ssh", "l4box", "attnscope", "worker"));
  EXPECT_TRUE(options_.workers[1].remote);
}

TEST_F(WorkerOptionsTest, AllOfTheSettingsAreAddedWhereAllAreWanted) {
  EXPECT_THAT(names({}, "", Named::all), ElementsAre("local", "hopper", "l4box"));
  EXPECT_THAT(names({"l4box"}, "", Named::all), ElementsAre("local", "l4box", "hopper")) << "none comes twice";
}

TEST_F(WorkerOptionsTest, TheFirstGivenWorkerIsTheDeviceWhereNoneIsNamed) {
  names({"hopper", "l4box"});
  EXPECT_EQ(device_, "hopper");
  names({"hopper"}, "emulated:l4");
  EXPECT_EQ(device_, "emulated:l4");
  names({});
  EXPECT_EQ(device_, "");
}

TEST_F(WorkerOptionsTest, WorkersOfOneNameAreNumbered) {
  EXPECT_THAT(names({"box=ssh a attnscope worker", "box=ssh b attnscope worker", "box=ssh c attnscope worker"}),
              ElementsAre("local", "box", "box-2", "box-3"));
  EXPECT_EQ(device_, "box");
}

TEST_F(WorkerOptionsTest, ACommandThatIsNoCommandIsRefused) {
  const auto refused = names({"box="});
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0], "local");
}

TEST_F(WorkerOptionsTest, TorchIsThisProgramsOwnUnlessTheSettingsNameOne) {
  const testing_support::Variable own("ATTNSCOPE_PYTHON", "/opt/python");
  for (const auto& all : {names({"torch"}), names({}, "torch/cuda:0"), names({}, "torch")})
    EXPECT_THAT(all, ElementsAre("local", "torch"));
  EXPECT_EQ(options_.workers[1].argv.at(0), "/opt/python");
  EXPECT_EQ(options_.workers[1].argv.at(1), "-B");
  EXPECT_TRUE(options_.workers[1].argv.at(2).ends_with("assets/torch_worker/torch_worker.py"));
  EXPECT_EQ(options_.workers[1].argv.at(3), "--attnscope");
  EXPECT_FALSE(options_.workers[1].remote);
  EXPECT_THAT(names({"torch"}, "torch/cuda:0"), ElementsAre("local", "torch"));
  settings(R"({"workers": {"torch": "ssh box torch_worker"}})");
  for (const auto& all : {names({"torch"}), names({}, "torch/cuda:0")}) {
    EXPECT_THAT(all, ElementsAre("local", "torch"));
    EXPECT_EQ(options_.workers[1].argv.at(0), "ssh");
  }
}

TEST_F(WorkerOptionsTest, TheWorkerOfTorchsRoutinesIsAddedOnce) {
  session::SessionOptions options;
  options.workers.push_back({"local", {"attnscope", "worker"}, false});
  Kernel source, cublas, torch;
  cublas.library = LibraryId::cublas;
  torch.library = LibraryId::torch;
  add_library_workers(options, {source, cublas});
  EXPECT_EQ(options.workers.size(), 1u);
  add_library_workers(options, {source, torch, torch});
  ASSERT_EQ(options.workers.size(), 2u);
  EXPECT_EQ(options.workers[1].name, "torch");
  EXPECT_EQ(options.workers[1].argv.at(0), "python3");
  add_library_workers(options, {torch});
  EXPECT_EQ(options.workers.size(), 2u);
}

TEST(WorkerFlag, OnlyAttnscopesWorkersHaveIt) {
  const auto flagged = [](const char* name, const std::vector<std::string>& argv) {
    std::vector<session::WorkerCommand> workers{{name, argv, true}};
    const auto others = add_worker_flag(workers, "--flag");
    EXPECT_EQ(others.empty(), workers[0].argv != argv) << "who does not have it is named";
    return workers[0].argv;
  };
  EXPECT_THAT(flagged("local", {"/tmp/renamed", "worker"}), ElementsAre("/tmp/renamed", "worker", "--flag"));
  EXPECT_THAT(flagged("h", {"ssh", "h", "attnscope", "worker"}),
              ElementsAre("ssh", "h", "attnscope", "worker", "--flag"));
  EXPECT_THAT(flagged("h", {"ssh", "h", "attnscope worker"}), ElementsAre("ssh", "h", "attnscope worker --flag"));
  EXPECT_THAT(flagged("sh", {"sh", "-c", "cd /x && /x/attnscope worker"}),
              ElementsAre("sh", "-c", "cd /x && /x/attnscope worker --flag"));
  EXPECT_THAT(flagged("mine", {"/opt/my tools/attnscope", "worker"}),
              ElementsAre("/opt/my tools/attnscope", "worker", "--flag"));
  EXPECT_THAT(flagged("mine", {"attnscope", "worker"}), ElementsAre("attnscope", "worker", "--flag"));
  for (const std::vector<std::string>& other :
       std::vector<std::vector<std::string>>{{"x", "worker"},
                                             {"python3", "-m", "jaxbridge", "worker"},
                                             {"sh", "-c", "x worker"},
                                             {"my-attnscope", "worker"},
                                             {"attnscope", "coworker"},
                                             {"python3", "-B", "torch_worker.py", "--attnscope", "/opt/bin/attnscope"},
                                             {"worker"}})
    EXPECT_EQ(flagged("other", other), other);
}

TEST_F(WorkerOptionsTest, ADeviceIsThisProgramsOwnUnlessItNamesAWorker) {
  for (const char* device : {"", "cuda:0", "emulated:l4"}) EXPECT_TRUE(is_local(device)) << device;
  for (const char* device : {"l4box", "l4box/cuda:0", "cuda", "torch/cuda:0"}) EXPECT_FALSE(is_local(device)) << device;
}

TEST_F(WorkerOptionsTest, TheOptionsOfASessionHaveTheWorkersAndKeepNothing) {
  std::string device;
  const auto options = options_with_workers({}, {{"l4box"}, 3}, device);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(device, "l4box");
  EXPECT_EQ(options->connect_ms, 3000);
  EXPECT_EQ(options->workers.back().name, "l4box");
  EXPECT_FALSE(options_with_workers({}, {{"box="}, 3}, device));
}

TEST_F(WorkerOptionsTest, BrokenSettingsMatterOnlyToWhatNeedsThem) {
  settings("{");
  EXPECT_THAT(names({}), ElementsAre("local"));
  for (const char* device : {"cuda:0", "emulated:l4"}) EXPECT_THAT(names({}, device), ElementsAre("local")) << device;
  EXPECT_THAT(names({}, "l4box/cuda:0", Named::all), ElementsAre("local"));
  for (const auto& refused : {names({}, "l4box/cuda:0"), names({"l4box"}), names({"l4box"}, "cuda:0")}) {
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_THAT(refused[0], HasSubstr("settings.json"));
  }
}

TEST_F(WorkerOptionsTest, TheTimeToConnectIsInSeconds) {
  session::SessionOptions options;
  std::string device;
  ASSERT_TRUE(add_workers(options, {{}, 2.5}, Named::asked, device));
  EXPECT_EQ(options.connect_ms, 2500);
}

}  // namespace
}  // namespace attnscope::cli
