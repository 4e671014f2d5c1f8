#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope::catalog {

// Words of host code that mean the same everywhere.

// A function of two numbers that divides and rounds up, by its name: CEIL_DIV, cdiv, Ceil.
bool is_ceil_div(const std::string& name);
// A number's type, as in a cast.
bool is_number_word(std::string_view word);
// A whole number as C++ writes it; empty if it is none, octal or too large.
std::optional<int64_t> whole_literal(std::string text);

// A member of cudaDeviceProp that launches are computed with.
bool is_device_property(std::string_view word);
// Its value if all architectures have the same (CUDA C++ Programming Guide, "Technical Specifications"). `axis`: of an
// array's element.
std::optional<int64_t> device_limit(std::string_view word, size_t axis);

}  // namespace attnscope::catalog
