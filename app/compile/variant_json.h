#pragma once
#include <string>

#include "compile/compiler.h"

namespace attnscope::compile {

// A variant as MessagePack, for the cache on disk and for the way between processes.
std::string pack_variant(const Variant& variant);
// Bytes from outside: anything unexpected is a Failure (Stage::store).
Result<Variant> unpack_variant(const std::string& bytes);

}  // namespace attnscope::compile
