#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "compile/cubin.h"

namespace attnscope::compile {

// XXH3-128 in hex over everything that determines what runs (text, constant banks, initial data, shared size, parameter
// layout) and nothing else (no line table, path or symbol name): two variants with equal code_hash have the same
// machine code. Banks that no instruction names do not count, nor do variables whose addresses are only in such banks,
// because NVRTC keeps every namespace-scope constant of the source as data, used or not.
std::string code_hash(const CubinKernel& kernel);

// True if an instruction of `text` may read constant bank `bank`. Never false if one does: parse_nvdisasm checks it for
// every constant operand.
bool may_read_bank(std::span<const std::byte> text, uint32_t bank);

}  // namespace attnscope::compile
