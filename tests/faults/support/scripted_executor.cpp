// An executor for tests of the supervisor: it computes nothing and does what the experiment's kernel id says.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string_view>
#include <thread>

#include "platform/process.h"
#include "protocol/frame.h"
#include "protocol/message.h"

namespace {

using namespace attnscope;
using namespace std::chrono_literals;

std::mutex writing;
std::atomic<bool> cancelled{false};
bool reads = false;  // it has a GPU, whose clock is the number of readings so far
double readings = 0;

void write_out(const protocol::Reply& reply) {
  const auto frame = protocol::encode(reply);
  if (write(1, frame->data(), frame->size()) != static_cast<ssize_t>(frame->size())) _exit(0);
}

void send(const protocol::Reply& reply) {
  std::lock_guard lock(writing);
  write_out(reply);
}

DeviceSpec a_gpu() {
  DeviceSpec spec;
  spec.id = "cuda:0";
  spec.name = "a GPU";
  spec.emulated = false;
  spec.sms = spec.warps_sm = spec.ctas_sm = 1;
  spec.shared_static_block = spec.shared_optin_block = spec.shared_sm = 49152;
  spec.registers_sm = spec.registers_block = 65536;
  spec.clock_mhz = spec.dram_gbs = spec.l2_mb = spec.tensor_tflops_f16 = 1;
  return spec;
}

void progress(protocol::Id id, int64_t done) { send(protocol::Progress{id, protocol::Step::emulating, done, 100}); }

// The lock is held until the end: the next request may be here already, and must not be heard to begin.
[[noreturn]] void crash_after_done(protocol::Id id) {
  std::lock_guard lock(writing);
  write_out(protocol::Done{id, std::nullopt});
  abort();
}

void obey(const std::string& word, protocol::Id id) {
  if (word == "crash_mute") abort();
  progress(id, 0);
  if (word == "crash") abort();
  if (word == "leave") _exit(7);
  if (word == "stop") raise(SIGSTOP);
  if (word == "close") close(1);
  if (word == "garbage" && write(1, "\x10\0\0\0this is no message", 20) != 20) _exit(1);
  if (word == "oversize" && write(1, "\xff\xff\xff\xff", 4) != 4) _exit(1);
  if (word == "hang" || word == "close" || word == "garbage" || word == "oversize")
    for (;;) pause();
  if (word == "still")
    for (;;) progress(id, 43), std::this_thread::sleep_for(10ms);
  if (word == "deaf")
    for (int64_t step = 1;; ++step) progress(id, step), std::this_thread::sleep_for(10ms);
  if (word == "slow")
    for (int64_t step = 1; step <= 60; ++step) progress(id, step), std::this_thread::sleep_for(50ms);
  if (word == "still_but_obedient") {
    while (!cancelled) progress(id, 43), std::this_thread::sleep_for(10ms);
    cancelled = false;
    return send(protocol::Done{id, Failure{Stage::cancelled, "cancelled", "It was at kernel.cu:7"}});
  }
  if (word == "until_cancelled") {
    for (int64_t step = 1; !cancelled; ++step) progress(id, step), std::this_thread::sleep_for(10ms);
    cancelled = false;
    return send(protocol::Done{id, Failure{Stage::cancelled, "cancelled", ""}});
  }
  if (word == "stray") {  // in a new session and without its parent: this process has lost it
    int told[2];
    if (pipe(told) != 0) _exit(1);
    if (fork() == 0) {
      setsid();
      const pid_t stray = fork();
      if (stray == 0)
        for (;;) pause();
      _exit(write(told[1], &stray, sizeof stray) == sizeof stray ? 0 : 1);
    }
    pid_t stray = 0;
    if (read(told[0], &stray, sizeof stray) != sizeof stray) _exit(1);
    send(protocol::Part{id, {static_cast<double>(stray)}});
    return send(protocol::Done{id, std::nullopt});
  }
  progress(id, 50);
  send(protocol::Part{id, {static_cast<double>(getpid())}});  // tells tests which process answered
  if (word == "crash_after") crash_after_done(id);
  send(protocol::Done{id, std::nullopt});
}

void accept(const protocol::Request& request) {
  if (const auto* run = std::get_if<protocol::Run>(&request))
    std::thread([id = run->id, word = run->experiment.kernel] { obey(word, id); }).detach();
  if (std::holds_alternative<protocol::Cancel>(request)) cancelled = true;
  if (reads && std::holds_alternative<protocol::Hello>(request))
    send(protocol::Heartbeat{protocol::WorkerPhase::ready, "", {{"cuda:0", ++readings, 0, 0, 0, {}}}});
  // Views get no answer: they wait until this process ends.
}

void read_requests() {
  protocol::FrameDecoder decoder;
  std::byte buffer[4096];
  for (ssize_t got; (got = read(0, buffer, sizeof buffer)) > 0;) {
    decoder.feed(std::span(buffer).first(static_cast<size_t>(got)));
    for (auto payload = decoder.next(); payload && *payload; payload = decoder.next())
      accept(*protocol::decode_request(**payload));
  }
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (!platform::die_with_parent(getppid())) return 3;
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "exit") return 9;
  std::thread([] {
    for (;;) send(protocol::Heartbeat{}), std::this_thread::sleep_for(50ms);
  }).detach();
  protocol::HelloReply hello;
  hello.versions.app = "scripted";
  hello.pid = getpid();
  reads = mode == "reads";
  if (reads) hello.devices = {a_gpu()};
  send(hello);
  read_requests();
}
