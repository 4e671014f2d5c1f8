#pragma once
#include "core/fields.h"
#include "core/softmax_steps.h"

// The fields of a request for softmax steps and of its answer.
namespace attnscope {

template <>
struct FieldsOf<SoftmaxRow> {
  static constexpr Limits kWhole{.low = 0, .high = int64_t{1} << 40, .required = true};
  static constexpr auto list =
      std::tuple{Field{"batch", &SoftmaxRow::batch, kWhole}, Field{"head", &SoftmaxRow::head, kWhole},
                 Field{"row", &SoftmaxRow::row, kWhole}};
};

// Checks that the lists have the right length for each step, so that readers need no further checks.
template <>
struct FieldsOf<SoftmaxSteps> {
  using Of = SoftmaxSteps;
  static constexpr Limits kWhole{.low = 0, .high = int64_t{1} << 40};
  static constexpr Limits kFloats{.bytes = size_t{4} * Of::kMostFloats, .required = true};
  static constexpr auto list = std::tuple{Field{"row", &Of::row, Limits{.required = true}},
                                          Field{"cta", &Of::cta, kWhole},
                                          Field{"keys", &Of::keys, Limits{.low = 1, .high = 1 << 16}},
                                          Field{"visible", &Of::visible, kWhole},
                                          Field{"head_dim", &Of::head_dim, Limits{.low = 1, .high = 1 << 16}},
                                          Field{"unit", &Of::unit},
                                          Field{"m", &Of::m, kFloats},
                                          Field{"l", &Of::l, kFloats},
                                          Field{"exact_m", &Of::exact_m, kFloats},
                                          Field{"exact_l", &Of::exact_l, kFloats},
                                          Field{"scores", &Of::scores, kFloats},
                                          Field{"weights", &Of::weights, kFloats},
                                          Field{"o", &Of::o, kFloats},
                                          Field{"output", &Of::output, kFloats},
                                          Field{"m_line", &Of::m_line, kWhole},
                                          Field{"l_line", &Of::l_line, kWhole},
                                          Field{"scores_line", &Of::scores_line, kWhole},
                                          Field{"end_line", &Of::end_line, kWhole}};
  static void check(JsonReader& read, SoftmaxSteps& made) {
    const size_t steps = made.m.size(), keys = steps * static_cast<size_t>(made.keys);
    const size_t columns = static_cast<size_t>(made.head_dim);
    for (const auto& [key, list, wanted] :
         {std::tuple{"l", &made.l, steps}, {"exact_m", &made.exact_m, steps}, {"exact_l", &made.exact_l, steps}})
      if (list->size() != wanted) read.fault(key, "must hold a number for each step");
    for (const auto& [key, list, wanted] : {std::tuple{"scores", &made.scores, keys},
                                            {"weights", &made.weights, keys},
                                            {"o", &made.o, steps * columns},
                                            {"output", &made.output, columns}})
      if (!list->empty() && list->size() != wanted) read.fault(key, "does not hold its numbers for each step");
  }
};

}  // namespace attnscope
