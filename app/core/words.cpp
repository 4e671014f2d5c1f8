#include "core/words.h"

namespace attnscope {

// In its own file, so that a test can link its own definition instead.
std::string_view label(std::string_view word) { return word; }

}  // namespace attnscope
