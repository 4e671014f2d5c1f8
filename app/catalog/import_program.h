#pragma once
#include <string>

#include "catalog/host_program.h"
#include "catalog/import.h"
#include "catalog/import_parameters.h"

namespace attnscope::catalog {

// A manifest of everything that a host function launches, in order, with its memsets and copies. The Failure
// (Stage::input) names the first obstacle and its line: a launch in a loop or under a condition that cannot be decided,
// an address within a buffer, a library's call between launches, a copy of part of a buffer, …
Result<Imported> import_program(const std::string& source_name, const ReadSource& source, const HostFunction& function,
                                const std::string& id);

// The function that makes a program of the launch at byte `at`: the one around it, or one of its callers. Null: the
// launch is a single kernel.
const HostFunction* program_around(const ReadSource& source, const HostScope& scope, size_t at);

}  // namespace attnscope::catalog
