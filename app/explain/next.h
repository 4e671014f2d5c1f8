#pragma once
#include <optional>

#include "explain/facts.h"

namespace attnscope::explain {

// What takes a cause away. Rules say it of themselves, and a knob that does it is looked for.
enum class Wants {
  source,    // only a change of the source
  warps,     // more warps on an SM, so that others have work meanwhile
  even_sms,  // CTAs that share out more evenly over the SMs
  layout,    // another layout in shared memory: a swizzle, or padded rows
  wide       // wider accesses
};

struct Proposal {
  Next next;
  double share = 1;  // of the cause's time that it takes away, as far as the launch says
};

// The knob that does what is wanted, as far as launch, occupancy, manifest and source say; nothing is run. None: no
// neighbour does it without a loss that is known, such as fewer warps for more even SMs.
std::optional<Proposal> proposal(const Facts& facts, Wants wants);

// Warps on an SM, of which a small grid has fewer than fit.
double warps_at_once(const DeviceSpec& spec, const Occupancy& occupancy);
// The share of the SMs' time in which they have CTAs, if all take equally long: CTAs of the mean SM over those of the
// busiest.
double evenness(const DeviceSpec& spec, const Occupancy& occupancy);

// What the kernel uses a knob for, by its manifest and its source.
bool is_swizzle(const Kernel& kernel, const std::string& knob);  // it switches an XOR in an address
bool is_padding(const Kernel& kernel, const std::string& knob);  // it is added to a row's length
bool is_vector(const Kernel& kernel, const std::string& knob);   // it chooses a type

}  // namespace attnscope::explain
