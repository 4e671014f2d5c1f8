#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/include_closure.h"
#include "compile/ptx_shared.h"
#include "core/config.h"
#include "core/observation.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::cuda_api {
class Nvrtc;
}

namespace attnscope::compile {

// Everything that determines a variant. Macros reach the compiler only as integers, so that a preset cannot carry code,
// a flag or a path.
struct CompileRequest {
  std::string source;                     // text, at most 4 MB
  std::string file_name;                  // "02_tiled.cu": for messages and the line table; a folder is dropped
  std::string entry;                      // a kernel's C++ name or template expression
  std::map<std::string, int64_t> macros;  // knobs, HEAD_DIM, CAUSAL: names of [A-Z_][A-Z0-9_]*
  // Defines DTYPE (0 f16, 1 bf16, 2 f32) and ATTN_T (half, __nv_bfloat16, float); empty: neither.
  std::optional<DType> dtype = DType::f16;
  CompileOptions options;
  int arch = 89;  // compute capability × 10
  // Header sets that the source includes besides CUDA's (cuda_api::locate_headers).
  std::vector<std::string> headers = {};
};

// The result of compiling.
struct Variant {
  VariantInfo info;          // dynamic_shared_bytes and the dynamic buffers are added at launch
  std::string entry_symbol;  // the kernel in the cubin and the PTX
  std::string ptx;
  std::vector<std::byte> cubin;
  SharedLayout shared;      // offset of each static buffer, for code that examines addresses
  int64_t barriers = 0;     // named barriers used
  int64_t max_threads = 0;  // per CTA, from __launch_bounds__; 0 if not declared
};

struct CompilerOptions {
  std::filesystem::path cache_dir;          // empty: no cache on disk
  uint64_t cache_cap_bytes = 512ull << 20;  // above it, the least recently used entries are deleted
};

// Compiles through NVRTC, or through the machine's nvcc if the options say so. Each is found on the first call that
// needs it. Several threads may use it at once. NVRTC runs on a thread that may read only the files whose contents
// decide the variant's name; nvcc may also read the system's programs and headers.
class Compiler {
 public:
  static constexpr int kNvccMs = 55'000;

  explicit Compiler(CompilerOptions options);
  ~Compiler();

  // Takes the variant from the cache, or from a bundle's shipped variants, if it has the same request: then info.cached
  // is true and info.compile_ms is that of the first compilation. Failures: Stage::input (a macro or an option that may
  // not reach the compiler), Stage::compile (the compiler's first error as file:line, with the whole log as the hint;
  // or a missing compiler or headers), Stage::limits (more static shared memory than a CTA may have), Stage::deadline
  // (nvcc did not end within `nvcc_ms`; NVRTC ends by itself or with its process).
  Result<std::shared_ptr<const Variant>> compile(const CompileRequest& request, int nvcc_ms = kNvccMs);

  // "12.8" and "13.0.88", as in Versions.
  Result<std::string> nvrtc_version();
  Result<std::string> nvcc_version();

 private:
  struct Toolchain;
  Result<std::shared_ptr<const Toolchain>> toolchain(CompilerChoice choice);
  Failure with_nvcc_named(Failure refused);
  Result<Variant> compile_now(const CompileRequest& request, const Toolchain& tools,
                              const std::vector<std::string>& options,
                              const std::vector<std::filesystem::path>& folders, const IncludeClosure& includes,
                              int nvcc_ms) const;
  void keep(const std::string& key, Variant& variant);

  CompilerOptions options_;
  IncludeReader includes_;
  std::mutex mutex_;
  std::shared_ptr<const Toolchain> nvrtc_, nvcc_;  // guarded by mutex_
  int kept_ = 0;                                   // entries written, guarded by mutex_
};

// The values of the source's own integer variables, by name, for a manifest's "dynamic_shared". Failure
// (Stage::compile) if one is not in the machine code.
Result<std::map<std::string, double>> constants_of(const Variant& variant, const std::vector<std::string>& names);

// "c++17", or "c++20" for a source with a concept in it.
const char* cpp_standard(std::string_view source);

// The options for each compiler, macros included, in a fixed order. Failure: Stage::input.
Result<std::vector<std::string>> nvrtc_options(const CompileRequest& request);
Result<std::vector<std::string>> nvcc_options(const CompileRequest& request);
// nvcc's for the architecture, the language and the compile options, which `attnscope export` writes too.
std::vector<std::string> nvcc_flags(int arch, std::string_view source, const CompileOptions& options);

}  // namespace attnscope::compile
