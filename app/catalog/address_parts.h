#pragma once
#include <string>

namespace attnscope::catalog {

// An address within a buffer, as host code writes it: "p + n" or "&p[n]". Both parts are empty for anything else, such
// as a cast pointer, whose elements have another size, or a sum that is only part of the expression.
struct AddressParts {
  std::string pointer, offset;  // the offset in elements
};
AddressParts address_parts(const std::string& text);

// True for "p - n", also in brackets.
bool is_address_before(const std::string& text);
inline constexpr const char* kAddressBefore =
    "which is before what the pointer leads to, and a manifest names no address before a buffer's begin";

}  // namespace attnscope::catalog
