#pragma once
#include "core/observation.h"

namespace attnscope {

// The first difference that makes the times of two runs incomparable.
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

// `none`: the two times can be compared. The first difference in the order of the enum counts: attention and gemm
// differ in their operation, whatever else differs. Kernel, config and compile options may differ, because they are
// what is compared. `version`: modelled times of two program versions, whose models may differ.
Unlike comparable(const Observation& a, const Observation& b);

}  // namespace attnscope
