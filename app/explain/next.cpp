#include "explain/next.h"

#include <algorithm>
#include <cmath>

#include "catalog/element_types.h"
#include "catalog/launch.h"
#include "catalog/validate.h"
#include "core/cpp_tokens.h"
#include "explain/explain.h"
#include "explain/replayed.h"
#include "explain/rules.h"
#include "explain/shared_out.h"
#include "explain/words.h"

namespace attnscope::explain {
namespace {

// A neighbour is proposed if it has clearly more of what is wanted, and not less of the rest.
constexpr double kClearlyMore = 1.1, kNotLess = 0.99;

struct Placed {
  double warps = 0, even = 0;
  SharedOut out{};
};

// Resources other than shared memory are left unchanged. Empty: the config cannot be launched, or does not fit.
std::optional<Placed> placed(const Facts& facts, const Config& config) {
  const auto launch = catalog::launch_of(facts.kernel, facts.seen.experiment.problem, config);
  if (!launch) return std::nullopt;
  VariantInfo variant = *facts.seen.variant;
  if (launch->static_shared) variant.static_shared_bytes = *launch->static_shared;
  variant.dynamic_shared_bytes = launch->dynamic_shared;
  const Occupancy occupancy = model::occupancy(facts.spec, variant, launch->shape);
  if (occupancy.ctas_per_sm == 0) return std::nullopt;
  return Placed{warps_at_once(facts.spec, occupancy),
                evenness(facts.spec, occupancy),
                {double(launch->shape.ctas()), double(launch->shape.warps())}};
}

// What the other launch saves by sharing a small grid out, us.
double saved_by_sharing(const Facts& facts, const Placed& other) {
  const bool is_small = facts.seen.occupancy->total_ctas < facts.spec.sms;
  return is_small ? std::max(0.0, time_us(facts) - us_if_shared_out(facts, other.out)) : 0;
}

// The share of the idle SMs' time that the other launch saves.
double share_saved(const Facts& facts, const Placed& now, const Placed& other) {
  const bool is_small = facts.seen.occupancy->total_ctas < facts.spec.sms;
  if (!is_small) return (1 - now.even / other.even) / (1 - now.even);
  const double work = time_us(facts) - term_us(facts, TermKind::launch);
  return saved_by_sharing(facts, other) / ((1 - now.even) * work);
}

// More warps: the neighbour with the fewest that are clearly more, because each takes registers and work from the
// others. Even SMs: the neighbour with the most even ones.
std::optional<Proposal> by_launch(const Facts& facts, Wants wants, const std::vector<Config>& configs) {
  const Observation& seen = facts.seen;
  if (!seen.variant || !seen.occupancy) return std::nullopt;
  const Placed now{warps_at_once(facts.spec, *seen.occupancy), evenness(facts.spec, *seen.occupancy), {}};
  const bool evens = wants == Wants::even_sms;
  std::optional<Proposal> proposal;
  Placed best;
  for (const Config& config : configs) {
    const auto other = placed(facts, config);
    if (!other || other->warps < kNotLess * now.warps || other->even < kNotLess * now.even) continue;
    if ((evens ? other->even / now.even : other->warps / now.warps) < kClearlyMore) continue;
    if (proposal && (evens ? other->even <= best.even : other->warps >= best.warps)) continue;
    const double share = evens ? share_saved(facts, now, *other) : 1;
    if (evens && !(share * (1 - now.even) > kSilent)) continue;  // no gain is left
    best = *other;
    proposal = {difference(seen.experiment.config, config), share, evens ? 0 : saved_by_sharing(facts, *other)};
  }
  return proposal;
}

// The width of the worst narrow access as a share of the widest possible.
double widest_times(const Facts& facts) {
  double width = kWidest;
  for (const Instruction& one : facts.code)
    if (is_narrow(one)) width = std::min(width, one.width);
  return kWidest / width;
}

// Rows that are longer by so many elements would misalign an access that is wider than an element: a float of padding
// and a float4.
bool misaligns(const Facts& facts, const std::string& knob, int64_t padding) {
  return facts.shared && padding * padded_element(facts.kernel, knob) % row_alignment(*facts.shared) != 0;
}

std::optional<Proposal> by_use(const Facts& facts, Wants wants, const std::vector<Config>& configs) {
  const std::map<std::string, int64_t>& held = facts.seen.experiment.config.knobs;
  std::optional<Proposal> proposal;
  int64_t best = 0;
  for (const Config& config : configs) {
    const Next change = difference(facts.seen.experiment.config, config);
    if (change.set.size() != 1) continue;
    const auto& [knob, value] = *change.set.begin();
    const auto before = held.find(knob);
    if (before == held.end()) continue;
    const int64_t now = before->second;
    if (wants == Wants::layout) {
      const bool flips = is_swizzle(facts.kernel, knob);
      if (now != 0 || value <= 0 || !(flips || is_padding(facts.kernel, knob))) continue;
      if (!flips && misaligns(facts, knob, value)) continue;
      if (proposal && value >= best) continue;  // the smallest padding
    } else {
      if (value <= now || double(value) > double(now) * widest_times(facts) || !is_vector(facts.kernel, knob)) continue;
      if (proposal && value <= best) continue;  // the widest access
    }
    best = value;
    proposal = {change};
  }
  return proposal;
}

// By the manifest: the neighbour that makes most of the problem's products on Tensor Cores.
std::optional<Proposal> by_products(const Facts& facts, const std::vector<Config>& configs) {
  const Experiment& experiment = facts.seen.experiment;
  const auto products = [&](const Config& config) {
    const auto made = catalog::tensor_products_of(facts.kernel, experiment.problem, config);
    return made ? made->value_or(0) : 0;
  };
  std::optional<Proposal> proposal;
  int64_t most = products(experiment.config);
  for (const Config& config : configs) {
    const int64_t made = products(config);
    if (made <= most) continue;
    most = made;
    proposal = {difference(experiment.config, config)};
  }
  return proposal;
}

using Kind = CppToken::Kind;

bool ends_statement(const CppToken& token) {
  return token.is(";") || token.is("{") || token.is("}") || token.kind == Kind::line;
}

// The functions whose bodies contain the knob.
std::vector<std::string_view> functions_with(const std::vector<CppToken>& tokens, const std::string& knob) {
  const CppBrackets brackets(tokens);
  std::vector<std::string_view> functions;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != Kind::word || !tokens[i + 1].is("(")) continue;
    const size_t body = brackets.closing(i + 1) + 1;
    if (body >= tokens.size() || !tokens[body].is("{")) continue;
    const size_t end = brackets.closing(body);
    for (size_t at = body; at < end && at < tokens.size(); ++at)
      if (tokens[at].kind == Kind::word && tokens[at].text == knob) {
        functions.push_back(tokens[i].text);
        break;
      }
  }
  return functions;
}

// Calls visit(first, end) for each statement; returns true as soon as it does.
template <class Visit>
bool any_statement(const std::vector<CppToken>& tokens, Visit visit) {
  for (size_t first = 0, i = 0; i < tokens.size(); ++i) {
    if (!ends_statement(tokens[i])) continue;
    if (visit(first, i)) return true;
    first = i + 1;
  }
  return false;
}

}  // namespace

double warps_at_once(const DeviceSpec& spec, const Occupancy& occupancy) {
  const double of_cta = double(occupancy.warps_per_sm) / double(std::max<int64_t>(1, occupancy.ctas_per_sm));
  const double ctas = double(occupancy.total_ctas) / double(std::max<int64_t>(1, spec.sms));
  return std::min(double(occupancy.warps_per_sm), ctas * of_cta);
}

double evenness(const DeviceSpec& spec, const Occupancy& occupancy) {
  const double mean = double(occupancy.total_ctas) / double(std::max<int64_t>(1, spec.sms));
  return mean > 0 ? mean / std::ceil(mean) : 0;
}

// True if the knob is in a statement with an XOR, or in a function that such a statement calls.
bool is_swizzle(const Kernel& kernel, const std::string& knob) {
  const auto tokens = cpp_tokens(kernel.source);
  const auto functions = functions_with(tokens, knob);
  return any_statement(tokens, [&](size_t first, size_t end) {
    bool flips = false, uses = false;
    for (size_t i = first; i < end; ++i) {
      flips |= tokens[i].is("^");
      if (tokens[i].kind == Kind::word) uses |= tokens[i].text == knob || std::ranges::count(functions, tokens[i].text);
    }
    return flips && uses;
  });
}

bool is_padding(const Kernel& kernel, const std::string& knob) {
  for (const SharedPart& part : kernel.shared_map)
    if (adds(part.bytes, knob)) return true;
  const auto tokens = cpp_tokens(kernel.source);
  return any_statement(tokens, [&](size_t first, size_t end) {
    bool is_length = false, added = false;
    for (size_t i = first; i < end; ++i) {
      is_length |= tokens[i].is("constexpr") || tokens[i].is("__shared__");
      added |= i > first && tokens[i - 1].is("+") && tokens[i].kind == Kind::word && tokens[i].text == knob;
    }
    return is_length && added;
  });
}

int64_t padded_element(const Kernel& kernel, const std::string& knob) {
  const auto tokens = cpp_tokens(kernel.source);
  std::string_view added = knob;  // or the length that the knob is added to
  int64_t bytes = 0;
  any_statement(tokens, [&](size_t first, size_t end) {
    size_t shared = end, name = end;  // name: what the statement gives a value
    bool uses = false;
    for (size_t i = first; i < end; ++i) {
      if (tokens[i].is("__shared__")) shared = i;
      if (tokens[i].is("=") && name == end) name = i - 1;
      uses |= tokens[i].kind == Kind::word && i > first && tokens[i].text == added;
    }
    if (!uses) return false;
    if (shared == end) {
      if (name != end && name > first) added = tokens[name].text;
      return false;
    }
    for (size_t i = shared + 1; i + 1 < end && bytes == 0; ++i) {
      const auto element = catalog::element_of(std::string(tokens[i].text));
      if (element) bytes = int64_t(bytes_of(element->type)) * element->lanes;
    }
    return true;
  });
  return bytes;
}

// True for `using T = …` with the knob, or below an `#if` that names it.
bool is_vector(const Kernel& kernel, const std::string& knob) {
  const auto tokens = cpp_tokens(kernel.source);
  bool below = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == Kind::line) {
      const std::string_view text = tokens[i].text;
      if (text.find("endif") != text.npos) below = false;
      if (text.find("if ") != text.npos) below = names(text, knob);
    }
    if (!tokens[i].is("using")) continue;
    if (below) return true;
    for (; i < tokens.size() && !tokens[i].is(";"); ++i)
      if (tokens[i].kind == Kind::word && tokens[i].text == knob) return true;
  }
  return false;
}

std::optional<Proposal> proposal(const Facts& facts, Wants wants) {
  if (wants == Wants::source) return std::nullopt;
  const Experiment& experiment = facts.seen.experiment;
  const auto configs = neighbours(facts.kernel, experiment.problem, experiment.config, facts.spec);
  if (wants == Wants::tensor) return by_products(facts, configs);
  return wants == Wants::layout || wants == Wants::wide ? by_use(facts, wants, configs)
                                                        : by_launch(facts, wants, configs);
}

}  // namespace attnscope::explain
