#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace attnscope {

// The stage that refused. It determines the exit status of the command line (cli/exit_status.h).
enum class Stage {
  input,     // a knob, preset, manifest, option or environment value is not acceptable
  catalog,   // a kernel or its manifest cannot be read
  compile,   // NVRTC refuses the source, or is missing
  limits,    // the variant does not fit the device
  device,    // there is no such device, or it was lost
  decode,    // machine code that cannot be decoded: an opcode form outside the tested list
  launch,    // the kernel did something illegal: an address outside its buffers, a misaligned access
  deadline,  // no progress within the deadline, or a deadlock
  crash,     // the executing process ended unexpectedly
  cancelled,
  check,     // a reference could not be computed
  store,     // a file could not be read or written
  protocol,  // a malformed message
  internal,  // a bug in this program; the message is for a bug report
};

// What a program decides by within a stage. awaits_cta: a CTA that did not end loads global memory again and again, as
// one does that waits for another CTA.
enum class FailureKind { other, deadlock, awaits_cta };

// An access of an emulated kernel past a buffer's end.
struct Overrun {
  std::string buffer;
  uint64_t bytes = 0;  // size of the buffer
  uint64_t past = 0;   // bytes from its end to the access
  bool operator==(const Overrun&) const = default;
};

// An expected refusal, as a value. `message` names the file, knob or config; `hint` says what to do.
struct Failure {
  Stage stage = Stage::internal;
  std::string message;
  std::string hint;
  FailureKind kind = FailureKind::other;
  std::optional<Overrun> overrun = {};
  std::optional<std::string> absent_variable = {};  // a __constant__ one that the compiled kernel does not have
  bool operator==(const Failure&) const = default;
};

template <class T>
using Result = tl::expected<T, Failure>;

inline tl::unexpected<Failure> fail(Stage stage, std::string message, std::string hint = {}) {
  return tl::unexpected<Failure>(Failure{stage, std::move(message), std::move(hint)});
}
inline tl::unexpected<Failure> fail(Failure failure) { return tl::unexpected<Failure>(std::move(failure)); }
// A part's failure, whose message begins with the part's name: "02_tiled.cu: …".
inline tl::unexpected<Failure> fail_of(const std::string& part, Failure failure) {
  failure.message.insert(0, part + ": ");
  return fail(std::move(failure));
}

}  // namespace attnscope
