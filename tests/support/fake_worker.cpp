// A worker that replays recorded observations over the protocol, for tests of the session and the window. It can be
// told to misbehave in every way that a real one might. It computes nothing.
//
//   fake_worker --recordings DIR --devices DIR [options]
//     --record FILE         append a line for each request: "run KERNEL KNOB=VALUE …", "cancel", "view", "kernel",
//     "restart", "hello"
//     --gate DIR            before each part, wait until DIR/<part> exists (variant, occupancy, counters, verdict,
//     timing, done, watch)
//     --step-ms N           wait this long before each part
//     --ctas N              … and tell how many CTAs are emulated N times, 3 ms apart
//     --noise BYTES         print this many bytes before the banner
//     --stderr TEXT         print a line to stderr at the start
//     --mute                print nothing, not even the banner
//     --silent              nothing after the answer to hello, not even a heartbeat or an answer to another hello
//     --version VERSION     report this version
//     --exit-at-start       exit at once
//     --crash KNOB=VALUE    end (SIGKILL) in the middle of such a run …
//     --crash-once FILE     … but only if FILE does not exist yet; it is made
//     --stall KNOB=VALUE    hold such a run until it is cancelled
//     --garbage KNOB=VALUE  answer such a run with bytes that are not a frame
//     --wrong-part KNOB=VALUE   send a part with an unknown key in such a run, and go on
//     --omit PARTS          leave out these parts of a run ("verdict,watch"), and end it as if they had come
//     --race KNOB=VALUE     the watch of such a run finds a race between lines 126 and 203 of its source
//     --luck, --uneven KNOB=VALUE   … that it is right by luck, or that warps pass a barrier unevenly
//     --gpu                 runs have no counters; their watch has them, and the bound
//     --reads               there is a GPU, cuda:0, whose clock, temperature and power it reports
//     --profile             there is a GPU, cuda:0, and runs bring hardware counters and no time
//     --no-permission       … but the driver refuses them
//     --no-samples          … or gives its counters, but no samples of its program counters
//     --prints TEXT         every run prints this line
//     --views-after FILE    no run is kept until FILE exists: maps of past ones are refused
//
// A copy of a recorded kernel (ID_copy) replays the kernel's runs; a source that names "undeclared" does not compile.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "catalog/catalog.h"
#include "catalog/devices.h"
#include "core/json.h"
#include "core/sampled_line.h"
#include "platform/atomic_file.h"
#include "protocol/frame.h"
#include "protocol/message.h"
#include "protocol/msgpack.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;
namespace wire = protocol;
using Clock = std::chrono::steady_clock;

struct Options {
  std::map<std::string, std::string> values;
  bool has(const std::string& name) const { return values.contains(name); }
  std::string text(const std::string& name) const { return has(name) ? values.at(name) : ""; }
  int number(const std::string& name) const { return has(name) ? std::stoi(values.at(name)) : 0; }
};

Options parse(int argc, char** argv) {
  const std::set<std::string> flags{"--mute",    "--silent",        "--exit-at-start", "--gpu",
                                    "--profile", "--no-permission", "--no-samples",    "--reads"};
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "worker") continue;
    if (flags.contains(name))
      options.values[name] = "";
    else if (i + 1 < argc)
      options.values[name] = argv[++i];
  }
  return options;
}

std::string knobs_text(const Experiment& e) {
  std::string text;
  for (const auto& [name, value] : e.config.knobs) text += " " + name + "=" + std::to_string(value);
  return text;
}

bool concerns(const Experiment& e, const std::string& setting) {
  return !setting.empty() && (knobs_text(e) + " ").find(" " + setting + " ") != std::string::npos;
}

std::vector<Observation> load_recordings(const std::filesystem::path& dir) {
  std::vector<Observation> recordings;
  for (const auto& file : std::filesystem::directory_iterator(dir)) {
    if (file.path().extension() != ".json") continue;
    auto text = platform::read_file(file.path(), 16 << 20);
    auto json = text ? parse_json(*text, file.path().string()) : Result<Json>(fail(text.error()));
    auto observation =
        json ? observation_from_json(*json, file.path().string()) : Result<Observation>(fail(json.error()));
    if (!observation) {
      std::fprintf(stderr, "fake worker: %s\n", observation.error().message.c_str());
      std::exit(9);
    }
    recordings.push_back(std::move(*observation));
  }
  return recordings;
}

class FakeWorker {
 public:
  FakeWorker(Options options, int out) : options_(std::move(options)), out_(out) {
    recordings_ = load_recordings(options_.text("--recordings"));
    devices_ = catalog::load_devices(options_.text("--devices")).devices;
    if (options_.has("--profile") || options_.has("--reads")) {
      DeviceSpec gpu = devices_.front();
      gpu.id = "cuda:0";
      gpu.emulated = false;
      devices_.push_back(std::move(gpu));
    }
  }

  int serve() {
    if (options_.has("--stderr")) std::fprintf(stderr, "%s\n", options_.text("--stderr").c_str());
    if (options_.has("--exit-at-start")) return 3;
    if (options_.has("--mute")) return wait_for_the_end();
    std::string noise;
    for (int i = 0; i < options_.number("--noise"); ++i) noise += i % 60 == 59 ? '\n' : static_cast<char>('a' + i % 26);
    write_bytes(noise + (noise.empty() || noise.back() == '\n' ? "" : "\n") +
                wire::banner_line(options_.has("--version") ? options_.text("--version") : ATTNSCOPE_VERSION));
    while (listen(100ms)) {
      while (!requests_.empty()) {
        wire::Request request = std::move(requests_.front());
        requests_.pop_front();
        answer(request);
      }
    }
    return 0;
  }

 private:
  int wait_for_the_end() {
    while (listen(100ms)) requests_.clear();
    return 0;
  }

  void write_bytes(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t wrote = write(out_, bytes.data(), bytes.size());
      if (wrote < 0) std::exit(0);  // the client has gone
      bytes.remove_prefix(static_cast<size_t>(wrote));
    }
  }

  void send(const wire::Reply& reply) {
    auto frame = wire::encode(reply);
    if (!frame) std::exit(8);
    write_bytes({reinterpret_cast<const char*>(frame->data()), frame->size()});
  }

  // Reads what the client sends, for at most `limit`. Returns false at the end of input. Sends a heartbeat when one is
  // due.
  bool listen(std::chrono::milliseconds limit) {
    if (greeted_ && !options_.has("--silent") && Clock::now() >= next_beat_) beat();
    pollfd in{STDIN_FILENO, POLLIN, 0};
    if (poll(&in, 1, static_cast<int>(limit.count())) <= 0) return true;
    char bytes[65536];
    const ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
    if (size <= 0) return false;
    frames_.feed(std::as_bytes(std::span(bytes, static_cast<size_t>(size))));
    while (true) {
      auto payload = frames_.next();
      if (!payload) std::exit(7);
      if (!*payload) return true;
      auto request = wire::decode_request(**payload);
      if (!request) {
        std::fprintf(stderr, "fake worker: %s\n", request.error().message.c_str());
        std::exit(7);
      }
      if (auto* cancel = std::get_if<wire::Cancel>(&*request)) {
        record("cancel");
        cancelled_.insert(cancel->target);
      } else if (auto* restart = std::get_if<wire::Restart>(&*request)) {
        record("restart");
        cancelled_.insert(restart->target);
      } else if (auto* kernel = std::get_if<wire::KernelContent>(&*request)) {
        record("kernel");
        if (catalog::content_hash(kernel->manifest, kernel->source) == kernel->hash)
          kernels_[kernel->hash] = {kernel->source_name, kernel->source};
      } else {
        requests_.push_back(std::move(*request));
      }
    }
  }

  void beat() {
    wire::Heartbeat heartbeat{running_ ? wire::WorkerPhase::busy : wire::WorkerPhase::ready, "", {}};
    if (options_.has("--reads")) heartbeat.gpus = {{"cuda:0", 2040, 31, 72, 54, {"power cap"}}};
    send(heartbeat);
    next_beat_ = Clock::now() + 1s;
  }

  void record(const std::string& line) {
    if (options_.has("--record")) std::ofstream(options_.text("--record"), std::ios::app) << line << std::endl;
  }

  void answer(const wire::Request& request) {
    if (auto* hello = std::get_if<wire::Hello>(&request)) {
      if (greeted_ && options_.has("--silent")) return;
      if (!greeted_) record("hello");  // later ones only show that the client is alive
      send(wire::HelloReply{hello->id, Versions{ATTNSCOPE_VERSION, "12.8", "", ""}, devices_, getpid()});
      greeted_ = true;
      next_beat_ = Clock::now() + 1s;
      if (options_.has("--reads")) beat();
    } else if (auto* run = std::get_if<wire::Run>(&request)) {
      record("run " + run->experiment.kernel + knobs_text(run->experiment));
      running_ = true;
      auto failure = replay(*run);
      running_ = false;
      send(wire::Done{run->id, std::move(failure)});
    } else if (auto* watch = std::get_if<wire::Watch>(&request)) {
      record("watch " + watch->experiment.kernel + knobs_text(watch->experiment));
      send(wire::Done{watch->id, replay_watch(*watch)});
    } else if (auto* view = std::get_if<wire::View>(&request)) {
      record("view " + std::to_string(view->request.head));
      const std::string after = options_.text("--views-after");
      const bool kept = after.empty() || std::filesystem::exists(after);
      if (kept) send(wire::TileMessage{view->id, tile_of(view->request, true)});
      const Failure gone{Stage::device, "the run of this map is not kept any more", "Run the experiment again."};
      send(wire::Done{view->id, kept ? std::nullopt : std::optional(gone)});
    } else if (auto* code = std::get_if<wire::Code>(&request)) {
      record("code " + code->experiment.kernel + knobs_text(code->experiment));
      Listing listing;
      listing.experiment_hash = hash_of(code->experiment);
      listing.lines = {CodeLine{"MOV R1, c[0x0][0x28]"}, CodeLine{"EXIT"}};
      send(wire::ListingMessage{code->id, std::move(listing)});
      send(wire::Done{code->id, std::nullopt});
    } else {
      send(wire::Done{wire::id_of(request), Failure{Stage::protocol, "not offered by this worker", ""}});
    }
  }

  // Waits for the gate and the delay of the next part. Returns false if the run is cancelled during the wait.
  bool ready_for(wire::Id id, const std::string& part) {
    const auto due = Clock::now() + std::chrono::milliseconds(options_.number("--step-ms"));
    const std::filesystem::path gate = std::filesystem::path(options_.text("--gate")) / part;
    while (true) {
      const bool open = !options_.has("--gate") || std::filesystem::exists(gate);
      if (!listen(open && Clock::now() >= due ? 0ms : 1ms)) std::exit(0);
      if (cancelled_.contains(id)) return false;
      if (open && Clock::now() >= due) return true;
    }
  }

  struct Source {
    std::string name, text;
  };

  // A source that names "undeclared" does not compile.
  static std::optional<Failure> refusal_of(const Source& source) {
    const size_t at = source.text.find("undeclared");
    if (at == std::string::npos) return std::nullopt;
    const auto line = 1 + std::count(source.text.begin(), source.text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::string why = "identifier \"undeclared\" is undefined";
    return Failure{Stage::compile, fmt::format("{}:{}: {}", source.name, line, why),
                   fmt::format("{}({}): error: {}\n", source.name, line, why)};
  }

  std::optional<Failure> replay(const wire::Run& run) {
    const Failure was_cancelled{Stage::cancelled, "cancelled", ""};
    const Experiment& e = run.experiment;
    if (!kernels_.contains(e.kernel_hash)) {
      send(wire::Need{run.id, {e.kernel_hash}});
      while (!kernels_.contains(e.kernel_hash)) {
        if (!listen(1ms)) std::exit(0);
        if (cancelled_.contains(run.id)) return was_cancelled;
      }
    }
    if (auto refused = refusal_of(kernels_.at(e.kernel_hash))) return refused;
    const Observation* recorded = nullptr;
    for (const Observation& candidate : recordings_)
      if ((candidate.experiment.kernel == e.kernel || candidate.experiment.kernel + "_copy" == e.kernel) &&
          candidate.experiment.config.knobs == e.config.knobs && candidate.experiment.problem == e.problem)
        recorded = &candidate;
    if (!recorded) return Failure{Stage::device, "there is no recording of" + knobs_text(e), ""};

    // A worker knows the experiment only under its own name for the device.
    if (run.first_view && run.first_view->experiment_hash != hash_of(e))
      return Failure{Stage::protocol, "the map is another experiment's", ""};
    send(wire::Progress{run.id, wire::Step::compiling, 0, 0});
    const Json all = to_json(*recorded);
    auto part = [&](const char* key, bool final = true) {
      Json json{{key, all[key]}};
      if (std::string_view(key) == "timing") json["tflops"] = all["tflops"];
      send(wire::Part{run.id, wire::part_values_from_json(json).value(), final});
    };
    if (concerns(e, options_.text("--stall")))
      while (ready_for(run.id, "")) listen(1ms);
    for (const char* key : {"variant", "occupancy", "counters", "verdict", "timing"}) {
      if (!ready_for(run.id, key)) return was_cancelled;
      if (std::string_view(key) == "occupancy") misbehave(run.id, e);
      if (std::string_view(key) == "timing" && options_.has("--profile")) {
        send(wire::Part{run.id, {hardware_of(*recorded), samples()}});
        continue;
      }
      if (all[key].is_null() || (options_.has("--gpu") && std::string_view(key) == "counters") || omitted(key))
        continue;
      if (std::string_view(key) == "counters") {
        send(wire::Progress{run.id, wire::Step::emulating, 43, recorded->counters->total_ctas});
        for (int done = 44, last = 44 + options_.number("--ctas"); done < last; ++done) {
          std::this_thread::sleep_for(3ms);
          send(wire::Progress{run.id, wire::Step::emulating, done, recorded->counters->total_ctas});
        }
        part(key, false);
        if (run.first_view) send(wire::TileMessage{run.id, tile_of(*run.first_view, false)});
      }
      part(key);
      const auto is_known = [&](const std::string& code) { return code == recorded->variant->code_hash; };
      if (std::string_view(key) == "occupancy" && run.among && std::ranges::any_of(run.among->known_codes, is_known))
        return std::nullopt;
      if (std::string_view(key) == "counters" && run.first_view)
        send(wire::TileMessage{run.id, tile_of(*run.first_view, true)});
    }
    if (run.watch && !recorded->failure && !omitted("watch")) send(wire::Part{run.id, {report_on(e)}});
    if (!ready_for(run.id, "done")) return was_cancelled;
    if (options_.has("--prints")) send(wire::Part{run.id, {Printed{{options_.text("--prints")}, 3}}});
    return recorded->failure;
  }

  // A GPU whose counters equal the emulator's, but for 1 % more wavefronts of shared memory.
  HardwareCounters hardware_of(const Observation& recorded) const {
    HardwareCounters hardware;
    if (options_.has("--no-permission")) {
      hardware.failure = Failure{Stage::device, "the driver lets this user read no counters", "Become root."};
      return hardware;
    }
    hardware.cupti = "13.0.85";
    hardware.passes = 8;
    hardware.sm_busy = 12.5;
    hardware.threads = recorded.counters->threads;
    hardware.shared_wavefronts = recorded.counters->shared_wavefronts * 101 / 100;
    return hardware;
  }

  // Two lines in which its warps were sampled.
  std::vector<Finding> samples() const {
    Finding taken;
    taken.rule = options_.has("--no-samples") ? RuleId::samples_refused : RuleId::samples_taken;
    taken.sentence = options_.has("--no-samples") ? "its program counters are not sampled. Take another GPU."
                                                  : "20,000 samples in 3 launches.";
    if (options_.has("--no-samples")) return {taken};
    SampledLine hot, cool;
    static_cast<SampledPlace&>(hot) = {15000, 9000, {{"short_scoreboard", 12000}, {"selected", 3000}}};
    hot.file = cool.file = "02_tiled.cu";
    hot.line = 203;
    hot.share = 0.75;
    hot.modelled = 0.625;
    static_cast<SampledPlace&>(cool) = {5000, 0, {{"selected", 5000}}};
    cool.line = 210;
    cool.share = 0.25;
    return {taken, to_finding(hot, "Hot."), to_finding(cool, "Cool.")};
  }

  bool omitted(const std::string& part) const {
    return ("," + options_.text("--omit") + ",").find("," + part + ",") != std::string::npos;
  }

  // The recorded report, or a silent one.
  WatchReport report_on(const Experiment& experiment) const {
    WatchReport report{8, 128, 3, 8, {}, {}};
    for (const Observation& recorded : recordings_)
      if (recorded.experiment.config.knobs == experiment.config.knobs && recorded.watch) report = *recorded.watch;
    for (const auto& [option, rule] :
         {std::pair{"--race", "race.shared"}, {"--luck", "luck.order"}, {"--uneven", "barrier.uneven"}})
      if (concerns(experiment, options_.text(option))) report.findings.push_back(error(rule));
    return report;
  }

  std::optional<Failure> replay_watch(const wire::Watch& watch) {
    const Failure was_cancelled{Stage::cancelled, "cancelled", ""};
    send(wire::Progress{watch.id, wire::Step::watching, 4, 96});
    if (!ready_for(watch.id, "watch")) return was_cancelled;
    if (options_.has("--gpu")) send(wire::Part{watch.id, {seven_threads(), Bound::tensor_cores}});
    send(wire::Part{watch.id, {report_on(watch.experiment)}});
    return std::nullopt;
  }

  static Counters seven_threads() {
    Counters counters;
    counters.threads = 7;
    return counters;
  }

  static Finding error(const char* rule) {
    Finding finding;
    finding.rule = Rule::named(rule);
    finding.severity = Severity::error;
    finding.sentence = "Warp 1 reads S_tile while warp 0 writes it.";
    finding.where = {{"file", "02_tiled.cu"},
                     {"line", "203"},
                     {"buffer", "S_tile"},
                     {"other_file", "02_tiled.cu"},
                     {"other_line", "126"}};
    return finding;
  }

  void misbehave(wire::Id id, const Experiment& e) {
    if (concerns(e, options_.text("--wrong-part"))) {
      const Json wrong{{"type", "part"}, {"id", id}, {"part", {{"no_such_part", 1}}}};
      const auto frame = wire::frame_of(wire::to_msgpack(wrong));
      write_bytes({reinterpret_cast<const char*>(frame->data()), frame->size()});
    }
    if (concerns(e, options_.text("--garbage"))) {
      write_bytes(std::string(64, '\xff'));
      while (listen(10ms)) {
      }
      std::exit(0);
    }
    const std::string once = options_.text("--crash-once");
    const bool again = once.empty() || !std::filesystem::exists(once);
    if (concerns(e, options_.text("--crash")) && again) {
      if (!once.empty()) std::ofstream(once) << "crashed";
      raise(SIGKILL);
    }
  }

  static Tile tile_of(const ViewRequest& request, bool whole) {
    Tile tile;
    tile.request = request;
    tile.width = request.width > 0 ? request.width : 8;
    tile.height = request.height > 0 ? request.height : 8;
    const size_t columns = static_cast<size_t>(tile.width), rows = static_cast<size_t>(tile.height);
    tile.values.assign(columns * rows, Tile::kNotYet);
    tile.ready_rows.assign(rows, 0);
    for (size_t row = 0; row < (whole ? rows : rows / 2); ++row) {
      tile.ready_rows[row] = 1;
      for (size_t column = 0; column < columns; ++column)
        tile.values[row * columns + column] =
            1e-4f * static_cast<float>((row * 7 + column * 3 + size_t(request.head)) % 11);
    }
    return tile;
  }

  Options options_;
  int out_;
  std::vector<Observation> recordings_;
  std::vector<DeviceSpec> devices_;
  wire::FrameDecoder frames_;
  std::deque<wire::Request> requests_;
  std::set<wire::Id> cancelled_;
  std::map<std::string, Source> kernels_;  // by hash
  bool greeted_ = false, running_ = false;
  Clock::time_point next_beat_;
};

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return attnscope::FakeWorker(attnscope::parse(argc, argv), out).serve();
}
