#include "compile/ptxas_log.h"

#include <charconv>
#include <sstream>
#include <string_view>

#include "core/text.h"

namespace attnscope::compile {
namespace {

// The number before `unit`: "72" in "72 bytes stack frame".
std::optional<int64_t> before(std::string_view line, std::string_view unit) {
  const size_t at = line.find(unit);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  size_t start = at;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  return number_of<int64_t>(line.substr(start, at - start));
}

std::optional<int64_t> hexadecimal_after(std::string_view line, std::string_view word) {
  const size_t at = line.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  const char* start = line.data() + at + word.size();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(start, line.data() + line.size(), value, 16);
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<PtxasFigures> read_ptxas_log(const std::string& log, const std::string& entry) {
  PtxasFigures figures;
  bool inside = false, used = false;
  std::string line;
  for (std::istringstream lines(log); std::getline(lines, line);) {
    if (line.find("Compiling entry function") != std::string::npos)
      inside = line.find("'" + entry + "'") != std::string::npos;
    if (!inside) continue;
    if (const auto stores = before(line, " bytes spill stores")) {
      figures.spill_stores += *stores;
      figures.spill_loads += before(line, " bytes spill loads").value_or(0);
      if (!used) figures.stack_bytes = before(line, " bytes stack frame").value_or(0);
    }
    if (const auto registers = before(line, " registers")) {
      used = true;
      figures.registers = *registers;
      figures.barriers = before(line, " barriers").value_or(0);
      figures.shared_bytes = before(line, " bytes smem").value_or(0);
      if (const auto stack = before(line, " bytes cumulative stack size")) figures.stack_bytes = *stack;
    }
  }
  if (!used) return std::nullopt;
  return figures;
}

std::optional<SharedRefusal> find_shared_refusal(const std::string& log, const std::string& entry) {
  std::string line;
  for (std::istringstream lines(log); std::getline(lines, line);) {
    if (line.find("too much shared data") == std::string::npos) continue;
    const auto asked = hexadecimal_after(line, "(0x"), limit = hexadecimal_after(line, "bytes, 0x");
    if (asked && limit) return SharedRefusal{*asked, *limit};
  }
  if (log.find("error") != std::string::npos) return std::nullopt;  // refused for another reason
  const auto figures = read_ptxas_log(log, entry);
  if (figures && figures->shared_bytes > kStaticSharedLimit)
    return SharedRefusal{figures->shared_bytes, kStaticSharedLimit};
  return std::nullopt;
}

}  // namespace attnscope::compile
