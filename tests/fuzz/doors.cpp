#include "doors.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <regex>
#include <span>
#include <sstream>

#include "catalog/import.h"
#include "compile/compiler.h"
#include "compile/cubin.h"
#include "compile/ptx_shared.h"
#include "compile/sass.h"
#include "compile/variant_json.h"
#include "emulator/emulator.h"
#include "machine_code.h"
#include "platform/atomic_file.h"
#include "search_doors.h"
#include "text_doors.h"

namespace attnscope::fuzz {
namespace {

namespace fs = std::filesystem;
const fs::path kTree = ATTNSCOPE_SOURCE_DIR;

std::vector<std::string> files_of(const char* folder, const char* extension, size_t most_bytes) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kTree / folder))
    if (entry.path().extension() == extension && entry.file_size() <= most_bytes) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const fs::path& path : paths)
    if (auto text = platform::read_file(path, most_bytes)) texts.push_back(std::move(*text));
  return texts;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// "" for a cubin with one kernel; the recorded cubin of every feature has two.
Result<compile::CubinKernel> kernel_of(const std::string& cubin) {
  auto kernel = compile::read_cubin(bytes_of(cubin), "");
  return kernel ? std::move(kernel) : compile::read_cubin(bytes_of(cubin), "features");
}

std::string feed_variant(const std::string& input, size_t) {
  const auto variant = compile::unpack_variant(input);
  if (!variant) return variant.error().message;
  (void)compile::shared_layout(variant->ptx, variant->entry_symbol);
  const auto kernel = compile::read_cubin(variant->cubin, variant->entry_symbol);
  return kernel ? "" : kernel.error().message;
}

// PTX that shared_layout can read, because no recorded cubin has its own.
std::string packed_variant(const std::string& cubin) {
  compile::Variant variant;
  variant.info.arch = 90;
  variant.entry_symbol = "features";
  variant.info.compiler = "NVRTC 12.8";
  variant.ptx =
      ".visible .entry features(\n.param .u64 k_param_0)\n{\n.shared .align 16 .b8 _ZZ1kE4tile[4096];\n"
      ".shared .align 4 .f32 _ZZ1kE3sum;\n.extern .shared .align 8 .b8 rest[];\nld.shared.f32 %f1, "
      "[_ZZ1kE4tile+4];\nst.shared.f32 [_ZZ1kE3sum], %f1;\ncall.uni helper, ();\nret;\n}\n";
  for (const char c : cubin) variant.cubin.push_back(static_cast<std::byte>(c));
  return compile::pack_variant(variant);
}

Door listing_door() {
  Door door{"listing", 1,    {}, {"R255", "UR63", "c[0x3][R4+0x10]", "desc[UR4][R2.64]", "`(.L_x_1)", "0x7fffffff"}, {},
            mutated,   false};
  auto kernels = std::make_shared<std::vector<compile::CubinKernel>>();
  for (const char* folder : {"tests/data/compile", "tests/data/emulator"})
    for (const auto& entry : fs::directory_iterator(kTree / folder)) {
      fs::path cubin = entry.path(), text = entry.path();
      if (cubin.extension() != ".cubin" || !fs::exists(text.replace_extension(".txt"))) continue;
      const auto bytes = platform::read_file(cubin, 1 << 20);
      const auto listed = platform::read_file(text, 1 << 20);
      if (!bytes || !listed || listed->size() > 90'000) continue;
      if (auto kernel = kernel_of(*bytes)) {
        kernels->push_back(std::move(*kernel));
        door.seeds.push_back(*listed);
      }
    }
  door.feed = [kernels](const std::string& input, size_t origin) -> std::string {
    auto program = compile::parse_nvdisasm(input, (*kernels)[origin]);
    if (!program) return program.error().message;
    program->code_hash.clear();  // it would give the cached answer for the unchanged text
    const auto decoded = emulator::prepare(std::make_shared<const compile::SassProgram>(std::move(*program)));
    return decoded ? "" : decoded.error().message;
  };
  return door;
}

// Instructions of the recorded listings without branches to other instructions, eight per seed, in the form of
// feed_instructions.
std::vector<std::string> instructions() {
  constexpr size_t kSeed = 8;
  std::vector<std::string> seeds;
  for (const auto& [name, architecture] :
       {std::pair{"minimal_sm80", '8'}, {"minimal_sm89", 'L'}, {"minimal_sm90", 'H'}}) {
    const auto listing = platform::read_file(kTree / "tests/data/emulator" / (std::string(name) + ".txt"), 1 << 20);
    std::istringstream lines(listing ? *listing : "");
    std::string seed, text;
    size_t in_seed = 0;
    std::smatch first, second;
    static const std::regex instruction("\\s*/\\*[0-9a-f]{4,}\\*/\\s+([^`]*?)\\s*/\\* 0x([0-9a-f]{16}) \\*/\\s*");
    static const std::regex rest("\\s*/\\* 0x([0-9a-f]{16}) \\*/\\s*");
    for (std::string line; std::getline(lines, line);) {
      if (!std::regex_match(line, first, instruction) || !std::getline(lines, text)) continue;
      if (!std::regex_match(text, second, rest)) continue;
      seed += first[2].str() + second[1].str() + ' ' + first[1].str() + '\n';
      if (++in_seed < kSeed) continue;
      seeds.push_back(std::string(1, architecture) + '\n' + seed);
      seed.clear();
      in_seed = 0;
    }
  }
  return seeds;
}

// Manifests that import writes for the plain kernels: buffers, sizes and args.
std::vector<std::string> manifests() {
  std::vector<std::string> all = files_of("kernels", ".json", 1 << 16);
  for (const std::string& source : files_of("tests/kernels/plain", ".cu", 1 << 16))
    if (const auto imported = catalog::import_kernel("k.cu", source, "")) all.push_back(imported->manifest);
  return all;
}

}  // namespace

std::vector<Door> doors() {
  std::vector<std::string> cubins = files_of("tests/data/compile", ".cubin", 1 << 15);  // with kernel "features"
  std::vector<std::string> variants;
  for (const std::string& cubin : cubins) variants.push_back(packed_variant(cubin));
  std::vector<std::string> sources = files_of("tests/kernels/plain", ".cu", 1 << 14);
  std::erase_if(sources, [](const std::string& source) { return !feed_source(source).empty(); });  // some need --entry
  const auto door = [](std::string name, unsigned share, std::vector<std::string> seeds, std::vector<std::string> words,
                       std::string (*feed)(const std::string&), auto mutate) {
    return Door{std::move(name),
                share,
                std::move(seeds),
                std::move(words),
                [feed](const std::string& input, size_t) { return feed(input); },
                mutate};
  };
  std::vector<std::string> presets = files_of("presets", ".json", 1 << 16);
  return {
      {"cubin",
       45,
       std::move(cubins),
       {},
       [](const std::string& input, size_t) { return feed_cubin(bytes_of(input)); },
       mutated},
      {"variant", 10, std::move(variants), {}, feed_variant, mutated, false},
      listing_door(),
      door("decoder", 10, instructions(),
           {"c[0x0][0x160]", "R255", "UR63", "@!P6", "desc[UR4][R2.64]", "`(.L_x_1)", "0x7fffffff"}, feed_instructions,
           mutated),
      door("manifest", 20, manifests(),
           {"\"knobs\": [", "\"buffers\"", "{\"value\": 1e308, \"type\": \"f16\"}", "9007199254740993", "ceil_div(",
            "((((((((", "\"\\u0000\"", "null", "[[[[[[[[", "-1", "% 0", "{\"struct\": ["},
           feed_manifest, mutated_json),
      door("import", 24, std::move(sources),
           {"<<<", ">>>", "template <", "__global__ void ", "(((((", "{{{{", "/*", "R\"x(", "#if 0\n", "\\\n", "'",
            "\"", "#define N N\n", "const int n = n + 1;", "struct A { A a; };", "dim3 b(b);", "typedef T T;"},
           feed_source, mutated),
      door("preset", 10, std::move(presets),
           {"\"knobs\"", "\"view\": {", "null", "1e308", "-1", "\"\\u0000\"", "\"\\ud800\"", "[[[[[[[["}, feed_preset,
           mutated_json),
      door("settings", 5,
           {R"({"workers": {"l4box": "ssh -p 22 me@l4box attnscope worker"}, "layout": "[Window][x]\nPos=0,0\n"})",
            R"({"theme": "dark", "zoom": 1.3, "workers": {}})"},
           {"\"workers\"", "'", "\\\"", "null", "{", "[[[["}, feed_settings, mutated_json),
      {"grid",
       5,
       {"warmups: 20\nshapes:\n  - name: \"a\"\n    batch_size: 1\n    num_heads: 8\n    seq_len: 512\n    head_dim: "
        "64\n",
        "shapes: [{name: b, batch_size: 4, num_heads: 8, seq_len: 64, head_dim: 64, causal: true, dtype: bfloat16}]\n"
        "runners: [tiled, 'mma:STAGES=2']\ntolerances: {atol: 1e-3, rtol: 0.0}\ngain: {speedup: 1.1, shapes: 2}\n"},
       {"&a ", "*a", "!!str ", "<<: ", "- - - - ", "[[[[", "{{{{", "|\n  ", ">\n", "\t", "---\n", "1e999", "? ",
        "\"\\u0000\""},
       [](const std::string& input, size_t) { return feed_grid(input); },
       mutated,
       false},
      {"explained",
       5,
       {R"({"routine": "cublasGemmEx", "transa": "N", "transb": "T", "m": 512, "n": 512, "k": 64, "lda": 512, "ldb": 64,
            "ldc": 512, "atype": "f16", "btype": "f16"})",
        R"({"device": "emulated:l4", "threads": 128, "registers": 64, "static_shared": 40960, "dynamic_shared": 0,
            "ctas": 128})",
        "==PROF== done\n\"ID\",\"Metric Name\",\"Metric Value\"\n\"0\",\"sm__pipe\",\"n/a\"\n"},
       {"2147483647", "-1", "0", "1e308", "null", "9007199254740993", "\"\"", ",,", "[[[[", "{", "\"\\u0000\""},
       [](const std::string& input, size_t) { return feed_explained(input); },
       mutated,
       false},
      {"space",
       5,
       {R"({"knobs": {"BLOCK_M": [16, 32], "SYNC_POLICY": ["cta", "warp"]}, "options": {"maxrregcount": [0, 64], "fast_math": [true, false]}})",
        R"({"knobs": {"NUM_WARPS": [4, 8]}})"},
       {"\"options\"", "[]", "null", "-1", "1e308", "9007199254740993", "\"cta\"", "true", "[[[[", "\"\\u0000\""},
       [](const std::string& input, size_t) { return feed_space(input); },
       mutated_json,
       false},
      {"recorded",
       5,
       recorded_seeds(),
       {"\"results\"", "\"cache\"", "{}", "[]", "null", "-1", "1e308", "\"InvalidConfig\"", "\"ROWS\": 16", "}\n}", ",",
        "\"\\u0000\""},
       [](const std::string& input, size_t) { return feed_recorded(input); },
       mutated_json,
       false},
      {"row",
       5,
       row_seeds(),
       {"null", "-1", "1e308", "\"nan\"", "[]", "{}", "9007199254740993", "\"\\u0000\"", "[[[["},
       [](const std::string& input, size_t) { return feed_row(input); },
       mutated_json,
       false},
      door("expression", 10,
           {"ceil_div(seq_q, BLOCK_M)", "max(big, 1) % 7 + min(n, 3)", "n == 7 && seq_q > 5", "(n + 1) * 2 - 3",
            "n ? 1 : 2"},
           {"ceil_div(", "((((((", "%", "&&", "||", "?", ":", "1e308", "9007199254740993", "erf(", "=", ",", "zero"},
           feed_expression, mutated),
      door("request", 10, request_seeds(), {}, feed_request, mutated),
      door("reply", 10, reply_seeds(), {}, feed_reply, mutated)};
}

}  // namespace attnscope::fuzz
