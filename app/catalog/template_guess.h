#pragma once
#include <string>

#include "catalog/cuda_source.h"

namespace attnscope::catalog {

// How many different guesses there are for the arguments of a template that nothing says.
inline constexpr int kTemplateGuesses = 12;

// The guess with this number, 0…kTemplateGuesses - 1, for one parameter. The first one goes by the names that kernels
// have in common (BK, NUM_WARPS, STAGES); the others give all numbers the same value. Empty
// for an enumeration.
std::string template_guess(const TemplateParameter& parameter, int number);

}  // namespace attnscope::catalog
