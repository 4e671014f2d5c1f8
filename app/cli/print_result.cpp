#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "cli/command.h"
#include "core/escape.h"
#include "platform/standard_streams.h"

namespace attnscope::cli {
namespace {

// spdlog's %v, cleaned.
class CleanMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string text = terminal_text({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<CleanMessage>(); }
};

}  // namespace

void print_result(const std::string& text) {
  const std::string clean = terminal_text(text);
  platform::write_stdout(clean.ends_with('\n') ? clean : clean + "\n");
}

void print_note(const std::string& text) { platform::write_stderr(terminal_text(text) + "\n"); }

void print_over(const std::string& text) {
  platform::write_stderr("\r\x1b[K" + one_line(text));  // to the start of the line, then clear it
}

void start_log() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<CleanMessage>('v').set_pattern("attnscope: %v");
  auto logger = std::make_shared<spdlog::logger>("attnscope", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(std::move(formatter));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace attnscope::cli
