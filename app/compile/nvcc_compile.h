#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "compile/include_closure.h"
#include "core/result.h"
#include "cuda_api/nvcc.h"
#include "cuda_api/nvrtc.h"

namespace attnscope::compile {

// Compiles a request with nvcc; the output is as NVRTC gives it. `name`: the source's, as the log shows it; `options`:
// nvcc_options(); `folders`: of the header sets that the manifest names. nvcc and what it starts may read themselves,
// their headers, `includes`, and the system's programs and headers; they write one folder, which goes with the run,
// open no socket, and end after `most_ms`. A source that nvcc refuses, also without what only its host side needs, is
// an output with compiled = false. Failure (Stage::compile, deadline, internal): an include that leads elsewhere, or
// why nvcc could not do its work.
Result<cuda_api::NvrtcOutput> compile_with_nvcc(const cuda_api::Nvcc& nvcc, const CompileRequest& request,
                                                const std::string& name, const std::vector<std::string>& options,
                                                const std::vector<std::filesystem::path>& folders,
                                                const IncludeClosure& includes, int most_ms);

// What nvcc compiles: the kernel's text with its own line numbers. If the entry is a template's instance or in a
// namespace, a template of our own follows, of which one instance has the entry as its argument: that makes nvcc
// compile the entry, and the instance's symbol contains the entry's.
std::string with_entry_marked(const std::string& source, const std::string& name, const std::string& entry);
// The entry's symbol, among those of the machine code of such a text; empty if there is no mark.
std::string marked_symbol(const std::vector<std::string>& symbols);

}  // namespace attnscope::compile
