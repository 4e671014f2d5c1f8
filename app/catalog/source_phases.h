#pragma once
#include "core/kernel.h"
#include "core/source_pieces.h"

namespace attnscope::catalog {

// The pieces of the kernel's source, with the lines that its manifest's "phases" name.
SourcePieces pieces_of(const Kernel& kernel);

}  // namespace attnscope::catalog
