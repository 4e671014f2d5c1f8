// A worker that breaks one rule of the protocol, to test how a session reacts.
//
//   evil_worker BEHAVIOUR RECORDING DEVICES
//
// RECORDING is the observation that answers a good run, DEVICES the folder of device specs. The behaviours are the
// branches below; "good" breaks no rule, "close_at:N" is good and ends after N bytes of output.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "catalog/devices.h"
#include "core/json.h"
#include "platform/atomic_file.h"
#include "protocol/frame.h"
#include "protocol/message.h"
#include "protocol/msgpack.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;
namespace wire = protocol;

class EvilWorker {
 public:
  EvilWorker(std::string behaviour, Json recording, DeviceSpec device)
      : behaviour_(std::move(behaviour)), recording_(std::move(recording)), device_(std::move(device)) {
    if (behaviour_.starts_with("close_at:")) left_ = std::stoull(behaviour_.substr(9)), behaviour_ = "good";
  }

  int serve() {
    if (behaviour_ == "silent") return listen();
    if (behaviour_ == "noise_without_end")
      for (;;) raw(std::string(4096, 'x'));
    raw(wire::banner_line(behaviour_ == "another_version" ? "9.9.9" : ATTNSCOPE_VERSION));
    if (behaviour_ == "banner_only") return listen();
    std::thread([this] {
      for (;; std::this_thread::sleep_for(100ms)) {
        const std::lock_guard lock(mutex_);
        if (quiet_ || left_) continue;
        send(wire::Heartbeat{behaviour_ == "busy_for_ever" ? wire::WorkerPhase::busy : wire::WorkerPhase::ready, ""});
      }
    }).detach();
    return listen();
  }

 private:
  int listen() {
    wire::FrameDecoder frames;
    std::vector<std::byte> buffer(65536);
    for (ssize_t got; (got = read(STDIN_FILENO, buffer.data(), buffer.size())) > 0;) {
      frames.feed(std::span(buffer).first(static_cast<size_t>(got)));
      for (auto payload = frames.next(); payload && *payload; payload = frames.next()) {
        auto request = wire::decode_request(**payload);
        const std::lock_guard lock(mutex_);
        if (request && behaviour_ != "silent" && behaviour_ != "banner_only") answer(*request);
      }
    }
    return 0;
  }

  void answer(const wire::Request& request) {
    if (quiet_) return;
    if (const auto* hello = std::get_if<wire::Hello>(&request)) return greet(hello->id);
    if (const auto* run = std::get_if<wire::Run>(&request)) return start(run->id, run->experiment.kernel_hash);
    if (std::holds_alternative<wire::KernelContent>(request)) misbehave(run_);
  }

  void greet(wire::Id id) {
    if (behaviour_ == "beats_and_no_hello") return;
    if (behaviour_ == "refuses_to_greet")
      return send(wire::Done{id, Failure{Stage::crash, "the executor does not start", ""}});
    if (left_ && std::exchange(greeted_, true)) return;  // a conversation of one length, however slow the machine
    wire::HelloReply reply{id, Versions{ATTNSCOPE_VERSION, "12.8", "", ""}, {device_}, 1};
    if (behaviour_ == "hello_of_another_version") reply.versions.app = "9.9.9";
    send(reply);
    if (behaviour_ != "two_hellos") return;
    reply.devices.front().id = "emulated:another";
    send(reply);
  }

  void start(wire::Id id, const std::string& hash) {
    run_ = id;
    send(wire::Need{id, {hash}});
    if (behaviour_ != "need_without_end") return;
    const wire::Need need{id, std::vector<std::string>(1000, hash)};
    for (;;) send(need);
  }

  void parts(wire::Id id) {
    for (const char* key : {"variant", "occupancy", "counters", "verdict", "timing"}) {
      if (recording_[key].is_null()) continue;
      Json part{{key, recording_[key]}};
      if (std::string_view(key) == "timing") part["tflops"] = recording_["tflops"];
      send(wire::Part{id, wire::part_values_from_json(part).value()});
    }
  }
  void good(wire::Id id) {
    parts(id);
    send(wire::Done{id, std::nullopt});
  }

  // Called after the first run and its kernel have arrived.
  void misbehave(wire::Id id) {
    if (behaviour_ == "truncated_frame") {
      raw(std::string("\x64\0\0\0 half of it", 15));
      std::_Exit(0);
    } else if (behaviour_ == "huge_length") {
      raw("\xff\xff\xff\xff");
    } else if (behaviour_ == "length_without_bytes") {
      quiet_ = true;
      raw(std::string("\0\0\0\x0f", 4));
    } else if (behaviour_ == "drips") {
      raw(std::string("\0\0\0\x0f", 4));
      for (;; std::this_thread::sleep_for(50ms)) raw("x");
    } else if (behaviour_ == "garbage") {
      raw(std::string("\x10\0\0\0", 4) + std::string(16, '\xc1'));
    } else if (behaviour_ == "nils") {
      bomb(std::string(size_t{64} << 20, '\xc0'));
    } else if (behaviour_ == "empty_maps") {
      bomb(std::string(size_t{64} << 20, '\x80'));
    } else if (behaviour_ == "empty_texts") {
      bomb(std::string(size_t{64} << 20, '\xa0'));
    } else if (behaviour_ == "deep_nesting") {
      bomb(std::string(size_t{1} << 20, '\x91'), 1);
    } else if (behaviour_ == "wrong_ids") {
      good(id + 1000);
    } else if (behaviour_ == "done_twice") {
      good(id);
      send(wire::Done{id, Failure{Stage::crash, "the second answer", ""}});
    } else if (behaviour_ == "parts_after_done") {
      good(id);
      send(wire::Part{id, {Failure{Stage::crash, "a part after the answer", ""}}});
      send(wire::Part{id, {1e9}});
    } else if (behaviour_ == "half_of_an_answer") {
      send(wire::Part{id, {1.5}});
    } else if (behaviour_ == "part_of_nothing") {
      raw_message(Json{{"type", "part"}, {"id", id}, {"part", {{"no_such_part", 1}}}});
    } else if (behaviour_ == "same_progress") {
      for (;; std::this_thread::sleep_for(10ms)) send(wire::Progress{id, wire::Step::emulating, 7, 100});
    } else if (behaviour_ == "log_without_end") {
      for (;;) send(wire::Log{Severity::info, std::string(size_t{1} << 20, 'x')});
    } else if (behaviour_ != "never_answers" && behaviour_ != "busy_for_ever") {
      good(id);
    }
  }

  // A part whose value is an array of `items`, one byte each.
  void bomb(const std::string& items, uint32_t count = 0) {
    if (count == 0) count = static_cast<uint32_t>(items.size());
    std::string payload = std::string("\x83\xa4type\xa4part\xa2id\x01\xa4part\xdd", 21);
    for (int shift = 24; shift >= 0; shift -= 8) payload += static_cast<char>(count >> shift);
    payload += items;
    std::string header;
    for (int shift = 0; shift < 32; shift += 8) header += static_cast<char>(payload.size() >> shift);
    raw(header + payload);
  }

  void send(const wire::Reply& reply) { send(wire::encode(reply)); }
  void raw_message(const Json& json) { send(wire::frame_of(wire::to_msgpack(json))); }
  void send(const Result<std::vector<std::byte>>& frame) {
    if (!frame) std::_Exit(8);
    raw({reinterpret_cast<const char*>(frame->data()), frame->size()});
  }
  void raw(std::string_view bytes) {
    const bool last = left_ && bytes.size() >= *left_;
    if (last) bytes = bytes.substr(0, *left_);
    if (left_) *left_ -= bytes.size();
    while (!bytes.empty()) {
      const ssize_t wrote = write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (wrote <= 0) std::_Exit(0);  // the session has closed the pipe
      bytes.remove_prefix(static_cast<size_t>(wrote));
    }
    if (last) std::_Exit(0);
  }

  std::string behaviour_;
  Json recording_;
  DeviceSpec device_;
  std::optional<size_t> left_;  // bytes until the end, of close_at
  std::mutex mutex_;            // of the output
  bool quiet_ = false;          // sends nothing from now on
  bool greeted_ = false;
  wire::Id run_ = 0;
};

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  using namespace attnscope;
  signal(SIGPIPE, SIG_IGN);
  if (argc < 4) return 9;
  auto text = platform::read_file(argv[2], 1 << 20);
  auto recording = text ? parse_json(*text, argv[2]) : Result<Json>(fail(text.error()));
  const auto devices = catalog::load_devices(argv[3]).devices;
  for (const DeviceSpec& device : devices)
    if (recording && device.id == "emulated:l4") return EvilWorker(argv[1], *recording, device).serve();
  return 9;
}
