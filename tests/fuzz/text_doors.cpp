#include "text_doors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "catalog/catalog.h"
#include "catalog/devices.h"
#include "catalog/import.h"
#include "catalog/launch.h"
#include "catalog/validate.h"
#include "catalog/workload.h"
#include "compile/host_code.h"
#include "core/expression.h"
#include "core/json.h"
#include "core/observation.h"
#include "explain/gemm_call.h"
#include "explain/ncu_csv.h"
#include "explain/resources.h"
#include "must.h"
#include "platform/atomic_file.h"
#include "protocol/frame.h"
#include "protocol/message.h"
#include "report/rbk_config.h"
#include "store/preset.h"
#include "store/settings.h"
#include "store/workers.h"

namespace attnscope::fuzz {
namespace {

namespace fs = std::filesystem;

const std::vector<Kernel>& shipped_kernels() {
  static const std::vector<Kernel> kernels = catalog::load_catalog({kTree / "kernels"}).kernels;
  must(!kernels.empty(), "the shipped kernels load");
  return kernels;
}

// A file with a path that contains `text` and is removed afterwards.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& text) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    must(fd_ >= 0 && write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "a memory file");
  }
  MemoryFile(const MemoryFile&) = delete;
  ~MemoryFile() { close(fd_); }
  fs::path path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

std::string read_manifest(const catalog::KernelText& text) {
  const auto kernel = catalog::parse_kernel(text);
  if (!kernel) return kernel.error().message;
  const Problem problem = kernel->default_problem();
  const auto config = catalog::complete_config(*kernel, {}, kernel->options);
  if (!config) return config.error().message;
  if (const auto fits = catalog::check_restrictions(*kernel, problem, *config); !fits) return fits.error().message;
  if (!kernel->library.is_source()) return "";
  if (const auto launch = catalog::launch_of(*kernel, problem, *config); !launch) return launch.error().message;
  if (problem.is_attention()) return "";
  const auto workload = catalog::workload_of(*kernel, problem, *config);
  return workload ? "" : workload.error().message;
}

// The text of `"key": "text"`: the manifest says what its source is called.
std::string text_at(const std::string& manifest, const std::string& key) {
  const size_t at = manifest.find('"' + key + '"');
  const size_t open = at == std::string::npos ? at : manifest.find('"', manifest.find(':', at));
  const size_t close = open == std::string::npos ? open : manifest.find('"', open + 1);
  return close == std::string::npos ? "" : manifest.substr(open + 1, close - open - 1);
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Cuts `stream` into frames, fed in two pieces, and passes each payload to `read`, which returns "" or a message.
template <class Read>
std::string each_frame(const std::string& stream, Read read) {
  protocol::FrameDecoder decoder;
  const auto bytes = std::as_bytes(std::span(stream));
  std::string refused;
  for (const auto piece : {bytes.first(bytes.size() / 2), bytes.subspan(bytes.size() / 2)}) {
    decoder.feed(piece);
    for (;;) {
      const auto payload = decoder.next();
      if (!payload) return payload.error().message;
      if (!*payload) break;
      if (std::string answer = read(**payload); !answer.empty() && refused.empty()) refused = std::move(answer);
    }
  }
  return refused.empty() && decoder.in_frame() ? "the last frame is cut short" : refused;
}

Experiment an_experiment() {
  const Kernel& kernel = shipped_kernels().front();
  Experiment experiment;
  experiment.kernel = kernel.id;
  experiment.kernel_hash = kernel.content_hash;
  experiment.device = "emulated:l4";
  if (auto config = catalog::complete_config(kernel, {}, kernel.options)) experiment.config = *config;
  return experiment;
}

}  // namespace

std::string feed_preset(const std::string& input) {
  const auto json = parse_json(input, "preset.json");
  if (!json) return json.error().message;
  const auto preset = store::preset_from_json(*json, "preset.json", shipped_kernels());
  if (!preset) return preset.error().message;
  const Json written = store::to_json(*preset, shipped_kernels());
  const auto again = store::preset_from_json(written, "again.json", shipped_kernels());
  must(again && store::to_json(*again, shipped_kernels()) == written, "a preset reads as it was written");
  return "";
}

std::string feed_settings(const std::string& input) {
  const MemoryFile file(input);
  std::optional<Failure> trouble;
  (void)store::Settings::load(file.path(), trouble);
  if (trouble) return trouble->message;
  const auto workers = store::read_named_workers(file.path());
  return workers ? "" : workers.error().message;
}

std::string feed_explained(const std::string& input) {
  static const std::vector<DeviceSpec> devices = catalog::load_devices(kTree / "assets/devices").devices;
  if (explain::findings_of_ncu(input, "ncu.csv")) return "";
  const auto json = parse_json(input, "file.json");
  if (!json) return json.error().message;
  if (explain::findings_of_gemm(*json, "file.json")) return "";
  const auto said = explain::findings_of_resources(*json, "file.json", devices);
  if (!said) return said.error().message;
  for (const Finding& finding : said->findings)
    for (const Evidence& one : finding.evidence) must(std::isfinite(one.value), "a finding's figures are numbers");
  return "";
}

std::string feed_grid(const std::string& input) {
  const auto config = report::rbk_config_from_yaml(input, "rbk_config.yaml");
  if (!config) return config.error().message;
  for (const report::RbkShape& shape : config->shapes)
    must(report::problem_of(shape, "").has_value(), "a shape that was read is a problem");
  return "";
}

std::string feed_manifest(const std::string& input) {
  const std::string source = text_at(input, "source");  // a library's routine has none
  const auto shipped = std::ranges::find(shipped_kernels(), source, &Kernel::source_name);
  const std::string text = source.empty()                       ? ""
                           : shipped != shipped_kernels().end() ? shipped->source  // a manifest may name its lines
                                                                : "__global__ void k(int* p) { *p = 1; }\n";
  return read_manifest({text_at(input, "id") + ".json", input, source, text});
}

std::string feed_source(const std::string& input) {
  (void)compile::without_host_code(input);
  const auto imported = catalog::import_kernel("k.cu", input, "");
  if (!imported) return imported.error().message;
  return read_manifest({"k.json", imported->manifest, "k.cu", input});
}

std::string feed_expression(const std::string& input) {
  const Variables variables{{"n", 7}, {"seq_q", 512}, {"BLOCK_M", 32}, {"zero", 0}, {"big", 9007199254740992.0}};
  (void)holds(input, variables, "k.json/restrictions/0");
  (void)evaluate_real(input, variables, "k.json/args/0");
  if (const auto element = ElementExpression::parse(input, {"a", "b"}, "k.json/reference")) {
    const double values[] = {0.5, -2.0};
    (void)(*element)(values);
  }
  const auto whole = evaluate(input, variables, "k.json/launch/grid/0");
  if (!whole) return whole.error().message;
  must(*whole >= 0 && *whole <= int64_t{1} << 53, "a whole value is within 0 and 2^53");
  return "";
}

std::string feed_request(const std::string& input) {
  return each_frame(input, [](std::span<const std::byte> payload) -> std::string {
    (void)protocol::id_of_malformed(payload);
    const auto request = protocol::decode_request(payload);
    if (!request) return request.error().message;
    const auto frame = protocol::encode(*request);
    must(frame.has_value(), "a request that was read can be written");
    const auto again = protocol::decode_request(std::span(*frame).subspan(protocol::kHeader));
    must(again && *again == *request, "a request reads as it was written");
    return "";
  });
}

std::string feed_reply(const std::string& input) {
  Observation observation;
  observation.experiment = an_experiment();
  observation.hash = hash_of(observation.experiment);
  return each_frame(input, [&](std::span<const std::byte> payload) -> std::string {
    const auto reply = protocol::decode_reply(payload);
    const auto envelope = protocol::decode_envelope(payload);
    if (!reply) return reply.error().message;
    must(envelope && protocol::id_of(*envelope) == protocol::id_of(*reply),
         "a supervisor passes on what a client reads");
    must(protocol::encode(*reply).has_value(), "a reply that was read can be written");
    const auto* part = std::get_if<protocol::Part>(&*reply);
    if (!part) return "";
    apply_part(observation, *part);
    const Json written = to_json(observation);
    const auto again = observation_from_json(written, "again");
    must(again && to_json(*again) == written, "an observation reads as it was written");
    return "";
  });
}

std::vector<std::string> request_seeds() {
  ViewRequest view;
  view.experiment_hash = "ab";
  view.width = 8;
  view.height = 4;
  std::vector<std::string> seeds;
  for (const protocol::Request& request : std::vector<protocol::Request>{
           protocol::Hello{1}, protocol::KernelContent{2, "h", "k.cu", "k.json", "__global__ void k() {}", "{}"},
           protocol::Run{4, an_experiment(), {}, view}, protocol::Run{5, an_experiment(), {}, std::nullopt, true},
           protocol::Watch{6, an_experiment(), {1, 2, 3}}, protocol::View{7, view}, protocol::Cancel{8, 4},
           protocol::Code{9, an_experiment(), {1, 2, 3}}})
    if (const auto frame = protocol::encode(request)) seeds.push_back(text_of(*frame));
  return seeds;
}

std::vector<std::string> reply_seeds() {
  std::vector<protocol::Reply> replies{
      protocol::HelloReply{1, {"0.1.0", "13.0", "", ""}, {}, 4242},
      protocol::Need{2, {"a", "b"}},
      protocol::Progress{3, protocol::Step::emulating, 43, 128},
      protocol::Done{6, std::nullopt},
      protocol::Done{7, Failure{Stage::deadline, "tiled hung", "try"}},
      protocol::Heartbeat{protocol::WorkerPhase::restarting, "tiled hung"},
      protocol::Log{Severity::warning, "a cache entry was remade"},
  };
  for (const auto& entry : fs::directory_iterator(kTree / "tests/data/observations")) {
    if (entry.path().extension() != ".json") continue;
    const auto text = platform::read_file(entry.path(), 4 << 20);
    const auto json = text ? parse_json(*text, "seed") : Result<Json>(fail(text.error()));
    if (!json || !json->is_object()) continue;
    for (const auto& [key, value] : json->items())
      if (const auto values = protocol::part_values_from_json(Json{{key, value}}))
        replies.push_back(protocol::Part{4, *values});
  }
  std::vector<std::string> seeds;
  for (const protocol::Reply& reply : replies)
    if (const auto frame = protocol::encode(reply)) seeds.push_back(text_of(*frame));
  return seeds;
}

}  // namespace attnscope::fuzz
