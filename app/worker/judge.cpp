#include "worker/judge.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <vector>

#include "check/verdict.h"
#include "core/binary_json.h"
#include "core/observation_fields.h"
#include "platform/descriptor.h"
#include "protocol/frame.h"
#include "protocol/msgpack.h"
#include "worker/truth_maker.h"

namespace attnscope::worker {
namespace {

class Judge {
 public:
  Judge(int fd_out, const std::filesystem::path& cache)
      : fd_out_(fd_out), truth_maker_(cache.empty() ? cache : cache / "references") {}

  // Returns false if nobody reads the answers.
  bool answer(std::span<const std::byte> payload) {
    auto message = protocol::from_msgpack(payload);
    if (!message) return send_failure(message.error());
    const std::string type = message->is_object() ? message->value("type", "") : "";
    if (type == "inputs" && message->contains("problem")) return inputs((*message)["problem"]);
    if (type == "output" && message->contains("bytes") && (*message)["bytes"].is_binary())
      return verdict((*message)["bytes"].get_binary());
    return send_failure({Stage::protocol, "\"" + type.substr(0, 64) + "\" is not a question to a judge", ""});
  }

 private:
  bool inputs(const Json& json) {
    truth_.reset();
    auto problem = problem_from_json(json, "problem");
    if (!problem) return send_failure(problem.error());
    const Truth truth = truth_maker_.want(*problem, check::Accumulate::f32);
    const InputsResult made = truth.inputs.get();
    if (!made) return send_failure(made.error());
    truth_ = truth;
    for (const auto* tensor : {&(*made)->q, &(*made)->k, &(*made)->v}) {
      const auto* first = reinterpret_cast<const uint8_t*>(tensor->data());
      if (!send(Json{{"bytes", binary_json(std::vector<uint8_t>(first, first + tensor->size()))}})) return false;
    }
    return true;
  }

  bool verdict(const std::vector<uint8_t>& output) {
    if (!truth_) return send_failure({Stage::protocol, "an output before its problem", ""});
    const ReferenceResult reference = truth_->reference.get();
    if (!reference) return send(Json{{"verdict", write_fields(check::unchecked(reference.error().message))}});
    auto judged = check::judge(std::as_bytes(std::span(output)), **reference);
    if (!judged) return send_failure(judged.error());
    return send(Json{{"verdict", write_fields(*judged)}});
  }

  bool send_failure(const Failure& failure) { return send(Json{{"failure", write_fields(failure)}}); }

  bool send(const Json& json) {
    auto frame = protocol::frame_of(protocol::to_msgpack(json));
    if (!frame) frame = protocol::frame_of(protocol::to_msgpack(Json{{"failure", write_fields(frame.error())}}));
    return frame && platform::write_all(fd_out_, *frame) == 0;
  }

  int fd_out_;
  TruthMaker truth_maker_;
  std::optional<Truth> truth_;
};

}  // namespace

int serve_judge(int fd_in, int fd_out, const std::filesystem::path& cache) {
  Judge judge(fd_out, cache);
  protocol::FrameDecoder decoder;
  std::vector<std::byte> buffer(size_t{256} << 10);
  for (;;) {
    const ssize_t got = read(fd_in, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    decoder.feed(std::span(buffer).first(static_cast<size_t>(got)));
    for (;;) {
      auto payload = decoder.next();
      if (!payload) return 2;
      if (!*payload) break;
      if (!judge.answer(**payload)) return 0;
    }
  }
}

}  // namespace attnscope::worker
