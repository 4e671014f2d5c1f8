#include "catalog/launch.h"

#include <fmt/format.h>

#include "core/experiment_fields.h"

namespace attnscope::catalog {
namespace {

int64_t causal_number(Causal causal) { return causal == Causal::none ? 0 : causal == Causal::top_left ? 1 : 2; }

Result<void> dimensions(const Kernel& kernel, const Variables& known, const char* key,
                        const std::string (&expressions)[3], std::array<int64_t, 3>& out) {
  for (size_t i = 0; i < 3; ++i) {
    Result<int64_t> value = evaluate(expressions[i], known, kernel.where(fmt::format("launch/{}/{}", key, i)));
    if (!value) return fail(value.error());
    out[i] = *value;
  }
  return {};
}

// A size of 0 that leaves an axis of the grid without a CTA is a mistyped size, not a config that does not fit.
Result<void> check_empty(const Kernel& kernel, const Problem& problem, const Variables& known,
                         const std::array<int64_t, 3>& grid) {
  for (size_t i = 0; i < 3; ++i) {
    if (grid[i] > 0) continue;
    for (const auto& [name, value] : problem.sizes) {
      if (value != 0) continue;
      Variables larger = known;
      larger[name] = 1;
      const auto ctas = evaluate(kernel.launch.grid[i], larger, kernel.where(fmt::format("launch/grid/{}", i)));
      if (ctas && *ctas > 0)
        return fail(Stage::input, fmt::format("{}: with {} = 0 the grid has no CTA", kernel.id, name),
                    fmt::format("{} must be 1 or more.", name));
    }
  }
  return {};
}

// The map's parts with their bytes; "shared_map_bytes" is their sum.
Result<std::vector<SharedBuffer>> evaluate_map(const Kernel& kernel, const Variables& known) {
  std::vector<SharedBuffer> parts;
  for (size_t i = 0; i < kernel.shared_map.size(); ++i) {
    const SharedPart& part = kernel.shared_map[i];
    auto bytes = evaluate(part.bytes, known, kernel.where(fmt::format("shared_map/{}/bytes", i)));
    if (!bytes) return fail(bytes.error());
    parts.push_back({part.name, *bytes, true});
  }
  return parts;
}

Result<void> shared_memory(const Kernel& kernel, Variables known, const Variables* constants, Launch& launch) {
  Result<std::vector<SharedBuffer>> parts = evaluate_map(kernel, known);
  if (!parts) return fail(parts.error());
  int64_t named = 0;
  for (const SharedBuffer& part : *parts) named += part.bytes;
  known["shared_map_bytes"] = double(named);
  for (const std::string& name : kernel.launch.constants) {
    if (constants && !constants->contains(name))
      return fail(Stage::internal, kernel.where("launch/constants") + ": " + name + " was not read", "Report this.");
    known[name] = constants ? constants->at(name) : double(named);
  }
  auto dynamic = evaluate(kernel.launch.dynamic_shared, known, kernel.where("launch/dynamic_shared"));
  if (!dynamic) return fail(dynamic.error());
  launch.dynamic_shared = *dynamic;
  if (!kernel.launch.static_shared.empty()) {
    auto fixed = evaluate(kernel.launch.static_shared, known, kernel.where("launch/static_shared"));
    if (!fixed) return fail(fixed.error());
    launch.static_shared = *fixed;
  }
  if (launch.dynamic_shared == 0) return {};
  if (named > launch.dynamic_shared)
    return fail(Stage::catalog,
                fmt::format("{}: names {} B, but dynamic_shared asks for {} B", kernel.where("shared_map"), named,
                            launch.dynamic_shared),
                "The map's parts lie inside dynamic shared memory.");
  std::erase_if(*parts, [](const SharedBuffer& part) { return part.bytes == 0; });  // parts of other configs
  launch.dynamic_parts = std::move(*parts);
  if (named < launch.dynamic_shared) launch.dynamic_parts.push_back({"unnamed", launch.dynamic_shared - named, true});
  return {};
}

}  // namespace

Variables variables(const Kernel& kernel, const Problem& problem, const Config& config) {
  Variables known;
  for (const auto& [name, value] : problem.sizes) known[name] = double(value);
  if (problem.is_attention()) {
    known = {{"causal", double(causal_number(problem.causal))}, {"dtype_bytes", double(bytes_of(problem.dtype))}};
    for_each_size([&](const auto& field) { known[field.key] = double(problem.*field.member); });
  }
  for (const Knob& knob : kernel.knobs) {
    auto chosen = config.knobs.find(knob.name);
    known[knob.name] = double(chosen == config.knobs.end() ? knob.default_value : chosen->second);
  }
  return known;
}

Result<Launch> launch_of(const Kernel& kernel, const Problem& problem, const Config& config,
                         const Variables* constants) {
  Launch launch;
  const Variables known = variables(kernel, problem, config);
  if (auto done = dimensions(kernel, known, "grid", kernel.launch.grid, launch.shape.grid); !done)
    return fail(done.error());
  if (auto some = check_empty(kernel, problem, known, launch.shape.grid); !some) return fail(some.error());
  if (auto done = dimensions(kernel, known, "block", kernel.launch.block, launch.shape.block); !done)
    return fail(done.error());
  if (auto done = shared_memory(kernel, known, constants, launch); !done) return fail(done.error());
  launch.shape.cooperative = kernel.launch.cooperative;
  return launch;
}

std::map<std::string, int64_t> macros(const Kernel& kernel, const Problem& problem, const Config& config) {
  std::map<std::string, int64_t> all;
  if (problem.is_attention()) all = {{"HEAD_DIM", problem.head_dim}, {"CAUSAL", causal_number(problem.causal)}};
  for (const Knob& knob : kernel.knobs) {
    auto chosen = config.knobs.find(knob.name);
    all[knob.name] = chosen == config.knobs.end() ? knob.default_value : chosen->second;
  }
  return all;
}

std::optional<DType> dtype_macro(const Problem& problem) {
  return problem.is_attention() ? std::optional(problem.dtype) : std::nullopt;
}

}  // namespace attnscope::catalog
