#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "catalog/cuda_source.h"
#include "catalog/host_source.h"
#include "catalog/pointer_use.h"

namespace attnscope::catalog {

// A source file as import reads it.
struct ReadSource {
  std::string text;
  CudaSource cuda;
  HostSource host;
  size_t own = SIZE_MAX;  // bytes of the file itself; behind them is another file's text, which launches its kernels
  std::string_view own_text() const { return std::string_view(text).substr(0, own); }
};
// `launcher`: the text of another file, of which only the host code counts.
ReadSource read_source(const std::string& source, const std::string& launcher = "");

bool includes_cutlass(const CudaSource& source);

using PointerUses = std::map<std::string, PointerUse, std::less<>>;
// What a kernel's own text does with its pointers, by parameter; empty if no output is visible, because a macro hides
// it.
PointerUses uses_of(const ReadSource& source, const SourceKernel& kernel);
// The use of one parameter. A pointer to const is only read; a pointer about which nothing is known may be read and
// written.
PointerUse use_of(const PointerUses& uses, const SourceParameter& parameter);

}  // namespace attnscope::catalog
