#pragma once
#include <map>
#include <optional>
#include <string>

#include "catalog/read_source.h"

namespace attnscope::catalog {

// A type that the launching function has its own name for, in words that mean the same everywhere.
struct LaunchedAlias {
  std::string type;                            // "app::Tiles<128, 64>"
  std::map<std::string, std::string> numbers;  // of the template parameters of the function and the type
};
// Of `template <int M> void run() { using Shape = Tiles<M, 64>; k<Shape><<<…>>>(…); }`, where the source names run<128>
// in the kernel's namespace ("app::"). Empty if the function declares no such name, or nothing says its numbers.
std::optional<LaunchedAlias> launched_alias(const ReadSource& source, const SourceLaunch& launch,
                                            const std::string& name, const std::string& kernels_namespace);

}  // namespace attnscope::catalog
