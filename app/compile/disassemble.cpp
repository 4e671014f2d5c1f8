#include <algorithm>
#include <atomic>
#include <optional>
#include <sstream>

#include "compile/code_hash.h"
#include "compile/disk_cache.h"
#include "compile/elf_reader.h"
#include "compile/sass.h"
#include "compile/sass_parser.h"
#include "core/hash.h"
#include "cuda_api/locate.h"
#include "platform/confine.h"
#include "platform/paths.h"
#include "platform/run_tool.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;

// Printed by nvdisasm for every cubin older than itself; it does not affect what we read.
constexpr std::string_view kHarmlessWarnings[] = {
    "nvdisasm warning : Disassembling Std Elf to Old format or Old Elf to Std format not supported yet, switching to "
    "Old "
    "format",
    "nvdisasm warning : Dataflow analysis disabled due to previous warnings",
};

constexpr uint64_t kCacheCapBytes = 256u << 20;
constexpr int kWritesBetweenTrims = 16;

std::string without_harmless(const std::string& text) {
  std::string kept, line;
  for (std::istringstream lines(text); std::getline(lines, line);) {
    const bool harmless =
        std::find(std::begin(kHarmlessWarnings), std::end(kHarmlessWarnings), line) != std::end(kHarmlessWarnings);
    if (!harmless && !line.empty()) kept += line + "\n";
  }
  return kept;
}

// Equal machine code with another line table gives other source lines, so both are part of the name.
Result<std::string> cache_key(std::span<const std::byte> cubin, const CubinKernel& kernel) {
  auto elf = read_elf(cubin, kElfMachineCuda);
  if (!elf) return fail(elf.error());
  std::string lines = kernel.name + '\0';
  for (const char* name : {".debug_line", ".nv_debug_line_sass", ".debug_str"})
    if (const ElfSection* section = elf->find(name)) lines += xxh3_128(section->bytes);
  return code_hash(kernel) + "-" + xxh3_128(lines).substr(0, 16);
}

// The cubin may come from elsewhere, and nvdisasm was not written for hostile input, so it may read only itself and its
// libraries.
platform::Allowed files_of(const fs::path& program) {
  platform::Allowed allowed{platform::program_files(), {}, platform::Sockets::none};
  std::error_code error;
  const fs::path folder = fs::canonical(program, error).parent_path();
  for (const fs::path& own : {program, folder, folder.parent_path() / "lib", folder.parent_path() / "lib64"})
    allowed.read.push_back(own);
  return allowed;
}

// nvdisasm allocates and fills memory for the zeroes of .nv.global, which takes seconds per gigabyte, but prints none
// of them; without them its listing of the code is the same. Empty if there are few.
std::vector<std::byte> without_zeroes(std::span<const std::byte> cubin) {
  constexpr uint64_t few = 1 << 20;
  constexpr uint64_t section_bytes = 64, symbol_bytes = 24;
  const auto elf = read_elf(cubin, kElfMachineCuda);
  const auto table = load_at<uint64_t>(cubin, 0x28);
  if (!elf || !table) return {};
  std::vector<std::byte> cut;
  const auto clear = [&](uint64_t at, size_t bytes) {
    if (at <= cut.size() && bytes <= cut.size() - at)
      std::fill_n(cut.begin() + static_cast<ptrdiff_t>(at), bytes, std::byte{0});
  };
  for (uint64_t zeroes = 0; zeroes < elf->sections.size(); ++zeroes) {
    const ElfSection& section = elf->sections[zeroes];
    if (section.type != kElfSectionNobits || section.name != ".nv.global" || section.size <= few) continue;
    if (cut.empty()) cut.assign(cubin.begin(), cubin.end());
    clear(*table + zeroes * section_bytes + 0x20, sizeof(uint64_t));  // sh_size
    for (const ElfSection& symbols : elf->sections) {
      if (symbols.type != kElfSectionSymbols) continue;
      const auto begin = static_cast<uint64_t>(symbols.bytes.data() - cubin.data());
      for (uint64_t at = 0; at + symbol_bytes <= symbols.bytes.size(); at += symbol_bytes)
        if (load_at<uint16_t>(symbols.bytes, at + 6) == zeroes)
          clear(begin + at + 8, 2 * sizeof(uint64_t));  // value, size
    }
  }
  return cut;
}

Result<std::string> run_nvdisasm(std::span<const std::byte> cubin, const CubinKernel& kernel,
                                 const DisassemblerOptions& options) {
  fs::path program = options.nvdisasm;
  if (program.empty()) {
    auto found = find_nvdisasm();
    if (!found) return fail(found.error());
    program = *found;
  }
  platform::ToolRun run;
  run.program = program;
  // Without -ndf, nvdisasm spends a fifth of its time on dataflow analysis, which only names the targets of indirect
  // jumps.
  run.arguments = {"-c", "-hex", "-gi", "-ndf", platform::tool_input};
  const std::vector<std::byte> cut = without_zeroes(cubin);
  run.input = cut.empty() ? cubin : std::span<const std::byte>(cut);
  run.deadline_ms = options.deadline_ms;
  // nvdisasm builds about 80 MB of tables at every start; large pages avoid most of the page faults, a sixth of its
  // time (measured, glibc 2.36; older versions ignore the unknown setting).
  run.environment = {"GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=100000000"};
  Result<platform::ToolOutput> output;
  const auto ran =
      platform::on_confined_thread(files_of(program), [&](platform::Walls) { output = platform::run_tool(run); });
  if (!ran) return fail(ran.error());
  if (!output) return fail(output.error());
  const std::string complaints = without_harmless(output->err);
  if (output->exit_code != 0)
    return fail(Stage::decode,
                program.string() + " could not read the machine code of " + kernel.name + " (exit status " +
                    std::to_string(output->exit_code) + ").",
                complaints.empty() ? "It may be older than the cubin's compiler." : complaints);
  std::string section = kernel_section(output->out, kernel.name);
  if (section.empty())
    return fail(Stage::decode, program.string() + " printed no code for " + kernel.name + ".",
                complaints.empty() ? "It may be older than the cubin's compiler." : complaints);
  return section;
}

Result<void> check_relocations(const CubinKernel& kernel) {
  for (const CubinRelocation& relocation : kernel.relocations)
    if (relocation.place == CubinRelocation::Place::text)
      return fail(Stage::decode,
                  "The machine code of " + kernel.name + " holds an address of " + relocation.symbol + " at byte " +
                      std::to_string(relocation.offset) + " that only a driver can fill in.",
                  "Compile it as whole-program code (without -rdc).");
  return {};
}

// A listing that is shipped for this code, or empty. A bundle ships the listings of its presets for machines without
// nvdisasm. They are found by code only; where it was compiled does not matter.
std::optional<SassProgram> shipped_program(const CubinKernel& kernel) {
  const auto resources = platform::resources();
  if (!resources) return std::nullopt;
  const DiskCache shipped(*resources / "assets" / "programs", "sass", kCacheCapBytes);
  const auto listing = shipped.get(code_hash(kernel));
  auto program = listing.payload ? parse_nvdisasm(*listing.payload, kernel) : Result<SassProgram>(fail(Failure{}));
  return program ? std::optional(std::move(*program)) : std::nullopt;
}

}  // namespace

Result<fs::path> find_nvdisasm() { return cuda_api::locate_nvdisasm(); }

Result<std::shared_ptr<const SassProgram>> disassemble(std::span<const std::byte> cubin, const std::string& entry,
                                                       const DisassemblerOptions& options) {
  auto kernel = read_cubin(cubin, entry);
  if (!kernel) return fail(kernel.error());
  if (auto done = check_relocations(*kernel); !done) return fail(done.error());

  auto key = cache_key(cubin, *kernel);
  if (!key) return fail(key.error());
  const DiskCache cache(options.cache_dir, "sass", kCacheCapBytes);
  if (const auto cached = cache.get(*key); cached.payload)
    if (auto program = parse_nvdisasm(*cached.payload, *kernel))
      return std::make_shared<const SassProgram>(std::move(*program));

  if (options.nvdisasm.empty() && !find_nvdisasm())
    if (auto program = shipped_program(*kernel)) return std::make_shared<const SassProgram>(std::move(*program));
  // If it is missing, truncated or of another format, it is made again.
  auto section = run_nvdisasm(cubin, *kernel, options);
  if (!section) return fail(section.error());
  auto program = parse_nvdisasm(*section, std::move(*kernel));
  if (!program) return fail(program.error());
  // A full disk only costs the next run time; the program is complete.
  if (cache.put(*key, *section)) {
    static std::atomic<int> kept = 0;
    if (kept++ % kWritesBetweenTrims == 0) cache.trim();
  }
  return std::make_shared<const SassProgram>(std::move(*program));
}

}  // namespace attnscope::compile
