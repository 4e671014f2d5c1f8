#pragma once

namespace attnscope::testing_support {

// Whether this build runs under a sanitizer. Tests that show something by size or number, such as a cost that grows
// faster than its input, do so in the plain build; sanitizer builds run the same code on less.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace attnscope::testing_support
