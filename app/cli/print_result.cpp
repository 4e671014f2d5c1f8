#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "cli/command.h"
#include "core/escape.h"
#include "core/observation_fields.h"
#include "platform/paths.h"
#include "platform/standard_streams.h"

namespace attnscope::cli {
namespace {

// spdlog's %v, with the text cleaned.
class CleanMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string text = terminal_text({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<CleanMessage>(); }
};

void write_note(const char* key, Json value) {
  platform::write_stderr(json_text(Json{{key, std::move(value)}}) + "\n");
}

}  // namespace

bool notes_are_json() {
  static const bool json = platform::environment("ATTNSCOPE_NOTES") == "json";
  return json;
}

void print_result(const std::string& text) {
  const std::string clean = terminal_text(text);
  platform::write_stdout(clean.ends_with('\n') ? clean : clean + "\n");
}

void print_note(const std::string& text) {
  if (notes_are_json()) return write_note("note", terminal_text(text));
  platform::write_stderr(terminal_text(text) + "\n");
}

void print_failure(const Failure& failure) {
  if (notes_are_json())
    return write_note(
        "failure", write_fields(Failure{failure.stage, terminal_text(failure.message), terminal_text(failure.hint)}));
  print_note(fmt::format("attnscope: {}: {}", to_string(failure.stage), failure.message));
  if (!failure.hint.empty()) print_note("  " + failure.hint);
}

void print_over(const std::string& text, PartsDone parts) {
  if (notes_are_json())
    return write_note("progress", Json{{"text", one_line(text)}, {"done", parts.done}, {"of", parts.of}});
  platform::write_stderr("\r\x1b[K" + one_line(text));  // returns to the start of the line and clears it
}

void start_log() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<CleanMessage>('v').set_pattern("attnscope: %v");
  auto logger = std::make_shared<spdlog::logger>("attnscope", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(std::move(formatter));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace attnscope::cli
