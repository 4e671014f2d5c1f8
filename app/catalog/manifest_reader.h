#pragma once
#include <string>
#include <vector>

#include "core/json.h"
#include "core/kernel.h"

namespace attnscope::catalog {

// The parts of a manifest, read into `kernel`; each fault goes to `read`, which names file and pointer.
void read_identity(JsonReader& read, Kernel& kernel);
void read_knobs(JsonReader& read, Kernel& kernel);
void read_supports(JsonReader& read, Kernel& kernel);
void read_launch(JsonReader& read, Kernel& kernel);
void read_shared_map(JsonReader& read, Kernel& kernel);
void read_arguments(JsonReader& read, Kernel& kernel);
void read_restrictions(JsonReader& read, const char* key, std::vector<Restriction>& out);

// For kernels that are not attention (workload_reader.cpp): sizes, buffers, args and reference.
void read_workload(JsonReader& read, Kernel& kernel);

// Shared by the readers: at most 100 letters, digits, '_', '-' and '.'.
bool is_word(const std::string& name);
// The list at `key`; null if it is missing, not a list, or longer than `most`.
const Json* array_at(JsonReader& read, const char* key, size_t most);
// An expression may also be an integer.
void expression_at(JsonReader& read, const std::string& key, const Json& json, std::string& out);

}  // namespace attnscope::catalog
