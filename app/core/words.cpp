#include "core/words.h"

namespace attnscope {

// In a file of its own, so that a test can link its own definition instead.
std::string_view label(std::string_view word) { return word; }

}  // namespace attnscope
