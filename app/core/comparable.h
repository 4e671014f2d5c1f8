#pragma once
#include "core/observation.h"

namespace attnscope {

// The first thing in which two runs differ so that neither's time says anything about the other's.
enum class Unlike { none, operation, problem, device, cache, kind, version, untimed };
template <>
struct Words<Unlike> {
  using enum Unlike;
  static constexpr WordTable<Unlike, 8> table{{{none, ""},
                                               {operation, "another operation"},
                                               {problem, "another problem"},
                                               {device, "another device"},
                                               {cache, "another cache policy"},
                                               {kind, "another kind of figure"},
                                               {version, "another version's model"},
                                               {untimed, "no time"}}};
};

// `none`: the two times can be held against each other. The order is the enum's: an attention and a gemm are of another
// operation whatever else differs. Kernel, config and compile options may differ, for they are what is compared.
// `version`: modelled times of two program versions, whose models may differ.
Unlike comparable(const Observation& a, const Observation& b);

}  // namespace attnscope
