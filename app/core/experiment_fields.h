#pragma once
#include "core/experiment.h"
#include "core/fields.h"
#include "core/option_fields.h"

namespace attnscope {

// The fields of an Experiment's parts, for its JSON, presets and docs/observation.schema.json.

template <>
struct FieldsOf<Problem> {
  static constexpr Limits kSeq{.low = 1, .high = 1 << 24}, kCount{.low = 1, .high = 65535};
  static constexpr auto attention = std::tuple{Field{"batch", &Problem::batch, kCount, "B"},
                                               Field{"heads", &Problem::heads, kCount},
                                               Field{"kv_heads", &Problem::kv_heads, kCount},
                                               Field{"seq_q", &Problem::seq_q, kSeq, "query rows"},
                                               Field{"seq_k", &Problem::seq_k, kSeq, "keys"},
                                               Field{"head_dim", &Problem::head_dim, Limits{.low = 1, .high = 1024}},
                                               Field{"causal", &Problem::causal},
                                               Field{"layout", &Problem::layout},
                                               Field{"dtype", &Problem::dtype},
                                               Field{"scale", &Problem::scale, {}, "null: 1/sqrt(head_dim)"}};
  static constexpr auto list =
      std::tuple{Field{"kind", &Problem::kind}, When{"kind", &Problem::kind, ProblemKind::attention, true, attention},
                 When{"kind", &Problem::kind, ProblemKind::attention, false,
                      std::tuple{Field{"sizes", &Problem::sizes, Limits{.low = 0, .high = int64_t{1} << 40},
                                       "the kernel's sizes by name"}}},
                 Field{"distribution", &Problem::distribution}, Field{"seed", &Problem::seed}};
  static void check(JsonReader& read, Problem& problem);
};

// visit(field) for each size of an attention problem.
template <class Visit>
void for_each_size(Visit visit) {
  for_each_field(FieldsOf<Problem>::attention, [&](const auto& field) {
    if constexpr (std::is_same_v<decltype(field.member), int64_t Problem::*>) visit(field);
  });
}

template <>
struct FieldsOf<MeasurePolicy> {
  static constexpr auto list =
      std::tuple{Field{"cache", &MeasurePolicy::cache},
                 Field{"sampled_share", &MeasurePolicy::sampled_share, Limits{.low = 0, .high = 1}},
                 Field{"max_time_ms", &MeasurePolicy::max_time_ms, Limits{.low = 1, .high = 3600000}}};
  static void check(JsonReader& read, MeasurePolicy& policy);
};

template <>
struct FieldsOf<Config> {
  static constexpr auto list =
      std::tuple{Field{"knobs", &Config::knobs, {}, "knob -> value"}, Field{"options", &Config::options}};
};

template <>
struct FieldsOf<Experiment> {
  static constexpr auto list =
      std::tuple{Field{"problem", &Experiment::problem, Limits{.required = true}},
                 Group{"kernel", std::tuple{Field{"id", &Experiment::kernel, Limits{.bytes = 200, .required = true}},
                                            Field{"hash", &Experiment::kernel_hash, Limits{.bytes = 64},
                                                  "XXH3-128 of manifest and source"}}},
                 Field{"config", &Experiment::config, Limits{.required = true}},
                 Field{"device", &Experiment::device, Limits{.bytes = 200, .required = true}},
                 Field{"measure", &Experiment::measure}};
  static void check(JsonReader& read, Experiment& experiment);
};

}  // namespace attnscope
