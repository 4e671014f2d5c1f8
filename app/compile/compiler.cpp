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
#include "compile/launch_bounds.h"
#include "compile/machine_code.h"
#include "compile/nvcc_compile.h"
#include "compile/nvrtc_compile.h"
#include "compile/ptxas_log.h"
#include "compile/variant_json.h"
#include "core/code_file.h"
#include "core/hash.h"
#include "cuda_api/nvrtc.h"
#include "platform/clock.h"
#include "platform/file_stamp.h"
#include "platform/paths.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxSourceBytes = 4 << 20;
constexpr size_t kMaxEntryBytes = 512;
constexpr int kWritesBetweenTrims = 16;
constexpr const char* kFormatVersion = "variant 2";  // raise it when entries of an older program would be misread

std::string builtins_hash() {
  std::string builtins;
  for (const cuda_api::NvrtcHeader& header : builtin_headers()) builtins += std::string(header.name) + header.text;
  return xxh3_128(builtins);
}

// Every patch of a release has the same version text, but its files differ in size.
std::string library_identity(const cuda_api::Nvrtc& nvrtc) {
  std::string identity = nvrtc.version_text();
  const fs::path& library = nvrtc.place().library;
  for (const fs::path& file : {library, library.parent_path() / ("libnvrtc-builtins.so." + nvrtc.version_text())})
    if (const auto stamp = platform::stamp_of(file)) identity += " " + std::to_string(stamp->bytes);
  return identity + " " + builtins_hash();
}

// The host compiler is a part of it, because its headers stand for its version.
std::string nvcc_identity(const cuda_api::Nvcc& nvcc) {
  std::string identity = nvcc.version + " " + nvcc.host_compiler;
  for (const fs::path& file : {nvcc.program, nvcc.root() / "nvvm" / "bin" / "cicc", nvcc.root() / "bin" / "ptxas"})
    if (const auto stamp = platform::stamp_of(file)) identity += " " + std::to_string(stamp->bytes);
  return identity + " " + builtins_hash();
}

// The folders of the header sets that the manifest names.
Result<std::vector<fs::path>> named_folders(const CompileRequest& request) {
  std::vector<fs::path> folders;
  for (const std::string& name : request.headers) {
    auto folder = cuda_api::locate_headers(name);
    if (!folder) return fail_of(request.file_name, folder.error());
    folders.push_back(std::move(*folder));
  }
  return folders;
}

// The folders where NVRTC looks for headers, in its order.
std::vector<fs::path> with_cuda(std::vector<fs::path> folders, const std::vector<fs::path>& cuda) {
  for (const fs::path& folder : cuda) {
    folders.push_back(folder);
    folders.push_back(folder / "crt");   // mma.h's neighbours include each other by bare name
    folders.push_back(folder / "cccl");  // where toolkits from 13 on keep <cuda/std/…> and <cub/…>
  }
  return folders;
}

// The last part of the path, with printable characters only, because it appears in messages and in the line table.
std::string shown_name(const std::string& file_name) {
  std::string name = fs::path(file_name).filename().string();
  for (char& c : name)
    if (!std::isprint(static_cast<unsigned char>(c)) || c == '"' || c == '\\') c = '_';
  return name.empty() ? "kernel.cu" : name;
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

// What was requested from which compiler; the second half of a cached variant's name says what it may read.
std::string request_key(const CompileRequest& request, const std::vector<std::string>& options,
                        const std::string& compiler) {
  std::string all;
  const auto add = [&](const std::string& part) { all += std::to_string(part.size()) + ":" + part; };
  add(kFormatVersion);
  add(compiler);
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
  if (auto done = read_figures(variant); !done) return fail_of(shown_name(request.file_name), done.error());
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
  std::shared_ptr<const cuda_api::Nvrtc> nvrtc;  // null if it is nvcc
  std::optional<cuda_api::Nvcc> nvcc;
  std::string identity;  // the compiler's version, and what stands for its patch and our own headers
  std::string version() const { return nvcc ? nvcc->version : nvrtc->version_text(); }
  std::string name() const { return (nvcc ? "nvcc " : "NVRTC ") + version(); }

  // Where the compiler looks for headers: the folders that the manifest names, then CUDA's.
  std::vector<fs::path> searched(std::vector<fs::path> folders) const {
    if (!nvcc) return with_cuda(std::move(folders), nvrtc->place().includes);
    for (fs::path& folder : nvcc->includes()) folders.push_back(std::move(folder));
    return folders;
  }
};

Compiler::Compiler(CompilerOptions options) : options_(std::move(options)) {}
Compiler::~Compiler() = default;

Result<std::shared_ptr<const Compiler::Toolchain>> Compiler::toolchain(CompilerChoice choice) {
  const std::lock_guard lock(mutex_);
  auto& known = choice == CompilerChoice::nvcc ? nvcc_ : nvrtc_;
  if (known) return known;
  // After a failure the next call tries again, because the compiler may have been installed by then.
  auto tools = std::make_shared<Toolchain>();
  if (choice == CompilerChoice::nvcc) {
    auto nvcc = cuda_api::choose_nvcc();
    if (!nvcc) return fail(nvcc.error());
    tools->identity = nvcc_identity(*nvcc);
    tools->nvcc = std::move(*nvcc);
  } else {
    auto nvrtc = cuda_api::choose_nvrtc();
    if (!nvrtc) return fail(nvrtc.error());
    tools->identity = library_identity(**nvrtc);
    tools->nvrtc = *nvrtc;
  }
  known = std::move(tools);
  return known;
}

Result<std::string> Compiler::nvrtc_version() {
  auto tools = toolchain(CompilerChoice::nvrtc);
  if (!tools) return fail(tools.error());
  return (*tools)->version();
}

Result<std::string> Compiler::nvcc_version() {
  auto tools = toolchain(CompilerChoice::nvcc);
  if (!tools) return fail(tools.error());
  return (*tools)->version();
}

Result<std::shared_ptr<const Variant>> Compiler::compile(const CompileRequest& request, int nvcc_ms) {
  if (is_machine_code(request.source)) return ready_made(request);
  if (auto done = check_request(request); !done) return fail(done.error());
  auto options = request.options.compiler == CompilerChoice::nvcc ? nvcc_options(request) : nvrtc_options(request);
  if (!options) return fail(options.error());
  auto tools = toolchain(request.options.compiler);
  if (!tools) return fail(tools.error());

  // NVRTC by its version only, as entries of older programs have it.
  const std::string asked = request_key(request, *options, (*tools)->nvcc ? (*tools)->name() : (*tools)->version());
  if (auto shipped = shipped_variant(asked)) {
    shipped->info.cached = true;
    return std::make_shared<const Variant>(std::move(*shipped));
  }
  auto folders = named_folders(request);
  if (!folders) return fail(folders.error());
  const std::vector<fs::path> searched = (*tools)->searched(*folders);
  const auto includes = includes_.closure(request.source, searched);
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
  auto variant = compile_now(request, **tools, *options, (*tools)->nvcc ? *folders : searched, *includes, nvcc_ms);
  if (!variant) return fail((*tools)->nvcc ? variant.error() : with_nvcc_named(variant.error()));
  keep(key, *variant);
  if (!cached.complaint.empty()) variant->info.log += cached.complaint + "\n";
  return std::make_shared<const Variant>(std::move(*variant));
}

// NVRTC's refusal; its hint names nvcc if that may take the source and is here.
Failure Compiler::with_nvcc_named(Failure refused) {
  if (refused.stage == Stage::compile && host_headers_may_help(refused.hint) && toolchain(CompilerChoice::nvcc))
    refused.hint = "nvcc, which reads the host's headers, may take it: --option compiler=nvcc.\n" + refused.hint;
  return refused;
}

Result<Variant> Compiler::compile_now(const CompileRequest& request, const Toolchain& tools,
                                      const std::vector<std::string>& options, const std::vector<fs::path>& folders,
                                      const IncludeClosure& includes, int nvcc_ms) const {
  const std::string name = shown_name(request.file_name);
  const double start = platform::steady_ms();
  auto output = tools.nvcc ? compile_with_nvcc(*tools.nvcc, request, name, options, folders, includes, nvcc_ms)
                           : compile_with_nvrtc(*tools.nvrtc, request, name, options, folders, includes);
  if (!output) return fail(output.error());
  Variant variant;
  variant.info.compile_ms = platform::steady_ms() - start;
  variant.info.log = without_source_root(std::move(output->log));
  if (!output->compiled) return fail(explain_refusal(variant.info.log, name, request.entry));
  variant.info.arch = request.arch;
  variant.info.compiler = tools.name();
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
