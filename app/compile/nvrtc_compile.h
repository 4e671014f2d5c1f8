#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "compile/include_closure.h"
#include "core/result.h"
#include "cuda_api/nvrtc.h"

namespace attnscope::compile {

// Compiles a request with NVRTC, on a thread that may read only `includes`. `name`: the source's, as the log shows it;
// `options`: nvrtc_options(); `folders`: where it looks for headers. A source that NVRTC refuses, also without what
// only its host side needs, is an output with compiled = false.
Result<cuda_api::NvrtcOutput> compile_with_nvrtc(const cuda_api::Nvrtc& nvrtc, const CompileRequest& request,
                                                 const std::string& name, std::vector<std::string> options,
                                                 const std::vector<std::filesystem::path>& folders,
                                                 const IncludeClosure& includes);

}  // namespace attnscope::compile
