#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "catalog/host_values.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {

// By a function's name: the places of its parameters that are references which it may write through.
using WrittenParameters = std::map<std::string_view, std::set<size_t>>;
WrittenParameters written_parameters(const std::vector<CppToken>& tokens, const CppBrackets& brackets);

// Reads `f(n, x)`, at the f, where f takes x as a reference and may give it another value.
void read_call(const HostToken& place, const WrittenParameters& written, HostValues& values);

}  // namespace attnscope::catalog
