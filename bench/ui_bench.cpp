// The window on a display, with the program's own window code: how soon it is open, how long its frames take while
// kernels compile, run, hang and their worker dies, and how soon a moved knob shows. Each measurement is one window in
// one process, under Xvfb (started here) if there is no display.
//
// A frame's time is the time to make its draw list; rasterising, which a GPU does if there is one, is reported
// separately. `frame_max_ms` is wall time, `cpu_max_ms` the CPU time of the drawing thread: if they differ, something
// else had the core.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// OpenGL's loader must come before GLFW.
#include <glad/glad.h>
//
#include <GLFW/glfw3.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "platform/clock.h"
#include "session/session.h"
#include "ui/app.h"
#include "ui/display/map_painter.h"
#include "ui/offscreen.h"
#include "ui/workbench.h"
//
#include "code_script.h"
#include "ui_scripts.h"

extern char** environ;

namespace attnscope {
namespace {

const std::filesystem::path kSource = ATTNSCOPE_SOURCE_DIR;

// How long the long session lasts; $ATTNSCOPE_BENCH_SECONDS changes it.
double long_seconds() {
  const char* given = std::getenv("ATTNSCOPE_BENCH_SECONDS");
  return given != nullptr && std::atof(given) > 0 ? std::atof(given) : 300;
}

std::unique_ptr<Script> script_of(const std::string& name, session::Session& session, std::ofstream report) {
  if (name == "first_frame") return std::make_unique<FirstFrame>(session, std::move(report));
  if (name == "start_up") return std::make_unique<StartUp>(session, std::move(report));
  if (name == "idle") return std::make_unique<Idle>(session, std::move(report));
  if (name == "drag") return std::make_unique<Drag>(session, std::move(report));
  if (name == "hang") return std::make_unique<Hang>(session, std::move(report));
  if (name == "killed") return std::make_unique<Killed>(session, std::move(report));
  if (name == "long_code") return std::make_unique<LongCode>(session, std::move(report));
  if (name == "long") return std::make_unique<LongSession>(session, std::move(report), long_seconds());
  return std::make_unique<MoveNumWarps>(session, std::move(report), name == "move_at_once");
}

// What `attnscope` without arguments does, with the script in its hooks.
int play(const std::string& name, const std::filesystem::path& home, const std::filesystem::path& report_file) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (const auto display = ui::connect_display(); !display) {
    std::fprintf(stderr, "%s\n", display.error().message.c_str());
    return 1;
  }
  session::SessionOptions options;
  options.kernel_dirs = {kSource / "kernels", kSource / "tests/mutants/endless"};
  if (name == "long_code") {
    options.kernel_dirs.push_back(home / "kernels");
    write_long_kernel(home / "kernels");
  }
  options.preset_dirs = {kSource / "presets"};
  options.assets_dir = kSource / "assets";
  options.state_dir = home / "data";
  options.workers = {{"local", {ATTNSCOPE_PROGRAM, "worker"}}};
  options.deadlines.emulated_ms = 2000;
  auto session = session::Session::start(options, [] { ui::wake(); });
  if (!session) {
    std::fprintf(stderr, "%s\n", session.error().message.c_str());
    return 1;
  }
  const auto script = script_of(name, **session, std::ofstream(report_file));
  ui::WindowOptions window;
  window.resources = kSource;
  window.before_frame = [&](ui::Workbench& bench) { script->before_frame(bench); };
  window.after_frame = [&](const ui::FrameTime& frame) { script->after_frame(frame); };
  std::thread watcher;
  if (auto* idle = dynamic_cast<Idle*>(script.get())) watcher = std::thread([idle] { idle->watch(); });
  const int status = ui::run_window(**session, window);
  if (watcher.joinable()) watcher.join();
  (*session)->stop();
  return status;
}

// ---- The benchmark's side ----

pid_t spawn(std::vector<std::string> argv) {
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  pid_t pid = -1;
  return posix_spawnp(&pid, words[0], nullptr, nullptr, words.data(), environ) == 0 ? pid : -1;
}

// A display server while the benchmarks run, if there is none.
class Display {
 public:
  Display() {
    if (std::getenv("DISPLAY") != nullptr) return;
    int ends[2];
    if (pipe(ends) != 0) return;
    server_ = spawn({"Xvfb", "-displayfd", std::to_string(ends[1]), "-screen", "0", "1600x900x24", "+extension", "GLX",
                     "-nolisten", "tcp", "-noreset"});
    close(ends[1]);
    std::string number;
    for (char digit = 0; read(ends[0], &digit, 1) == 1 && digit != '\n';) number += digit;
    close(ends[0]);
    if (!number.empty()) setenv("DISPLAY", (":" + number).c_str(), 1);
  }
  ~Display() {
    if (server_ < 0) return;
    kill(server_, SIGTERM);
    waitpid(server_, nullptr, 0);
  }

 private:
  pid_t server_ = -1;
};

// Settings and caches; removed with the object.
class Home {
 public:
  Home() {
    std::string name = (std::filesystem::temp_directory_path() / "attnscope-ui-bench-XXXXXX").string();
    path_ = mkdtemp(name.data());
    setenv("ATTNSCOPE_HOME", path_.c_str(), 1);
  }
  ~Home() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Played {
  double begun_ms = 0;  // platform::steady_ms() before the process was started
  double first_build_ms = 0;
  std::vector<double> build, build_cpu;               // ms, in the measured phase
  std::map<std::string, std::vector<double>> cpu_of;  // ms, by phase
  std::map<std::string, double> figures;
  std::string fault;
};

Played played(const std::string& script, const Home& home) {
  Played out;
  const std::filesystem::path report = home.path() / "report";
  out.begun_ms = platform::steady_ms();
  const pid_t window = spawn({"/proc/self/exe", "--play", script, home.path(), report});
  int status = 0;
  if (window < 0 || waitpid(window, &status, 0) != window || status != 0)
    out.fault = "the window did not open, or ended by itself";
  std::ifstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, name;
    words >> what >> name;
    if (what == "fault") out.fault = line.substr(6);
    double first = 0, second = 0;
    words >> first >> second;
    if (what == "figure") out.figures[name] = first;
    if (what == "frame" && out.first_build_ms == 0) out.first_build_ms = first;
    if (what == "frame") out.cpu_of[name].push_back(second);
    if (what != "frame" || name != "all") continue;
    out.build.push_back(first);
    out.build_cpu.push_back(second);
  }
  return out;
}

double load_average() {
  double now[1] = {};
  return getloadavg(now, 1) == 1 ? now[0] : -1;
}

double largest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

double share_over(const std::vector<double>& values, double limit) {
  return values.empty() ? 0
                        : static_cast<double>(
                              std::count_if(values.begin(), values.end(), [limit](double v) { return v > limit; })) /
                              static_cast<double>(values.size());
}

enum class Kept { nothing, earlier_run };

// Goal: within 200 ms of the process's start. `cpu_ms` is the CPU time of all its threads until then.
void first_frame(benchmark::State& state, Kept kept) {
  for (auto _ : state) {
    const Home home;
    if (kept == Kept::earlier_run) played("start_up", home);
    const Played run = played("first_frame", home);
    if (!run.fault.empty()) return state.SkipWithError(run.fault.c_str());
    state.SetIterationTime((run.figures.at("first_frame") - run.begun_ms) / 1000);
    state.counters["build_ms"] = run.first_build_ms;
    state.counters["cpu_ms"] = run.figures.at("cpu_ms");
    state.counters["load"] = load_average();
  }
}

// Goal: no frame over 33 ms. The time is that of the slowest frame; a window's first frame is reported separately.
void frames(benchmark::State& state, const char* script) {
  for (auto _ : state) {
    const Home home;
    const Played run = played(script, home);
    if (!run.fault.empty()) return state.SkipWithError(run.fault.c_str());
    state.SetIterationTime(largest(run.build) / 1000);
    state.counters["frames"] = static_cast<double>(run.build.size());
    state.counters["over_33ms"] = share_over(run.build, 33);
    state.counters["cpu_max_ms"] = largest(run.build_cpu);
    state.counters["first_ms"] = run.first_build_ms;
    for (const auto& [name, value] : run.figures) state.counters[name] = value;
    state.counters["load"] = load_average();
  }
}

// The value that `share` of all are at most.
double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

constexpr int64_t kLongHistory = 100000;

// Repeats the newest of the home's runs, a minute apart, until the results file has that many rows.
void fill_history(const Home& home) {
  SQLite::Database file((home.path() / "data" / "results.sqlite").string(), SQLite::OPEN_READWRITE);
  file.exec(
      fmt::format("WITH RECURSIVE row(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM row WHERE at < {}) "
                  "INSERT INTO observation(hash, finished_at, app, json) "
                  "SELECT hash, finished_at + 60 * at, app, json FROM row, "
                  "(SELECT * FROM observation ORDER BY id DESC LIMIT 1)",
                  kLongHistory));
}

// Goal: p99 within 8 ms, none over 33 ms, memory flat within 5 % from the second minute on.
void long_session(benchmark::State& state) {
  for (auto _ : state) {
    const Home home;
    if (const Played first = played("start_up", home); !first.fault.empty())
      return state.SkipWithError(first.fault.c_str());
    fill_history(home);
    const Played run = played("long", home);
    if (!run.fault.empty()) return state.SkipWithError(run.fault.c_str());
    state.SetIterationTime(largest(run.build) / 1000);
    state.counters["frames"] = static_cast<double>(run.build.size());
    state.counters["p50_ms"] = percentile(run.build, 0.5);
    state.counters["p99_ms"] = percentile(run.build, 0.99);
    state.counters["cpu_p99_ms"] = percentile(run.build_cpu, 0.99);
    state.counters["cpu_max_ms"] = largest(run.build_cpu);
    for (const auto& [name, value] : run.figures) state.counters[name] = value;
    state.counters["load"] = load_average();
  }
}

// Goal: within 4 ms of CPU time, 99 % of the frames of each of what a person does to the code and every frame in which
// it arrives. The time is that of the slowest frame.
void long_code(benchmark::State& state) {
  for (auto _ : state) {
    const Home home;
    const Played run = played("long_code", home);
    if (!run.fault.empty()) return state.SkipWithError(run.fault.c_str());
    double slowest = 0;
    std::vector<double> arrivals;  // the slowest frame of each
    for (const auto& [phase, cpu] : run.cpu_of) {
      if (phase == "start" || phase == "between") continue;
      slowest = std::max(slowest, largest(cpu));
      if (phase.starts_with("arrival")) {
        arrivals.push_back(largest(cpu));
        continue;
      }
      state.counters[phase + "_frames"] = static_cast<double>(cpu.size());
      state.counters[phase + "_p50_ms"] = percentile(cpu, 0.5);
      state.counters[phase + "_p99_ms"] = percentile(cpu, 0.99);
      state.counters[phase + "_max_ms"] = largest(cpu);
    }
    state.counters["arrivals"] = static_cast<double>(arrivals.size());
    state.counters["arrival_p50_ms"] = percentile(arrivals, 0.5);
    state.counters["arrival_max_ms"] = largest(arrivals);
    state.SetIterationTime(slowest / 1000);
    for (const auto& [name, value] : run.figures) state.counters[name] = value;
    state.counters["load"] = load_average();
  }
}

// Goal: within 2 s on two cores, from the very first start: nothing is compiled, decoded or known.
void move_num_warps(benchmark::State& state, const char* script) {
  for (auto _ : state) {
    const Home home;
    const Played run = played(script, home);
    if (!run.fault.empty()) return state.SkipWithError(run.fault.c_str());
    state.SetIterationTime(run.figures.at("moved") / 1000);
    state.counters["load"] = load_average();
  }
}

// ---- Maps: through the worker's pipe, and through GPU memory that both processes see ----

enum class Way { pipe, gpu };

// A session with one finished run of 4,096 query rows on the first GPU, and an OpenGL context to show its maps.
class Maps {
 public:
  Maps() { open(); }
  ~Maps() {
    port_.reset();
    interop_.reset();
    painter_.reset();
    screen_.reset();
    if (session_) session_->stop();
  }

  static constexpr int kRows = 4096;
  const std::string& fault() const { return fault_; }

  // Asks for head 0's map at one texel per element until its values are in a texture. Returns the milliseconds, the
  // part of them in the window, and the bytes that came through the pipe. Through the pipe, 4 MB at a time.
  struct Cost {
    double ms = 0, window_ms = 0, pipe_bytes = 0;
  };
  Cost show(MapKind map, Way way) {
    const int columns = map == MapKind::attention ? kRows : 64;
    const int rows_at_once = way == Way::gpu ? kRows : std::min(kRows, (1 << 20) / columns);
    Cost cost;
    const double begin = platform::steady_ms();
    for (int row = 0; row < kRows; row += rows_at_once) {
      ViewRequest request;
      request.experiment_hash = hash_;
      request.map = map;
      request.row_begin = row;
      request.row_end = row + rows_at_once;
      request.batch = 0;
      if (way == Way::gpu && !aim(request, columns)) return cost;
      const auto tile = answer(request);
      if (!tile) return cost;
      take(*tile, cost);
    }
    cost.ms = platform::steady_ms() - begin;
    return cost;
  }
  // The current values of the texture: the last rows that were shown.
  std::vector<float> values() { return painter_->values(); }

 private:
  void open() {
    auto screen = ui::Offscreen::create({640, 480}, kSource);
    if (!screen) return refuse(screen.error());
    screen_ = std::move(*screen);
    auto painter = ui::MapPainter::create(kSource / "shaders");
    if (!painter) return refuse(painter.error());
    painter_ = std::move(*painter);
    session::SessionOptions options;
    options.kernel_dirs = {kSource / "kernels"};
    options.assets_dir = kSource / "assets";
    options.workers = {{"local", {ATTNSCOPE_PROGRAM, "worker"}}};
    options.watch_files = options.first_experiment = false;
    auto session = session::Session::start(options, [] {});
    if (!session) return refuse(session.error());
    session_ = std::move(*session);
    Draft draft;
    draft.kernel = "tiled";
    draft.device = "cuda:0";
    draft.problem.heads = draft.problem.kv_heads = 1;
    draft.problem.seq_q = draft.problem.seq_k = kRows;
    const Observation done = session_->queue(draft).get();
    if (done.failure) return refuse(*done.failure);
    hash_ = hash_of(done.experiment);
  }
  void refuse(const Failure& failure) { fault_ = failure.message; }
  bool aim(ViewRequest& request, int columns) {
    if (!interop_) interop_ = std::make_unique<ui::Interop>(0);
    while (interop_->poll() == ui::Interop::State::starting) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (interop_->poll() == ui::Interop::State::refused) {
      fault_ = interop_->refusal();
      return false;
    }
    if (!port_) port_ = std::make_unique<ui::PixelPort>(*interop_);
    const auto target = port_->target(int64_t{kRows} * columns * int64_t{sizeof(float)});
    if (!target) {
      refuse(target.error());
      return false;
    }
    request.target = *target;
    return true;
  }
  // The session keeps answers: a new row height makes each request different.
  std::shared_ptr<const Tile> answer(ViewRequest request) {
    if (!request.target) request.height = static_cast<int>(request.row_end - request.row_begin) + ++asked_ % 10000;
    const std::string key = session::tile_key(request);
    session_->request_view(request);
    const double patience = platform::steady_ms() + 20000;
    while (platform::steady_ms() < patience) {
      const auto now = session_->snapshot();
      if (const auto found = now->tiles.find(key); found != now->tiles.end()) return found->second;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    fault_ = "a map never came";
    return nullptr;
  }
  void take(const Tile& tile, Cost& cost) {
    const double begin = platform::steady_ms();
    ++version_;
    if (tile.in_target) {
      if (const auto taken = painter_->take(*port_, tile, version_); !taken) refuse(taken.error());
    } else if (tile.request.target) {
      fault_ = tile.not_in_target;
    } else {
      cost.pipe_bytes += static_cast<double>(tile.values.size() * sizeof(float));
    }
    painter_->paint(tile, version_, {}, 512, 512);
    glFinish();
    cost.window_ms += platform::steady_ms() - begin;
  }

  std::unique_ptr<ui::Offscreen> screen_;
  std::unique_ptr<session::Session> session_;
  std::unique_ptr<ui::MapPainter> painter_;
  std::unique_ptr<ui::Interop> interop_;
  std::unique_ptr<ui::PixelPort> port_;
  std::string hash_, fault_;
  uint64_t version_ = 0;
  int asked_ = 0;
};

void map_of_4096_rows(benchmark::State& state, MapKind map, Way way) {
  const Home home;
  Maps maps;
  if (maps.fault().empty()) maps.show(map, way);  // buffers and textures are made
  if (way == Way::gpu && maps.fault().empty()) {
    const std::vector<float> by_gpu = maps.values();
    maps.show(map, Way::pipe);
    const std::vector<float> by_pipe = maps.values();  // only of the last rows, if it came in several answers
    if (by_pipe.empty() || by_pipe.size() > by_gpu.size() ||
        std::memcmp(by_pipe.data(), by_gpu.data() + (by_gpu.size() - by_pipe.size()), by_pipe.size() * sizeof(float)) !=
            0)
      return state.SkipWithError("the two ways hold different values");
  }
  for (auto _ : state) {
    const Maps::Cost cost = maps.fault().empty() ? maps.show(map, way) : Maps::Cost{};
    if (!maps.fault().empty()) return state.SkipWithError(maps.fault().c_str());
    state.SetIterationTime(cost.ms / 1000);
    state.counters["window_ms"] = cost.window_ms;
    state.counters["pipe_bytes"] = cost.pipe_bytes;
  }
}

void few(benchmark::internal::Benchmark* bench, int repetitions) {
  bench->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(1)
      ->Repetitions(repetitions)
      ->ReportAggregatesOnly();
}

BENCHMARK_CAPTURE(first_frame, first_start, Kept::nothing)->Apply([](auto* b) { few(b, 9); });
BENCHMARK_CAPTURE(first_frame, later_start, Kept::earlier_run)->Apply([](auto* b) { few(b, 5); });
BENCHMARK_CAPTURE(frames, start_up, "start_up")->Apply([](auto* b) { few(b, 5); });
BENCHMARK_CAPTURE(frames, idle, "idle")->Apply([](auto* b) { few(b, 3); });
BENCHMARK_CAPTURE(frames, drag, "drag")->Apply([](auto* b) { few(b, 3); });
BENCHMARK_CAPTURE(frames, hang, "hang")->Apply([](auto* b) { few(b, 3); });
BENCHMARK_CAPTURE(frames, worker_killed, "killed")->Apply([](auto* b) { few(b, 3); });
BENCHMARK(long_session)->Apply([](auto* b) { few(b, 1); });
BENCHMARK(long_code)->Apply([](auto* b) { few(b, 1); });
BENCHMARK_CAPTURE(move_num_warps, after_the_first_run, "move")->Apply([](auto* b) { few(b, 5); });
BENCHMARK_CAPTURE(move_num_warps, at_once, "move_at_once")->Apply([](auto* b) { few(b, 5); });

void five(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(5);
}
BENCHMARK_CAPTURE(map_of_4096_rows, error_4096x64_by_pipe, MapKind::error, Way::pipe)->Apply(five);
BENCHMARK_CAPTURE(map_of_4096_rows, error_4096x64_by_gpu, MapKind::error, Way::gpu)->Apply(five);
BENCHMARK_CAPTURE(map_of_4096_rows, attention_4096x4096_by_pipe, MapKind::attention, Way::pipe)->Apply(five);
BENCHMARK_CAPTURE(map_of_4096_rows, attention_4096x4096_by_gpu, MapKind::attention, Way::gpu)->Apply(five);

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  using namespace attnscope;
  if (argc == 5 && std::string(argv[1]) == "--play") return play(argv[2], argv[3], argv[4]);
  const Display display;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
