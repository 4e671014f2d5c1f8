#pragma once

namespace attnscope::testing_support {

// Whether the sanitizers look at this build. What a test shows by size or number, such as a cost that grows faster than
// its input, the plain build shows; here less of it does the same code.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace attnscope::testing_support
