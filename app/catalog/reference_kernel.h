#pragma once
#include <filesystem>
#include <string>

#include "catalog/manifest_reader.h"
#include "core/config.h"
#include "core/kernel.h"
#include "core/result.h"
#include "core/workload.h"

namespace attnscope::catalog {

// A manifest's "reference" may name another kernel in its folder instead of a kind: {"kernel": "naive", "config": …}.
// This inserts that kernel's manifest and source into the text, as "content", so that the text is complete wherever it
// is sent, and its hash covers both kernels. Any other manifest is returned unchanged. `path` is the manifest's own.
// Failure (Stage::catalog): there is no such kernel in the folder, or its files cannot be read.
Result<std::string> with_reference_kernel(const std::string& manifest, const std::filesystem::path& path);

// True if the manifest's "reference" names a kernel.
bool names_reference_kernel(const Json& manifest);

// Reads it into kernel.reference_kernel. Refused are the kernel itself, a kernel whose own reference is a kernel (so
// that there are no cycles), and one with another problem, without one of the outputs, or with an input that this
// kernel does not have.
ReadPart read_reference_kernel;

// The reference's complete config.
Result<Config> config_of(const KernelAsReference& reference);

// The reference's buffers for a problem, checked against those of `own`: buffers that both have must have equally many
// elements. Failure (Stage::catalog) at the kernel's "reference".
Result<Workload> reference_workload(const Kernel& kernel, const Workload& own, const Problem& problem);

}  // namespace attnscope::catalog
