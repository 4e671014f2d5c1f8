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

// How a config is launched: the evaluated "launch" and "shared_map" of a manifest.
struct Launch {
  model::LaunchShape shape;                 // grid in CTAs, block in threads
  int64_t dynamic_shared = 0;               // bytes
  std::optional<int64_t> static_shared;     // bytes, if the manifest predicts it
  std::vector<SharedBuffer> dynamic_parts;  // named parts of dynamic_shared; the rest is "unnamed"
  int64_t shared_total() const { return static_shared.value_or(0) + dynamic_shared; }
};

// The variables of a manifest's expressions: every knob, batch, heads, kv_heads, seq_q, seq_k, head_dim, causal (0
// none, 1 top_left, 2 bottom_right) and dtype_bytes; for a problem that is not attention, every knob and the problem's
// sizes. "static_shared" and "dynamic_shared" may also use shared_map_bytes, the sum of the map.
Variables variables(const Kernel& kernel, const Problem& problem, const Config& config);

// `config` must be complete. `constants` are the values of source variables that "dynamic_shared" uses, known after
// compiling; without them, it is predicted as at least the sum of the map's parts. An expression that does not evaluate
// is a Failure (Stage::catalog) at its JSON pointer. model/limits.h says whether a device accepts the launch.
Result<Launch> launch_of(const Kernel& kernel, const Problem& problem, const Config& config,
                         const Variables* constants = nullptr);

// The macros that determine a variant, except DTYPE and ATTN_T, which follow from its dtype (compile/compiler.h): every
// knob, and for attention HEAD_DIM and CAUSAL, numbered as in docs/writing-a-kernel.md.
std::map<std::string, int64_t> macros(const Kernel& kernel, const Problem& problem, const Config& config);

// The type for DTYPE and ATTN_T; empty for a kernel that is not attention, whose source has its own names.
std::optional<DType> dtype_macro(const Problem& problem);

}  // namespace attnscope::catalog
