#include "core/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "core/experiment_fields.h"

namespace attnscope {
namespace {

// Limits of what is accepted. A tensor above 2^34 elements would not fit any device that this program names.
constexpr double kMaxElements = 17179869184.0;
constexpr int64_t kMaxSize = int64_t{1} << 40;  // of a size of another kind; available memory limits its buffers
constexpr size_t kMaxSizes = 32;

}  // namespace

uint32_t bytes_of(DType dtype) { return dtype == DType::f32 ? 4 : 2; }

double Problem::effective_scale() const { return scale ? *scale : 1.0 / std::sqrt(static_cast<double>(head_dim)); }

double Problem::flops() const {
  if (!is_attention()) {
    const bool product = kind == ProblemKind::gemm && sizes.contains("M") && sizes.contains("N") && sizes.contains("K");
    const double products = sizes.contains("B") ? double(sizes.at("B")) : 1;
    return product ? 2.0 * products * double(sizes.at("M")) * double(sizes.at("N")) * double(sizes.at("K")) : 0;
  }
  const double full = 4.0 * double(batch) * double(heads) * double(seq_q) * double(seq_k) * double(head_dim);
  return causal == Causal::none ? full : full / 2;
}

int64_t visible_keys(const Problem& problem, int64_t i) {
  if (problem.causal == Causal::none) return problem.seq_k;
  return std::clamp<int64_t>(i + first_visible(problem), 0, problem.seq_k);
}

int64_t first_visible(const Problem& problem) {
  return problem.causal == Causal::bottom_right ? problem.seq_k - problem.seq_q + 1 : 1;
}

Json to_json(const Problem& problem) { return write_fields(problem); }

void FieldsOf<Problem>::check(JsonReader& read, Problem& problem) {
  if (problem.is_attention() && !read.has("kv_heads")) problem.kv_heads = problem.heads;
  if (auto valid = validate(problem, read.where()); !valid) read.adopt(valid.error());
}

Result<Problem> problem_from_json(const Json& json, const std::string& where) {
  return read_fields<Problem>(json, where, Stage::input);
}

Result<void> validate(const Problem& p, const std::string& where) {
  auto refuse = [&](const std::string& key, const std::string& reason, const std::string& hint) {
    return fail(Stage::input, where + "/" + key + ": " + reason, hint);
  };
  if (p.sizes.size() > kMaxSizes)
    return refuse("sizes", fmt::format("holds {} sizes; at most {} are taken", p.sizes.size(), kMaxSizes), "");
  for (const auto& [name, value] : p.sizes)
    if (value < 0 || value > kMaxSize)
      return refuse("sizes/" + name, fmt::format("{} is outside 0…2^40", value), "Choose a size in that range.");
  std::optional<Failure> outside;
  for_each_size([&](const auto& field) {
    const int64_t value = p.*field.member;
    const auto low = static_cast<int64_t>(field.limits.low), high = static_cast<int64_t>(field.limits.high);
    if (!outside && (value < low || value > high))
      outside = out_of_range(Stage::input, where, field.key, value, low, high);
  });
  if (outside) return fail(*outside);
  if (p.heads % p.kv_heads != 0)
    return refuse("kv_heads", fmt::format("{} does not divide heads = {}", p.kv_heads, p.heads),
                  "Query heads share key heads evenly: choose a divisor of heads.");
  if (p.scale && !std::isfinite(*p.scale))
    return refuse("scale", "must be finite", "Leave it out for 1/sqrt(head_dim).");
  const double largest = double(p.batch) * double(p.heads) * double(std::max(p.seq_q, p.seq_k)) * double(p.head_dim);
  if (largest > kMaxElements)
    return refuse("seq_q", fmt::format("a tensor of {:.3g} elements is over 2^34", largest), "Choose smaller sizes.");
  return {};
}

namespace {

std::string known_keys(const Problem& base) {
  if (base.is_attention()) return "Known: B, H, S, D, dist and the JSON keys.";
  std::string known = "Known:";
  for (const auto& [name, unused] : base.sizes) known += " " + name + ",";
  return known + " dist, seed.";
}

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<Problem> problem_from_text(std::string_view text, Problem base, const WhyUnknown& why_unknown) {
  static const std::map<std::string, std::vector<std::string>> kShort{{"B", {"batch"}},
                                                                      {"H", {"heads", "kv_heads"}},
                                                                      {"S", {"seq_q", "seq_k"}},
                                                                      {"D", {"head_dim"}},
                                                                      {"dist", {"distribution"}}};
  Json json = to_json(base);
  const std::string where = "--problem";
  const bool attention = base.is_attention();
  std::map<std::vector<std::string>, std::string> given_as;  // what is given, and by which key
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string part(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(Stage::input, where + ": \"" + part + "\" is not KEY=VALUE",
                  "Write B=1,H=8,S=512,D=64,causal=none,seed=0.");
    const std::string key = part.substr(0, equals), value = part.substr(equals + 1);
    auto found = attention || key == "dist" ? kShort.find(key) : kShort.end();
    const std::vector<std::string> names = found == kShort.end() ? std::vector<std::string>{key} : found->second;
    if (const auto [before, fresh] = given_as.try_emplace(names, key); !fresh)
      return fail(
          Stage::input,
          where + "/" + key + ": is given twice" + (before->second == key ? "" : ", here and as " + before->second),
          "Give each size once.");
    const bool size = base.sizes.contains(key), scale = !size && key == "scale";
    if (found == kShort.end() && !json.contains(key) && !size) {
      const std::optional<Failure> why = why_unknown ? why_unknown(key) : std::nullopt;
      if (why) return fail(Stage::input, where + ": " + why->message, why->hint + " " + known_keys(base));
      return fail(Stage::input, where + "/" + key + ": is not a known key", known_keys(base));
    }
    const auto whole = number_in<int64_t>(value);
    const auto real = number_in<double>(value);
    if (size && !whole) return fail(Stage::input, where + "/" + key + ": \"" + value + "\" is not a whole number", "");
    if (scale && !real) return fail(Stage::input, where + "/scale: \"" + value + "\" is not a number", "");
    // For causal, 0 and 1 are words.
    const Json given = size || (whole && key != "causal") ? Json(*whole) : scale ? Json(*real) : Json(value);
    for (const std::string& name : names) (size ? json["sizes"] : json)[name] = given;
    if (key == "heads") json["kv_heads"] = json["heads"];
  }
  return problem_from_json(json, where);
}

std::string short_text(const Problem& p) {
  if (!p.is_attention()) {
    std::string text(to_string(p.kind));
    for (const auto& [name, value] : p.sizes) text += fmt::format(" {}={}", name, value);
    return text;
  }
  std::string text = fmt::format("B{} H{} ", p.batch, p.heads);
  if (p.kv_heads != p.heads) text += fmt::format("Hkv{} ", p.kv_heads);
  text += p.seq_q == p.seq_k ? fmt::format("S{}", p.seq_q) : fmt::format("Sq{} Sk{}", p.seq_q, p.seq_k);
  text += fmt::format(" D{}", p.head_dim);
  if (p.causal == Causal::bottom_right) text += " causal";
  if (p.causal == Causal::top_left) text += " causal (top-left)";
  return text;
}

}  // namespace attnscope
