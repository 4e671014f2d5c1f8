#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "catalog/project.h"

namespace attnscope::catalog {

// The nearest source of the project, other than those in `without`, that has a function of this name with a body.
std::optional<std::filesystem::path> file_that_defines(const std::string& name, Project& project,
                                                       const std::set<std::filesystem::path>& without);

}  // namespace attnscope::catalog
