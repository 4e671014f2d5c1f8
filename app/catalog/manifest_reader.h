#pragma once
#include <string>
#include <vector>

#include "core/json.h"
#include "core/kernel.h"

namespace attnscope::catalog {

// The parts of a manifest, read into `kernel`; each fault lands in `read`, which names file and pointer.
void read_identity(JsonReader& read, Kernel& kernel);
void read_knobs(JsonReader& read, Kernel& kernel);
void read_supports(JsonReader& read, Kernel& kernel);
void read_launch(JsonReader& read, Kernel& kernel);
void read_shared_map(JsonReader& read, Kernel& kernel);
void read_arguments(JsonReader& read, Kernel& kernel);
void read_restrictions(JsonReader& read, const char* key, std::vector<Restriction>& out);

}  // namespace attnscope::catalog
