#pragma once
#include <string>

#include "compile/compiler.h"

namespace attnscope::compile {

// A variant as MessagePack, for the disk cache and for sending between processes.
std::string pack_variant(const Variant& variant);
// The bytes come from outside: anything unexpected is a Failure (Stage::store).
Result<Variant> unpack_variant(const std::string& bytes);

}  // namespace attnscope::compile
