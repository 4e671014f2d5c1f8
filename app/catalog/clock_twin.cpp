#include "catalog/clock_twin.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "catalog/cuda_source.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

// Its names cannot meet those of a source. PTX, so that it needs no header; "memory" keeps the kernel's accesses
// between the two clocks.
constexpr const char* kRecorder = R"(struct AttnscopeSpan {{ unsigned long long from, to; unsigned sm, none; }};
struct AttnscopeClock {{
  AttnscopeSpan* all;
  static __device__ __forceinline__ unsigned long long now() {{
    unsigned long long clock;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock) : : "memory");
    return clock;
  }}
  static __device__ __forceinline__ unsigned thread() {{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }}
  static __device__ __forceinline__ unsigned long long cta() {{
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }}
  __device__ __forceinline__ AttnscopeSpan* own() const {{
    const unsigned warps = (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
    return all + cta() * warps + thread() / 32;
  }}
  __device__ __forceinline__ explicit AttnscopeClock(AttnscopeSpan* spans) : all(spans) {{
    if (thread() % 32 != 0 || cta() >= {0}) return;
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    own()->sm = sm;
    own()->from = now();
  }}
  __device__ __forceinline__ ~AttnscopeClock() {{
    if (cta() >= {0}) return;
    unsigned active;
    asm volatile("activemask.b32 %0;" : "=r"(active));
    if (thread() % 32 + 1 != static_cast<unsigned>(__ffs(active))) return;
    asm volatile("red.global.max.u64 [%0], %1;" : : "l"(&own()->to), "l"(now()) : "memory");
  }}
}};
#line 1
)";

}  // namespace

Result<std::string> clock_twin(const std::string& source, const std::string& entry, int64_t most_ctas) {
  const std::string name = entry.substr(0, entry.find('<'));
  const CudaSource read = read_cuda_source(source);
  const auto kernel = std::ranges::find_if(read.kernels, [&](const SourceKernel& one) {
    return one.defined && (one.name == name || plain_kernel_name(one.name) == plain_kernel_name(name));
  });
  if (kernel == read.kernels.end())
    return fail(Stage::input, "the source does not define " + name + " where it can be found",
                "A macro may define it; write the kernel out.");
  const std::vector<CppToken> tokens = cpp_tokens(source);
  const auto body = std::ranges::find(tokens, kernel->body, &CppToken::at);
  if (body == tokens.end() || body - tokens.begin() < 3)
    return fail(Stage::internal, "the body of " + name + " is not where it was", "Report this.");
  const CppToken &close = *(body - 1), &last = *(body - 2);
  const bool nothing = last.is("void") && (body - 3)->is("(");  // f(void)
  const std::string parameter = "AttnscopeSpan* attnscope_spans";
  std::string twin = source;
  twin.insert(kernel->body + 1, " const AttnscopeClock attnscope_clock(attnscope_spans);");
  if (nothing)
    twin.replace(last.at, last.text.size(), parameter);
  else
    twin.insert(close.at, (last.is("(") ? "" : ", ") + parameter);
  if (twin.starts_with("\xEF\xBB\xBF")) twin.erase(0, 3);
  return fmt::format(kRecorder, most_ctas) + twin;
}

}  // namespace attnscope::catalog
