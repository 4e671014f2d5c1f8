#include "core/observation_fields.h"

namespace attnscope {

#define ATTNSCOPE_COMPILED_HERE(...)                                                 \
  template void fields::read(JsonReader&, const char*, __VA_ARGS__&, const Limits&); \
  template Json fields::written(const __VA_ARGS__&, const Limits&);
ATTNSCOPE_OBSERVATION_MEMBERS(ATTNSCOPE_COMPILED_HERE)

}  // namespace attnscope
