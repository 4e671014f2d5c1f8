#pragma once
#include <span>

namespace attnscope::compile {

struct BuiltinText {
  const char* name;
  const char* text;
};

// The built-in headers that are not empty.
std::span<const BuiltinText> header_texts();

}  // namespace attnscope::compile
