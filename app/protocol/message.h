#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/device_spec.h"
#include "core/experiment.h"
#include "core/json_fwd.h"
#include "core/observation.h"
#include "core/result.h"
#include "core/view.h"

// The whole vocabulary between a client (session) and a worker, and between a worker's supervisor and its executor.
namespace attnscope::protocol {

using Id = uint64_t;  // chosen by the client, unique among its requests; 0 is the worker's own

// Time without progress, in milliseconds, after which the supervisor ends the work.
struct Deadlines {
  int64_t compile_ms = 60000;
  int64_t emulated_ms = 5000;
  int64_t launch_ms = 2000;  // of a GPU
  bool operator==(const Deadlines&) const = default;
};

// ---- client → worker ----
struct Hello {
  Id id = 0;
  bool operator==(const Hello&) const = default;
};
// A kernel's content, which the worker asked for by Need; names are for messages and never opened.
struct KernelContent {
  Id id = 0;
  std::string hash;  // Kernel::content_hash; the worker holds it against the content
  std::string source_name, manifest_name;
  std::string source, manifest;  // bytes, not necessarily UTF-8
  bool operator==(const KernelContent&) const = default;
};
// Compile and limits only.
struct Compile {
  Id id = 0;
  Experiment experiment;
  Deadlines deadlines;
  bool operator==(const Compile&) const = default;
};
struct Run {
  Id id = 0;
  Experiment experiment;
  Deadlines deadlines;
  std::optional<ViewRequest> first_view;  // streamed while the experiment runs
  bool watch = false;                     // and watched afterwards
  bool operator==(const Run&) const = default;
};
// The watch alone: answered by the part "watch".
struct Watch {
  Id id = 0;
  Experiment experiment;
  Deadlines deadlines;
  bool operator==(const Watch&) const = default;
};
// A map of one of the last runs.
struct View {
  Id id = 0;
  ViewRequest request;
  bool operator==(const View&) const = default;
};
// counters, trace, micro: part of the vocabulary, answered by a Failure until a worker offers them.
struct Unoffered {
  Id id = 0;
  std::string type;
  bool operator==(const Unoffered&) const = default;
};
struct Cancel {
  Id id = 0;
  Id target = 0;
  bool operator==(const Cancel&) const = default;
};
using Request = std::variant<Hello, KernelContent, Compile, Run, Watch, View, Unoffered, Cancel>;

// ---- worker → client ----
struct HelloReply {
  Id id = 0;
  Versions versions;
  std::vector<DeviceSpec> devices;
  int64_t pid = 0;  // the supervisor's
  bool operator==(const HelloReply&) const = default;
};
// The worker lacks these kernels; the request goes on when their content has come.
struct Need {
  Id id = 0;
  std::vector<std::string> hashes;
  bool operator==(const Need&) const = default;
};
enum class Step { compiling, limits, emulating, checking, measuring, watching };
std::string_view to_string(Step step);
struct Progress {
  Id id = 0;
  Step step = Step::compiling;
  int64_t done = 0,
          total = 0;  // emulating: CTAs; watching: CTAs of all its runs; measuring: samples of 0; otherwise 0 of 0
  bool operator==(const Progress&) const = default;
};
// A subset of an Observation's keys, for core's apply_part.
struct Part {
  Id id = 0;
  std::shared_ptr<const Json> part;  // an object, never null
  bool final = true;                 // false: more of the same part comes
};
struct TileMessage {
  Id id = 0;
  Tile tile;
  bool operator==(const TileMessage&) const = default;
};
struct Done {
  Id id = 0;
  std::optional<Failure> failure;
  bool operator==(const Done&) const = default;
};
enum class WorkerPhase { ready, busy, restarting };
std::string_view to_string(WorkerPhase phase);
struct Heartbeat {
  WorkerPhase state = WorkerPhase::ready;
  std::string detail;
  bool operator==(const Heartbeat&) const = default;
};
enum class LogLevel { info, warning, error };
std::string_view to_string(LogLevel level);
struct Log {
  LogLevel level = LogLevel::info;
  std::string text;
  bool operator==(const Log&) const = default;
};
using Reply = std::variant<HelloReply, Need, Progress, Part, TileMessage, Done, Heartbeat, Log>;

Part part_of(Id id, Json part, bool final = true);
Part failure_part(Id id, const Failure& failure);

// A message as a whole frame, ready to be written. Texts of replies that are not UTF-8 (a compiler's log quoting a
// Latin-1 source) get U+FFFD for each bad byte. Fails only over kMaxFrame.
Result<std::vector<std::byte>> encode(const Request& request);
Result<std::vector<std::byte>> encode(const Reply& reply);

// Of a frame's payload. Every field is checked here, at the door: what comes out is complete and in range (an
// experiment's knobs against its manifest excepted: that needs the kernel). Failures have Stage::protocol and name the
// message and field.
Result<Request> decode_request(std::span<const std::byte> payload);
Result<Reply> decode_reply(std::span<const std::byte> payload);

// The id of a request or reply; 0 for Heartbeat and Log.
Id id_of(const Request& request);
Id id_of(const Reply& reply);
// When decode_request refused a payload: its id, if that much can be read, so that the refusal can be answered.
std::optional<Id> id_of_malformed(std::span<const std::byte> payload);

}  // namespace attnscope::protocol
