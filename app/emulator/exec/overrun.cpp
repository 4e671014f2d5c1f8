#include "emulator/exec/overrun.h"

#include <fmt/format.h>

#include <cctype>

#include "core/text.h"

namespace attnscope::emulator {
namespace {

constexpr std::string_view kPast = " bytes past the end of ", kOpen = " (", kClose = " bytes)";

}  // namespace

std::string text_of(const Overrun& overrun) {
  return fmt::format("{}{}{}{}{}{}", overrun.past, kPast, overrun.buffer, kOpen, overrun.bytes, kClose);
}

std::optional<Overrun> overrun_in(std::string_view message) {
  const size_t past = message.find(kPast);
  if (past == std::string_view::npos) return std::nullopt;
  size_t first = past;
  while (first > 0 && std::isdigit(static_cast<unsigned char>(message[first - 1]))) --first;
  const size_t name = past + kPast.size(), open = message.find(kOpen, name);
  if (open == std::string_view::npos) return std::nullopt;
  const size_t size = open + kOpen.size(), close = message.find(kClose, size);
  if (close == std::string_view::npos) return std::nullopt;
  const auto distance = number_of<uint64_t>(message.substr(first, past - first));
  const auto bytes = number_of<uint64_t>(message.substr(size, close - size));
  if (!distance || !bytes) return std::nullopt;
  return Overrun{std::string(message.substr(name, open - name)), *bytes, *distance};
}

}  // namespace attnscope::emulator
