#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "catalog/cuda_source.h"
#include "catalog/host_scope.h"
#include "core/workload.h"

namespace attnscope::catalog {

// The members of a struct of the source, which a template's arguments may follow; null if it is none, or not a plain
// one.
const std::vector<SourceParameter>* members_of(const CudaSource& source, const std::string& type);

// What keeps a struct from being passed, as its declaration shows it: "has a virtual function". Empty if nothing does.
std::string why_not_plain(const std::string& text, const std::string& type);

// A member that is a pointer, a number or a vector of numbers; also of a struct in the struct.
struct StructLeaf {
  std::string path, name;  // "dims.rows" and "p_dims.rows"
  SourceParameter member;
  ElementType type = ElementType::i32;
  size_t at = 0, bytes = 8, lanes = 1;  // at: from the struct's begin; bytes: of a lane
  bool named = true;                    // false: an array's element, or within one
};

inline constexpr size_t kMostStructLeaves = 200;  // a manifest accepts 256 fields, and padding takes some
inline constexpr size_t kStructAddressBytes = 8;
inline size_t aligned(size_t value, size_t to) { return (value + to - 1) / to * to; }

// The members as C++ lays them out, and the struct's bytes; empty if one cannot be passed. `name`: of the parameter.
std::optional<size_t> lay_out(const CudaSource& source, const HostScope& scope, const std::string& name,
                              const std::vector<SourceParameter>& members, std::vector<StructLeaf>& leaves);

}  // namespace attnscope::catalog
