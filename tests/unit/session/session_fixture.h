#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "core/json.h"
#include "session/session.h"
#include "support/temp_dir.h"

namespace attnscope::session {

// A session over the fake worker, with waits on conditions: a test passes as soon as its condition holds, and fails if
// it never does (the limit is far beyond any real wait, for slow machines and sanitizers).
class SessionTest : public testing::Test {
 protected:
  static constexpr std::chrono::seconds kNever{180};

  SessionTest() {
    const std::filesystem::path source = ATTNSCOPE_SOURCE_DIR;
    std::filesystem::create_directories(dir_ / "kernels");
    for (const char* name : {"01_minimal.cu", "01_minimal.json", "02_tiled.cu", "02_tiled.json"})
      std::filesystem::copy_file(source / "kernels" / name, dir_ / "kernels" / name);
    std::filesystem::create_directories(dir_ / "presets");
    dir_.write("presets/first.json", R"({"attnscope_preset":1,"title":"First","group":"Start","kernel":"tiled",
                                         "device":"emulated:h200","invite":{"NUM_WARPS":8}})");
    std::filesystem::create_directories(dir_ / "mine");
    std::filesystem::create_directories(dir_ / "gate");
    options_.kernel_dirs = {dir_ / "kernels"};
    options_.preset_dirs = {dir_ / "presets", dir_ / "mine"};
    options_.assets_dir = source / "assets";
    options_.state_dir = dir_ / "state";
    worker({});
  }
  ~SessionTest() override { stop(); }

  // The one worker's behaviour, for the next start().
  void worker(std::vector<std::string> behaviour) { options_.workers = {fake("local", std::move(behaviour))}; }
  WorkerCommand fake(std::string name, std::vector<std::string> behaviour) const {
    const std::filesystem::path source = ATTNSCOPE_SOURCE_DIR;
    WorkerCommand command{std::move(name),
                          {ATTNSCOPE_FAKE_WORKER, "worker", "--recordings", source / "tests/data/observations",
                           "--devices", source / "assets/devices", "--record", dir_ / "requests"}};
    command.argv.insert(command.argv.end(), behaviour.begin(), behaviour.end());
    return command;
  }

  void start() {
    auto session = Session::start(options_, [this] {
      const std::lock_guard lock(mutex_);
      ++changes_;
      changed_.notify_all();
    });
    ASSERT_TRUE(session) << session.error().message;
    session_ = std::move(*session);
  }
  void stop() {
    if (session_) session_->stop();
    session_.reset();
  }

  using Seen = std::shared_ptr<const Snapshot>;
  template <class Condition>
  Seen wait_for(Condition condition, const char* what) {
    const auto limit = std::chrono::steady_clock::now() + kNever;
    std::unique_lock lock(mutex_);
    while (true) {
      const uint64_t seen = changes_;
      lock.unlock();
      Seen snapshot = session_->snapshot();
      if (condition(*snapshot)) return snapshot;
      lock.lock();
      if (!changed_.wait_until(lock, limit, [&] { return changes_ != seen; })) {
        ADD_FAILURE() << "never came: " << what;
        return snapshot;
      }
    }
  }
  Seen wait_for_run(int64_t warps) {
    return wait_for(
        [&](const Snapshot& s) {
          const auto& knobs = s.focus.wanted.config.knobs;
          return !s.focus.running && knobs.contains("NUM_WARPS") && knobs.at("NUM_WARPS") == warps && s.focus.shown &&
                 s.focus.shown->hash == s.focus.wanted_hash;
        },
        "the end of the run");
  }
  template <class Condition>
  void wait_for_file(Condition condition, const char* what) {
    const auto limit = std::chrono::steady_clock::now() + kNever;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > limit) FAIL() << "never came: " << what;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  static Draft tiled(int64_t warps, std::map<std::string, int64_t> knobs = {}) {
    Draft draft;
    draft.kernel = "tiled";
    draft.config.knobs = std::move(knobs);
    draft.config.knobs.emplace("NUM_WARPS", warps);
    draft.device = "emulated:l4";
    return draft;
  }
  void focus(int64_t warps, const std::string& change = "") {
    session_->focus(tiled(warps), Gesture{++gesture_, true, change});
  }

  // What the fake worker replays: tests/data/observations/NAME.json.
  static Observation recorded(const std::string& name) {
    const auto path = std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "tests/data/observations" / (name + ".json");
    auto json = parse_json(testing_support::read_text(path), path);
    auto observation = json ? observation_from_json(*json, path) : Result<Observation>(fail(json.error()));
    EXPECT_TRUE(observation) << observation.error().message;
    return observation ? *observation : Observation{};
  }

  // The worker's requests, in order.
  std::vector<std::string> requests() const {
    std::ifstream file(dir_ / "requests");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  size_t runs() const {
    const auto lines = requests();
    return static_cast<size_t>(
        std::count_if(lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("run "); }));
  }

  void open_gate(const std::string& part) { std::ofstream(dir_ / ("gate/" + part)) << "open"; }
  void open_gates() {
    for (const char* part : {"variant", "occupancy", "counters", "verdict", "timing", "done"}) open_gate(part);
  }
  void close_gates() {
    for (const auto& file : std::filesystem::directory_iterator(dir_ / "gate")) std::filesystem::remove(file);
  }
  std::string gate() const { return dir_ / "gate"; }

  static PartState part(const Snapshot& s, Part part) { return s.focus.parts[static_cast<int>(part)]; }
  static bool logged(const Snapshot& s, const std::string& words) {
    return std::any_of(s.log->begin(), s.log->end(),
                       [&](const LogLine& line) { return line.text.find(words) != std::string::npos; });
  }
  static bool toasted(const Snapshot& s, const std::string& words) {
    return std::any_of(s.toasts.begin(), s.toasts.end(),
                       [&](const Toast& toast) { return (toast.text + toast.hint).find(words) != std::string::npos; });
  }

  testing_support::TempDir dir_;
  SessionOptions options_;
  std::unique_ptr<Session> session_;
  uint64_t gesture_ = 100;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t changes_ = 0;  // guarded by mutex_
};

}  // namespace attnscope::session
