#pragma once
#include <vector>

#include "core/config.h"
#include "explain/facts.h"

namespace attnscope::explain {

// The findings of every rule, ranked: errors first, then by the estimated gain. docs/explaining.md describes the rules.
std::vector<Finding> findings_of(const Facts& facts);

// Ranks findings: errors, then the highest gain (the tried one if there is one), then warnings before notes.
void rank(std::vector<Finding>& findings);

// Legal configs that differ from `config` in one knob and match no warning of the manifest.
std::vector<Config> neighbours(const Kernel& kernel, const Problem& problem, const Config& config,
                               const DeviceSpec& spec);

// The knobs that differ, with their values in `to`.
Next difference(const Config& from, const Config& to);

}  // namespace attnscope::explain
