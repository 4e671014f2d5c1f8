#include "report/rbk_config.h"

#include <fmt/format.h>

#include <map>

#include "core/fields.h"
#include "core/words.h"
#include "report/yaml.h"

namespace attnscope {

template <>
struct FieldsOf<report::RbkShape> {
  using Of = report::RbkShape;
  static constexpr Limits kSize{.low = 1, .high = 16777216, .required = true};
  static constexpr auto list =
      std::tuple{Field{"name", &Of::name, Limits{.bytes = 200, .line = true, .required = true}},
                 Field{"batch_size", &Of::batch_size, kSize},
                 Field{"num_heads", &Of::num_heads, kSize},
                 Field{"seq_len", &Of::seq_len, kSize},
                 Field{"head_dim", &Of::head_dim, kSize},
                 Field{"causal", &Of::causal},
                 Field{"dtype", &Of::dtype, Limits{.bytes = 20}}};
};

template <>
struct FieldsOf<report::Tolerances> {
  using Of = report::Tolerances;
  static constexpr Limits kShare{.low = 0, .high = 1e6, .required = true};
  static constexpr auto list = std::tuple{Field{"atol", &Of::atol, kShare}, Field{"rtol", &Of::rtol, kShare}};
};

template <>
struct FieldsOf<report::GainWanted> {
  using Of = report::GainWanted;
  static constexpr auto list = std::tuple{Field{"speedup", &Of::speedup, Limits{.low = 1, .high = 1000}},
                                          Field{"shapes", &Of::shapes, Limits{.low = 1, .high = 10000}}};
};

template <>
struct FieldsOf<report::RbkConfig> {
  using Of = report::RbkConfig;
  static constexpr Limits kRuns{.low = 0, .high = 1e9}, kName{.bytes = 2000, .line = true};
  static constexpr auto list = std::tuple{Field{"shapes", &Of::shapes, Limits{.most = 1000, .required = true}},
                                          Field{"runners", &Of::runners, Limits{.most = 100, .bytes = 2000}},
                                          Field{"baseline", &Of::baseline, kName},
                                          Field{"tolerances", &Of::tolerances},
                                          Field{"gain", &Of::gain},
                                          Field{"output_dir", &Of::output_dir, kName},
                                          Field{"save_json", &Of::save_json},
                                          Field{"save_csv", &Of::save_csv},
                                          Field{"save_markdown", &Of::save_markdown},
                                          Field{"save_html", &Of::save_html},
                                          Field{"warmups", &Of::warmups, kRuns},
                                          Field{"iterations", &Of::iterations, kRuns}};
  static void check(JsonReader& read, Of& config) {
    if (config.shapes.empty()) read.fault("shapes", "must have a shape");
    std::map<std::string, size_t> seen;
    for (const report::RbkShape& shape : config.shapes)
      if (!seen.try_emplace(shape.name, 0).second) read.fault("shapes", "\"" + shape.name + "\" stands twice");
  }
};

namespace report {

Result<RbkConfig> rbk_config_from_yaml(const std::string& text, const std::string& where) {
  auto json = json_from_yaml(text, where);
  if (!json) return fail(json.error());
  auto config = read_fields<RbkConfig>(*json, where, Stage::input);
  if (!config) return config;
  for (const RbkShape& shape : config->shapes)
    if (auto problem = problem_of(shape, where); !problem) return fail(problem.error());
  return config;
}

Result<Problem> problem_of(const RbkShape& shape, const std::string& where) {
  static const std::map<std::string, DType> types{
      {"float16", DType::f16}, {"bfloat16", DType::bf16}, {"float32", DType::f32}};
  const auto type = types.find(shape.dtype);
  const std::string at = fmt::format("{}: shape \"{}\"", where, shape.name);
  if (type == types.end())
    return fail(Stage::input, fmt::format("{} has dtype \"{}\"", at, shape.dtype),
                "Choose float16, bfloat16 or float32.");
  auto problem = problem_from_text(fmt::format("B={},H={},S={},D={},causal={}", shape.batch_size, shape.num_heads,
                                               shape.seq_len, shape.head_dim, shape.causal ? "true" : "none"));
  if (!problem) return fail(Stage::input, at + ": " + problem.error().message, problem.error().hint);
  problem->dtype = type->second;
  return problem;
}

Json to_json(const RbkShape& shape) { return write_fields(shape); }

}  // namespace report
}  // namespace attnscope
