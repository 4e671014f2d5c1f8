#pragma once
#include <filesystem>
#include <string>

#include "catalog/manifest_reader.h"
#include "core/config.h"
#include "core/kernel.h"
#include "core/result.h"
#include "core/workload.h"

namespace attnscope::catalog {

// A manifest's "reference" may name another kernel of its folder instead of a kind: {"kernel": "naive", "config": …}.
// This puts that kernel's manifest and source into the text, as "content": the text is then complete wherever it is
// sent, and its hash covers both kernels. Any other manifest is returned as it is. `path` is the manifest's own.
// Failure (Stage::catalog): there is no such kernel in the folder, or its files cannot be read.
Result<std::string> with_reference_kernel(const std::string& manifest, const std::filesystem::path& path);

// Whether the manifest's "reference" names a kernel.
bool names_reference_kernel(const Json& manifest);

// Reads it into kernel.reference_kernel. A fault: itself, a kernel whose own reference is a kernel (so there are no
// cycles), or one of another problem, without one of the outputs, or with an input that this kernel does not have.
ReadPart read_reference_kernel;

// The reference's complete config.
Result<Config> config_of(const KernelAsReference& reference);

// The reference's buffers for a problem, once they suit those of `own`: what both have has as many elements. Failure
// (Stage::catalog) at the kernel's "reference".
Result<Workload> reference_workload(const Kernel& kernel, const Workload& own, const Problem& problem);

}  // namespace attnscope::catalog
