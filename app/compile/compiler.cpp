#include "compile/compiler.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <utility>

#include "compile/builtin_headers.h"
#include "compile/code_hash.h"
#include "compile/compile_errors.h"
#include "compile/cubin.h"
#include "compile/disk_cache.h"
#include "compile/elf_reader.h"
#include "compile/extern_variables.h"
#include "compile/host_code.h"
#include "compile/implied_headers.h"
#include "compile/include_scan.h"
#include "compile/launch_bounds.h"
#include "compile/machine_code.h"
#include "compile/needed_code.h"
#include "compile/ptxas_log.h"
#include "compile/variant_json.h"
#include "core/code_file.h"
#include "core/cpp_tokens.h"
#include "core/hash.h"
#include "cuda_api/nvrtc.h"
#include "platform/clock.h"
#include "platform/confine.h"
#include "platform/file_stamp.h"
#include "platform/paths.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxSourceBytes = 4 << 20;
constexpr size_t kMaxEntryBytes = 512;
constexpr int kWritesBetweenTrims = 16;
constexpr size_t kMostAbsent = 8;                    // headers that a kernel may do without
constexpr const char* kFormatVersion = "variant 2";  // raise it when entries of an older program would be misread

// Every patch of a release has the same version text, but its files differ in size.
std::string library_identity(const cuda_api::Nvrtc& nvrtc) {
  std::string identity = nvrtc.version_text();
  const fs::path& library = nvrtc.place().library;
  for (const fs::path& file : {library, library.parent_path() / ("libnvrtc-builtins.so." + nvrtc.version_text())})
    if (const auto stamp = platform::stamp_of(file)) identity += " " + std::to_string(stamp->bytes);
  std::string builtins;
  for (const cuda_api::NvrtcHeader& header : builtin_headers()) builtins += std::string(header.name) + header.text;
  return identity + " " + xxh3_128(builtins);
}

// The folders where NVRTC looks for headers, in its order.
Result<std::vector<fs::path>> header_folders(const CompileRequest& request, const std::vector<fs::path>& cuda) {
  std::vector<fs::path> folders;
  for (const std::string& name : request.headers) {
    auto folder = cuda_api::locate_headers(name);
    if (!folder)
      return fail(folder.error().stage, request.file_name + ": " + folder.error().message, folder.error().hint);
    folders.push_back(std::move(*folder));
  }
  for (const fs::path& folder : cuda) {
    folders.push_back(folder);
    folders.push_back(folder / "crt");   // mma.h's neighbours include each other by bare name
    folders.push_back(folder / "cccl");  // where toolkits from 13 on keep <cuda/std/…> and <cub/…>
  }
  return folders;
}

// True if the source itself includes `header`, and no CUDA header does.
bool includes(const std::string& source, const std::string& header) {
  return source.find("<" + header + ">") != std::string::npos || source.find('"' + header + '"') != std::string::npos;
}

// Replaces Thrust's and CUB's headers that the source includes and NVRTC refuses, because only host code uses them.
struct Stand {
  std::string header;
  const char* text;
};
// `needed`: what the kernel needs of the source.
std::vector<Stand> stands_for(const std::string& source, const std::string& needed) {
  const auto tokens = cpp_tokens(needed);
  const bool uses_cub = std::ranges::any_of(tokens, [](const CppToken& token) { return token.is("cub"); });
  std::vector<Stand> stands;
  for (const IncludedName& one : scan_includes(source).names) {
    if (stands.size() == kMostAbsent) break;
    if (one.name.starts_with("thrust/")) stands.push_back({one.name, ""});
    if (one.name == "cub/cub.cuh") stands.push_back({one.name, uses_cub ? kDeviceCub : ""});
  }
  return stands;
}

bool in_thrust(const std::string& log) { return is_within(log, "thrust") || is_within(log, "cub"); }

// A file for nvcc may have code that only its host side needs. After a refusal, the kernel is compiled again without
// the declarations that it does not reach, with empty texts for missing headers, without the host part of Thrust and
// CUB if NVRTC refuses it, and as nvcc does on Linux: with __linux__ and __int128. `output` keeps the refusal if that
// does not compile either.
void retry_without_unneeded(const cuda_api::Nvrtc& nvrtc, const std::string& source, const std::string& name,
                            const CompileRequest& request, std::vector<std::string> options,
                            cuda_api::NvrtcOutput& output) {
  options.emplace_back("-D__linux__=1");
  options.emplace_back("--device-int128");
  const std::string needed = only_needed(source, request.entry);
  std::string log = output.log, note;
  const bool of_clusters = log.find("max blocks per cluster") != std::string::npos;
  if (of_clusters) note += "The launch bound of a cluster is left out: this GPU has none.\n";
  std::vector<std::string> absent;
  absent.reserve(kMostAbsent);  // the headers below point into it
  const auto known = builtin_headers();
  std::vector<cuda_api::NvrtcHeader> headers(known.begin(), known.end());
  const std::vector<Stand> stands = in_thrust(log) ? stands_for(source, needed) : std::vector<Stand>();
  for (const Stand& one : stands) headers.push_back({one.header.c_str(), one.text});
  if (!stands.empty()) note += "NVRTC refuses the host's part of Thrust or CUB; the kernel compiles without it.\n";
  const bool wide = log.find("--device-int128") != std::string::npos;
  if (needed == source && missing_header_in(log).empty() && !wide && stands.empty() && !of_clusters) return;
  const std::string text = of_clusters && request.options.launch_bounds == 0
                               ? without_cluster_bounds(needed)
                               : with_launch_bounds(needed, request.options.launch_bounds);
  while (true) {
    if (const std::string header = missing_header_in(log); !header.empty()) {
      if (absent.size() == kMostAbsent || leads_outside(header) || !includes(source, header)) return;
      absent.push_back(header);
      headers.push_back({absent.back().c_str(), ""});
      note += "There is no header " + header + "; the kernel compiles without it.\n";
    }
    auto again = nvrtc.compile(text, name, request.entry, options, headers);
    if (!again) return;
    if (again->compiled) {
      output = std::move(*again);
      output.log += note;
      return;
    }
    log = again->log;
    if (!missing_header_in(log).empty()) continue;
    if (!absent.empty()) output.log += "Without it:\n" + log;
    return;
  }
}

// The last part of the path, with printable characters only, because it appears in messages and in the line table.
std::string shown_name(const std::string& file_name) {
  std::string name = fs::path(file_name).filename().string();
  for (char& c : name)
    if (!std::isprint(static_cast<unsigned char>(c)) || c == '"' || c == '\\') c = '_';
  return name.empty() ? "kernel.cu" : name;
}

// If the compiler is not confined, only the kernel's own text can be checked: it must include everything by plain
// names.
Result<void> check_own_includes(const CompileRequest& request) {
  const ScannedIncludes scanned = scan_includes(request.source);
  const auto refused = [&](size_t line, const std::string& what) {
    return fail(Stage::compile, shown_name(request.file_name) + ":" + std::to_string(line) + ": " + what,
                std::string(kMayInclude) +
                    " `attnscope doctor` says why this machine cannot keep the compiler from other files.");
  };
  for (const IncludedName& one : scanned.names)
    if (leads_outside(one.name)) return refused(one.line, outside_text(one.name));
  for (const ComputedName& one : scanned.computed)
    return refused(one.line, "the header's name is a macro's, " + one.macro + ", and could be any file's");
  return {};
}

Result<void> check_request(const CompileRequest& request) {
  if (request.source.size() > kMaxSourceBytes)
    return fail(Stage::input, request.file_name + " has " + std::to_string(request.source.size()) + " bytes.",
                "A kernel's source may have 4 MB.");
  if (request.source.find('\0') != std::string::npos)
    return fail(Stage::input, request.file_name + " holds a zero byte.", "It is not a text file; give the .cu file.");
  const bool printable = std::all_of(request.entry.begin(), request.entry.end(),
                                     [](char c) { return std::isprint(static_cast<unsigned char>(c)) != 0; });
  if (request.entry.empty() || request.entry.size() > kMaxEntryBytes || !printable)
    return fail(Stage::input, request.file_name + ": the entry is not a kernel's name.",
                "Give the kernel's C++ name in the manifest's entry.");
  return {};
}

// What was requested from which NVRTC; the second half of a cached variant's name says what it may read.
std::string request_key(const CompileRequest& request, const std::vector<std::string>& options,
                        const std::string& nvrtc) {
  std::string all;
  const auto add = [&](const std::string& part) { all += std::to_string(part.size()) + ":" + part; };
  add(kFormatVersion);
  add(nvrtc);
  add(request.source);
  add(shown_name(request.file_name));
  add(request.entry);
  for (const std::string& option : options) add(option);
  if (request.options.launch_bounds != 0) add(with_launch_bounds("", request.options.launch_bounds));
  return xxh3_128(all);
}

// A variant that is shipped for this request, or empty. Some headers may not be redistributed, so a bundle ships the
// variants of its presets for machines without those headers.
std::optional<Variant> shipped_variant(const std::string& request) {
  const auto resources = platform::resources();
  if (!resources) return std::nullopt;
  const DiskCache shipped(*resources / "assets" / "variants", "variant", 0);
  const auto packed = shipped.get(request);
  auto variant = packed.payload ? unpack_variant(*packed.payload) : Result<Variant>(fail(Failure{}));
  return variant ? std::optional(std::move(*variant)) : std::nullopt;
}

// The buffers as shown to a person. They sum to ptxas' figure: padding is an entry, and so is an unknown rest that the
// PTX does not explain.
std::vector<SharedBuffer> shown_buffers(const SharedLayout& layout, int64_t static_shared_bytes) {
  if (layout.bytes > static_shared_bytes) return {{"unknown", static_shared_bytes, false}};
  std::vector<SharedBuffer> buffers;
  int64_t named = 0;
  for (const SharedPlacement& buffer : layout.buffers) {
    buffers.push_back({buffer.name, buffer.bytes, false});
    named += buffer.bytes;
  }
  if (layout.bytes > named) buffers.push_back({"padding", layout.bytes - named, false});
  if (static_shared_bytes > layout.bytes) buffers.push_back({"unknown", static_shared_bytes - layout.bytes, false});
  return buffers;
}

Result<void> read_figures(Variant& variant) {
  auto kernel = read_cubin(variant.cubin, variant.entry_symbol);
  if (!kernel) return fail(kernel.error());
  VariantInfo& info = variant.info;
  info.registers = kernel->registers;
  info.stack_bytes = kernel->frame_bytes;
  info.static_shared_bytes = kernel->static_shared_bytes;
  info.code_hash = code_hash(*kernel);
  variant.barriers = kernel->barriers;
  variant.max_threads = kernel->max_threads;
  // The ELF does not contain spills; it contains everything else that ptxas reports (a test compares both).
  if (const auto figures = read_ptxas_log(info.log, variant.entry_symbol))
    info.spill_bytes = figures->spill_stores + figures->spill_loads;
  variant.shared = shared_layout(variant.ptx, variant.entry_symbol);
  if (variant.shared.bytes != info.static_shared_bytes) variant.shared.placed = false;
  info.shared_buffers = shown_buffers(variant.shared, info.static_shared_bytes);
  return {};
}

// The variant of a file that another compiler wrote. Spills are unknown, because only ptxas' log has them.
Result<std::shared_ptr<const Variant>> ready_made(const CompileRequest& request) {
  const std::span bytes = std::as_bytes(std::span(request.source));
  auto code = machine_code_for(bytes, request.arch, request.entry, shown_name(request.file_name));
  if (!code) return fail(code.error());
  Variant variant;
  variant.info.arch = code->arch;
  variant.entry_symbol = code->symbol;
  variant.cubin.assign(code->cubin.begin(), code->cubin.end());
  if (auto done = read_figures(variant); !done)
    return fail(done.error().stage, shown_name(request.file_name) + ": " + done.error().message, done.error().hint);
  return std::make_shared<const Variant>(std::move(variant));
}

std::optional<int64_t> whole_value(const CubinKernel& kernel, const CubinVariable& variable) {
  std::span<const std::byte> data;
  if (variable.place == CubinVariable::Place::global_init) data = kernel.global_init;
  for (const ConstantBank& bank : kernel.banks)
    if (variable.place == CubinVariable::Place::constant_bank && bank.index == variable.bank) data = bank.data;
  if (variable.size == 4) return load_at<uint32_t>(data, variable.offset);
  if (variable.size == 8) return load_at<uint64_t>(data, variable.offset);
  return std::nullopt;
}

}  // namespace

struct Compiler::Toolchain {
  std::shared_ptr<const cuda_api::Nvrtc> nvrtc;
  std::string identity;  // NVRTC's version, and hashes that stand for its patch and our own headers
};

Compiler::Compiler(CompilerOptions options) : options_(std::move(options)) {}
Compiler::~Compiler() = default;

Result<std::shared_ptr<const Compiler::Toolchain>> Compiler::toolchain() {
  const std::lock_guard lock(mutex_);
  if (toolchain_) return toolchain_;
  auto nvrtc = cuda_api::choose_nvrtc();
  if (!nvrtc) return fail(nvrtc.error());  // tried again at the next call, because it may have been installed by then
  auto tools = std::make_shared<Toolchain>();
  tools->nvrtc = *nvrtc;
  tools->identity = library_identity(**nvrtc);
  toolchain_ = tools;
  return toolchain_;
}

Result<std::string> Compiler::nvrtc_version() {
  auto tools = toolchain();
  if (!tools) return fail(tools.error());
  return (*tools)->nvrtc->version_text();
}

Result<std::shared_ptr<const Variant>> Compiler::compile(const CompileRequest& request) {
  if (is_machine_code(request.source)) return ready_made(request);
  if (auto done = check_request(request); !done) return fail(done.error());
  auto options = nvrtc_options(request);
  if (!options) return fail(options.error());
  auto tools = toolchain();
  if (!tools) return fail(tools.error());

  const std::string asked = request_key(request, *options, (*tools)->nvrtc->version_text());
  if (auto shipped = shipped_variant(asked)) {
    shipped->info.cached = true;
    return std::make_shared<const Variant>(std::move(*shipped));
  }
  auto folders = header_folders(request, (*tools)->nvrtc->place().includes);
  if (!folders) return fail(folders.error());

  const auto includes = includes_.closure(request.source, *folders);
  const std::string key = asked + "-" + xxh3_128((*tools)->identity + " " + includes->digest).substr(0, 16);
  const DiskCache cache(options_.cache_dir, "variant", options_.cache_cap_bytes);
  auto cached = cache.get(key);
  if (cached.payload) {
    if (auto variant = unpack_variant(*cached.payload)) {
      variant->info.cached = true;
      return std::make_shared<const Variant>(std::move(*variant));
    }
    cached.complaint = "A cached variant of " + request.file_name + " has another format. It is made again.";
  }
  auto variant = compile_now(request, **tools, *folders, *includes);
  if (!variant) return fail(variant.error());
  keep(key, *variant);
  if (!cached.complaint.empty()) variant->info.log += cached.complaint + "\n";
  return std::make_shared<const Variant>(std::move(*variant));
}

Result<Variant> Compiler::compile_now(const CompileRequest& request, const Toolchain& tools,
                                      const std::vector<fs::path>& folders, const IncludeClosure& includes) const {
  auto options = nvrtc_options(request);
  if (!options) return fail(options.error());
  for (const fs::path& folder : folders) options->push_back("-I" + folder.string());
  const cuda_api::Nvrtc& nvrtc = *tools.nvrtc;
  // From this version on NVRTC has its own cache, which knows less about the headers than ours.
  if (std::pair(nvrtc.major(), nvrtc.minor()) >= std::pair(12, 9)) options->push_back("--no-cache");
  const std::string name = shown_name(request.file_name);
  const std::string source =
      with_rooted_lines(with_implied_headers(with_extern_variables_defined(without_host_code(request.source))));
  platform::Allowed allowed{includes.files, {}, platform::Sockets::none};
  for (const char* harmless : {"/etc/localtime", "/dev/null", "/dev/urandom", "/sys/devices/system/cpu"})
    allowed.read.emplace_back(harmless);
  const double start = platform::steady_ms();
  Result<cuda_api::NvrtcOutput> output;
  const auto ran = platform::on_confined_thread(allowed, [&](platform::Walls walls) {
    const Result<void> checked = walls.files ? Result<void>() : check_own_includes(request);
    output = checked ? nvrtc.compile(with_launch_bounds(source, request.options.launch_bounds), kSourceRoot + name,
                                     request.entry, *options, builtin_headers())
                     : Result<cuda_api::NvrtcOutput>(fail(checked.error()));
    if (output && !output->compiled)
      retry_without_unneeded(nvrtc, source, kSourceRoot + name, request, *options, *output);
  });
  if (!ran) return fail(ran.error());
  if (!output) return fail(output.error());
  const std::string log = without_source_root(std::move(output->log));
  if (!output->compiled) return fail(explain_refusal(log, name, request.entry));

  Variant variant;
  variant.info.arch = request.arch;
  variant.info.compile_ms = platform::steady_ms() - start;
  variant.info.log = log;
  variant.nvrtc = nvrtc.version_text();
  variant.entry_symbol = std::move(output->entry_symbol);
  variant.ptx = std::move(output->ptx);
  variant.cubin = std::move(output->cubin);
  if (auto done = read_figures(variant); !done) return fail(done.error());
  return variant;
}

void Compiler::keep(const std::string& key, Variant& variant) {
  if (options_.cache_dir.empty()) return;
  const DiskCache cache(options_.cache_dir, "variant", options_.cache_cap_bytes);
  if (auto done = cache.put(key, pack_variant(variant)); !done)
    variant.info.log += "The variant could not be kept for the next run: " + done.error().message + "\n";
  bool trim = false;
  {
    const std::lock_guard lock(mutex_);
    trim = kept_++ % kWritesBetweenTrims == 0;
  }
  if (trim) cache.trim();
}

Result<std::map<std::string, double>> constants_of(const Variant& variant, const std::vector<std::string>& names) {
  std::map<std::string, double> values;
  if (names.empty()) return values;
  auto kernel = read_cubin(variant.cubin, variant.entry_symbol);
  if (!kernel) return fail(kernel.error());
  for (const std::string& name : names) {
    const auto found = kernel->variables.find(name);
    const std::string how = "Declare it so: extern \"C\" __device__ const int " + name + " = …;";
    if (found == kernel->variables.end())
      return fail(Stage::compile, "The compiled kernel has no variable " + name + ", which its manifest names.", how);
    const auto value = whole_value(*kernel, found->second);
    if (!value)
      return fail(Stage::compile, "The variable " + name + " is not an initialised integer of 4 or 8 bytes.", how);
    values[name] = double(*value);
  }
  return values;
}

}  // namespace attnscope::compile
