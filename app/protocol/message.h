#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/device_spec.h"
#include "core/experiment.h"
#include "core/gpu_reading.h"
#include "core/listing.h"
#include "core/observation.h"
#include "core/result.h"
#include "core/view.h"
#include "core/words.h"
#include "protocol/part.h"

// All messages between a client (session) and a worker, and between a worker's supervisor and its executor. A message's
// kType is its "type" in MessagePack.
namespace attnscope::protocol {

// The times without progress, in ms, after which the supervisor ends the work.
struct Deadlines {
  int64_t compile_ms = 60000;
  int64_t emulated_ms = 5000;
  int64_t launch_ms = 2000;  // on a GPU
  bool operator==(const Deadlines&) const = default;
};

// ---- client → worker ----
// The worker answers with HelloReply, whenever it is sent. An executor answers a later one with a Heartbeat that has
// its GPUs' readings.
struct Hello {
  static constexpr const char* kType = "hello";
  Id id = 0;
  bool operator==(const Hello&) const = default;
};
// A kernel's content, which the worker requested with Need. Its names appear in messages and are never opened.
struct KernelContent {
  static constexpr const char* kType = "kernel";
  Id id = 0;
  std::string hash;  // Kernel::content_hash; the worker checks it against the content
  std::string source_name, manifest_name;
  std::string source, manifest;  // bytes, not necessarily UTF-8
  bool operator==(const KernelContent&) const = default;
};
// For a run that is one of many of its kernel: what to compile while it executes, and when to end early.
struct Among {
  std::vector<Experiment> ahead;         // the next experiments, of the same kernel
  std::vector<std::string> known_codes;  // if its machine code is one of these, the run ends after the limits
  // On a GPU: stop timing if the first samples are all slower than this, us. The key is left out otherwise.
  std::optional<double> hopeless_us = {};
  bool operator==(const Among&) const = default;
};
struct Run {
  static constexpr const char* kType = "run";
  Id id = 0;
  Experiment experiment;
  Deadlines deadlines;
  std::optional<ViewRequest> first_view;  // streamed while the experiment runs
  bool watch = false;                     // watch it afterwards
  // Watch every CTA; left out otherwise, so that older workers understand the rest.
  std::optional<bool> watch_all = {};
  std::optional<Among> among = {};  // left out if empty, for the same reason
  // The watch looks for needless barriers too, as protocol::Watch always does; left out otherwise, for the same reason.
  std::optional<bool> needless = {};
  bool operator==(const Run&) const = default;
};
// Requests only the watch, with the search for needless barriers; the answer is its report.
struct Watch {
  static constexpr const char* kType = "watch";
  Id id = 0;
  Experiment experiment;
  Deadlines deadlines;
  bool operator==(const Watch&) const = default;
};
// Requests the code, with the counts of its last emulated run if the worker still has them.
struct Code {
  static constexpr const char* kType = "code";
  Id id = 0;
  Experiment experiment;
  Deadlines deadlines;
  // For a program: the index of a launch among its steps; left out: the longest launch.
  std::optional<int64_t> step = {};
  // Requests the softmax state of that row instead of the code; the answer is Listing::softmax. The emulator executes
  // the row's CTA.
  std::optional<SoftmaxRow> softmax = {};
  // Requests how its SMs spend their time instead of the code, from the simulation of its last emulated run or from a
  // GPU's clocks; the answer is Listing::timeline.
  std::optional<TimelineAsk> timeline = {};
  bool operator==(const Code&) const = default;
};
// Requests a map of one of the last runs.
struct View {
  static constexpr const char* kType = "view";
  Id id = 0;
  ViewRequest request;
  bool operator==(const View&) const = default;
};
struct Cancel {
  static constexpr const char* kType = "cancel";
  Id id = 0;
  Id target = 0;
  bool operator==(const Cancel&) const = default;
};
// The client cannot decode a part of that request's answer. The executor is ended, and the request ends with that
// failure.
struct Restart {
  static constexpr const char* kType = "restart";
  Id id = 0;
  Id target = 0;
  Failure failure;
  bool operator==(const Restart&) const = default;
};
using Request = std::variant<Hello, KernelContent, Run, Watch, Code, View, Cancel, Restart>;

// ---- worker → client ----
struct HelloReply {
  static constexpr const char* kType = "hello_reply";
  Id id = 0;
  Versions versions;
  std::vector<DeviceSpec> devices;
  int64_t pid = 0;  // the supervisor's
  bool operator==(const HelloReply&) const = default;
};
// The worker lacks these kernels. The request continues when their content has arrived.
struct Need {
  static constexpr const char* kType = "need";
  Id id = 0;
  std::vector<std::string> hashes;
  bool operator==(const Need&) const = default;
};
enum class Step { compiling, limits, emulating, checking, measuring, watching };
struct Progress {
  static constexpr const char* kType = "progress";
  Id id = 0;
  Step step = Step::compiling;
  int64_t done = 0,
          total = 0;  // emulating: CTAs; watching: CTAs over all its runs; measuring: samples of 0; otherwise 0 of 0
  bool operator==(const Progress&) const = default;
};
struct TileMessage {
  static constexpr const char* kType = "tile";
  Id id = 0;
  Tile tile;
  bool operator==(const TileMessage&) const = default;
};
struct ListingMessage {
  static constexpr const char* kType = "listing";
  Id id = 0;
  Listing listing;
  bool operator==(const ListingMessage&) const = default;
};
struct Done {
  static constexpr const char* kType = "done";
  Id id = 0;
  std::optional<Failure> failure;
  bool operator==(const Done&) const = default;
};
enum class WorkerPhase { ready, busy, restarting };
struct Heartbeat {
  static constexpr const char* kType = "heartbeat";
  WorkerPhase state = WorkerPhase::ready;
  std::string detail;
  std::vector<GpuReading> gpus = {};  // the last ones, taken while nothing ran; left out where no GPU reports any
  bool operator==(const Heartbeat&) const = default;
};
struct Log {
  static constexpr const char* kType = "log";
  Severity level = Severity::info;
  std::string text;
  bool operator==(const Log&) const = default;
};
using Reply = std::variant<HelloReply, Need, Progress, Part, TileMessage, ListingMessage, Done, Heartbeat, Log>;

// ---- what a supervisor reads of its executor's replies; it passes their payload on undecoded ----
struct PartHead {
  static constexpr const char *kType = Part::kType, *kPayload = "part";
  Id id = 0;
  bool final = true;
};
struct TileHead {
  static constexpr const char *kType = TileMessage::kType, *kPayload = "tile";
  Id id = 0;
};
struct ListingHead {
  static constexpr const char *kType = ListingMessage::kType, *kPayload = "listing";
  Id id = 0;
};
using Envelope = std::variant<HelloReply, Need, Progress, PartHead, TileHead, ListingHead, Done, Heartbeat, Log>;

// A message as a whole frame. Text in replies that is not UTF-8 (a compiler's log that quotes a Latin-1 source) gets
// U+FFFD for each bad byte. Fails only for payloads over kMaxFrame.
Result<std::vector<std::byte>> encode(const Request& request);
Result<std::vector<std::byte>> encode(const Reply& reply);

// Decodes a frame's payload and checks every field. The result is complete and in range, except for an experiment's
// knobs, which only its kernel's manifest can check. Failures have Stage::protocol and name the message and field.
Result<Request> decode_request(std::span<const std::byte> payload);
Result<Reply> decode_reply(std::span<const std::byte> payload);
// Decodes and checks only the envelope, and checks that the payload is MessagePack.
Result<Envelope> decode_envelope(std::span<const std::byte> payload);

// The id of a message; 0 for Heartbeat and Log.
template <class... Message>
Id id_of(const std::variant<Message...>& any) {
  return std::visit(
      [](const auto& message) -> Id {
        if constexpr (requires { message.id; })
          return message.id;
        else
          return 0;
      },
      any);
}
// The id of a payload that decode_request refused, if it can be read, so that the request can be answered.
std::optional<Id> id_of_malformed(std::span<const std::byte> payload);

using attnscope::to_string;

}  // namespace attnscope::protocol

namespace attnscope {

template <>
struct Words<protocol::Step> : NamesAsWords<protocol::Step> {};
template <>
struct Words<protocol::WorkerPhase> : NamesAsWords<protocol::WorkerPhase> {};

}  // namespace attnscope
