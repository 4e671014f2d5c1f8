#include "compile/compile_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "compile/include_scan.h"
#include "compile/ptxas_log.h"
#include "core/source_lines.h"
#include "core/with_commas.h"

namespace attnscope::compile {
namespace {

constexpr size_t kMaxLogBytes = 64 << 10;  // a page of template errors can be megabytes

std::string clipped(const std::string& log) {
  if (log.size() <= kMaxLogBytes) return log;
  return log.substr(0, kMaxLogBytes) + "\n… and " + std::to_string(log.size() - kMaxLogBytes) + " bytes more";
}

Failure too_much_shared(const SharedRefusal& refusal, const std::string& file_name, const std::string& entry) {
  return {
      Stage::limits,
      fmt::format("{}: {} asks {} B of static shared memory; a CTA may have {} B of it.", file_name, entry,
                  with_commas(refusal.asked_bytes), with_commas(refusal.limit_bytes)),
      "Declare it dynamic: a launch may ask for more than the static limit, up to the device's opt-in limit. Or use "
      "smaller tiles."};
}

// cannot open source file "common.h"
std::string_view missing_header(std::string_view text) {
  constexpr std::string_view start = "cannot open source file \"";
  if (!text.starts_with(start)) return {};
  text.remove_prefix(start.size());
  return text.substr(0, text.find('"'));
}

struct ErrorLine {
  std::string file, line, text;
};

// The host compiler preprocesses for nvcc: "02_tiled.cu:3:10: fatal error: common.h: No such file or directory", which
// is said as NVRTC says it.
std::optional<ErrorLine> preprocessor_error(const std::string& line) {
  constexpr std::string_view absent = ": No such file or directory";
  for (const std::string_view word : {": fatal error: ", ": error: "}) {
    const size_t end = line.find(word);
    if (end == std::string::npos) continue;
    const size_t column = line.rfind(':', end - 1);
    const size_t number = column == std::string::npos || column == 0 ? column : line.rfind(':', column - 1);
    if (number == std::string::npos || number == 0) continue;
    ErrorLine error{line.substr(0, number), line.substr(number + 1, column - number - 1),
                    line.substr(end + word.size())};
    if (error.line.empty() || error.line.find_first_not_of("0123456789") != std::string::npos) continue;
    if (error.text.ends_with(absent))
      error.text = "cannot open source file \"" + error.text.substr(0, error.text.size() - absent.size()) + "\"";
    return error;
  }
  return std::nullopt;
}

// Matches "02_tiled.cu(152): error: …" or "…(1): catastrophic error: …". Parsed by hand, because std::regex recurses
// once per character and overflows the stack on a long line.
std::optional<ErrorLine> first_error(const std::string& log) {
  constexpr std::string_view place_end = "): ", word = "error: ";
  std::string line;
  for (std::istringstream lines(log); std::getline(lines, line);) {
    if (auto error = preprocessor_error(line)) return error;
    const size_t end = line.find(place_end);
    const size_t start = end == std::string::npos ? std::string::npos : line.rfind('(', end);
    if (start == std::string::npos) continue;
    const std::string_view rest = std::string_view(line).substr(end + place_end.size());
    if (!rest.starts_with(word) && !rest.starts_with("catastrophic error: ")) continue;
    return ErrorLine{line.substr(0, start), line.substr(start + 1, end - start - 1),
                     std::string(rest.substr(rest.find(word) + word.size()))};
  }
  return std::nullopt;
}

// "ptxas error   : File uses too much global constant data (0x40000000 bytes, 0x10000 max)", without the part before
// the colon: a limit of the assembler, which has no line. "ptxas application ptx input, line 61; error   : Instruction
// 'tcgen05.alloc' not supported on .target 'sm_89'" has one of the PTX, and "ptxas fatal" behind it says nothing more.
std::string ptxas_error(const std::string& log) {
  const size_t of_line = log.find("; error ");
  const size_t start =
      of_line != std::string::npos ? of_line : std::min(log.find("ptxas error"), log.find("ptxas fatal"));
  const size_t colon = start == std::string::npos ? start : log.find(": ", start);
  if (colon == std::string::npos) return {};
  return log.substr(colon + 2, log.find('\n', colon) - colon - 2);
}

// What to do about an error that has one usual cause; empty if it has none.
std::string way_on(const std::string& error) {
  struct Known {
    std::string_view text, way;
  };
  static constexpr std::string_view kClusters =
      "Clusters need an sm_90 GPU, and the emulator executes none: choose a GPU with --device.";
  static constexpr std::string_view kLaterGpu =
      "The code is for a later GPU than this device: choose a GPU that has it, with --device.";
  static constexpr std::string_view kLaunchesKernels =
      "A kernel that launches kernels needs CUDA's device runtime, which is not linked here: run the kernel that it "
      "launches, with --entry.";
  static constexpr Known known[] = {
      {"texture is not a template",
       "CUDA has no texture references since version 12, nvcc's included: pass a pointer instead, and read it with "
       "__ldg()."},
      {"__cluster_dims__", kClusters},
      {"'%cluster", kClusters},
      {"max blocks per cluster", kClusters},
      {".reqnctapercluster", kClusters},
      {".maxclusterrank", kClusters},
      {".explicitcluster", kClusters},
      {"barrier.cluster", kClusters},
      {"shared::cluster", kClusters},
      {"identifier \"FIXME\" is undefined",
       "The text has a gap that its author leaves to the reader: fill it in, in a copy."},
      {"must be a class or namespace name",
       "No header that is included here declares it. A file that is part of another takes headers from there: include "
       "them here, as <cuda/barrier> for cuda::barrier, or import the file that includes this one."},
      {"not supported on .target", kLaterGpu},
      {"requires .target", kLaterGpu},
      {"device-side kernel launch", kLaunchesKernels},
      {"identifier \"cudaDeviceSynchronize\" is undefined", kLaunchesKernels},
      {"identifier \"string\" is undefined",
       "Device code has no std::string, with nvcc neither: pass a pointer to the characters and their number."},
      {"Unresolved extern function",
       "Another file defines the function: include that file in this one, so that they compile together."}};
  const auto found =
      std::ranges::find_if(known, [&](const Known& one) { return error.find(one.text) != std::string::npos; });
  return found == std::end(known) ? std::string() : std::string(found->way) + "\n";
}

// An installed header by the name that #include has for it.
std::string short_name(const std::string& file) {
  constexpr std::string_view folder = "/include/";
  const size_t found = file.starts_with("/") ? file.rfind(folder) : std::string::npos;
  return found == std::string::npos ? file : file.substr(found + folder.size());
}

std::string way_on(const ErrorLine& error) {
  const std::string name = short_name(error.file);
  if (name.starts_with("thrust/") || name.starts_with("cub/"))
    return "Thrust, and CUB's part for the host, need the standard library, which a kernel that is compiled here "
           "has not. In device code use pointers, cuda::std, and CUB's block and warp functions of <cub/cub.cuh>.\n";
  return way_on(error.text);
}

bool is_of_thrust(const std::string& file) {
  return file.find("/thrust/") != std::string::npos || file.find("/cub/") != std::string::npos;
}

}  // namespace

// Only at the start, because a folder with this name inside another path belongs to the user.
std::string without_source_root(std::string text) {
  const std::string root = kSourceRoot;
  const auto inside_a_path = [&](size_t at) {
    return at > 0 && std::string_view(" \t\n\"'(").find(text[at - 1]) == std::string_view::npos;
  };
  for (size_t at = text.find(root); at != std::string::npos; at = text.find(root, at)) {
    if (inside_a_path(at))
      at += root.size();
    else
      text.erase(at, root.size());
  }
  return text;
}

std::string with_rooted_lines(std::string source) {
  std::vector<size_t> names;
  for (const LineDirective& one : line_directives(source))
    if (!one.file.empty() && one.file.front() != '/') names.push_back(one.at);
  std::string rooted;
  size_t copied = 0;
  for (const size_t at : names) {
    rooted += source.substr(copied, at - copied) + kSourceRoot;
    copied = at;
  }
  return rooted + source.substr(copied);
}

std::string outside_text(const std::string& name) { return name + " is outside of what a kernel may include"; }

std::string missing_header_in(const std::string& log) {
  const auto error = first_error(log);
  return error ? std::string(missing_header(error->text)) : std::string();
}

bool in_thrust(const std::string& log) {
  const auto error = first_error(log);
  return error && is_of_thrust(error->file);
}

bool host_headers_may_help(const std::string& log) {
  const auto error = first_error(log);
  if (!error) return false;
  if (is_of_thrust(error->file)) return true;
  const std::string header(missing_header(error->text));
  std::error_code none;
  if (!header.empty()) return !leads_outside(header) && std::filesystem::exists("/usr/include/" + header, none);
  return error->text.find("namespace \"std\" has no member") != std::string::npos;
}

std::string unresolved_function(const std::string& message) {
  constexpr std::string_view start = "Unresolved extern function '";
  const size_t found = message.find(start);
  if (found == std::string::npos) return {};
  std::string_view name = std::string_view(message).substr(found + start.size());
  name = name.substr(0, name.find('\''));
  if (!name.starts_with("_Z")) return std::string(name);
  name.remove_prefix(2);
  const bool scoped = name.starts_with("N");  // _ZN3lib5mergeE…: its last part
  if (scoped) name.remove_prefix(1);
  std::string last;
  while (!name.empty() && name.front() >= '0' && name.front() <= '9') {
    size_t length = 0, digits = 0;
    while (digits < name.size() && digits < 4 && name[digits] >= '0' && name[digits] <= '9')
      length = length * 10 + static_cast<size_t>(name[digits++] - '0');
    if (digits + length > name.size()) return {};
    last = name.substr(digits, length);
    name.remove_prefix(digits + length);
    if (!scoped) break;
  }
  return last;
}

std::string undefined_name(const std::string& message) {
  constexpr std::string_view before = "identifier \"", behind = "\" is undefined";
  const size_t start = message.find(before), name = start + before.size();
  const size_t end = start == std::string::npos ? start : message.find('"', name);
  if (end == std::string::npos || message.compare(end, behind.size(), behind) != 0) return {};
  return message.substr(name, end - name);
}

Failure explain_refusal(const std::string& log, const std::string& file_name, const std::string& entry) {
  if (const auto refusal = find_shared_refusal(log, entry)) return too_much_shared(*refusal, file_name, entry);

  if (const auto error = first_error(log)) {
    if (error->file == "__nv_name_map")
      return {Stage::compile, fmt::format("{} declares no kernel \"{}\": {}", file_name, entry, error->text),
              "Correct the manifest's entry, or the kernel's name.\n" + clipped(log)};
    const std::string name(missing_header(error->text));
    if (leads_outside(name))
      return {Stage::compile, fmt::format("{}:{}: {}", error->file, error->line, outside_text(name)),
              std::string(kMayInclude) + "\n" + clipped(log)};
    if (name.starts_with("cute/") || name.starts_with("cutlass/"))
      return {Stage::compile, fmt::format("{}:{}: there is no header {}", error->file, error->line, name),
              fmt::format("It is one of CUTLASS': write \"headers\": [\"cutlass\"] in the manifest; `attnscope fetch` "
                          "gets them.\n{}",
                          clipped(log))};
    if (!name.empty())
      return {Stage::compile, fmt::format("{}:{}: there is no header {}", error->file, error->line, name),
              fmt::format("`attnscope fetch` gets CUDA's own headers, mma.h among them. A project's own must be part "
                          "of the source: "
                          "`attnscope import` pastes them in, and --include DIR says where they are.\n{}",
                          clipped(log))};
    return {Stage::compile, fmt::format("{}:{}: {}", short_name(error->file), error->line, error->text),
            way_on(*error) + clipped(log)};
  }
  if (const std::string said = ptxas_error(log); !said.empty())
    return {Stage::compile, fmt::format("{}: the assembler refuses {}: {}", file_name, entry, said),
            way_on(said) + clipped(log)};
  return {Stage::compile, file_name + " does not compile, and the compiler does not say why.", clipped(log)};
}

}  // namespace attnscope::compile
