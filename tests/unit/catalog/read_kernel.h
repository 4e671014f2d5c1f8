#pragma once
#include <gtest/gtest.h>

#include <string>

#include "catalog/import.h"
#include "core/json.h"

namespace attnscope::catalog {

// What import makes of a text.
struct Read {
  Imported imported;
  Json json;  // its manifest
};

// `entry`: empty for the kernel that the host code launches.
inline Read read_kernel(const std::string& source, const std::string& entry) {
  auto imported = import_kernel("k.cu", source, entry);
  if (!imported) {
    ADD_FAILURE() << imported.error().message << "\n" << source;
    return {};
  }
  return {*imported, *parse_json(imported->manifest, "k.json")};
}

}  // namespace attnscope::catalog
