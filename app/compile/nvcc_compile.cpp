#include "compile/nvcc_compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "compile/builtin_headers.h"
#include "compile/compile_errors.h"
#include "compile/extern_variables.h"
#include "compile/host_code.h"
#include "compile/include_scan.h"
#include "compile/launch_bounds.h"
#include "compile/machine_code.h"
#include "compile/needed_code.h"
#include "compile/second_try.h"
#include "core/replace_all.h"
#include "platform/atomic_file.h"
#include "platform/clock.h"
#include "platform/confine.h"
#include "platform/run_tool.h"
#include "platform/temporary_folder.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLogBytes = 16 << 20;
constexpr uint64_t kMostFileBytes = 256 << 20;  // of what nvcc writes: a macro can expand without end
constexpr const char* kMark = "attnscope_mark";
constexpr const char* kLast = "last";  // the folder of headers that only attnscope has

// What nvcc, its parts and the host compiler read besides the source.
platform::Allowed allowed_to(const cuda_api::Nvcc& nvcc, const IncludeClosure& includes, const fs::path& work) {
  platform::Allowed allowed{platform::program_files(), {work, "/dev/null"}, platform::Sockets::none};
  allowed.read.push_back(nvcc.root());
  allowed.read.insert(allowed.read.end(), includes.files.begin(), includes.files.end());
  return allowed;
}

Result<void> write_header(const fs::path& work, const std::string& name, std::string_view text) {
  return platform::write_file(work / kLast / name, text, platform::Durability::cached);
}

// Writes the headers that only attnscope has, such as PyTorch's empty ones. nvcc looks for them last.
Result<void> write_headers(const fs::path& work) {
  for (const cuda_api::NvrtcHeader& header : builtin_headers()) {
    if (std::string_view(header.name) == kImpliedHeader || leads_outside(header.name)) continue;
    if (auto done = write_header(work, header.name, header.text); !done) return done;
  }
  return {};
}

// The file with the source has the folder's own random name, so that no source can include itself.
fs::path source_in(const fs::path& work) { return work / (work.filename().string() + ".cu"); }
fs::path ptx_in(const fs::path& work) { return work / (work.filename().string() + ".ptx"); }
fs::path cubin_in(const fs::path& work) { return work / "out.cubin"; }

Result<void> read_results(const fs::path& work, const CompileRequest& request, const std::string& name,
                          cuda_api::NvrtcOutput& output) {
  auto code = platform::read_file(cubin_in(work), kMostFileBytes);
  if (!code) return fail(code.error());
  auto text = platform::read_file(ptx_in(work), kMostFileBytes);
  if (!text) return fail(text.error());
  output.cubin.resize(code->size());
  std::memcpy(output.cubin.data(), code->data(), code->size());
  output.ptx = std::move(*text);
  auto kernels = kernels_in(output.cubin);
  if (!kernels) return fail(kernels.error());
  output.entry_symbol = marked_symbol(*kernels);
  if (output.entry_symbol.empty()) {
    auto found = machine_code_for(output.cubin, request.arch, request.entry, name);
    if (!found)
      return fail(Stage::compile, found.error().message,
                  found.error().hint + " Correct the manifest's entry, or the kernel's name.");
    output.entry_symbol = std::move(found->symbol);
  }
  output.compiled = true;
  return {};
}

// The log with the source under its own name, and without the folder.
std::string without_folder(std::string log, const fs::path& work, const std::string& name) {
  replace_all(log, work.string() + "/", "");
  replace_all(log, work.string(), "");
  replace_all(log, source_in(work).filename().string(), name);
  return log;
}

Result<cuda_api::NvrtcOutput> run_nvcc(const cuda_api::Nvcc& nvcc, const std::string& text,
                                       const CompileRequest& request, const std::string& name,
                                       const std::vector<std::string>& options, const std::vector<fs::path>& folders,
                                       const IncludeClosure& includes, const fs::path& work, int most_ms) {
  if (auto done = platform::write_file(source_in(work), std::string_view(text), platform::Durability::cached); !done)
    return fail(done.error());
  platform::ToolRun run;
  run.program = nvcc.program;
  run.arguments = options;
  for (const fs::path& folder : folders) run.arguments.push_back("-I" + folder.string());
  for (const std::string& word : {std::string("-Xcompiler"), "-idirafter," + (work / kLast).string(),
                                  std::string("--keep"), "--keep-dir=" + work.string(), std::string("-cubin"),
                                  std::string("-o"), cubin_in(work).string(), source_in(work).string()})
    run.arguments.push_back(word);
  run.deadline_ms = most_ms;
  run.max_output_bytes = kMostLogBytes;
  run.max_file_bytes = kMostFileBytes;
  run.starts_others = true;
  run.replaced = {"TMPDIR=" + work.string(), "NVCC_PREPEND_FLAGS=", "NVCC_APPEND_FLAGS=", "LC_ALL=C"};
  Result<platform::ToolOutput> ended;
  const auto ran = platform::on_confined_thread(allowed_to(nvcc, includes, work),
                                                [&](platform::Walls) { ended = platform::run_tool(run); });
  if (!ran) return fail(ran.error());
  if (!ended && ended.error().stage == Stage::deadline)
    return fail(
        Stage::deadline, fmt::format("{}: nvcc did not end within {} ms.", name, most_ms),
        "Raise the deadline (--deadline MS), unroll less or use smaller tiles, or compile with compiler=nvrtc.");
  if (!ended) return fail(ended.error());
  cuda_api::NvrtcOutput output;
  output.log = without_folder(ended->out + ended->err, work, name);
  if (ended->exit_code != 0) return output;
  if (auto done = read_results(work, request, name, output); !done) return fail(done.error());
  return output;
}

}  // namespace

std::string with_entry_marked(const std::string& source, const std::string& name, const std::string& entry) {
  constexpr std::string_view order_mark = "\xEF\xBB\xBF";
  std::string_view text = source;
  if (text.starts_with(order_mark)) text.remove_prefix(order_mark.size());
  std::string marked = fmt::format("#line 1 \"{}\"\n{}\n", name, text);
  // A plain kernel is compiled anyway, and its symbol says its name.
  if (entry.find_first_of("<:") == std::string::npos) return marked;
  // NVRTC's errors in an entry are in a file of this name, too.
  return marked + fmt::format(
                      "#line 1 \"__nv_name_map\"\ntemplate <auto> __global__ void {0}() {{}}\n"
                      "template __global__ void {0}<&{1}>();\n",
                      kMark, entry);
}

std::string marked_symbol(const std::vector<std::string>& symbols) {
  const auto mark = std::ranges::find_if(symbols, [](const std::string& one) { return one.find(kMark) != one.npos; });
  if (mark == symbols.end()) return {};
  std::string found;
  for (const std::string& one : symbols) {
    if (one == *mark) continue;
    // A C name stands there as if it were a C++ function's: _Z5plainPf.
    const std::string part = one.starts_with("_Z") ? "L" + one + "E" : fmt::format("L_Z{}{}", one.size(), one);
    if (mark->find(part) != std::string::npos && one.size() > found.size()) found = one;
  }
  return found;
}

Result<cuda_api::NvrtcOutput> compile_with_nvcc(const cuda_api::Nvcc& nvcc, const CompileRequest& request,
                                                const std::string& name, const std::vector<std::string>& options,
                                                const std::vector<fs::path>& folders, const IncludeClosure& includes,
                                                int most_ms) {
  // What nvcc may read is wider than the closure, walls or no walls.
  if (auto done = check_own_includes(request.source, name); !done) return fail(done.error());
  const double end = platform::steady_ms() + most_ms;
  auto work = platform::TemporaryFolder::make();
  if (!work) return fail(work.error());
  const fs::path folder = (*work)->path();
  if (auto done = write_headers(folder); !done) return fail(done.error());
  const auto run = [&](const std::string& source) {
    const std::string text = with_launch_bounds(source, request.options.launch_bounds);
    return run_nvcc(nvcc, with_entry_marked(text, kSourceRoot + name, request.entry), request, name, options, folders,
                    includes, folder, std::max(1, static_cast<int>(end - platform::steady_ms())));
  };

  const std::string source = with_rooted_lines(with_extern_variables_defined(without_host_code(request.source)));
  auto output = run(source);
  if (!output || output->compiled) return output;
  // As for NVRTC: again without what the kernel does not reach, and with empty texts for missing headers.
  const std::string needed = only_needed(source, request.entry);
  if (needed == source && missing_header_in(output->log).empty()) return output;
  const auto add_empty = [&](const std::string& header) { return write_header(folder, header, ""); };
  if (auto done = try_again(source, {[&] { return run(needed); }, add_empty}, "", *output); !done)
    return fail(done.error());
  return output;
}

}  // namespace attnscope::compile
