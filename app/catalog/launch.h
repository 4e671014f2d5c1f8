#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/expression.h"
#include "core/kernel.h"
#include "core/observation.h"
#include "core/problem.h"
#include "core/result.h"
#include "model/occupancy.h"

namespace attnscope::catalog {

// How a config is launched: a manifest's "launch" and "shared_map", evaluated.
struct Launch {
  model::LaunchShape shape;                 // grid in CTAs, block in threads
  int64_t dynamic_shared = 0;               // bytes
  std::optional<int64_t> static_shared;     // bytes, when the manifest foretells it
  std::vector<SharedBuffer> dynamic_parts;  // of dynamic_shared, by name; what no name covers is "unnamed"
  int64_t shared_total() const { return static_shared.value_or(0) + dynamic_shared; }
};

// What a manifest's expressions know: every knob, batch, heads, kv_heads, seq_q, seq_k, head_dim, causal (0 none, 1
// top_left, 2 bottom_right) and dtype_bytes; of a problem that is no attention every knob and its sizes.
// "static_shared" and "dynamic_shared" also know shared_map_bytes, the sum of the map.
Variables variables(const Kernel& kernel, const Problem& problem, const Config& config);

// `config` must be complete. `constants` are the values of the source's own that "dynamic_shared" names, once it is
// compiled; without them it is foretold as at least what the map's parts sum to. An expression that does not evaluate
// is a Failure (Stage::catalog) at its JSON pointer. Whether a device takes the launch is model/limits.h's to say.
Result<Launch> launch_of(const Kernel& kernel, const Problem& problem, const Config& config,
                         const Variables* constants = nullptr);

// The macros that decide a variant beside its dtype (DTYPE and ATTN_T follow from that, compile/compiler.h): every
// knob, and for attention HEAD_DIM and CAUSAL, numbered as in docs/writing-a-kernel.md.
std::map<std::string, int64_t> macros(const Kernel& kernel, const Problem& problem, const Config& config);

// The type that DTYPE and ATTN_T follow from; empty for kernels that are no attention, whose source has its own names.
std::optional<DType> dtype_macro(const Problem& problem);

}  // namespace attnscope::catalog
