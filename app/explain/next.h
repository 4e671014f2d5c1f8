#pragma once
#include <optional>

#include "explain/facts.h"

namespace attnscope::explain {

// What removes a cause. A rule declares it, and the proposal looks for a knob that does it.
enum class Wants {
  source,    // only a change of the source
  tensor,    // more products by Tensor Cores
  warps,     // more warps on an SM, so that others can work meanwhile
  even_sms,  // CTAs that are distributed more evenly over the SMs
  layout,    // another layout in shared memory: a swizzle, or padded rows
  wide       // wider accesses
};

struct Proposal {
  Next next;
  double share = 1;  // of the cause's time that it removes, as far as the launch shows
  double saved = 0;  // us that it saves whatever the cause, because a small grid's work goes to more SMs
};

// The knob with the wanted effect, as far as launch, occupancy, manifest and source show it; nothing is run. Empty: no
// neighbour has it without a known loss, such as fewer warps for more even SMs.
std::optional<Proposal> proposal(const Facts& facts, Wants wants);

// Warps on an SM; a small grid has fewer than fit.
double warps_at_once(const DeviceSpec& spec, const Occupancy& occupancy);
// The share of the SMs' time in which they have CTAs, if all take equally long: CTAs of the mean SM divided by those of
// the busiest.
double evenness(const DeviceSpec& spec, const Occupancy& occupancy);

// How the kernel uses a knob, by its manifest and its source.
bool is_swizzle(const Kernel& kernel, const std::string& knob);  // it switches an XOR in an address
bool is_padding(const Kernel& kernel, const std::string& knob);  // it is added to a row's length
// The bytes of an element of those rows, as the array's declaration says; 0: unknown.
int64_t padded_element(const Kernel& kernel, const std::string& knob);
bool is_vector(const Kernel& kernel, const std::string& knob);  // it selects a type

}  // namespace attnscope::explain
