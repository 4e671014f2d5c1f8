#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::catalog {

struct UnsetConstant {
  std::string name;
  std::string type;                  // "float"
  std::vector<std::string> extents;  // as written; empty for a single value
};

// The source's __constant__ variables without an initializer, without duplicates. The host code sets them; here they
// hold zeros unless a buffer of the manifest has their contents.
std::vector<UnsetConstant> unset_constants(std::string_view source);

}  // namespace attnscope::catalog
