#include "catalog/clock_twin.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "catalog/cuda_source.h"
#include "catalog/source_text.h"
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

// Adds a parameter to lists of them, and text elsewhere.
class Twin {
 public:
  explicit Twin(const std::string& source) : source_(source), tokens_(cpp_tokens(source)), brackets_(tokens_) {}

  // The index of the token at that byte; the number of tokens if none starts there.
  size_t index(size_t at) const {
    const auto found = std::ranges::lower_bound(tokens_, at, {}, &CppToken::at);
    return found != tokens_.end() && found->at == at ? static_cast<size_t>(found - tokens_.begin()) : tokens_.size();
  }
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  // The parenthesis that opens the list before the token at `behind`; the number of tokens if there is none.
  size_t opening(size_t behind) const {
    if (behind >= tokens_.size() || behind == 0 || !is(behind - 1, ")")) return tokens_.size();
    for (size_t i = behind - 1; i-- > 0;)
      if (is(i, "(") && brackets_.closing(i) == behind - 1) return i;
    return tokens_.size();
  }
  size_t parameters(size_t open) const { return has_none(open) ? 0 : parts(open).size(); }
  // `template __global__ void k<64, 8>(float* x);` and `template <> __global__ void k<4>(float* x) {`: the parentheses
  // of each such instance and specialisation of the template.
  std::vector<size_t> instances(std::string_view name) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const bool specialises = is(i + 1, "<") && is(i + 2, ">");
      if (!is(i, "template") || (is(i + 1, "<") && !specialises)) continue;
      size_t at = specialises ? i + 3 : i + 1;
      const auto goes_on = [&] { return !is(at, "<") && !is(at, "(") && !is(at, ";") && !is(at, "template"); };
      while (at < tokens_.size() && (goes_on() || (is_kernel_attribute(tokens_[at - 1]) && closes(at))))
        at = is(at, "(") ? brackets_.closing(at) + 1 : at + 1;
      if (!is(at, "<") || !is(at - 1, name)) continue;
      if (const size_t open = brackets_.behind_angles(at); closes(open)) found.push_back(open);
    }
    return found;
  }
  bool closes(size_t open) const { return is(open, "(") && brackets_.closing(open) < tokens_.size(); }

  void add_parameter(size_t open) {
    const size_t close = brackets_.closing(open);
    std::string parameter = "AttnscopeSpan* attnscope_spans";
    if (has_none(open)) {
      const CppToken& there = tokens_[open + 1];  // void or the parenthesis
      return edits_.push_back({there.at, open + 1 == close ? there.at : there.end(), std::move(parameter)});
    }
    // Behind a parameter with a default each needs one; one declaration has it for all that follow.
    const auto [first, end] = parts(open).back();
    for (size_t i = first; i < end; ++i)
      if (is(i, "=")) {
        parameter += " = nullptr";
        break;
      }
    edits_.push_back({tokens_[close].at, tokens_[close].at, ", " + parameter});
  }
  // If a body follows the list, it records its warps' clocks.
  void add_clock(size_t open) {
    const size_t body = brackets_.closing(open) + 1;
    if (!is(body, "{")) return;
    const size_t at = tokens_[body].end();
    edits_.push_back({at, at, " const AttnscopeClock attnscope_clock(attnscope_spans);"});
  }

  std::string text() {
    std::ranges::sort(edits_, std::ranges::greater(), &Edit::from);
    std::string made = source_;
    for (const Edit& one : edits_) made.replace(one.from, one.to - one.from, one.text);
    return made;
  }

 private:
  struct Edit {
    size_t from = 0, to = 0;
    std::string text;
  };

  std::vector<std::pair<size_t, size_t>> parts(size_t open) const {
    return parts_of(tokens_, brackets_, open + 1, brackets_.closing(open));
  }
  // () or (void)
  bool has_none(size_t open) const {
    const size_t close = brackets_.closing(open);
    return close == open + 1 || (close == open + 2 && is(open + 1, "void"));
  }

  const std::string& source_;
  std::vector<CppToken> tokens_;
  CppBrackets brackets_;
  std::vector<Edit> edits_;
};

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
  Twin edited(source);
  const size_t list = edited.opening(edited.index(kernel->body));
  if (!edited.closes(list))
    return fail(Stage::internal, "the body of " + name + " is not where it was", "Report this.");
  std::vector<size_t> others = edited.instances(plain_kernel_name(kernel->name));
  for (const size_t at : kernel->declared) others.push_back(edited.index(at));
  others.push_back(list);
  for (const size_t open : others) {
    if (!edited.closes(open) || edited.parameters(open) != edited.parameters(list)) continue;  // an overload
    edited.add_parameter(open);
    edited.add_clock(open);
  }
  std::string twin = edited.text();
  if (twin.starts_with("\xEF\xBB\xBF")) twin.erase(0, 3);
  return fmt::format(kRecorder, most_ctas) + twin;
}

}  // namespace attnscope::catalog
