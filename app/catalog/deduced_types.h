#pragma once
#include <map>
#include <string>

#include "catalog/read_source.h"

namespace attnscope::catalog {

// The structs and classes of the source that a launch hands to parameters of a template's type, by the template's
// parameter: F is `Scale<float>` for `Scale<float> f(2); k<<<1, 32>>>(f, x);`. A name whose declaration is not seen, or
// whose type is another, has no entry.
std::map<std::string, std::string> deduced_types(const ReadSource& source, const SourceKernel& kernel,
                                                 const SourceLaunch* launch);

}  // namespace attnscope::catalog
