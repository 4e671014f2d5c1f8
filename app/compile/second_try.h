#pragma once
#include <functional>
#include <string>

#include "core/result.h"
#include "cuda_api/nvrtc.h"

namespace attnscope::compile {

// How a compiler tries again what it refused: a file for nvcc may have code that only its host side needs.
struct SecondTry {
  std::function<Result<cuda_api::NvrtcOutput>()> compile;            // what the kernel needs of the source
  std::function<Result<void>(const std::string& header)> add_empty;  // an empty text for a missing header
};

// Compiles again, with empty texts for the headers that `source` names and that are missing. `refused` becomes the
// output that compiles, whose log ends with `note` and says which headers are missing. It keeps its refusal if nothing
// does. Failure: add_empty()'s.
Result<void> try_again(const std::string& source, const SecondTry& next, std::string note,
                       cuda_api::NvrtcOutput& refused);

}  // namespace attnscope::compile
