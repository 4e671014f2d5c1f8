#pragma once
#include <optional>
#include <string>

#include "core/kernel.h"
#include "core/result.h"

namespace attnscope::catalog {

// Why `name`, which a person gives as a size, is none of the kernel's: it is a knob, a parameter for which the manifest
// passes a value, or a constant of the source. The hint says where to change it. Empty: the kernel has no such name.
std::optional<Failure> why_no_size(const Kernel& kernel, const std::string& name);

}  // namespace attnscope::catalog
