#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
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

// What decides a variant. Only integers reach the compiler as macros: a preset cannot carry code, a flag or a path.
struct CompileRequest {
  std::string source;     // text, at most 4 MB
  std::string file_name;  // "02_tiled.cu": for messages and the line table; the folder, if any, is dropped
  std::string entry;      // a kernel's C++ name or template expression
  std::map<std::string, int64_t> macros;  // knobs, HEAD_DIM, CAUSAL: names of [A-Z_][A-Z0-9_]*
  // Gives DTYPE (0 f16, 1 bf16, 2 f32) and ATTN_T (half, __nv_bfloat16, float); empty: neither.
  std::optional<DType> dtype = DType::f16;
  CompileOptions options;
  int arch = 89;  // compute capability × 10
  std::vector<std::string> headers =
      {};  // whose headers the source includes beside CUDA's own (cuda_api::locate_headers)
};

// What the compiler made of it.
struct Variant {
  VariantInfo info;          // dynamic_shared_bytes and the dynamic buffers are the launch's to add
  std::string entry_symbol;  // the kernel in the cubin and the PTX
  std::string nvrtc;         // version: "12.8"
  std::string ptx;
  std::vector<std::byte> cubin;
  SharedLayout shared;      // where each static buffer lies, for those who look at addresses
  int64_t barriers = 0;     // named barriers used
  int64_t max_threads = 0;  // a CTA's, from __launch_bounds__; 0 not declared
};

struct CompilerOptions {
  std::filesystem::path cache_dir;          // empty: no cache on disk
  uint64_t cache_cap_bytes = 512ull << 20;  // the least recently used go first
};

// Compiles through NVRTC, which is found and opened on the first call. May be used by several threads at once. Each
// compilation runs on a thread of its own that may read the files which decide the variant's name, and nothing else.
class Compiler {
 public:
  explicit Compiler(CompilerOptions options);
  ~Compiler();

  // From the cache, or from what a bundle hands on, when it holds the same request: then info.cached is true and
  // info.compile_ms is the first compilation's. Failures: Stage::input (a macro or an option that may not reach the
  // compiler), Stage::compile (NVRTC's first error as file:line, the whole log as the hint; or no NVRTC, or headers
  // that are not there), Stage::limits (more static shared memory than a CTA may have).
  Result<std::shared_ptr<const Variant>> compile(const CompileRequest& request);

  // "12.8"; what Versions::nvrtc says.
  Result<std::string> nvrtc_version();

 private:
  struct Toolchain;
  Result<std::shared_ptr<const Toolchain>> toolchain();
  Result<Variant> compile_now(const CompileRequest& request, const Toolchain& tools,
                              const std::vector<std::filesystem::path>& folders, const IncludeClosure& includes) const;
  void keep(const std::string& key, Variant& variant);

  CompilerOptions options_;
  IncludeReader includes_;
  std::mutex mutex_;
  std::shared_ptr<const Toolchain> toolchain_;  // guarded by mutex_
  int kept_ = 0;                                // entries written, guarded by mutex_
};

// The values of the source's own integer variables, by name: what a manifest's "dynamic_shared" may ask of it. Failure
// (Stage::compile) when one is not in the machine code.
Result<std::map<std::string, double>> constants_of(const Variant& variant, const std::vector<std::string>& names);

// The options that `request` gives NVRTC, macros included, in a fixed order. Failure: Stage::input.
Result<std::vector<std::string>> nvrtc_options(const CompileRequest& request);

}  // namespace attnscope::compile
