#pragma once
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "core/json.h"
#include "core/kernel.h"

namespace attnscope::catalog {

inline constexpr const char* kMachineCodeKey = "cubin";  // instead of "source"

// Reads a part of a manifest into `kernel`; each fault goes to `read`, which names file and pointer.
using ReadPart = void(JsonReader& read, Kernel& kernel);
ReadPart read_identity;
ReadPart read_knobs;
ReadPart read_supports;
ReadPart read_launch;
ReadPart read_launch_shape;  // the keys inside "launch"
ReadPart read_shared_map;
ReadPart read_arguments;
ReadPart read_softmax;  // after the source and the knobs (softmax_places.cpp)
ReadPart read_phases;   // after the source (source_phases.cpp)
void read_restrictions(JsonReader& read, const char* key, std::vector<Restriction>& out);

// For kernels that are not attention (workload_reader.cpp): sizes, buffers, args and reference.
ReadPart read_workload;
// Its "fragment", after the buffers (clocked_fragment.cpp).
ReadPart read_fragment;
// Its arguments, after the buffers and sizes.
ReadPart read_workload_arguments;

// Instead of entry, launch, shared_map and args: the launches of a program, and what the host does between them
// (program_reader.cpp).
ReadPart read_program;

// Used by several readers: at most 100 letters, digits, '_', '-' and '.'.
bool is_word(const std::string& name);
// A C++ name as nvrtcAddNameExpression accepts it: attention<64, float>, ns::kernel.
bool is_entry(const std::string& name);
// The list at `key`; null if it is missing, not a list, or longer than `most`.
const Json* array_at(JsonReader& read, const char* key, size_t most);
// An expression may also be an integer.
void expression_at(JsonReader& read, const std::string& key, const Json& json, std::string& out);

}  // namespace attnscope::catalog
